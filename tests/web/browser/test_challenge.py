"""A challenge in real browsers: made and published, a team hands in, a broken run is refused, all is revealed."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from lapsus.challenge.service import create_from
from lapsus.formats import convert, read
from lapsus.store.challenge_records import ChallengePlan
from tests.challenge.helpers import answers, gold_set, judged, label, write_run
from tests.web.browser.house import (
    NARROW,
    TABLET,
    Browsing,
    Workbench,
    scrolls_sideways,
    tables_scroll,
    violations,
)

GOLD = gold_set(6)
_numbers = count(1)


@pytest.fixture
def challenge(house: Workbench) -> str:
    name = f"challenge-{next(_numbers)}"
    create_from(house.store, ChallengePlan(name, {"en": "A small challenge", "ja": "小さなチャレンジ"}), GOLD)
    return name


def hand_in(page: Page, path: Path, name: str = "") -> None:
    page.get_by_label("Zip file").set_input_files(path)
    page.get_by_label("Name of the run").fill(name)
    page.get_by_role("button", name="Hand in").click()


def make(page: Page, name: str, file: Path) -> None:
    """From the first page to a challenge of one's own."""
    page.goto("/")
    page.get_by_role("link", name="Challenges").click()
    page.get_by_role("link", name="New challenge").click()
    page.fill("#name", name)
    page.fill("#title_en", "A small challenge")
    page.set_input_files("#file", file)
    page.fill("#runs", "2")
    sent: list[Route] = []
    page.route("**/challenges/new", lambda route: sent.append(route))
    # While the first is under way, somebody clicks once more.
    twice = "button => { button.click(); setTimeout(() => button.click(), 50); }"
    with page.expect_request("**/challenges/new"):
        page.get_by_role("button", name="Make the challenge").evaluate(twice)
    page.wait_for_timeout(150)
    (only,) = sent
    only.continue_()
    page.wait_for_url(f"**/challenge/{name}")


def test_from_the_form_to_the_revealed_board(browse: Browsing, house: Workbench, tmp_path: Path) -> None:
    challenge = "in-the-browser"
    convert(judged(GOLD), tmp_path / "gold.jsonl")
    manager = browse(house.person("Mori", "manager"))
    make(manager, challenge, tmp_path / "gold.jsonl")
    expect(manager.locator("h1")).to_contain_text("A small challenge")
    expect(manager.locator("main")).to_contain_text("12 turns to score")
    with manager.expect_download() as begun:
        manager.get_by_role("link", name="Test set without labels").click()
    begun.value.save_as(tmp_path / "testset.zip")
    given_out = list(read(tmp_path / "testset.zip", "dbdc", language="en"))
    assert {entry.id for entry in given_out} == {gold.document.id for gold in GOLD}
    assert not any(entry.judgments for entry in given_out)
    manager.get_by_label("Team").fill("Kite")
    manager.get_by_role("button", name="Make a team's link").click()
    link = manager.locator(".secret code").inner_text()

    team = browse()
    team.goto(link)
    expect(team.get_by_role("heading", level=1)).to_have_text("Hand in a run")
    broken = answers(GOLD)
    broken["en-1"][1] = (2, [label("O", (0.5, 0.5, 0.5))])
    del broken["en-4"]
    hand_in(team, write_run(tmp_path / "broken.zip", broken))
    expect(team.get_by_role("alert")).to_contain_text("for 2 reasons")
    rows = team.locator(".problems tbody tr")
    expect(rows.nth(0)).to_contain_text("en-1.labels.json")
    expect(rows.nth(0)).to_contain_text("sum to 1.5000")
    expect(rows.nth(1)).to_contain_text("en-4.labels.json")
    assert violations(team) == []

    hand_in(team, write_run(tmp_path / "good.zip", answers(GOLD)), "careful")
    expect(team.get_by_role("heading", level=1)).to_have_text("Kite careful")
    expect(team.locator("main")).to_contain_text("shown here when the challenge is revealed")
    assert violations(team) == []

    manager.goto(f"/challenge/{challenge}")
    expect(manager.locator(".board").first).to_contain_text("Kite careful")
    manager.get_by_role("button", name="Freeze").click()
    team.goto(f"/challenge/{challenge}/submit")
    expect(team.locator(".notice")).to_have_text("No more runs are taken.")
    manager.get_by_label("cannot be taken back").check()
    manager.get_by_role("button", name="Reveal").click()
    expect(manager.locator(".state-mark")).to_have_text("revealed")

    team.goto(f"/challenge/{challenge}")
    team.get_by_role("link", name="JSD(NB,PB,B)").click()
    expect(team.locator("th[aria-sort=ascending]")).to_contain_text("JSD(NB,PB,B)")
    assert violations(team) == []
    team.get_by_role("link", name="Kite careful").first.click()
    team.get_by_label("Show").select_option("all")
    team.get_by_role("button", name="Show").click()
    expect(team.locator(".dialogue")).to_have_count(5)
    team.get_by_role("link", name="On", exact=True).click()
    expect(team.locator(".dialogue")).to_have_count(1)
    assert violations(team) == []


@pytest.mark.parametrize(
    ("lang", "dark", "width"), [("ja", True, NARROW), ("en", False, TABLET), ("en", False, 1280)]
)
def test_every_page_fits_and_can_be_used_by_all(
    browse: Browsing, house: Workbench, challenge: str, tmp_path: Path, lang: str, dark: bool, width: int
) -> None:
    page = browse(house.person("Mori", "manager"), lang=lang, dark=dark, width=width)
    token = house.store.challenges.add_team(
        challenge, "とても長い名前のチームですがそれでも表に収まるはずです"
    )
    page.goto(f"/challenge/{challenge}/team/{token}")
    page.locator("input[type=file]").set_input_files(write_run(tmp_path / "run.zip", answers(GOLD)))
    page.locator("main form button.primary").click()
    page.wait_for_url("**/run/*")
    run = page.url
    for path in (
        "/challenges",
        "/challenges/new",
        f"/challenge/{challenge}",
        f"/challenge/{challenge}/submit",
        run,
    ):
        page.goto(path)
        assert not scrolls_sideways(page), path
        # On a phone boards scroll; a tablet has room.
        assert width == NARROW or not tables_scroll(page), path
        assert violations(page) == [], path
