"""A file with odd columns in a real browser: mapped by hand, shown at once, usable by everybody."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.web.browser.house import NARROW, Browsing, Workbench, scrolls_sideways, violations
from tests.web.test_columns import HEADER, TURNS


def test_columns_are_mapped_and_what_comes_of_it_is_shown_at_once(
    house: Workbench, browse: Browsing, tmp_path: Path
) -> None:
    file = tmp_path / "odd.csv"
    file.write_text(HEADER + TURNS)
    page = browse(house.person("Mori", "manager"))
    page.goto(f"{house.address}/new")
    page.fill("#name", "odd-columns")
    page.set_input_files("#file", file)
    page.click("button[value=next]")
    expect(page.locator(".column-map tbody tr")).to_have_count(5)
    for head in page.locator(".column-map th").all():
        assert head.evaluate("head => head.scrollWidth <= head.clientWidth"), (
            "what it holds is in its own column"
        )
    page.select_option("select[name=speaker-1]", "system")
    expect(page.locator("#understood .turns li")).to_have_count(3)
    page.select_option("select[name=column-3]", "model")
    expect(page.locator("#understood")).to_contain_text("model=Version")
    page.set_viewport_size({"width": NARROW, "height": 740})
    assert violations(page) == []
    assert not scrolls_sideways(page)
    page.click("button[value=next]")
    page.wait_for_url("**/guideline")


HOLD_THEIR_WORDS = """selects => selects.every((one) => {
  const width = one.offsetWidth;
  one.style.inlineSize = "max-content";
  return one.offsetWidth <= width;
})"""
ROWS = "".join(
    f"{n};{who};{said};{'甲' if n % 2 else '乙'}\r\n"
    for n in range(3)
    for who, said in (("山田", "届きません"), ("花子", "少しお待ちください"))
)


def test_a_file_is_kept_whatever_else_is_wrong(house: Workbench, browse: Browsing, tmp_path: Path) -> None:
    file, taken = tmp_path / "表.csv", house.campaign()
    file.write_bytes(f"受付番号;話した人;本文;版\r\n{ROWS}".encode("cp932"))
    page = browse(house.person("Mori", "manager"), lang="ja", width=NARROW)
    page.goto("/new")
    page.fill("#name", taken)
    page.set_input_files("#file", file)
    page.click("button[value=next]")
    expect(page.get_by_role("alert")).to_contain_text(taken)
    expect(page.locator(".kept-file")).to_contain_text(file.name)
    assert violations(page) == []
    page.fill("#name", "kept")
    page.click("button[value=next]")
    page.wait_for_url("**/columns")
    expect(page.locator(".column-map td").nth(1)).to_have_text("山田")
    # Nothing tells who of the two is judged: it is asked for, and what was mapped stays as it was.
    page.select_option("select[name=column-3]", "")
    page.click("button[value=next]")
    expect(page.locator("#columns-error")).to_be_visible()
    expect(page.locator("select[name=column-3]")).to_have_value("")
    assert violations(page) == []
    assert not scrolls_sideways(page)
    page.select_option("select[name=column-3]", "model")
    for place, side in enumerate(("user", "system")):
        page.select_option(f"select[name=speaker-{place}]", side)
    expect(page.locator("#understood .turn-target")).to_have_text("システム 少しお待ちください")
    assert page.locator(".speakers select").evaluate_all(HOLD_THEIR_WORDS)
    page.click("button[value=next]")
    page.wait_for_url("**/guideline")
    page.check("input[value=breakdown]")
    page.click("button[value=next]")
    page.goto(page.url.rpartition("/")[0] + "/review")
    page.click("button[value=make]")
    page.wait_for_url("**/c/kept/manage")
    names = house.store.units.document_names("kept")
    assert {house.store.units.document("kept", name).system for name in names} == {"甲", "乙"}
