"""Digits answer the question that is outlined and no other, whatever guideline the page is made from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest
from playwright.sync_api import Page, expect

from lapsus.model import Document
from lapsus.schemes.scheme_check import check_scheme
from lapsus.store import Plan
from tests.web.browser.house import Browsing, Someone, Workbench, violations
from tests.web.browser.judging import SCALES, begin, documents, said, shows, tab_to, type_at_once
from tests.web.helpers import chat

HEAD = """
scheme: {name}
version: "1"
title: {{en: "Own", ja: "独自"}}
summary: {{en: "A team's own.", ja: "自分たちのもの。"}}
unit: {{role: system, context: all}}
questions:
"""
MIXED = """
  - id: ok
    kind: label
    name: {en: "Fine", ja: "可否"}
    ask: {en: "Is it fine?", ja: "よいですか。"}
    labels:
      - {id: yes_, name: {en: "Yes", ja: "はい"}, definition: {en: "fine", ja: "よい"}}
      - {id: no_, name: {en: "No", ja: "いいえ"}, definition: {en: "not fine", ja: "よくない"}}
  - id: flaws
    kind: labels
    required: false
    name: {en: "Flaws", ja: "欠点"}
    ask: {en: "Which flaws?", ja: "どの欠点ですか。"}
    labels:
      - {id: rude, name: {en: "Rude", ja: "失礼"}, definition: {en: "rude", ja: "失礼"}}
      - {id: dull, name: {en: "Dull", ja: "退屈"}, definition: {en: "dull", ja: "退屈"}}
      - {id: long, name: {en: "Long", ja: "冗長"}, definition: {en: "long", ja: "冗長"}}
  - id: polite
    kind: scale
    name: {en: "Politeness", ja: "丁寧さ"}
    ask: {en: "How polite?", ja: "どのくらい丁寧ですか。"}
    levels:
      - {value: 1, meaning: {en: "rude", ja: "失礼"}}
      - {value: 2, meaning: {en: "plain", ja: "普通"}}
      - {value: 3, meaning: {en: "polite", ja: "丁寧"}}
  - id: bad
    kind: spans
    required: false
    name: {en: "Bad words", ja: "悪い語"}
    ask: {en: "Mark bad words.", ja: "悪い語に印を付けてください。"}
    labels:
      - {id: word, key: "1", covers: token, name: {en: "Bad", ja: "悪い"}, definition: {en: "bad", ja: "悪い"}}
  - id: why
    kind: text
    required: false
    name: {en: "Why", ja: "理由"}
    ask: {en: "Why?", ja: "なぜですか。"}
"""
YES_NO = """
  - id: q{n}
    kind: label
    name: {{en: "Question {n}", ja: "質問{n}"}}
    ask: {{en: "Is it so?", ja: "そうですか。"}}
    labels:
      - {{id: "y", name: {{en: "Yes", ja: "はい"}}, definition: {{en: "so", ja: "そう"}}}}
      - {{id: "n", name: {{en: "No", ja: "いいえ"}}, definition: {{en: "not so", ja: "違う"}}}}
"""
ELEVEN = "".join(
    f'      - {{id: l{n}, name: {{en: "Label {n}", ja: "札{n}"}}, definition: {{en: "it", ja: "それ"}}}}\n'
    for n in range(1, 12)
)
LEVELS = "".join(f'      - {{value: {n}, meaning: {{en: "{n}", ja: "{n}"}}}}\n' for n in range(11))
LONG = f"""
  - id: many
    kind: labels
    name: {{en: "Many", ja: "多数"}}
    ask: {{en: "Which?", ja: "どれですか。"}}
    labels:
{ELEVEN}
  - id: degree
    kind: scale
    name: {{en: "Degree", ja: "度合い"}}
    ask: {{en: "How much?", ja: "どのくらいですか。"}}
    levels:
{LEVELS}
"""
OWN_DIGITS = """
  - id: first
    kind: label
    name: {en: "First", ja: "一"}
    ask: {en: "Is it so?", ja: "そうですか。"}
    labels:
      - {id: no-one, key: "0", name: {en: "No", ja: "いいえ"}, definition: {en: "not so", ja: "違う"}}
      - {id: one, key: "1", name: {en: "Yes", ja: "はい"}, definition: {en: "so", ja: "そう"}}
  - id: second
    kind: label
    name: {en: "Second", ja: "二"}
    ask: {en: "Is it so?", ja: "そうですか。"}
    labels:
      - {id: two, number: 2, name: {en: "Two", ja: "二"}, definition: {en: "so", ja: "そう"}}
      - {id: three, key: t, name: {en: "Three", ja: "三"}, definition: {en: "not so", ja: "違う"}}
      - {id: four, name: {en: "Four", ja: "四"}, definition: {en: "not so", ja: "違う"}}
"""
CHOSEN = """() => [...document.querySelectorAll("#questions [aria-checked=true]")].map((one) =>
  `${one.closest("section").dataset.question} ${one.dataset.label ?? one.textContent}`)"""
_numbers = count(1)


def own_campaign(
    house: Workbench, ada: Someone, questions: str, texts: Sequence[Document] | None = None
) -> str:
    """A campaign with a guideline of its own."""
    name = f"keys-{next(_numbers)}"
    scheme, problems = check_scheme(HEAD.format(name=name) + questions, "own.yaml")
    assert scheme is not None, problems
    plan = Plan(name=name, scheme=name, who="named", people=(ada.name,), order="given")
    house.store.campaigns.create(plan, scheme)
    house.store.campaigns.add_documents(name, texts or documents("breakdown", "en"))
    return name


def is_at(page: Page, question: str) -> None:
    expect(page.locator(".question.current")).to_have_attribute("data-question", question)


def chosen(page: Page) -> list[str]:
    """What is chosen on the page, in order."""
    return list(page.evaluate(CHOSEN))


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_each_of_five_kinds_gets_its_own_digits(house: Workbench, browse: Browsing, lang: str) -> None:
    ada = house.person(language=lang)
    name = own_campaign(house, ada, MIXED, documents("breakdown", lang))
    page = begin(browse(ada, lang=lang), name)
    keys = page.keyboard
    is_at(page, "ok")
    keys.press("2")
    assert chosen(page) == ["ok no_"]
    is_at(page, "polite")
    keys.press("3")
    assert chosen(page) == ["ok no_", "polite 3"]
    # No label is a whole answer: digits choose and take back, and Enter goes on or submits.
    keys.press("Shift+Tab")
    is_at(page, "flaws")
    for key in "1323":
        keys.press(key)
    assert chosen(page) == ["ok no_", "flaws rude", "flaws dull", "polite 3"]
    # Words that one writes are no keys, and the way back from them leads to where one was.
    keys.press("c")
    keys.type("123")
    keys.press("Escape")
    is_at(page, "flaws")
    keys.press("2")
    assert chosen(page) == ["ok no_", "flaws rude", "polite 3"]
    # Its own digit marks words, where marks are what one looks at.
    page.locator(".turn.target .tokens").focus()
    is_at(page, "bad")
    keys.press("2")
    keys.press("1")
    expect(page.locator(".marks li")).to_have_count(1)
    assert chosen(page) == ["ok no_", "flaws rude", "polite 3"]
    assert violations(page) == []
    keys.press("Enter")
    shows(page, 2)
    (answers,) = said(house, name, ada).values()
    assert {**answers, "bad": len(answers["bad"])} == {
        "ok": "no_",
        "flaws": ["rude"],
        "polite": 3,
        "bad": 1,
        "why": "123",
    }


def test_enter_goes_on_from_labels_while_something_waits(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = own_campaign(house, ada, MIXED)
    page = begin(browse(ada), name)
    tab_to(page, '[data-question="flaws"] [role=checkbox]')
    for key in ("2", "Enter", "1", "Enter"):
        page.keyboard.press(key)
    is_at(page, "ok")
    assert chosen(page) == ["flaws dull", "polite 1"]
    expect(page.locator('[data-question="ok"] .broken')).not_to_be_empty()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    shows(page, 2)
    assert said(house, name, ada) == {1: {"ok": "yes_", "flaws": ["dull"], "polite": 1}}


@pytest.mark.parametrize(
    ("lang", "help"),
    [("en", "Answer the outlined question by number"), ("ja", "枠で囲まれた質問に番号で答える")],
)
def test_three_questions_of_one_label_each(house: Workbench, browse: Browsing, lang: str, help: str) -> None:
    ada = house.person(language=lang)
    questions = "".join(YES_NO.format(n=n) for n in (1, 2, 3))
    name = own_campaign(house, ada, questions, documents("breakdown", lang))
    page = begin(browse(ada, lang=lang), name)
    for place, key in enumerate("121", 1):
        is_at(page, f"q{place}")
        expect(page.locator(".question.current .choice kbd")).to_have_text(["1", "2"])
        expect(page.locator(".choice kbd:visible")).to_have_count(2)
        page.keyboard.press(key)
    assert chosen(page) == ["q1 y", "q2 n", "q3 y"]
    page.keyboard.press("?")
    listed = page.locator(".keys-list").first
    expect(listed.locator("dd")).to_have_text(
        [help, *(["Yes", "No"] if lang == "en" else ["はい", "いいえ"])]
    )
    expect(listed.locator("dt")).to_have_text(["1…2", "y", "n"])
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    shows(page, 2)
    assert said(house, name, ada) == {1: {"q1": "y", "q2": "n", "q3": "y"}}


def test_one_question_alone_is_answered_by_one_digit(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = own_campaign(house, ada, MIXED[: MIXED.index("  - id: flaws")])
    page = begin(browse(ada), name)
    expect(page.locator(".choice kbd:visible")).to_have_text(["1", "2"])
    page.keyboard.press("2")
    shows(page, 2)
    assert said(house, name, ada) == {1: {"ok": "no_"}}


@pytest.mark.parametrize("width", [360, 1280])
def test_a_unit_begun_before_opens_where_one_stopped(house: Workbench, browse: Browsing, width: int) -> None:
    """What a digit answers is in sight, also where it is the eighth question."""
    ada = house.person()
    name = house.campaign("response-quality", [ada])
    page = begin(browse(ada, width=width, height=740), name)
    expect(page.locator(".question.current")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    for scale in SCALES:
        is_at(page, scale)
        page.keyboard.press("4")
    expect(page.locator("#saved")).to_have_text("saved ✓")
    begin(page, name)
    expect(page.locator(".question.current .question-name")).to_contain_text("Dialogue act")
    expect(page.locator(".question.current")).to_be_in_viewport(ratio=1)


def test_numbers_of_two_digits(house: Workbench, browse: Browsing) -> None:
    """Also levels; and a zero that ends a number does not say that nothing fits."""
    ada = house.person()
    name = own_campaign(house, ada, LONG)
    page = begin(browse(ada), name)
    is_at(page, "many")
    page.keyboard.press("0")
    expect(page.locator(".choice.none")).to_have_attribute("aria-checked", "true")
    type_at_once(page, "1011")
    assert chosen(page) == ["many l10", "many l11"]
    page.keyboard.press("Enter")
    is_at(page, "degree")
    type_at_once(page, "10")
    assert chosen(page) == ["many l10", "many l11", "degree 10"]
    page.keyboard.press("Enter")
    shows(page, 2)
    assert said(house, name, ada) == {1: {"many": ["l10", "l11"], "degree": 10}}


def test_a_number_stays_with_the_unit_on_which_it_was_typed(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    texts = [chat(f"d{n}", 1) for n in range(2)]
    name = house.campaign("error-types", [ada], texts, batch=2)
    page = begin(browse(ada), name)
    page.clock.install()
    page.keyboard.press("1")
    page.keyboard.press("j")
    shows(page, 2)
    page.clock.run_for(2_000)
    assert chosen(page) == []
    page.keyboard.press("k")
    shows(page, 1)
    assert chosen(page) == ["types uninterpretable"]


def test_digits_of_the_guideline_hold(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = own_campaign(house, ada, OWN_DIGITS)
    page = begin(browse(ada), name)
    page.keyboard.press("0")
    assert chosen(page) == ["first no-one"]
    is_at(page, "second")
    # 1 is the key of a label, but not here.
    for key in "10":
        page.keyboard.press(key)
    assert chosen(page) == ["first no-one"]
    for key, label in (("2", "two"), ("t", "three"), ("3", "four")):
        page.keyboard.press(key)
        assert chosen(page) == ["first no-one", f"second {label}"]


def test_a_letter_changes_no_answer_that_one_does_not_look_at(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("response-quality", [ada], documents("response-quality", "en"))
    page = begin(browse(ada), name)
    for key in "3333333ypn":
        page.keyboard.press(key)
    before = chosen(page)
    assert len(before) == 10
    page.locator('[data-question="soundness"] .level').nth(2).focus()
    page.keyboard.press("n")
    assert chosen(page) == before
    page.keyboard.press("5")
    assert chosen(page) == ["soundness 5", *before[1:]]


@pytest.mark.parametrize(("lang", "mark"), [("en", "Fine No"), ("ja", "可否 いいえ")])
def test_beside_a_turn_stands_what_one_said_of_it(
    house: Workbench, browse: Browsing, lang: str, mark: str
) -> None:
    """By name, and by that of the question that sums it up, though another one has labels of the same ids."""
    ada = house.person(language=lang)
    other = MIXED[: MIXED.index("  - id: flaws")].replace("id: ok", "id: also").replace('"No"', '"Never"')
    questions = MIXED[: MIXED.index("  - id: flaws")] + other.replace('"いいえ"', '"違う"')
    name = own_campaign(house, ada, questions, documents("breakdown", lang))
    page = begin(browse(ada, lang=lang), name)
    for key in ("2", "1", "Enter"):
        page.keyboard.press(key)
    shows(page, 2)
    plain = browse(ada, lang=lang, java_script_enabled=False)
    plain.goto(page.url)
    for shown in (page, plain):
        expect(shown.locator("a.mark")).to_have_text(mark)
