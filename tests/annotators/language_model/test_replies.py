"""From replies to answers: quotes, broken replies, and every answer that the rules accept."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lapsus.annotators.language_model.reply import LONGEST, Taken, answer_schema, objects_in, places, take
from lapsus.model import Answer, Document, Question, Scheme, Segment, Span, Unit, units
from lapsus.schemes import broken_rules, load_scheme, scheme_names, spelt_answers
from tests import strategies
from tests.annotators.language_model.helpers import chat, document, pair, right, unit_of

SCHEMES = scheme_names()


def mark(**changes: Any) -> dict[str, Any]:
    return {"label": "addition", "segment": "text", "quote": "poet", "occurrence": 1, "tie": None} | changes


def taken_pair(*marks: Any, language: str = "en", text: str | None = None) -> Any:
    scheme, pairs = load_scheme("semantic-errors"), pair(language)
    if text is not None:
        pairs = Document("p", (pairs.segments[0], Segment("text", "text", text)), language)
    return take(json.dumps({"errors": list(marks), "remark": None}), unit_of(pairs, scheme), scheme, "en")


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("a cat, a cat", "a cat", [(0, 5), (7, 12)]),
        ("aaa", "aa", [(0, 2), (1, 3)]),
        ("I 👩‍👩‍👧‍👦 you", "👩‍👩‍👧‍👦", [(2, 9)]),
        ("été e\u0301te\u0301", "e\u0301te\u0301", [(4, 9)]),
        ("cafe\u0301 noir", "café", [(0, 5)]),
        ("café noir", "cafe\u0301", [(0, 4)]),
        ("か\u3099き", "がき", [(0, 3)]),
        ("東京都に東京都庁", "東京都", [(0, 3), (4, 7)]),
        ("abc", "", []),
        ("abc", "d", []),
    ],
)
def test_quotes_are_found_where_they_stand(text: str, quote: str, found: list[tuple[int, int]]) -> None:
    assert places(text, quote) == found


def test_a_quote_that_stands_twice_needs_its_number() -> None:
    assert taken_pair(mark(quote="a poet,", occurrence=2)).answers["errors"] == (
        Span("text", 18, 25, "addition"),
    )
    (problem,) = taken_pair(mark(quote="a poet,", occurrence=3)).problems
    assert '"a poet," stands 2 times' in problem
    assert taken_pair(mark(quote="a poet,", occurrence=None)).problems
    assert taken_pair(mark(quote="was born", occurrence=None)).answers["errors"] == (
        Span("text", 26, 34, "addition"),
    )


@pytest.mark.parametrize(
    ("marks", "word"),
    [
        ([mark(quote="a novelist")], "does not stand"),
        ([mark(segment="t9")], "no segment with the id"),
        ([mark(quote="oet")], "cuts a word"),
        ([mark(label="omission", segment="t1", quote="Ida")], "cuts an element"),
        ([mark(label="omission")], "not on"),
        ([mark(label="invention", quote="born")], "none of the choices"),
        ([mark(quote="born", tie="a")], "can be tied"),
        ([mark(quote="born"), mark(quote="born")], "twice"),
        ([mark(quote=7)], "a mark is an object"),
        (["Orsk"], "a mark is an object"),
        ([mark(quote="born", tie=["a"])], "a mark is an object"),
        ([mark(quote="born", occurrence=True)], "must say which"),
        ([mark(quote="x" * 5000)], "does not stand"),
    ],
)
def test_a_mark_that_cannot_be_taken_says_why(marks: list[Any], word: str) -> None:
    taken = taken_pair(*marks)
    assert any(word in problem for problem in taken.problems), taken.problems
    assert all(len(problem) < 300 for problem in taken.problems)


@pytest.mark.parametrize(
    ("scheme", "said", "word"),
    [
        ("breakdown", {"breakdown": "Q"}, "none of the choices"),
        ("breakdown", {"breakdown": ["O"]}, "takes one label"),
        ("breakdown", {"breakdown": {"O": 1}}, "takes one label"),
        ("breakdown", {"comment": "hm"}, "still needs an answer"),
        ("breakdown", {"breakdown": "O", "comment": 3}, "takes text"),
        ("error-types", {"types": []}, "at least 1"),
        ("error-types", {"types": {"repetition": 1}}, "a list of labels"),
        ("error-types", {"types": ["repetition", None]}, "none of the choices"),
        ("error-types", {"types": ["uninterpretable", "repetition"]}, "stands alone"),
        ("error-types", {"types": ["unclear-intention", "lack-of-information"]}, "do not go together"),
        ("response-quality", {"soundness": 9}, "goes from 1 to 5"),
        ("response-quality", {"soundness": 3.5}, "a whole number"),
        ("response-quality", {"soundness": True}, "a whole number"),
        ("semantic-errors", {"errors": None}, "still needs an answer"),
        ("semantic-errors", {"errors": {}}, "a list of marks"),
        ("semantic-errors", {"errors": "none"}, "a list of marks"),
    ],
)
def test_answers_are_checked_like_those_of_people(scheme: str, said: dict[str, Any], word: str) -> None:
    rules = load_scheme(scheme)
    whole = right(scheme, "en")[0] | said if scheme != "breakdown" else said
    taken = take(json.dumps(whole), unit_of(document(scheme, "en"), rules), rules, "en")
    assert any(word in problem for problem in taken.problems), taken.problems


def test_a_label_that_is_said_again_is_chosen_once() -> None:
    scheme = load_scheme("error-types")
    again = {"types": ["repetition", "contradiction", "repetition"]}
    unit = unit_of(document("error-types", "en"), scheme)
    taken = take(json.dumps(right("error-types", "en")[0] | again), unit, scheme, "en")
    assert taken.problems == ()
    assert taken.answers["types"] == ("repetition", "contradiction")


def test_problems_are_told_in_the_language_of_the_prompt() -> None:
    scheme = load_scheme("breakdown")
    assert take("{}", unit_of(chat("ja"), scheme), scheme, "ja").problems == (
        "「破綻の度合い」にまだ答えていません。",
    )
    assert take("はい", unit_of(chat("ja"), scheme), scheme, "ja").problems == (
        "JSONオブジェクトがありません",
    )


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "```json\n{}\n```",
        "Sure! Here it is: {} I hope that {{helps}}.",
        '<think>perhaps {{"breakdown": "O"}}?</think>{}',
        'or {{"breakdown": "O"}}, no.\n</think>\n{}',
        "<think>" + "hm " * LONGEST + "</think>{}",
        'I saw {{"id": "2"}} and say {}',
    ],
)
def test_the_json_is_found_in_whatever_stands_around_it(around: str) -> None:
    assert taken_label(around.format('{"breakdown": "X"}')).answers == {"breakdown": "X"}


def taken_label(content: str) -> Taken:
    scheme = load_scheme("breakdown")
    return take(content, unit_of(chat(), scheme), scheme, "en")


def test_an_answer_may_speak_of_thoughts() -> None:
    said = {"breakdown": "X", "comment": "it says </think> and <think>"}
    assert taken_label(json.dumps(said)).answers == said


def test_a_thought_that_was_cut_off_is_no_answer() -> None:
    problem = "there is no JSON object in it"
    assert taken_label('<think>{"breakdown": "O"} would be one way, but').problems == (problem,)


def test_of_two_answers_none_is_taken() -> None:
    """One of them may be quoted from the dialogue."""
    quoted = 'The turn says {"breakdown": "O"}. I say {"breakdown": "X"}.'
    assert taken_label(quoted).problems == ("there are several JSON objects in it, and they differ",)
    assert taken_label('{"breakdown": "X"} Yes: {"breakdown": "X"}').answers == {"breakdown": "X"}
    assert objects_in('{"id": 1} {"id": 2}', {"breakdown"}) == [{"id": 1}]


@pytest.mark.parametrize(
    "content", ["", "O", "[]", '{"breakdown": ', "{" * 5000, '{"a":' * 3000, "null", "{'a': 1}"]
)
def test_broken_replies_are_no_answers(content: str) -> None:
    scheme = load_scheme("breakdown")
    assert take(content, unit_of(chat(), scheme), scheme, "en").problems == ("there is no JSON object in it",)


def test_a_huge_reply_is_not_looked_at() -> None:
    scheme = load_scheme("breakdown")
    huge = '{"breakdown": "O", "comment": "' + "x" * LONGEST + '"}'
    assert take(huge, unit_of(chat(), scheme), scheme, "en").problems == ("it is too long",)


def test_other_names_of_a_label_and_signs_that_no_database_keeps() -> None:
    scheme = load_scheme("breakdown")
    said = r'{"breakdown": "NB", "comment": "a\u0000b\ud800", "mood": 3}'
    assert take(said, unit_of(chat(), scheme), scheme, "en").answers == {
        "breakdown": "O",
        "comment": "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}",
    }


def test_a_later_turn_cannot_be_marked() -> None:
    scheme = marking_scheme()
    first = unit_of(chat(), scheme, 0)
    said = {"odd": [mark(label="odd", segment="1", quote="keys")]}
    assert "no segment" in take(json.dumps(said), first, scheme, "en").problems[0]
    said["odd"][0]["segment"] = 0
    said["odd"][0]["quote"] = "Hello"
    assert take(json.dumps(said), first, scheme, "en").answers["odd"] == (Span("0", 0, 5, "odd"),)


def marking_scheme() -> Scheme:
    """A scheme of somebody's own: spans on system turns, and text that must be given."""
    import msgspec

    words = {"en": "Odd?"}
    label = {"id": "odd", "name": words, "definition": words, "on": "system"}
    odd = {"id": "odd", "kind": "spans", "name": words, "ask": words, "labels": [label], "at_most": 3}
    return msgspec.convert(
        {
            "scheme": "odd",
            "version": "1",
            "title": words,
            "summary": words,
            "unit": {"role": "system"},
            "questions": [odd],
        },
        Scheme,
    )


@st.composite
def accepted(draw: st.DrawFn, name: str) -> tuple[Scheme, Unit, dict[str, Answer]]:
    """A unit, and answers that the scheme's rules accept."""
    scheme = marking_scheme() if name == "odd" else load_scheme(name)
    base = strategies.pairs() if name == "semantic-errors" else strategies.dialogues(("system", "user"))
    about = draw(base)
    if name == "preference":
        replies = [Segment(id, "system", draw(strategies.words)) for id in ("A", "B")]
        said = [segment for segment in about.segments if segment.id not in ("A", "B")]
        about = Document(about.id, (*said, *replies), about.language)
    found = list(units(about, scheme.unit))
    assume(found)
    unit = draw(st.sampled_from(found))
    answers: dict[str, Answer] = {}
    for question in scheme.questions:
        if question.required or draw(st.booleans()):
            answers[question.id] = draw(_answers(scheme, question, unit))
    seen = Document(unit.document, unit.visible, unit.language)
    assume(not broken_rules(scheme, answers, seen, unit.key.segment))
    return scheme, unit, answers


def _answers(scheme: Scheme, question: Question, unit: Unit) -> st.SearchStrategy[Any]:
    labels = [label.id for label in scheme.labels_of(question)]
    match question.kind:
        case "label":
            return st.sampled_from(labels)
        case "preference":
            return st.sampled_from([f"{label}|AB" for label in labels])
        case "labels":
            return st.lists(st.sampled_from(labels), min_size=question.at_least, max_size=2, unique=True).map(
                tuple
            )
        case "scale":
            return st.sampled_from([level.value for level in question.levels])
        case "text":
            return strategies.words
    return st.lists(_spans(question, unit), max_size=3, unique=True).map(tuple)


@st.composite
def _spans(draw: st.DrawFn, question: Question, unit: Unit) -> Span:
    label = draw(st.sampled_from(question.labels))
    where = [segment for segment in unit.visible if segment.role == label.on and segment.text]
    assume(where)
    segment = draw(st.sampled_from(where))
    if label.covers == "element":
        first, last = sorted(draw(st.tuples(st.integers(0, 2), st.integers(0, 2))))
        elements = segment.elements()
        start, end = elements[first].start, elements[last].end
    else:
        # Whole texts, and stretches of them where the rules let them be cut.
        start = draw(st.sampled_from([0, draw(st.integers(0, len(segment.text) - 1))]))
        end = draw(st.sampled_from([len(segment.text), draw(st.integers(start + 1, len(segment.text)))]))
    return Span(segment.id, start, end, label.id, draw(st.sampled_from([None, None, "a"])))


def expressed(scheme: Scheme, unit: Unit, answers: dict[str, Answer]) -> dict[str, Any]:
    """Answers in the form that a model gives them."""
    texts = {segment.id: segment.text for segment in unit.visible}

    def form(answer: Answer | None) -> Any:
        if not isinstance(answer, tuple):
            return (
                answer.partition("|")[0] if scheme.id == "preference" and isinstance(answer, str) else answer
            )
        return [_mark(item, texts[item.segment]) if isinstance(item, Span) else item for item in answer]

    return {question.id: form(answers.get(question.id)) for question in scheme.questions}


def _mark(span: Span, text: str) -> dict[str, Any]:
    quote = text[span.start : span.end]
    number = places(text, quote).index((span.start, span.end)) + 1
    return {
        "label": span.label,
        "segment": span.segment,
        "quote": quote,
        "occurrence": number,
        "tie": span.tie,
    }


@pytest.mark.parametrize("name", [*SCHEMES, "odd"])
def test_every_answer_that_the_rules_accept_can_be_given_and_comes_back_the_same(name: str) -> None:
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )
    @given(accepted(name))
    def check(case: tuple[Scheme, Unit, dict[str, Answer]]) -> None:
        scheme, unit, answers = case
        said = expressed(scheme, unit, answers)
        jsonschema.validate(json.loads(json.dumps(said)), answer_schema(scheme))
        taken = take(json.dumps(said), unit, scheme, "en")
        assert taken.problems == ()
        seen = Document(unit.document, unit.visible, unit.language)
        assert taken.answers == spelt_answers(scheme, answers, seen)

    check()


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", SCHEMES)
def test_the_schema_is_one_that_strict_servers_take(name: str, language: str) -> None:
    schema = answer_schema(load_scheme(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(right(name, language)[0], schema)

    def strict(part: Any) -> None:
        if part.get("type") == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
            for inner in part["properties"].values():
                strict(inner)
        if "items" in part:
            strict(part["items"])

    strict(schema)
