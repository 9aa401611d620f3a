"""Gold of a campaign: votes put together by any method, with the adjudicators' decisions on top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lapsus.analysis.golding import gold_judgments, ways_to
from lapsus.insight.desk import Desk
from lapsus.measures.gold import Gold, adjudicated, make_gold
from lapsus.model import Answer, Entry, UnitKey
from lapsus.store import GoldUnit, Store, StoredGold


def campaign_gold(
    store: Store, name: str, method: str = "majority", threshold: float | None = None
) -> dict[str, Gold]:
    """The gold of every question that somebody answered, decided units as they were decided."""
    keys = {str(row.number): UnitKey(row.document, row.segment) for row in store.unit_places(name)}
    desks = [Desk(store, name, question.id) for question in Desk(store, name).questions]
    votes = {desk.question.id: _named(desk.votes(), keys) for desk in desks}
    ways = ways_to(
        [desk.question for desk in desks if _is_answered(votes[desk.question.id])], method, threshold
    )
    decided, deciders = _decided(store, name)
    found: dict[str, Gold] = {}
    for question, way in ways.items():
        made = make_gold(way, votes[question])
        known = {
            unit: answer for unit, answer in decided.get(question, {}).items() if unit in set(made.units)
        }
        found[question] = adjudicated(made, known, deciders) if known else made
    return found


def keep_gold(
    store: Store, name: str, found: Mapping[str, Gold], method: str, *, by: int | None = None
) -> StoredGold:
    """Keep gold in the store, with its method and signatures."""
    signatures = {question: made.signature for question, made in found.items()}
    decided = {unit for made in found.values() for unit in made.decided}
    judgments = gold_judgments(store.scheme(name), found)
    units = [
        GoldUnit(j.document, j.segment, j.answers, j.distributions, j.unit in decided)
        for document in store.document_names(name, practice=False)
        for j in judgments.get(document, ())
    ]
    return store.keep_gold(name, method, signatures, units, by=by)


def gold_entries(store: Store, name: str, found: Mapping[str, Gold]) -> Iterator[Entry]:
    """The documents with the gold as their only judgments: what every format can write."""
    judgments = gold_judgments(store.scheme(name), found)
    for document in store.document_names(name, practice=False):
        yield Entry(document, store.document(name, document), tuple(judgments.get(document, ())))


def _named(votes: Any, keys: Mapping[str, UnitKey]) -> Any:
    return replace(votes, units=tuple(keys[unit.document] for unit in votes.units))


def _is_answered(votes: Any) -> bool:
    if hasattr(votes, "codes"):
        return bool((votes.codes >= 0).any())
    if hasattr(votes, "answered"):
        return bool(votes.answered.any())
    return bool(votes.units) and (not hasattr(votes, "values") or bool((votes.values == votes.values).any()))


def _decided(store: Store, name: str) -> tuple[dict[str, dict[UnitKey, Answer]], str]:
    """What was decided, by question, and who decided."""
    found: dict[str, dict[UnitKey, Answer]] = {}
    standing = store.standing_decisions(name).values()
    for decision in standing:
        for question, answer in decision.answers.items():
            found.setdefault(question, {})[UnitKey(decision.document, decision.segment)] = answer
    number = len({decision.by for decision in standing})
    return found, f"{number} adjudicator{'s' if number != 1 else ''}"
