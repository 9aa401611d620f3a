"""The browser checks what the server checks, and says it in the same words."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from lapsus.language import tokens
from lapsus.model import Answer, Document, Scheme, Segment
from lapsus.schemes import broken_rules, load_scheme
from tests.web.browser.house import Browsing, Workbench
from tests.web.helpers import chat

CASES = 400
TEXTS = {"en": 'ida vale 👩‍🔬 lives, in e\u0301lan "orsk" .', "ja": "霧見湖は👩‍🔬か\u3099青い、湖 です。"}
CHECK = """async ({rules, words, catalogue, scheme, seen, cases}) => {
  const {brokenRules} = await import(rules);
  const {Words} = await import(words);
  const said = new Words(await (await fetch(catalogue)).json());
  const check = (answers) => brokenRules(scheme, answers, seen, said);
  return cases.map((answers) => check(answers).map((one) => [one.rule, one.question, one.message]));
}"""


def document(scheme: Scheme, language: str) -> tuple[Document, str | None]:
    if scheme.unit.role == "document":
        triple = Segment.triple("t1", "Ida Vale", "birthPlace", "Orsk 👩‍🔬")
        return Document("d", (triple, Segment("text", "text", TEXTS[language])), language), None
    return msgspec.structs.replace(chat("d"), language=language), "2"


def seen(doc: Document) -> dict[str, Any]:
    """What a unit's page knows of a document."""
    places = {
        segment.id: [
            [place.start, place.end] for place in segment.elements() or tokens(segment.text, doc.language)
        ]
        for segment in doc.segments
    }
    return {"segments": plain(doc.segments), "language": doc.language, "tokens": places}


def plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def answers(scheme: Scheme, doc: Document, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Answers of all kinds: right, incomplete, and wrong in every way that a form of ours could be."""
    for _ in range(CASES):
        given = {
            question.id: _answer(scheme, question, doc, chance)
            for question in scheme.questions
            if chance.random() < 0.9
        }
        if chance.random() < 0.05:
            given["nobody-asked"] = "x"
        yield {key: value for key, value in given.items() if value is not None}


def _answer(scheme: Scheme, question: Any, doc: Document, chance: random.Random) -> Any:
    if chance.random() < 0.05:
        return chance.choice(
            ["word", 3, ["word"], [{"segment": "t1", "start": 0, "end": 1, "label": "x"}], None]
        )
    labels = [label.id for label in scheme.labels_of(question)]
    match question.kind:
        case "label":
            return chance.choice([*labels, "unknown"])
        case "labels":
            return [chance.choice([*labels, *labels, "unknown"]) for _ in range(chance.randrange(4))]
        case "scale":
            return chance.randrange(-1, 8)
        case "spans":
            return [_span(labels, doc, chance) for _ in range(chance.randrange(5))]
    return "some words"


def _span(labels: list[str], doc: Document, chance: random.Random) -> dict[str, Any]:
    segment = chance.choice(doc.segments)
    places = segment.elements() or tokens(segment.text, doc.language)
    first, last = sorted(chance.choices(range(len(places)), k=2))
    start, end = places[first].start, places[last].end
    if chance.random() < 0.4:
        start, end = sorted(chance.sample(range(len(segment.text) + 3), 2))
    found = {
        "segment": segment.id,
        "start": start,
        "end": end,
        "label": chance.choice([*labels, *labels, "unknown"]),
    }
    if chance.random() < 0.5:
        found["tie"] = chance.choice("12")
    if chance.random() < 0.03:
        found["segment"] = "nowhere"
    return found


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("scheme", ["breakdown", "error-types", "response-quality", "semantic-errors"])
def test_same_rules_same_words(house: Workbench, browse: Browsing, scheme: str, language: str) -> None:
    rules, (doc, segment) = load_scheme(scheme), document(load_scheme(scheme), language)
    cases = list(answers(rules, doc, random.Random(7)))
    page = browse()
    page.goto("/sign-in")
    url = house.app.state.web.assets.url
    here = page.evaluate(
        CHECK,
        {
            "rules": url("js/rules.js"),
            "words": url("js/words.js"),
            "catalogue": f"/words/{language}.json",
            "scheme": plain(rules),
            "seen": seen(doc),
            "cases": cases,
        },
    )
    kinds: Counter[str] = Counter()
    for case, mine in zip(cases, here, strict=True):
        typed = msgspec.convert(case, dict[str, Answer])
        broken = broken_rules(rules, typed, doc, segment)
        kinds.update(one.rule for one in broken)
        assert mine == [[one.rule, one.question, one.message(language)] for one in broken], case
    assert kinds["missing-answer"]
    assert len(kinds) >= (11 if scheme == "semantic-errors" else 4)


def test_the_rules_of_other_kinds_are_left_to_the_server(house: Workbench, browse: Browsing) -> None:
    rules = plain(load_scheme("breakdown"))
    rules["questions"][0]["kind"] = "duel"
    page = browse()
    page.goto("/sign-in")
    url = house.app.state.web.assets.url
    found = page.evaluate(
        CHECK,
        {
            "rules": url("js/rules.js"),
            "words": url("js/words.js"),
            "catalogue": "/words/en.json",
            "scheme": rules,
            "seen": seen(chat("d")),
            "cases": [{"breakdown": "left"}, {}],
        },
    )
    assert [[rule for rule, *_ in one] for one in found] == [[], ["missing-answer"]]


def test_the_calculator_is_the_guidelines(house: Workbench, browse: Browsing) -> None:
    rule = next(one.calculator for one in load_scheme("response-quality").questions if one.calculator)
    shares = [(part, whole) for whole in range(1, 41) for part in range(whole + 1)]
    page = browse()
    page.goto("/sign-in")
    script = """async ({url, rule, shares}) => {
      const {levelOf} = await import(url);
      return shares.map(([part, whole]) => levelOf(rule, part, whole));
    }"""
    url = house.app.state.web.assets.url("js/widgets/scale.js")
    found = page.evaluate(script, {"url": url, "rule": plain(rule), "shares": shares})
    assert found == [rule.level(*share) for share in shares]
