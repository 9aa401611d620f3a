"""What an adjudicator needs: which units come first, who said the same, and what most people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.kinds import kind_of
from lapsus.model import Answer, Span
from lapsus.schemes import broken_rules
from lapsus.store import StoredJudgment

ORDERS = ("disputed", "open", "all")
"""Units with different answers; those of them that nobody has decided on; all units that somebody judged."""


class AnswerGroup(NamedTuple):
    """People, or programs, who gave the very same answers."""

    answers: Mapping[str, Answer]
    judgments: tuple[StoredJudgment, ...]


class MajorityAnswer(NamedTuple):
    """What most people said of a unit."""

    answers: Mapping[str, Answer]
    agreed: int
    """How many gave it; of several questions, the one on which the fewest agree."""
    judged: int
    """How many people judged the unit."""


def adjudication_order(stats: CampaignStats, which: str) -> list[tuple[int, float]]:
    """The units to decide on with how far the answers are apart, the most disputed first."""
    found = [(dispute.unit, dispute.disagreement) for dispute in stats.disputes()]
    if which == "open":
        decided = stats.store.decisions.decided_units(stats.name)
        return [pair for pair in found if pair[0] not in decided]
    if which == "all":
        known = {unit for unit, _ in found}
        found += [(unit, 0.0) for unit in stats.judged() if unit not in known]
    return found


def group_by_answer(judgments: Sequence[StoredJudgment]) -> list[AnswerGroup]:
    """Everybody's answers, the same ones together and none left out; the largest group first."""
    groups: dict[object, list[StoredJudgment]] = {}
    for judgment in judgments:
        groups.setdefault(_same(judgment.answers), []).append(judgment)
    ordered = sorted(groups.values(), key=lambda group: -len(group))
    return [AnswerGroup(group[0].answers, tuple(group)) for group in ordered]


def majority_answer(
    stats: CampaignStats, unit: int, judgments: Sequence[StoredJudgment]
) -> Mapping[str, Answer] | None:
    """What most people said, by question; None where nothing stands."""
    found = most_said(stats, unit, judgments)
    return None if found is None else found.answers


def most_said(stats: CampaignStats, unit: int, judgments: Sequence[StoredJudgment]) -> MajorityAnswer | None:
    """What most people said and how many did; None where two answers come first, or a rule would be broken.

    Only answers that people gave are looked at: nothing is put together from parts of several, and what programs
    said is no vote.
    """
    judgments = [judgment for judgment in judgments if not judgment.by_program]
    answers: dict[str, Answer] = {}
    fewest = len(judgments)
    for question in stats.questions:
        kind = kind_of(question, stats.scheme)
        said: dict[object, list[Answer | None]] = {}
        for judgment in judgments:
            answer = judgment.answers.get(question.id)
            said.setdefault(None if answer is None else kind.same(answer), []).append(answer)
        first, *others = sorted(said.values(), key=len, reverse=True) or [[]]
        is_tie = bool(others) and len(others[0]) == len(first)
        if is_tie and question.required:
            return None
        if first and first[0] is not None and not is_tie:
            answers[question.id] = first[0]
            fewest = min(fewest, len(first))
    place = stats.store.units.get(stats.name, unit)
    document = stats.store.units.document(stats.name, place.document)
    if not answers or broken_rules(stats.scheme, answers, document, place.segment):
        return None
    return MajorityAnswer(answers, fewest, len(judgments))


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
