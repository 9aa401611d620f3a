"""Twenty turns of a log for its owner to judge, as a page: what it saves is what `--adapt` takes."""

import base64
import hashlib
import random
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec
from markupsafe import Markup

from lapsus.annotators.breakdown import QUESTION, SCHEME
from lapsus.formats.jsonl import VERSION, Line
from lapsus.log_check.finding import SHOWN_BEFORE
from lapsus.log_check.report_words import label_definition, label_name, word
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import Document, Judgment, Unit
from lapsus.reports.html_page import page
from lapsus.schemes import load_scheme

MANY: Final = 20
WHO: Final = "own"
_LONGEST: Final = 20_000
"""Signs of a turn that are shown: whoever judges it reads it whole."""
_SCRIPT: Final = "own_turns.js"


class Drawn:
    """Turns drawn by chance out of all that are offered, every one as likely: the same ones on every run."""

    def __init__(self, many: int = MANY) -> None:
        self._many, self._offered = many, 0
        self._kept: list[tuple[int, Unit]] = []
        self._chance = random.Random(0)

    def offer(self, unit: Unit) -> None:
        """One more."""
        place = self._chance.randrange(self._offered + 1)
        if len(self._kept) < self._many:
            self._kept.append((self._offered, unit))
        elif place < self._many:
            self._kept[place] = (self._offered, unit)
        self._offered += 1

    @property
    def turns(self) -> list[Unit]:
        """In the order of the log."""
        return [unit for _, unit in sorted(self._kept, key=lambda one: one[0])]


def turns_page(turns: Sequence[Unit], language: str) -> str:
    """The turns as one self-contained page with a script of its own, which sends nothing anywhere."""
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    records = [_records(turn) for turn in turns]
    return page(
        "lapsus.log_check",
        "own_turns.html",
        language,
        turns=turns,
        shown_before=SHOWN_BEFORE,
        longest=_LONGEST,
        labels=LABELS,
        records=records,
        header=_json(Line(lapsus=VERSION)),
        name=hashlib.sha256("".join(one["document"] for one in records).encode()).hexdigest()[:16],
        script=Markup(script),  # noqa: S704  our own file
        digest=digest,
        word=lambda name, **values: word(name, language, **values),
        label_name=lambda label: label_name(label, language),
        definition=lambda label: label_definition(label, language),
    )


def _records(unit: Unit) -> dict[str, Any]:
    """The lines of a turn in the file that is saved: the dialogue up to it, and a judgment for each answer."""
    target, scheme = unit.target, load_scheme(SCHEME)
    if target is None:
        raise ValueError("a whole document is no turn")
    id = f"{unit.document} {target.id}"
    judgments = {
        label: Judgment(id, target.id, WHO, SCHEME, scheme.version, {QUESTION: label}) for label in LABELS
    }
    return {
        "document": _json(Line(document=Document(id, (*unit.context, target), unit.language))),
        "judgments": {label: _json(Line(judgment=one)) for label, one in judgments.items()},
    }


def _json(line: Line) -> str:
    """A line of the native format; half signs, which no file can hold, are shown as signs."""
    plain = msgspec.json.encode(_whole(msgspec.to_builtins(line)))
    return plain.decode()


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


@cache
def _script() -> str:
    return (files("lapsus.log_check") / "templates" / _SCRIPT).read_text(encoding="utf-8")
