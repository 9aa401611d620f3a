"""The whole way in real browsers: wizard, two people who judge, agreement, a decision, and the data taken away."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from lapsus.formats import convert, read
from lapsus.model import Entry
from tests.web.browser.house import Browsing, Workbench, violations
from tests.web.browser.judging import answerable, documents, judge_with_keys
from tests.web.browser.test_stats import parts_are_there

CONSENT = "You may stop at any time."


def set_up(page: Page, name: str, file: Path) -> str:
    """The wizard, from its first form to a link for whoever comes."""
    page.goto("/new")
    page.fill("#name", name)
    page.set_input_files("#file", file)
    on = page.locator("button[value=next]")
    on.click()
    page.check("input[value=breakdown]")
    on.click()
    page.check("input[value=open]")
    page.fill("#per_unit", "2")
    page.locator("summary").click()
    page.check("input[name=order][value=given]")
    on.click()
    page.fill("#consent_en", CONSENT)
    on.click()
    on.click()
    expect(page.locator("pre.plan")).to_contain_text("order: given")
    page.click("button[value=make]")
    page.wait_for_url(f"**/c/{name}/manage")
    stage = page.locator(".stages [aria-current]")
    expect(stage).to_have_text("draft")
    page.get_by_role("button", name="Open it for annotators").click()
    expect(stage).to_have_text("open")
    page.select_option("#uses", "any")
    page.click(".line-form button")
    return page.input_value("#link")


def join(page: Page, link: str, name: str, called: str) -> None:
    """In by the link, with a name alone; then what is read before the first unit."""
    page.goto(link)
    page.fill("#name", called)
    page.click("main button.primary")
    page.goto(f"/c/{name}/judge")
    expect(page.locator("main")).to_contain_text(CONSENT)
    page.check("[name=agree]")
    page.click("main button.primary")
    page.wait_for_url(f"**/c/{name}/u/*")


def download(page: Page, folder: Path, what: str, format: str = "jsonl") -> Path:
    page.select_option("#what", what)
    page.select_option("#to", format)
    with page.expect_download() as begun:
        page.locator(".take button").click()
    path = folder / begun.value.suggested_filename
    begun.value.save_as(path)
    return path


def test_from_the_wizard_to_the_data(house: Workbench, browse: Browsing, tmp_path: Path) -> None:
    name, given = "through", documents("breakdown", "en")
    convert((Entry(one.id, one) for one in given), tmp_path / "chats.jsonl")
    manager = browse(house.person("Mori", "manager"))
    link = set_up(manager, name, tmp_path / "chats.jsonl")

    ada, ben = browse(), browse()
    join(ada, link, name, "Ada the first")
    judge_with_keys(ada, name, "1231")
    manager.goto(f"/c/{name}/insight")
    expect(manager.locator("#h-agreement + p")).to_have_text(
        "Not yet: it takes units that two people have judged."
    )
    join(ben, link, name, "Ben the second")
    judge_with_keys(ben, name, "1331")

    # Agreement appears: 3 of 4 units agree. Shares O 1/2, T 1/8, X 3/8: (3/4 - 13/32) / (1 - 13/32) = 11/19.
    manager.reload()
    expect(manager.locator("#heads .large").nth(1)).to_contain_text("0.58")
    parts_are_there(manager)
    expect(manager.locator("#annotators tbody tr")).to_have_count(2)
    assert manager.locator(".chart .chart-wide svg").count() >= 5
    expect(manager.locator("#answers .chart-wide svg")).to_be_visible()

    # Decide: the one disputed unit, by a key, with a reason.
    manager.locator("#heads .primary").click()
    manager.wait_for_url("**/decide/2**")
    expect(manager.locator(".groups li")).to_have_count(2)
    manager.keyboard.press("c")
    manager.keyboard.type("they could still go on")
    manager.keyboard.press("Escape")
    answerable(manager)
    manager.keyboard.press("1")
    expect(manager.locator("#standing")).to_contain_text("Possible breakdown")
    expect(manager.locator("#standing")).to_contain_text("they could still go on")

    # Take away: what was given in comes out, with what everybody said and what was decided.
    manager.goto(f"/c/{name}/insight")
    parts_are_there(manager)
    assert violations(manager) == []
    named = list(read(download(manager, tmp_path, "names")))
    assert [entry.document for entry in named] == given
    said: dict[str, str] = {}
    for judgment in (one for entry in named for one in entry.judgments):
        said[judgment.annotator] = said.get(judgment.annotator, "") + str(judgment.answers["breakdown"])
    assert said == {"Ada the first": "OTXO", "Ben the second": "OXXO"}
    kept = list(house.store.exports.export(name))
    assert list(read(download(manager, tmp_path, "pseudonyms"))) == kept
    assert [len(entry.judgments) for entry in kept] == [4, 4]
    gold = read(download(manager, tmp_path, "gold"))
    assert [one.answers["breakdown"] for entry in gold for one in entry.judgments] == ["O", "T", "X", "O"]
