"""A guideline of somebody's own gets a good page from the same parts."""

from __future__ import annotations

from playwright.sync_api import expect

from lapsus.model import Document, Segment
from lapsus.schemes.scheme_check import check_scheme
from lapsus.store import Plan
from tests.web.browser.house import Browsing, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import begin, said, tab_to

OWN = """
scheme: own
version: "1"
title: {en: "Mixed"}
summary: {en: "Everything once."}
unit: {role: user, context: all}
questions:
  - id: mood
    kind: label
    name: {en: "Mood"}
    ask: {en: "How does it sound?"}
    labels:
      - {id: glad, key: g, name: {en: "Glad"}, definition: {en: "Sounds glad."}}
      - {id: sad, key: s, name: {en: "Sad"}, definition: {en: "Sounds sad."}}
  - id: topics
    kind: labels
    name: {en: "Topics"}
    ask: {en: "What is it about?"}
    at_most: 2
    labels:
      - {id: food, key: d, name: {en: "Food"}, definition: {en: "About food."}}
      - {id: work, key: w, name: {en: "Work"}, definition: {en: "About work."}}
      - {id: home, key: h, name: {en: "Home"}, definition: {en: "About home."}}
    apart: [[work, home]]
  - id: length
    kind: scale
    name: {en: "Length"}
    ask: {en: "How long is it?"}
    levels:
      - {value: 0, meaning: {en: "short"}}
      - {value: 1, meaning: {en: "middling"}}
      - {value: 2, meaning: {en: "long"}}
  - id: names
    kind: spans
    name: {en: "Names"}
    ask: {en: "Where are names?"}
    required: false
    labels:
      - {id: person, key: p, covers: token, name: {en: "Person"}, definition: {en: "A person."}}
      - {id: place, key: l, covers: token, name: {en: "Place"}, definition: {en: "A place."}}
  - id: why
    kind: text
    name: {en: "Why"}
    ask: {en: "Say why."}
"""


def test_every_kind_of_question_by_keys(house: Workbench, browse: Browsing) -> None:
    scheme, problems = check_scheme(OWN, "own.yaml")
    assert scheme is not None, problems
    ada = house.person()
    plan = Plan(name="own", scheme="own", who="named", people=(ada.name,), order="given")
    house.store.campaigns.create(plan, scheme)
    turns = (
        Segment("0", "system", "Who called?"),
        Segment("1", "user", "Ida Vale from Orsk"),
        Segment("2", "system", "I see."),
    )
    house.store.campaigns.add_documents("own", [Document("d", turns, "en")])
    page = begin(browse(ada, lang="ja"), "own")
    keys = page.keyboard
    keys.press("Enter")
    expect(page.locator(".broken:not(:empty)")).to_have_count(4)
    # The guideline's own keys go before those of the page: g is an answer here, not the guideline.
    keys.press("g")
    keys.press("d")
    keys.press("w")
    keys.press("h")
    expect(page.locator(".reason")).to_contain_text("同時に付けません")
    tab_to(page, '[data-question="length"] .level')
    keys.press("0")
    page.locator('[data-segment="1"] .tokens').focus()
    keys.press("Home")
    keys.press("Shift+ArrowRight")
    keys.press("p")
    keys.press("End")
    keys.press("l")
    keys.press("Escape")
    keys.press("c")
    keys.type("so it seems")
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 640})
    assert not scrolls_sideways(page)
    keys.press("Control+Enter")
    page.wait_for_url("**/judge")
    assert said(house, "own", ada) == {
        1: {
            "mood": "glad",
            "topics": ["food", "work"],
            "length": 0,
            "names": [
                {"segment": "1", "start": 0, "end": 8, "label": "person"},
                {"segment": "1", "start": 14, "end": 18, "label": "place"},
            ],
            "why": "so it seems",
        }
    }
