"""Probes of judges are rows of the judges' page, the newest of each judge; what answers cost stands there too."""

from __future__ import annotations

from typing import Any

from lapsus.campaign_stats.judge_figures import _cost
from lapsus.model import Document, Judgment, Segment
from lapsus.store import Store
from lapsus.store.audit import ALIGNED, PROBED
from tests.web.helpers import Bench

FIGURES = ("before", "after", "difference")


def noted(share: float) -> dict[str, Any]:
    row = {"question": "breakdown", "units": 50, "share": share, "low": share - 0.1, "high": share + 0.05}
    moved = [["X", "O", 7], ["T", "O", 1]]
    rows = [{**row, "probe": "tone", "moved": moved}, {**row, "probe": "again", "moved": []}]
    return {"judge": "openai:tiny", "probes": [*rows, {**rows[0], "question": "other"}]}


def test_the_newest_probes_of_a_judge_are_rows_of_the_page(store: Store) -> None:
    with Bench(store) as bench:
        name = bench.campaign(documents=[Document("d", (Segment("0", "system", "Hello."),), "en")])
        mori = bench.person("Mori", "manager")
        assert "No judge was probed yet" in mori.get(f"/c/{name}/judges").text
        store.audit.add(name, PROBED, noted(0.5), noted(0.84))
        found = mori.get(f"/c/{name}/judges.json").json()["probes"]
        html = mori.get(f"/c/{name}/judges").text
    assert [(one["probe"], one["same"]["value"], one["moved"]) for one in found] == [
        ("tone", 0.84, "X → O"),
        ("again", 0.84, ""),
    ]
    assert "confident tone" in html
    assert "No judge was probed yet" not in html


def test_what_an_alignment_was_worth_stands_on_the_page(store: Store) -> None:
    def told(after: float) -> dict[str, Any]:
        figures = {name: {"value": after, "low": after - 0.1, "high": after + 0.1} for name in FIGURES}
        return {"judge": "openai:tiny", "told": {"units": 50, **figures}}

    with Bench(store) as bench:
        name = bench.campaign(documents=[Document("d", (Segment("0", "system", "Hello."),), "en")])
        mori = bench.person("Mori", "manager")
        for after in (0.5, 0.7):
            store.audit.add(name, ALIGNED, told(after))
        (found,) = mori.get(f"/c/{name}/judges.json").json()["alignments"]
        assert "Agreement with people, from 0 to 1" in mori.get(f"/c/{name}/judges").text
    assert (found["judge"], found["units"], found["after"]["value"]) == ("openai:tiny", 50, 0.7)


def test_a_price_is_told_only_where_it_is_known_of_every_answer() -> None:
    def judgment(**cost: Any) -> Judgment:
        return Judgment("d", "0", "m", "breakdown", "1.0", {"breakdown": "O"}, metadata=cost)

    paid = judgment(cost={"amount": 0.25, "currency": "USD", "prices": "2026-01-01"})
    other = judgment(cost={"amount": 0.25, "currency": "EUR", "prices": "2026-01-01"})
    assert _cost([paid, paid])[2:] == (0.5, "USD")
    assert _cost([paid, judgment()])[2:] == (None, None)
    assert _cost([paid, other])[2:] == (None, None)
