"""Gold keeps its own guideline, whatever people said."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lapsus.analysis.gold_standard import gold_entries, settled_gold
from lapsus.formats.jsonl import Jsonl
from lapsus.kinds import countable, kind_of
from lapsus.kinds.votes import votes_of
from lapsus.model import Document, Entry, Judgment, Question, Scheme, Segment, Span
from lapsus.schemes import broken_rules, load_scheme, read_scheme, without_open
from lapsus.schemes.answer_rules import Checker

OWN = """
scheme: mood
version: "1"
title: {en: Mood}
summary: {en: How does it sound?}
unit: {role: system}
questions:
  - id: moods
    kind: labels
    name: {en: Moods}
    ask: {en: Which?}
    at_least: 2
    at_most: 3
    alone: []
    apart: [[a, b], [b, c], [d, e]]
    labels:
      - {id: a, name: {en: a}, definition: {en: a}}
      - {id: b, name: {en: b}, definition: {en: b}}
      - {id: c, name: {en: c}, definition: {en: c}}
      - {id: d, name: {en: d}, definition: {en: d}}
      - {id: e, name: {en: e}, definition: {en: e}}
  - id: worth
    kind: scale
    name: {en: Worth}
    ask: {en: How good?}
    levels:
      - {value: -2, meaning: {en: bad}}
      - {value: -1, meaning: {en: so so}}
      - {value: 0, meaning: {en: fine}}
"""
TYPES = load_scheme("error-types")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "mood.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


def gold_of(scheme: Scheme, question: Question, answers: list[Any], way: str | None = None) -> Any:
    kind = kind_of(question, scheme)
    said = [Judgment("d", "0", f"a{k}", scheme.id, "1", {question.id: a}) for k, a in enumerate(answers)]
    made = settled_gold(way or kind.gold_methods[0], kind, votes_of(said, kind))
    assert made.answers is not None
    assert (made.answers[0] is None) == bool(made.undecided)
    return made.answers[0]


UNCLEAR, TOPIC, LACK = "unclear-intention", "topic-transition-error", "lack-of-information"


@pytest.mark.parametrize(
    ("answers", "gold"),
    [
        ([(UNCLEAR,), (UNCLEAR,), (TOPIC,), (TOPIC,)], None),
        ([("wrong-information",), ("wrong-information",), ("repetition",), ("repetition",)], None),
        ([("wrong-information",)] * 3 + [("repetition",)] * 2 + [("repetition", TOPIC)], None),
        ([("wrong-information",)] * 3 + [("repetition",)] * 2, ("wrong-information",)),
        ([("repetition",), (TOPIC,), ("contradiction",)], None),
        ([("repetition", UNCLEAR), ("repetition", TOPIC)], ("repetition",)),
        ([("repetition", TOPIC)] * 2 + [("repetition", UNCLEAR)], (TOPIC, "repetition")),
        ([("wrong-information",)] * 2 + [("repetition", "contradiction")] * 2, None),
        ([("repetition",)], ("repetition",)),
    ],
)
def test_two_against_two_is_undecided_and_what_the_rules_exclude_never_stands(
    answers: list[Any], gold: Any
) -> None:
    found = gold_of(TYPES, TYPES.questions[0], answers)
    assert found == (None if gold is None else tuple(sorted(gold, key=_order)))


def _order(label: str) -> int:
    return [known.id for known in TYPES.questions[0].labels].index(label)


def test_nothing_chosen_is_gold_only_where_most_chose_nothing() -> None:
    scheme = load_scheme("response-quality")
    question = next(q for q in scheme.questions if q.kind == "labels")
    first, second, *_ = [label.id for label in scheme.labels_of(question)]
    assert gold_of(scheme, question, [(), (), (first,)]) == ()
    assert gold_of(scheme, question, [(), (first,), (second,)]) is None


def test_a_tie_of_labels_goes_by_the_guideline_or_is_undecided() -> None:
    breakdown, quality = load_scheme("breakdown"), load_scheme("response-quality")
    assert gold_of(breakdown, breakdown.questions[0], ["X", "T"]) == "T"
    assert gold_of(breakdown, breakdown.questions[0], ["X", "X", "T"], "majority@t=0.9") == "O"
    question = next(q for q in quality.questions if q.kind == "label")
    first, second, *_ = [label.id for label in quality.labels_of(question)]
    assert gold_of(quality, question, [first, second]) is None
    assert gold_of(quality, question, [first, first, second]) == first
    assert gold_of(quality, question, [first, first, second], "majority@t=0.9") is None


def test_gold_of_a_scale_is_one_of_its_steps_also_below_zero(own: Path) -> None:
    scheme = read_scheme(own)
    worth = scheme.questions[1]
    assert gold_of(scheme, worth, [-2, -2, -1]) == -2
    assert gold_of(scheme, worth, [-2, -1], "median") is None
    assert gold_of(scheme, worth, [-2, -1, -1], "median") == -1


def test_half_a_word_and_half_an_element_become_whole() -> None:
    scheme = load_scheme("semantic-errors")
    kind = kind_of(scheme.questions[0], scheme)
    document = Document(
        "d",
        (Segment.triple("t", "Ann", "born_in", "Rome"), Segment("text", "text", "The president came.")),
        "en",
    )
    start = document.segments[0].text.index("Rome")
    proposed = (Span("t", start, start + 2, "omission", "1"), Span("text", 4, 8, "addition", "1"))
    settled = kind.settled(proposed, None, [proposed], document=document)
    assert settled == (
        Span("t", start, start + 4, "omission", "1"),
        Span("text", 4, 13, "addition", "1"),
    )


def _answer(draw: st.DrawFn, scheme: Scheme, question: Question, document: Document) -> Any:
    """Whatever somebody may say, also against the rules where data of others may."""
    kind = kind_of(question, scheme)
    if kind.on_text:
        found = []
        for segment in document.segments:
            if draw(st.booleans()):
                start = draw(st.integers(0, len(segment.text) - 1))
                end = draw(st.integers(start + 1, len(segment.text)))
                label = draw(st.sampled_from(kind.label_ids))
                found.append(Span(segment.id, start, end, label, draw(st.sampled_from([None, "x"]))))
        return tuple(found)
    if not kind.is_countable:
        return draw(st.sampled_from(["", "words"]))
    if kind.numbers is not None:
        return int(draw(st.sampled_from(kind.numbers)))
    if kind.several:
        return tuple(draw(st.lists(st.sampled_from(kind.choices[:8]), max_size=4, unique=True)))
    return draw(st.sampled_from(kind.choices[:4]))


@st.composite
def judged(draw: st.DrawFn, scheme: Scheme) -> list[Entry]:
    entries = []
    for number in range(draw(st.integers(1, 3))):
        document = Document(
            f"d{number}",
            (
                Segment.triple("t", "Ann", "born_in", "Rome"),
                Segment("s", "system", "Hello there, you."),
                Segment("text", "text", "Ann came to Rome (Italy)."),
            ),
            draw(st.sampled_from(["en", "ja"])),
        )
        unit = None if scheme.unit.role == "document" else "s"
        judgments = [
            Judgment(
                document.id, unit, f"a{k}", scheme.id, scheme.version,
                {
                    q.id: _answer(draw, scheme, q, document)
                    for q in scheme.questions
                    if q.required or draw(st.booleans())
                },
            )
            for k in range(draw(st.integers(1, 4)))
        ]  # fmt: skip
        entries.append(Entry(document.id, document, tuple(judgments)))
    return entries


@pytest.mark.parametrize("name", ["breakdown", "error-types", "response-quality", "semantic-errors", "own"])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_gold_breaks_its_guideline(name: str, data: st.DataObject, own: Path) -> None:
    scheme = read_scheme(own) if name == "own" else load_scheme(name)
    entries = data.draw(judged(scheme))
    methods = ["majority", "distribution", "dawid-skene", "mace", "label-sets", "mean", "median", "spans"]
    method = data.draw(st.sampled_from([m for m in methods if _suits(scheme, m)]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.jsonl"
        Jsonl().write(entries, path)
        chosen = str(own) if name == "own" else name
        found, written = gold_entries(path, scheme=chosen, method=method)
        made = [(entry.document, judgment) for entry in written for judgment in entry.judgments]
    written_to = {id: {j.unit for _, j in made if id in j.answers} for id in found.gold}
    for document, judgment in made:
        broken = broken_rules(scheme, judgment.answers, document, judgment.segment)
        assert without_open(broken) == []
        assert Checker([scheme]).broken(judgment, document) == ()
    for id, gold in found.gold.items():
        assert written_to[id].isdisjoint(gold.undecided)
        assert written_to[id] | set(gold.undecided) == set(gold.units)


def test_one_undecided_question_does_not_take_the_others_with_it(own: Path) -> None:
    said = [{"moods": ("a", "c"), "worth": -2}, {"moods": ("d", "c"), "worth": -1}]
    entries = [
        Entry(f"d{n}", Document(f"d{n}", (Segment("s", "system", "Hello."),)),
              tuple(Judgment(f"d{n}", "s", f"a{k}", "mood", "1", answers) for k, answers in enumerate(said)))
        for n in range(3)
    ]  # fmt: skip
    found, written = gold_entries(entries, scheme=str(own))
    made = [judgment for entry in written for judgment in entry.judgments]
    assert len(made) == 3
    assert [dict(judgment.answers) for judgment in made] == [{"moods": ("a", "c", "d")}] * 3
    assert len(found.gold["moods"].by_unit()) == 3
    assert len(found.gold["worth"].undecided) == 3
    assert made[0].distributions["worth"] == {"-2": 0.5, "-1": 0.5, "0": 0.0}


@pytest.mark.parametrize(("language", "said"), [("en", "some words of it "), ("ja", "これは長い文です。")])
def test_one_long_line_needs_little_more_memory_than_its_text(
    language: str, said: str, tmp_path: Path
) -> None:
    def peak(times: int) -> int:
        path = tmp_path / f"{times}.jsonl"
        turns = (Segment("0", "user", "Hi."), Segment("1", "system", said * times))
        judgments = tuple(Judgment("d", "1", name, "breakdown", "1.0", {"breakdown": "O"}) for name in "ab")
        Jsonl().write([Entry("d", Document("d", turns, language), judgments)], path)
        tracemalloc.start()
        try:
            assert len(gold_entries(path)[0].gold["breakdown"].units) == 1
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    more = len((said * 6_000).encode()) - len((said * 2_000).encode())
    assert peak(6_000) - peak(2_000) < 10 * more


def _suits(scheme: Scheme, method: str) -> bool:
    name = method.replace("-", "_")
    return name == "majority" or all(name in kind_of(q).gold_methods for q in countable(scheme.questions))
