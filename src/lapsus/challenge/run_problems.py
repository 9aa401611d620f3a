"""What is wrong with a run: every fault with its file and its turn, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import regex

from lapsus.errors import InputError
from lapsus.model import in_language
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
        place = self.file if self.turn is None else f"{self.file}, turn {self.turn}"
        return f"{place}: {self.text()}"


def problem(kind: str, file: str, turn: str | None = None, **values: object) -> RunProblem:
    """A fault. What comes from strangers' files is cut short and made fit to be shown."""
    shown = {key: showable(str(value)) for key, value in values.items()}
    return RunProblem(kind, showable(file), None if turn is None else showable(turn), shown)


def showable(text: str) -> str:
    """Text of strangers without signs that a terminal or a page would act on."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return _UNSHOWABLE.sub(lambda match: f"\\u{{{ord(match.group()):x}}}", short)


class RunError(InputError):
    """A run that is not taken. Nothing of it was kept."""

    def __init__(self, problems: Sequence[RunProblem], where: str) -> None:
        self.problems = tuple(problems[:SHOWN])
        self.count = len(problems)
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        more = f"\n  and {self.count - SHOWN:,} more" if self.count > SHOWN else ""
        what = f"is not taken, for {self.count:,} reason{'s' if self.count != 1 else ''}:{lines}{more}\n"
        super().__init__(
            what, where=showable(where), hint="nothing of it was kept; mend it and hand it in again"
        )
