"""Kinds of questions: one label, several, a scale, spans, text, a preference. What depends on a kind is its own affair.

`kind_of(question, scheme)` is the question with all that its kind means: rules, votes, measures, gold, comparison,
and its forms in tables, prompts, pages and Label Studio. Nothing else asks what kind a question is of.
"""

from collections.abc import Iterable

from lapsus.kinds.base import Cells as Cells
from lapsus.kinds.base import Control as Control
from lapsus.kinds.base import ControlTag as ControlTag
from lapsus.kinds.base import Kind as Kind
from lapsus.kinds.base import Reply as Reply
from lapsus.kinds.messages import BrokenRule as BrokenRule
from lapsus.model import Answer, Question, Scheme, Span
from lapsus.notices import Notice
from lapsus.registry import Registry

_ROOM = "lapsus.kinds"

KINDS: Registry[type[Kind]] = Registry(
    Notice("kind-question"),
    _ROOM,
    {
        "label": f"{_ROOM}.label:LabelKind",
        "labels": f"{_ROOM}.labels:LabelsKind",
        "scale": f"{_ROOM}.scale:ScaleKind",
        "spans": f"{_ROOM}.spans:SpansKind",
        "text": f"{_ROOM}.text:TextKind",
        "preference": f"{_ROOM}.preference:PreferenceKind",
    },
)
"""Each is a class; those of other packages come by entry points of the group `lapsus.kinds`."""


def kind_of(question: Question, scheme: Scheme | None = None) -> Kind:
    """A question with all that its kind means. Without the scheme, labels that come from a list are not known."""
    labels = question.labels if scheme is None else scheme.labels_of(question)
    return KINDS.get(question.kind)(question, labels)


def kinds_of(scheme: Scheme) -> dict[str, Kind]:
    """Every question of a scheme with what its kind means, by the question's id."""
    return {question.id: kind_of(question, scheme) for question in scheme.questions}


def countable(questions: Iterable[Question]) -> list[Question]:
    """The questions whose answers can be counted."""
    return [question for question in questions if KINDS.get(question.kind).is_countable]


def likely_kind(answer: Answer) -> type[Kind]:
    """The kind that an answer looks like, where its question is not known."""
    if isinstance(answer, str):
        return KINDS.get("text")
    if not isinstance(answer, tuple):
        return KINDS.get("scale")
    return KINDS.get("spans" if any(isinstance(part, Span) for part in answer) else "labels")
