"""A campaign from the first form to the first unit, in a real browser; each page usable by everybody."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from lapsus.formats import convert
from lapsus.model import Entry
from tests.web.browser.house import NARROW, Browsing, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import ready
from tests.web.helpers import chat


def is_sound(page: Page) -> None:
    assert violations(page) == []
    assert not scrolls_sideways(page)


def test_every_step_can_be_used_by_everybody_on_a_phone_in_the_dark_and_in_japanese(
    house: Workbench, browse: Browsing, tmp_path: Path
) -> None:
    file, name = tmp_path / "chats.jsonl", "wizard"
    convert((Entry(f"d{n}", chat(f"d{n}", 1)) for n in range(6)), file)
    page = browse(house.person("Mori", "manager"), lang="ja", dark=True, width=NARROW)
    page.goto(f"{house.address}/new")
    is_sound(page)
    page.fill("#name", name)
    page.set_input_files("#file", file)
    next_button = page.locator("button[value=next]")
    next_button.click()
    page.check("input[value=breakdown]")
    expect(page.locator(".preview .turn-target")).to_contain_text("turn 0 of d2")
    is_sound(page)
    next_button.click()
    page.check("input[value=open]")
    page.fill("#per_unit", "2")
    page.fill("#pilot", "2")
    is_sound(page)
    next_button.click()
    page.fill("#consent_en", "You may stop at any time.")
    page.fill("#consent_ja", "いつでもやめられます。")
    is_sound(page)
    next_button.click()
    ready(page)
    page.click('.known [data-label="X"]')
    page.fill("#feedback_ja", "続けられません。")
    is_sound(page)
    page.click("button[value=add]")
    expect(page.locator(".known-units li")).to_have_count(1)
    ready(page)
    page.click('.known [data-label="O"]')
    page.select_option("#block", "checks")
    page.click("button[value=add]")
    expect(page.locator(".known-units li")).to_have_count(2)
    page.select_option("#training_then", "stop")
    is_sound(page)
    next_button.click()
    expect(page.locator(".summary")).to_contain_text("一か所につき 2 件")
    page.locator("main details summary").click()
    expect(page.locator("pre.plan")).to_contain_text("続けられません。")
    expect(page.locator("pre.plan")).to_contain_text("per_unit: 2")
    is_sound(page)
    page.click("button[value=make]")
    page.wait_for_url(f"**/c/{name}/manage")
    is_sound(page)
    page.locator(".ways .primary").click()
    expect(page.locator(".stages [aria-current]")).not_to_have_text("準備中")
    page.select_option("#uses", "any")
    page.click(".line-form button")
    link = page.input_value("#link")
    page.fill("#text", "Welcome!")
    page.click("section[aria-labelledby=write] button")
    expect(page.locator(".sent")).to_contain_text("Welcome!")
    is_sound(page)

    worker = browse(lang="ja", dark=True, width=NARROW)
    worker.goto(link)
    worker.fill("#name", "worker on a phone")
    worker.click("main button.primary")
    worker.goto(f"{house.address}/c/{name}/judge")
    worker.wait_for_url(f"**/c/{name}/begin")
    is_sound(worker)
    worker.click("main button.primary")
    worker.wait_for_timeout(100)
    assert worker.url.endswith("/begin")
    worker.check("[name=agree]")
    worker.click("main button.primary")
    worker.wait_for_url(f"**/c/{name}/u/*")


def test_a_mistake_is_said_beside_the_form_and_what_was_typed_stays(
    house: Workbench, browse: Browsing
) -> None:
    page = browse(house.person("Mori", "manager"), watched=False)
    name = house.campaign(documents=[chat("d0", 1)])
    page.goto(f"{house.address}/new")
    page.fill("#name", name)
    page.fill("#title_en", "Not yet a campaign")
    page.click("button[value=next]")
    expect(page.get_by_role("alert")).to_contain_text("already")
    expect(page.locator("#title_en")).to_have_value("Not yet a campaign")
    is_sound(page)


def test_a_guideline_of_ones_own_is_checked_while_one_types(
    house: Workbench, browse: Browsing, tmp_path: Path
) -> None:
    file = tmp_path / "chats.jsonl"
    convert((Entry(f"d{n}", chat(f"d{n}", 2)) for n in range(2)), file)
    page = browse(house.person("Mori", "manager"))
    page.goto(f"{house.address}/new")
    page.fill("#name", "own-wizard")
    page.set_input_files("#file", file)
    page.click("button[value=next]")
    page.check("input[value=response-quality]")
    expect(page.locator("#preview .asked").first).to_be_visible()
    page.click("button[value=back]")
    page.wait_for_url("**/data")
    expect(page.locator("#name")).to_have_value("own-wizard")
    page.click("button[value=next]")
    page.click(".own-guideline summary")
    page.select_option("#base", "breakdown")
    is_sound(page)
    page.click(".own-guideline form:first-of-type button")
    page.wait_for_url("**/own")
    expect(page.locator("#sound")).to_be_visible()
    page.fill("#scheme", "breakdown")
    expect(page.locator("#problem-list .warn")).to_contain_text("is here already")
    expect(page.locator("#sound")).to_be_hidden()
    is_sound(page)
    page.fill("#scheme", "ours")
    expect(page.locator("#sound")).to_be_visible()
    name = '[name="questions.0.labels.0.name.en"]'
    page.locator(f"details.part:has({name}) > summary").last.click()
    page.locator(name).fill("Easy to go on")
    page.click("button[value=done]")
    page.wait_for_url("**/guideline")
    expect(page.locator("#preview .offered").first).to_contain_text("Easy to go on")
    expect(page.locator("input[value=ours]")).to_be_checked()
    page.set_viewport_size({"width": NARROW, "height": 800})
    page.goto(page.url.replace("/guideline", "/own"))
    is_sound(page)


def test_a_campaign_is_copied_and_archived_and_a_program_gets_a_token(
    house: Workbench, browse: Browsing
) -> None:
    name = house.campaign()
    page = browse(house.person("Mori", "manager"), lang="ja", dark=True, width=NARROW)
    page.goto(f"/c/{name}/manage")
    page.click(f'form[action="/c/{name}/copy"] button')
    page.wait_for_url("**/data")
    expect(page.locator("#name")).to_have_value(f"{name}-2")
    is_sound(page)
    page.goto(f"/c/{name}/manage")
    page.click(f'form[action="/c/{name}/archive"] button')
    page.goto("/archive")
    expect(page.locator("table")).to_contain_text(name)
    is_sound(page)
    page.goto("/tokens")
    page.fill("#token-name", "夜間の集計")
    page.click(".line-form button")
    assert page.input_value("#new-token").startswith("lapsus_")
    is_sound(page)
    page.goto("/tokens")
    page.locator(".acts button").last.click()
    expect(page.locator("table .mark").first).to_be_visible()
    house.store.audit.exported(name, what="names", format="csv")
    page.goto("/exports")
    expect(page.locator("table")).to_contain_text("csv")
    is_sound(page)
    page.goto("/people")
    is_sound(page)
