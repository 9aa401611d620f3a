"""What is wrong with a run: every fault with its file and its turn, in the reader's language."""

from collections.abc import Mapping, Sequence

import msgspec
import regex

from lapsus.errors import InputError, LapsusError
from lapsus.model import in_language
from lapsus.notices import Notice, localized
from lapsus.word_files import word_file

SHOWN = 100
"""How many faults are named; a run that is wrong in one way is often wrong everywhere."""
_UNSHOWABLE = regex.compile(r"[\p{C}\u2028\u2029]")
_LONGEST = 200


class RunProblem(msgspec.Struct, frozen=True):
    """One fault of a run."""

    kind: str
    file: str
    turn: str | None = None
    values: Mapping[str, str] = {}

    def text(self, language: str = "en") -> str:
        """What is wrong, without the place."""
        words: str = in_language(word_file("lapsus.challenge", "problems.yaml")[self.kind], language)
        return words.format(**self.values)

    def __str__(self) -> str:
        return self.line()

    def line(self, language: str = "en") -> str:
        """The place, and what is wrong there."""
        turn = "" if self.turn is None else f", {localized(Notice('turn', segment=self.turn), language)}"
        return f"{self.file}{turn}: {self.text(language)}"


def problem(kind: str, file: str, turn: str | None = None, **values: object) -> RunProblem:
    """A fault. Text of the run's files is shortened and cleaned for display."""
    shown = {key: showable(str(value)) for key, value in values.items()}
    return RunProblem(kind, showable(file), None if turn is None else showable(turn), shown)


def showable(text: str) -> str:
    """Untrusted text, shortened, its control characters escaped."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return _UNSHOWABLE.sub(lambda match: f"\\u{{{ord(match.group()):x}}}", short)


class RunError(InputError):
    """A run that is not taken. Nothing of it was kept."""

    def __init__(self, problems: Sequence[RunProblem], where: str, count: int) -> None:
        self.problems = tuple(problems)
        self.count = count
        super().__init__(
            f"{self._reasons()}{self._lines('en')}\n",
            where=showable(where),
            hint=Notice("nothing-kept-mend-hand"),
        )

    def in_language(self, language: str) -> LapsusError:
        """Every fault in that language."""
        found = super().in_language(language)
        found.what = f"{localized(self._reasons(), language)}{self._lines(language)}\n"
        return found

    def _reasons(self) -> Notice:
        return Notice("run-one-reason") if self.count == 1 else Notice("run-reasons", count=self.count)

    def _lines(self, language: str) -> str:
        more = Notice("and-more", count=self.count - SHOWN) if self.count > SHOWN else ""
        lines = [
            *(one.line(language) for one in self.problems),
            *([localized(more, language)] if more else []),
        ]
        return "".join(f"\n  {line}" for line in lines)
