"""What an adjudicator needs: which units come first, who said the same, and what most people said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lapsus.insight.desk import Desk
from lapsus.measures.gold import make_gold
from lapsus.model import Answer, Judgment, Question, Scheme, Span
from lapsus.model.votes import collect_votes
from lapsus.schemes import broken_rules
from lapsus.store import StoredJudgment

WAYS = {"label": "majority", "labels": "label_sets", "scale": "median", "spans": "spans"}
"""How most people's answers are put together, by kind of question."""
ORDERS = ("disputed", "open", "all")
"""Units with different answers; those of them that nobody has decided on; all units that somebody judged."""


class Group(NamedTuple):
    """People who gave the very same answers."""

    answers: Mapping[str, Answer]
    judgments: tuple[StoredJudgment, ...]


def order_of(desk: Desk, which: str) -> list[tuple[int, float]]:
    """The units to decide on with how far the answers are apart, the most disputed first."""
    found = [(int(dispute.unit.document), dispute.disagreement) for dispute in desk.disputes()]
    if which == "open":
        decided = desk.store.decided_units(desk.name)
        return [pair for pair in found if pair[0] not in decided]
    if which == "all":
        known = {unit for unit, _ in found}
        found += [(unit, 0.0) for unit in desk.judged() if unit not in known]
    return found


def grouped(judgments: Sequence[StoredJudgment]) -> list[Group]:
    """Everybody's answers, the same ones together and none left out; the largest group first."""
    groups: dict[object, list[StoredJudgment]] = {}
    for judgment in judgments:
        groups.setdefault(_same(judgment.answers), []).append(judgment)
    ordered = sorted(groups.values(), key=lambda group: -len(group))
    return [Group(group[0].answers, tuple(group)) for group in ordered]


def most_said(desk: Desk, unit: int, judgments: Sequence[StoredJudgment]) -> Mapping[str, Answer] | None:
    """What most people said, question by question; None where two answers come first or it would break the rules."""
    answers: dict[str, Answer] = {}
    for question in desk.questions:
        if question.kind == "label" and _is_tie(question, judgments):
            return None
        found = _most(desk.scheme, question, judgments)
        if found is not None:
            answers[question.id] = found
    place = desk.store.unit(desk.name, unit)
    document = desk.store.document(desk.name, place.document)
    if not answers or broken_rules(desk.scheme, answers, document, place.segment):
        return None
    return answers


def _is_tie(question: Question, judgments: Sequence[StoredJudgment]) -> bool:
    """Whether two answers were given equally often, and no other more often."""
    first = Counter(j.answers[question.id] for j in judgments if question.id in j.answers).most_common(2)
    return len(first) == 2 and first[0][1] == first[1][1]


def _most(scheme: Scheme, question: Question, judgments: Sequence[StoredJudgment]) -> Answer | None:
    said = [
        Judgment(
            j.document, j.segment, j.annotator, scheme.id, j.version, {question.id: j.answers[question.id]}
        )
        for j in judgments
        if question.id in j.answers
    ]
    # A question that may be left open is answered for all only if most people answered it.
    if not said or (2 * len(said) <= len(judgments) and not question.required):
        return None
    votes = collect_votes(said, question, [label.id for label in scheme.labels_of(question)])
    answer = next(iter(make_gold(WAYS[question.kind], votes).by_unit().values()), None)
    # The middle of two steps is no step: the lower one is taken.
    return int(answer) if question.kind == "scale" and isinstance(answer, float) else answer


def _same(answers: Mapping[str, Answer]) -> object:
    """Something that is equal for answers that say the same: the order of labels and spans does not matter."""
    return frozenset(
        (question, frozenset(_plain(part) for part in answer) if isinstance(answer, tuple) else answer)
        for question, answer in answers.items()
    )


def _plain(part: str | Span) -> object:
    return (
        part if isinstance(part, str) else (part.segment, part.start, part.end, part.label, part.tie is None)
    )
