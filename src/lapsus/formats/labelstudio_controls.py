"""Which question of which scheme a control of Label Studio stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lapsus.errors import InputError
from lapsus.formats.labelstudio_records import Result
from lapsus.kinds import KINDS, Kind, kind_of
from lapsus.model import Question, Scheme
from lapsus.model.scheme import folded
from lapsus.notices import Notice
from lapsus.schemes import known_scheme, scheme_names

RELATION = "relation"
TURN = "lapsus.turn"
"""The control that marks which turn is judged; it answers nothing itself."""
NONE = ".none"
"""Ends the name of the control that says of marks or labels: there are none."""


@dataclass(frozen=True)
class Asked:
    """A question and the scheme it belongs to."""

    scheme: Scheme
    question: Question

    @cached_property
    def kind(self) -> Kind:
        """The question with all that its kind means."""
        return kind_of(self.question, self.scheme)

    @property
    def name(self) -> str:
        """What a control for it is called."""
        return f"{self.scheme.id}.{self.question.id}"

    @cached_property
    def labels(self) -> dict[str, str]:
        """Every spelling of a label, in small letters, and the id it stands for."""
        return {
            folded(name): label.id
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
            raise InputError("control-nested-choices-not", from_name=result.from_name)
        found = [path[0] for path in found]
    if not any(kind.offers_labels and result.type in kind.controls for kind in KINDS):
        return []
    if not isinstance(found, list) or any(not isinstance(item, str) for item in found):
        raise InputError("control-no-list-labels", from_name=result.from_name, type=result.type)
    return found


def _candidates(name: str, kind: str, values: set[str]) -> Iterator[Asked]:
    """Questions that a control may stand for: the one it names, else those of that id, else those it fits."""
    types = list(dict.fromkeys(type for one in KINDS for type in one.controls))
    if kind not in types:
        known = ", ".join(types)
        raise InputError("control-gives-results-type", hint="known-types", name=name, kind=kind, known=known)
    if (exactly := asked_by_name(name)) is not None:
        yield exactly
        return
    fitting = [asked for asked in _all() if kind in asked.kind.controls]
    wanted = name.lower()
    named = [asked for asked in fitting if asked.question.id.lower() == wanted]
    if not named:
        named = [asked for asked in fitting if asked.scheme.id.lower() == wanted]
    if values and len(named) != 1:
        small = {folded(value) for value in values}
        named = [asked for asked in named or fitting if small <= asked.labels.keys()] or named
    yield from named


def asked_by_name(name: str) -> Asked | None:
    """The question that a control called `<scheme>.<question>` stands for."""
    scheme_id, _, question_id = name.partition(".")
    scheme = known_scheme(scheme_id)
    question = scheme.question(question_id) if scheme else None
    return Asked(scheme, question) if scheme is not None and question is not None else None


def asked_for_none(result: Result) -> Asked | None:
    """The question to which a result says that there is nothing."""
    return asked_by_name(result.from_name.removesuffix(NONE)) if result.from_name.endswith(NONE) else None


def _all() -> Iterator[Asked]:
    for name in scheme_names():
        if (scheme := known_scheme(name)) is not None:
            yield from (Asked(scheme, question) for question in scheme.questions)


def _unclear(name: str, candidates: list[Asked]) -> InputError:
    could_be = ", ".join(asked.name for asked in candidates)
    problem = Notice("could-stand", could_be=could_be) if candidates else Notice("fits-no-question-known")
    return InputError("control", hint="name-control-scheme-question", name=name, problem=problem)
