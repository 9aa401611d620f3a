"""Gold of a campaign: votes put together by any method, with the adjudicators' decisions on top."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lapsus.analysis.gold_standard import gold_judgments, settled_gold, ways_to
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.errors import UsageError
from lapsus.kinds import Kind
from lapsus.measures.gold import Gold, adjudicated
from lapsus.model import Answer, Entry, UnitKey
from lapsus.model.votes import Votes
from lapsus.store import GoldCounts, GoldUnit, Store, StoredGold


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
