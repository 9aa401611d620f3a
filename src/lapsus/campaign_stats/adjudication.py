"""What an adjudicator needs: which units come first, who said the same, and which answer is the most frequent."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from lapsus.analysis.gold_standard import gold_judgments, settled_gold, ways_to
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.errors import UsageError
from lapsus.kinds import Kind, kind_of, kinds_of
from lapsus.measures.gold import Gold, adjudicated
from lapsus.model import Answer, Entry, Scheme, UnitKey
from lapsus.model.votes import Votes
from lapsus.schemes import broken_rules, is_asked
from lapsus.store import GoldCounts, GoldUnit, Store, StoredGold, StoredJudgment

MAJORITY = 0.5
SHARES = (0.0, MAJORITY, 2 / 3, 0.75, 1.0)
"""Least shares of people to choose from when many units are decided on; 0.5 stands for more than half."""
ORDERS = ("disputed", "open", "all")
"""Units with different answers; those of them that nobody has decided on; all units that somebody judged."""


class AnswerGroup(NamedTuple):
    """People, or programs, who gave the very same answers."""

    answers: Mapping[str, Answer]
    judgments: tuple[StoredJudgment, ...]


class FrequentAnswer(NamedTuple):
    """The answer to a unit that the most people gave."""

    answers: Mapping[str, Answer]
    agreed: int
    """How many gave it; of several questions, the one on which the fewest agree."""
    judged: int
    """How many people judged the unit."""

    @property
    def share(self) -> float:
        """Of those who judged the unit, which share gave it."""
        return self.agreed / self.judged

    @property
    def how(self) -> Literal["majority", "plurality"]:
        """A majority is more than half of the people; with fewer it is the most frequent answer and no more."""
        return "majority" if 2 * self.agreed > self.judged else "plurality"


class ManyDecisions(NamedTuple):
    """What deciding on many units at once by their most frequent answers comes to."""

    found: Mapping[int, FrequentAnswer]
    """By unit, where one answer comes first and keeps the rules."""
    decided: int
    """Units that somebody has decided on already; these stay as they are."""
    split: int
    """Units on which no answer comes first, or the one that does breaks a rule; nobody judged some of them perhaps."""

    def with_share(self, least: float) -> dict[int, FrequentAnswer]:
        """Those whose answer has more than half of the people, where `least` is 0.5, and else at least that share."""
        return {
            unit: one
            for unit, one in self.found.items()
            if (one.how == "majority" if least == MAJORITY else one.share >= least)
        }


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


def group_by_answer(scheme: Scheme, judgments: Sequence[StoredJudgment]) -> list[AnswerGroup]:
    """Everybody's answers, the same ones together and none left out; the largest group first."""
    groups: dict[object, list[StoredJudgment]] = {}
    for judgment in judgments:
        groups.setdefault(same_answers(scheme, judgment.answers), []).append(judgment)
    ordered = sorted(groups.values(), key=lambda group: -len(group))
    return [AnswerGroup(group[0].answers, tuple(group)) for group in ordered]


def many_decisions(stats: CampaignStats, units: Sequence[int]) -> ManyDecisions:
    """What would be decided on these units, and what not."""
    judgments = stats.store.judgments.of_units(stats.name, units)
    decided = stats.store.decisions.decided_units(stats.name)
    left = [unit for unit in units if unit not in decided]
    found = {unit: one for unit in left if (one := most_frequent(stats, unit, judgments[unit])) is not None}
    return ManyDecisions(found, len(units) - len(left), len(left) - len(found))


def most_frequent(
    stats: CampaignStats, unit: int, judgments: Sequence[StoredJudgment]
) -> FrequentAnswer | None:
    """The answer that the most people gave; None where two answers come first, or a rule would be broken.

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
        if not is_asked(stats.scheme, question, answers):
            continue
        if is_tie and question.required:
            return None
        if first and first[0] is not None and not is_tie:
            answers[question.id] = first[0]
            fewest = min(fewest, len(first))
    place = stats.store.units.get(stats.name, unit)
    document = stats.store.units.document(stats.name, place.document)
    if not answers or broken_rules(stats.scheme, answers, document, place.segment):
        return None
    return FrequentAnswer(answers, fewest, len(judgments))


def same_answers(scheme: Scheme, answers: Mapping[str, Answer]) -> frozenset[tuple[str, Hashable]]:
    """Equal for answers that say the same."""
    kinds = kinds_of(scheme)
    return frozenset((id, kinds[id].same_or_none(answer)) for id, answer in answers.items())


def campaign_gold(
    store: Store, name: str, method: str = "majority", threshold: float | None = None
) -> dict[str, Gold]:
    """The gold of every question that somebody answered, decided units as they were decided."""
    keys = {row.number: UnitKey(row.document, row.segment) for row in store.units.places(name)}
    kinds: dict[str, Kind] = {}
    votes: dict[str, Votes] = {}
    for question in CampaignStats(store, name).questions:
        stats = CampaignStats(store, name, question.id)
        found, numbers = stats.numbered_votes()
        if stats.kind.is_answered(found):
            kinds[question.id] = stats.kind
            votes[question.id] = replace(found, units=tuple(keys[number] for number in numbers))
    if not votes:
        raise UsageError("nobody-judged-anything-yet", where=name, hint="gold-made-judgments")
    answered = [kind.question for kind in kinds.values()]
    decided, deciders = _decided(store, name)
    made_of: dict[str, Gold] = {}
    for id, way in ways_to(answered, method, threshold).items():
        made = settled_gold(way, kinds[id], votes[id], lambda document: store.units.document(name, document))
        units = set(made.units)
        known = {unit: answer for unit, answer in decided.get(id, {}).items() if unit in units}
        made_of[id] = adjudicated(made, known, deciders) if known else made
    return made_of


def keep_gold(
    store: Store, name: str, found: Mapping[str, Gold], method: str, *, by: int | None = None
) -> StoredGold:
    """Keep gold in the store, with its method and signatures."""
    signatures = {question: made.signature for question, made in found.items()}
    decided = {unit for made in found.values() for unit in made.decided}
    judgments = gold_judgments(store.campaigns.scheme(name), found)
    units = [
        GoldUnit(j.document, j.segment, j.answers, j.distributions, j.unit in decided)
        for document in store.units.document_names(name, practice=False)
        for j in judgments.get(document, ())
    ]
    counts = {
        question: GoldCounts(len(made.by_unit()), len(made.undecided)) for question, made in found.items()
    }
    return store.decisions.keep_gold(name, method, signatures, counts, units, by=by)


def gold_entries(store: Store, name: str, found: Mapping[str, Gold]) -> Iterator[Entry]:
    """The documents with the gold as their only judgments: what every format can write."""
    judgments = gold_judgments(store.campaigns.scheme(name), found)
    for id, document in store.exports.documents(name, practice=False):
        yield Entry(id, document, tuple(judgments.get(id, ())))


def _decided(store: Store, name: str) -> tuple[dict[str, dict[UnitKey, Answer]], str]:
    """What was decided, by question, and who decided."""
    found: dict[str, dict[UnitKey, Answer]] = {}
    standing = store.decisions.standing(name).values()
    for decision in standing:
        for question, answer in decision.answers.items():
            found.setdefault(question, {})[UnitKey(decision.document, decision.segment)] = answer
    number = len({decision.by for decision in standing})
    return found, f"{number} adjudicator{'s' if number != 1 else ''}"
