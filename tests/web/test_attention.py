"""Who needs a look stands at the top of the overview, each a click away."""

from __future__ import annotations

import pytest

from tests.web.helpers import Bench, Browser, chat


@pytest.fixture
def hurried(bench: Bench) -> tuple[str, Browser]:
    """Four who judge twelve turns each: one of them in a tenth of the time."""
    name = bench.campaign(documents=[chat(f"d{n:02}") for n in range(4)], per_unit=4, minutes=60 * 24 * 30)
    said = {"Ada": "OTX" * 4, "Bo": "XOT" * 4, "Cy": "OXT" * 4, "Di": "TXO" * 4}
    for who, labels in said.items():
        browser = bench.person(who)
        for label in labels:
            unit, seconds = browser.next(name)["unit"], 0.5 if who == "Cy" else 5.0
            assert browser.save(name, unit, {"breakdown": label}, seconds=seconds).status_code == 201
    return name, bench.person("Mori", "manager")


def test_who_is_too_fast_is_a_click_away(hurried: tuple[str, Browser]) -> None:
    name, mori = hurried
    found = mori.get(f"/c/{name}/insight.json").json()["attention"]
    assert [(one["kind"], one["name"], one["value"]) for one in found] == [("fast", "Cy", 0.5)]
    page = mori.get(f"/c/{name}/insight").text
    assert "Needs attention" in page
    assert f"/c/{name}/units?q=breakdown&amp;person={found[0]['id']}" in page
    assert page.index('id="attention"') < page.index('id="heads"')


def test_whoever_was_stopped_needs_no_attention(bench: Bench, hurried: tuple[str, Browser]) -> None:
    name, mori = hurried
    (one,) = mori.get(f"/c/{name}/insight.json").json()["attention"]
    bench.store.members.stop(name, one["id"])
    assert mori.get(f"/c/{name}/insight.json").json()["attention"] == []
