"""Finished campaigns to look at, on the invented samples: everybody has judged, the most disputed units are decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lapsus.annotators import as_usual, default_model, load_model
from lapsus.campaign_stats.adjudication import adjudication_order, most_frequent
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.campaign_stats.gold import campaign_gold, keep_gold
from lapsus.model import Entry, Text
from lapsus.store import Person, Plan, Store
from lapsus.store.decisions import How
from lapsus.web.demo_times import at_last, over_weeks

SCHEME: Final = "breakdown"
PER_UNIT: Final = 12
DECIDED: Final = 3
DAYS: Final = 26
"""How long people judged."""
SPLIT: Final = {"breakdown": "T"}
"""What is decided where two answers come first."""
REASONS: Final = {
    "en": "Opinions are split; some would stumble here.",
    "ja": "意見が割れています。ここで引っかかる人がいます。",
}


def make_finished(
    store: Store, language: str, title: Text, entries: Sequence[Entry], manager: Person
) -> None:
    """A closed campaign with all its judgments, some decisions, and gold."""
    name = f"finished-{language}"
    store.campaigns.create(Plan(name=name, scheme=SCHEME, title=title, per_unit=PER_UNIT, who="named"))
    store.imports.add_judgments(
        name, over_weeks(map(_of_scheme, entries), store.database.clock(), DAYS), check=False
    )
    _judge_by_program(store, name, language, entries)
    stats = CampaignStats(store, name)
    for unit, _ in adjudication_order(stats, "open")[:DECIDED]:
        said = most_frequent(stats, unit, store.judgments.of_unit(name, unit))
        how: How = said.how if said else "own"
        answers, reason = said.answers if said else SPLIT, REASONS[language]
        store.decisions.decide(f"{name}-{unit}", name, unit, manager.id, how, answers, reason=reason)
    keep_gold(store, name, campaign_gold(store, name), "majority", by=manager.id)
    store.campaigns.set_state(name, "closed", by=manager.id)


def _judge_by_program(store: Store, name: str, language: str, entries: Sequence[Entry]) -> None:
    """The shipped detector judges too; it has not seen the samples."""
    detector = as_usual(load_model(default_model(language)))
    now = store.database.clock()
    said = (
        Entry(entry.id, entry.document, at_last(detector.judge([entry.document]), now))
        for entry in entries
        if entry.document
    )
    for _ in store.programs.add_judgments(name, store.programs.add(detector.name), said):
        pass


def _of_scheme(entry: Entry) -> Entry:
    kept = tuple(judgment for judgment in entry.judgments if judgment.scheme == SCHEME)
    return Entry(entry.id, entry.document, kept)
