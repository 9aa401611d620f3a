"""A judge is added from the page, judges beside the server's answers, and its table and charts appear by themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from lapsus.annotators.language_model import endpoint
from lapsus.model import Entry, Judgment
from lapsus.web.judge_sources import JudgeSources
from tests.annotators.language_model.stub import Said, Stub, completion, serving
from tests.web.browser.house import (
    NARROW,
    TABLET,
    WIDE,
    Browsing,
    Someone,
    Workbench,
    scrolls_sideways,
    violations,
)
from tests.web.browser.judging import documents
from tests.web.test_judges import said_of, talk

PEOPLE = ("Ada", "Ben", "Cyd")
SURE = {"breakdown": {"O": 0.8, "X": 0.2}}


@pytest.fixture
def stub() -> Iterator[Stub]:
    def answer(body: dict[str, object]) -> Said:
        return completion({"breakdown": "X" if "cheese" in said_of(body) else "O", "comment": None})

    with serving(answer) as found:
        yield found


@pytest.fixture
def judged(house: Workbench, stub: Stub) -> Iterator[tuple[str, Someone]]:
    """Twelve chats that three people judged, and a server that may ask the stub."""
    documents = [talk(number) for number in range(12)]
    name = house.campaign("breakdown", [], documents, per_unit=3)
    entries = [
        Entry(one.id, one, tuple(
            Judgment(one.id, s.id, who, "breakdown", "1.0", {"breakdown": "X" if "cheese" in s.text else "O"})
            for s in one.segments for who in PEOPLE))
        for one in documents[:9]
    ]  # fmt: skip
    house.store.imports.add_judgments(name, entries)
    web = house.app.state.web
    web.judges = web.judge_work.sources = JudgeSources(None, (endpoint(stub.endpoint),))
    yield name, house.person("Mori", "manager")
    web.judges = web.judge_work.sources = JudgeSources()


def test_a_judge_added_from_the_page_shows_by_itself(judged: tuple[str, Someone], browse: Browsing) -> None:
    name, mori = judged
    page = browse(mori)
    page.goto(f"/c/{name}/judges")
    expect(page.locator("#figures")).to_contain_text("No program has judged here yet.")
    form = page.locator("form[aria-labelledby=add-language-model]")
    form.get_by_label("Model, as that server calls it").fill("tiny")
    form.get_by_role("button", name="Start").click()
    expect(page.locator("#runs")).to_contain_text("done 48 of 48 units")
    expect(page.locator("#figures .judges tbody tr")).to_have_count(3)
    row = page.locator("#figures .judges tbody tr").first
    expect(row).to_contain_text("openai:tiny")
    expect(row).to_contain_text("5,280")
    for chart in ("advantage", "shares", "confusion"):
        expect(page.locator(f"svg[aria-labelledby='chart-{chart}-wide-title']")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize(
    ("reader", "told"),
    [
        ("en", "breakdown-en: learned English, not Japanese"),
        ("ja", "breakdown-en：英語で学習、日本語は未学習"),
    ],
)
def test_a_campaign_is_offered_judges_that_read_its_documents(
    house: Workbench, browse: Browsing, reader: str, told: str
) -> None:
    mori = house.person("Mori", "manager")
    page = browse(mori, lang=reader, dark=reader == "ja", width=NARROW)
    name = house.campaign("breakdown", [], documents("breakdown", "ja"))
    page.goto(f"/c/{name}/judges")
    expect(page.locator("#model option")).to_have_text(["breakdown-ja"])
    expect(page.locator(".unread li")).to_have_text([told])
    assert violations(page) == []
    assert not scrolls_sideways(page)
    # Marks on pairs are shipped for English alone.
    name = house.campaign("semantic-errors", [], documents("semantic-errors", "ja"))
    page.goto(f"/c/{name}/judges")
    expect(page.locator(".unread li")).to_have_count(1)
    expect(page.locator("#model")).to_have_count(0)


@pytest.mark.parametrize(
    ("lang", "dark", "width"), [("ja", True, NARROW), ("ja", False, TABLET), ("en", False, WIDE)]
)
def test_everybody_can_use_the_page(
    house: Workbench, judged: tuple[str, Someone], browse: Browsing, lang: str, dark: bool, width: int
) -> None:
    name, mori = judged
    house.app.state.web.judges = JudgeSources()
    program = house.store.programs.add(f"floor-{lang}")
    said = [
        Entry(one.id, one, tuple(
            Judgment(one.id, s.id, program.name, "breakdown", "1.0", {"breakdown": "O"}, SURE)
            for s in one.segments))
        for one in map(talk, range(12))
    ]  # fmt: skip
    list(house.store.programs.add_judgments(name, program, said))
    page = browse(mori, lang=lang, dark=dark, width=width)
    page.goto(f"/c/{name}/judges")
    expect(page.locator("#calibration-title")).to_be_visible()
    expect(page.get_by_text("lapsus serve --endpoint", exact=False)).to_be_visible()
    assert violations(page) == []
    assert not scrolls_sideways(page)
    # On a phone a judge is a card: its verdicts are seen without scrolling to the side.
    last = page.locator("#figures .judges tbody tr").first.locator("td").last.bounding_box()
    assert last is not None
    assert last["x"] + last["width"] <= width
    page.locator("#figures .judges tbody a").nth(1).click()
    expect(page.locator(".found")).to_have_count(18)
