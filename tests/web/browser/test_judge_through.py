"""Each guideline, judged from the sign-in link to the last unit: with keys alone, and with the mouse alone."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.language import tokens
from lapsus.schemes import scheme_names
from tests.web.browser.house import Browsing, Workbench
from tests.web.browser.judging import HANDS, SCALES, documents, ready, said, shows


def expected(scheme: str, language: str) -> dict[str, Any]:
    """What everybody in these tests says about each unit."""
    if scheme == "breakdown":
        return {"breakdown": "T"}
    if scheme == "error-types":
        return {"types": ["ignore-proposal", "repetition"]}
    if scheme == "response-quality":
        labels = {"dialogue-act": "Y", "emotion": "P", "communicative-goal": "N", "fitting-acts": ["thanks"]}
        return dict.fromkeys(SCALES, 4) | labels
    first, second, text = documents(scheme, language)[0].segments
    words = tokens(text.text, language)
    places = [first.elements()[2], *second.elements()]
    segments = ["t1", "t2", "t2", "t2"]
    marks = [
        {"segment": segment, "start": place.start, "end": place.end, "label": "omission"}
        for segment, place in zip(segments, places, strict=True)
    ]
    marks.append({"segment": "text", "start": 0, "end": words[1].end, "label": "addition"})
    marks.append({"segment": "text", "start": words[-1].start, "end": words[-1].end, "label": "repetition"})
    return {"errors": marks}


PAIRWISE = [
    (scheme, hands, ("en", "ja")[(place + other) % 2])
    for place, scheme in enumerate(("breakdown", "error-types", "response-quality", "semantic-errors"))
    for other, hands in enumerate(HANDS)
]
"""Every guideline by keyboard and by mouse and in both languages, and both ways in both languages."""


def test_all_guidelines_are_judged_here() -> None:
    assert set(scheme_names()) == {
        "breakdown",
        "error-types",
        "response-quality",
        "semantic-errors",
        "preference",
    }


@pytest.mark.parametrize(("scheme", "hands", "language"), PAIRWISE)
def test_to_the_last_unit(house: Workbench, browse: Browsing, scheme: str, hands: str, language: str) -> None:
    ada = house.person(language=language)
    name = house.campaign(scheme, [ada], documents(scheme, language))
    page = browse(ada, lang=language)
    using = HANDS[hands](page)
    using.start(name)
    judge = getattr(using, scheme.replace("-", "_"))
    units = 2 if scheme in ("response-quality", "semantic-errors") else 4
    for unit in range(1, units + 1):
        ready(page)
        shows(page, unit)
        judge()
    page.wait_for_url(f"**/c/{name}/judge")
    assert page.locator("h1").count() == 1
    assert said(house, name, ada) == {unit: expected(scheme, language) for unit in range(1, units + 1)}
