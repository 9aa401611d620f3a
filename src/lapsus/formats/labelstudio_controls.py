"""Which question of which scheme a control of Label Studio stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lapsus.errors import InputError
from lapsus.formats.brat_common import installed
from lapsus.formats.labelstudio_records import Result
from lapsus.model import Question, Scheme
from lapsus.schemes import scheme_names

KINDS: dict[str, tuple[str, ...]] = {
    "choices": ("label", "labels"),
    "taxonomy": ("label", "labels"),
    "rating": ("scale",),
    "number": ("scale",),
    "textarea": ("text",),
    "labels": ("spans",),
    "paragraphlabels": ("spans",),
    "hypertextlabels": ("spans",),
}
"""The kinds of questions that a type of result can answer."""
RELATION = "relation"


@dataclass(frozen=True)
class Asked:
    """A question and the scheme it belongs to."""

    scheme: Scheme
    question: Question

    @property
    def name(self) -> str:
        """What a control for it is called."""
        return f"{self.scheme.id}.{self.question.id}"

    @cached_property
    def labels(self) -> dict[str, str]:
        """Every spelling of a label, in small letters, and the id it stands for."""
        return {
            name.lower(): label.id
            for label in self.scheme.labels_of(self.question)
            for name in (*label.name.values(), *label.aliases, label.id)
        }


class Controls:
    """The controls of a project. Once it is clear what one stands for, it stays so."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Asked] = {}

    def settle(self, results: Iterable[Result]) -> None:
        """Find out what the controls of an annotation stand for: by name, by labels, by their neighbours."""
        open_ones: dict[tuple[str, str], set[str]] = {}
        for result in results:
            key = (result.from_name, result.type)
            if result.type != RELATION and key not in self.known:
                open_ones.setdefault(key, set()).update(choices(result))
        doubtful: dict[tuple[str, str], list[Asked]] = {}
        for (name, kind), values in open_ones.items():
            doubtful[name, kind] = list(_candidates(name, kind, values))
            if len(doubtful[name, kind]) == 1:
                self.known[name, kind] = doubtful.pop((name, kind))[0]
        neighbours = {asked.scheme.id for key, asked in self.known.items()}
        for (name, kind), candidates in doubtful.items():
            fitting = [asked for asked in candidates if asked.scheme.id in neighbours]
            if len(fitting) != 1:
                raise _unclear(name, candidates)
            self.known[name, kind] = fitting[0]

    def of(self, result: Result) -> Asked:
        """What the control of a result stands for, once that is settled."""
        return self.known[result.from_name, result.type]


def choices(result: Result) -> list[str]:
    """The labels that a result gives."""
    found = result.value.get(result.type)
    if result.type == "taxonomy" and isinstance(found, list):
        if any(not isinstance(path, list) or len(path) != 1 for path in found):
            raise InputError(f"control {result.from_name!r}: nested choices are not supported")
        found = [path[0] for path in found]
    if result.type not in ("choices", "taxonomy") and KINDS.get(result.type) != ("spans",):
        return []
    if not isinstance(found, list) or any(not isinstance(item, str) for item in found):
        raise InputError(f"control {result.from_name!r}: {result.type!r} is no list of labels")
    return found


def _candidates(name: str, kind: str, values: set[str]) -> Iterator[Asked]:
    """Questions that a control may stand for: the one it names, else those of that id, else those it fits."""
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise InputError(f"control {name!r} gives results of type {kind!r}", hint=f"known types: {known}")
    scheme_id, _, question_id = name.partition(".")
    scheme = installed(scheme_id)
    question = scheme.question(question_id) if scheme else None
    if scheme is not None and question is not None:
        yield Asked(scheme, question)
        return
    fitting = [asked for asked in _all() if asked.question.kind in KINDS[kind]]
    wanted = name.lower()
    named = [asked for asked in fitting if asked.question.id.lower() == wanted]
    if not named:
        named = [asked for asked in fitting if asked.scheme.id.lower() == wanted]
    if not named and values:
        small = {value.lower() for value in values}
        named = [asked for asked in fitting if small <= asked.labels.keys()]
    yield from named


def _all() -> Iterator[Asked]:
    for name in scheme_names():
        if (scheme := installed(name)) is not None:
            yield from (Asked(scheme, question) for question in scheme.questions)


def _unclear(name: str, candidates: list[Asked]) -> InputError:
    could_be = ", ".join(asked.name for asked in candidates)
    problem = f"could stand for {could_be}" if candidates else "fits no question of a known scheme"
    return InputError(
        f"control {name!r} {problem}",
        hint="name the control '<scheme>.<question>' in the labelling interface, as in 'breakdown.comment'",
    )
