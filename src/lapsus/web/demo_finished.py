"""Finished campaigns to look at, on the invented samples: everybody has judged, the most disputed units are decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lapsus.insight.deciding import most_said, order_of
from lapsus.insight.desk import Desk
from lapsus.insight.golding import campaign_gold, keep_gold
from lapsus.model import Entry, Text
from lapsus.store import Person, Plan, Store
from lapsus.store.deciding import How

SCHEME: Final = "breakdown"
PER_UNIT: Final = 12
DECIDED: Final = 3
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
    store.create_campaign(Plan(name=name, scheme=SCHEME, title=title, per_unit=PER_UNIT, who="named"))
    store.add_judgments(name, map(_of_scheme, entries), check=False)
    desk = Desk(store, name)
    for unit, _ in order_of(desk, "open")[:DECIDED]:
        said = most_said(desk, unit, store.unit_judgments(name, unit))
        how: How = "majority" if said else "own"
        key, reason = f"{name}-{unit}", REASONS[language]
        store.decide(key, name, unit, manager.id, how, said or SPLIT, reason=reason)
    keep_gold(store, name, campaign_gold(store, name), "majority", by=manager.id)
    store.set_state(name, "closed", by=manager.id)


def _of_scheme(entry: Entry) -> Entry:
    kept = tuple(judgment for judgment in entry.judgments if judgment.scheme == SCHEME)
    return Entry(entry.id, entry.document, kept)
