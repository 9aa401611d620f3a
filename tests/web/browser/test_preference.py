"""Two replies side by side: the order is drawn for each person and kept with the answer; no system is named."""

from __future__ import annotations

import pytest

from lapsus.model import Document, Segment
from tests.web.browser.conftest import Browsing
from tests.web.browser.house import Workbench
from tests.web.browser.judging import begin, ready, said

UNITS = 5


def pairs(language: str) -> list[Document]:
    asked, ten, nine = (
        ("When do you open?", "At ten.", "At nine.")
        if language == "en"
        else ("何時に開きますか。", "十時です。", "九時です。")
    )
    return [
        Document(
            f"d{number}",
            (
                Segment("0", "user", asked),
                Segment("A", "system", ten, metadata={"system": "heron"}),
                Segment("B", "system", nine, metadata={"system": "lark"}),
            ),
            language,
        )
        for number in range(UNITS)
    ]


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("ja", 360)])
def test_the_first_shown_is_preferred_by_key(
    own: tuple[Workbench, Browsing], language: str, width: int
) -> None:
    """In a workbench of its own: the order is drawn by the person's number and the campaign's name."""
    house, browse = own
    ada = house.person(language=language)
    name = house.campaign("preference", [ada], pairs(language), name="pairs")
    page = browse(ada, lang=language)
    page.set_viewport_size({"width": width, "height": 800})
    begin(page, name)
    orders = []
    for unit in range(UNITS):
        ready(page)
        shown = page.locator(".reply h3").all_inner_texts()
        assert sorted(shown) == ["A", "B"]
        assert not page.locator('#document [data-segment="A"]').is_visible()
        assert "heron" not in page.content()
        orders.append("".join(shown))
        page.keyboard.press("1")
        page.wait_for_selector('[data-question=better] [aria-checked="true"]')
        if unit == 0:
            page.reload()
            ready(page)
            assert page.locator(".reply h3").all_inner_texts() == shown
            assert page.locator('[aria-checked="true"]').get_attribute("data-label") == shown[0]
        page.locator(".foot button.primary").click()
        if unit + 1 < UNITS:
            page.wait_for_selector(f'main[data-unit="{unit + 2}"]')
    page.wait_for_url(f"**/c/{name}/judge")
    assert {unit: answers["better"] for unit, answers in said(house, name, ada).items()} == {
        unit: f"{order[0]}|{order}" for unit, order in enumerate(orders, 1)
    }
    assert set(orders) == {"AB", "BA"}
