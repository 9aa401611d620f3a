"""A campaign that learns, in real browsers: suggestions appear, the rest is judged, people's figures stay."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lapsus.web import learning
from tests.patience import until
from tests.store.helpers import reserve, save
from tests.web.browser.house import Browsing, Someone, Workbench, scrolls_sideways
from tests.web.browser.judging import ready
from tests.web.learning import chat, label

PATIENCE = 90_000
"""Milliseconds that a busy machine may take to learn."""


def judge(house: Workbench, campaign: str, person: Someone, documents: int) -> None:
    store = house.store
    for _ in range(documents):
        for number in reserve(store, person.id, campaign):
            unit = store.units.visible(campaign, number)
            assert unit.target is not None
            save(store, number, person.id, label(unit.target.text), campaign=campaign)


def figures(page: Page, campaign: str) -> object:
    """The figures of now: those of a little earlier are shown while newer ones are worked out."""
    while (found := page.request.get(f"/c/{campaign}/insight.json").json())["as_of"] or found["pending"]:
        page.wait_for_timeout(100)
    return [found[name] for name in ("agreement", "answers", "progress", "differing")]


def test_a_campaign_that_learns(house: Workbench, browse: Browsing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "EVERY", 0.5)
    mori, ada, ben = house.person("Mori", "manager"), house.person("Ada"), house.person("Ben")
    # By this name none of the last units is drawn to come without a suggestion.
    talk = [chat(n) for n in range(10)]
    name = house.campaign("breakdown", [ada, ben], talk, name="learns", per_unit=2)
    judge(house, name, ada, 10)
    judge(house, name, ben, 10)
    house.store.campaigns.add_documents(name, [chat(n) for n in range(10, 14)])

    manager = browse(mori)
    manager.goto(f"/c/{name}/manage")
    manager.check("[name=learn]")
    manager.fill("#learn-after", "40")
    manager.fill("#learn-without", "5")
    manager.locator("form[action$=learning] button").click()
    expect(manager.locator("pre.plan")).to_contain_text("without: 0.05")
    manager.goto(f"/c/{name}/insight/learning")
    expect(manager.locator("#learning-title")).to_have_text("A judge that learns")

    def has_learned() -> bool:
        state = house.store.learning.state(name)
        assert state is not None
        assert state.trouble is None
        return bool(state.rounds)

    until(has_learned)

    judging = browse(ada)
    judging.goto(f"/c/{name}/judge")
    expect(judging.locator(".suggested")).to_contain_text(f"judge-{name}")
    ready(judging)
    with judging.expect_response("**/judgments") as answered:
        judging.keyboard.press(".")
    assert answered.value.ok

    japanese = browse(mori, lang="ja", width=360, dark=True)
    japanese.goto(f"/c/{name}/insight/learning")
    expect(japanese.locator("#learning")).to_contain_text("人どうし")
    assert not scrolls_sideways(japanese)

    before = figures(manager, name)
    manager.goto(f"/c/{name}/insight#learning")
    manager.locator("#learning form button").click()
    manager.wait_for_url("**/insight#learning")
    expect(manager.locator("#learning")).to_contain_text("Every unit is judged", timeout=PATIENCE)
    assert figures(manager, name) == before
    said = [one for entry in house.store.exports.export(name, programs=True) for one in entry.judgments]
    assert sum(one.annotator == f"judge-{name}" for one in said) == 15
    assert [one.metadata.get("suggested") for one in said if one.annotator != f"judge-{name}"].count(
        f"judge-{name}"
    ) == 1
