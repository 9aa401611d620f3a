"""The judges of error types and of response quality that are shipped: both commands, both languages, all rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

import lapsus
from lapsus.annotators import load_model
from lapsus.annotators.features.moves import moves
from lapsus.annotators.judge import feature_sets
from lapsus.annotators.judge.feature_sets import FeatureSets
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.regression import fit
from lapsus.annotators.library import default_model
from lapsus.errors import UsageError
from lapsus.kinds import kinds_of
from lapsus.log_check.likely_types import shown_to_be_right
from lapsus.model import Document, Entry, Judgment, Segment, units
from lapsus.samples import sample_path
from lapsus.schemes import broken_rules, load_scheme
from tests.command_process import lapsus as command
from tests.log_check import logs

TYPES, QUALITY = "error-types", "response-quality"
TYPES_QUESTION = "types"


@cache
def shipped(scheme: str) -> Judge:
    found = load_model(default_model("en", scheme))
    assert isinstance(found, Judge)
    return found


def chat(*turns: str, language: str = "en") -> Document:
    roles = ("user", "system")
    return Document(
        "chat", tuple(Segment(str(n), roles[n % 2], text) for n, text in enumerate(turns)), language
    )


def last(scheme: str, document: Document) -> Judgment:
    return list(shipped(scheme).judge([document]))[-1]


def mean(judgment: Judgment, scale: str) -> float:
    return sum(int(level) * share for level, share in judgment.distributions[scale].items())


@pytest.mark.parametrize("language", ["en", "ja"])
def test_types_of_the_samples_are_told_better_than_by_a_constant(language: str) -> None:
    scheme, data = load_scheme(TYPES), sample_path(f"dialogues-{language}")
    judged = {one.unit: one for entry in lapsus.detect(data, scheme=TYPES) for one in entry.judgments}
    people: dict[object, set[str]] = {}
    for entry in lapsus.read(data):
        for judgment in entry.judgments:
            if judgment.scheme == TYPES:
                people.setdefault(judgment.unit, set()).update(judgment.answers["types"])  # type: ignore[arg-type]
    assert people.keys() <= judged.keys()
    ours = sum(judged[unit].answers["types"][0] in types for unit, types in people.items())  # type: ignore[index]
    floor = Counter(type for types in people.values() for type in types).most_common(1)[0][1]
    assert ours > floor
    for judgment in judged.values():
        assert broken_rules(scheme, judgment.answers) == []
        assert len(judgment.distributions["types"]) == 17


def test_votes_on_breakdown_choose_the_turns_whether_the_judge_is_named_or_not() -> None:
    entries = [next(iter(lapsus.read(sample_path(f"dialogues-{language}")))) for language in ("en", "ja")]
    unnamed = lapsus.detect(entries, scheme=TYPES)
    judged = [entry.judgments for entry in unnamed]
    assert judged == [entry.judgments for entry in lapsus.detect(entries, model=shipped(TYPES))]
    turns = sum(1 for entry in entries for _ in units(entry.document, load_scheme(TYPES).unit))  # type: ignore[arg-type]
    assert 0 < sum(map(len, judged)) < turns
    assert unnamed.names == [TYPES]  # one judge for both languages


@pytest.mark.parametrize(
    ("language", "turns", "expected"),
    [
        ("en", ("I went hiking.", "Where did you go?", "In the Alps.", "Where did you go?"), "repetition"),
        ("en", ("I like tea.", "Tea is good.", "Where do you live?", "Cats are nice."), "ignore-question"),
        ("ja", ("山に行きました。", "どの山に行きましたか？", "富士山です。", "どの山に行きましたか？"), "repetition"),
        ("ja", ("お茶が好きです。", "はい。", "どこに住んでいますか？", "猫はかわいいですね。"), "ignore-question"),
    ],
)  # fmt: skip
def test_what_is_plain_is_named_with_its_evidence(
    language: str, turns: tuple[str, ...], expected: str
) -> None:
    found = last(TYPES, chat(*turns, language=language))
    assert found.answers["types"][0] == expected  # type: ignore[index]
    assert any(expected in one["types"] for one in found.metadata["evidence"])


@pytest.mark.parametrize(("language", "fitting"), [("en", 0.85), ("ja", 0.74)])
def test_examples_of_the_guideline_that_nothing_was_learned_from(language: str, fitting: float) -> None:
    scheme = load_scheme(TYPES)
    told: dict[bool, list[bool]] = {True: [], False: []}
    for label in scheme.labels_of(scheme.questions[0]):
        for example in label.examples[language]:
            turns = tuple(
                Segment(str(n), "user" if turn.startswith("U: ") else "system", turn[3:])
                for n, turn in enumerate(example.turns)
            )
            found = last(TYPES, Document("example", turns, language)).answers["types"]
            told[example.fits].append((label.id in found) == example.fits)  # type: ignore[operator]
    assert sum(told[True]) / len(told[True]) >= fitting
    assert sum(told[False]) / len(told[False]) >= 0.8


def test_good_replies_are_rated_above_bad_ones() -> None:
    before = ("My sister got married on Saturday.", "How lovely! Was it a big wedding?")
    good = "That sounds wonderful. Did you give a speech at the wedding?"
    fine, random, broken = (
        last(QUALITY, chat(*before, "Yes, two hundred guests came, and we danced all night.", reply))
        for reply in (good, "The printer needs new ink.", "of the the xq on xq on zzz zzz zzz")
    )
    for scale in ("relevance", "coherence"):
        assert mean(fine, scale) > mean(random, scale), scale
        assert mean(fine, scale) > mean(broken, scale), scale


def test_what_was_not_learned_is_left_unanswered_and_named() -> None:
    judge = shipped(QUALITY)
    assert set(judge.unanswered) == {"shown-acts", "fitting-acts", "fitting-emotions"}
    found = last(QUALITY, chat("Hello!", "Hi! How are you?"))
    assert not set(judge.unanswered) & found.answers.keys()
    assert "shown-acts" in judge.summary()[-1]
    learned = {one.question for one in judge.reports_}
    assert learned == judge.models_.keys() | {"conciseness"}
    assert found.distributions.keys() == learned | {"brevity"}
    assert broken_rules(judge.scheme, found.answers) == [
        rule for rule in broken_rules(judge.scheme, found.answers) if rule.question in judge.unanswered
    ]


def test_levels_that_are_counted_quote_what_lowers_them(tmp_path: Path) -> None:
    asked = "When does the old town museum open, what does a ticket cost, and where can I park?"
    told = last(QUALITY, chat(asked, "The old town museum opens at ten, and a ticket costs six pounds."))
    assert (told.answers["completeness"], told.answers["brevity"]) == (3, 4)
    quoted = {one["question"]: list(one["quotes"]) for one in told.metadata["evidence"]}
    assert quoted["completeness"] == ["where can i park"]
    assert quoted["brevity"] == ["the old town museum"]
    beside = "It opens at ten. My cousin has a new bicycle. Purple is a colour that I like a lot."
    assert mean(last(QUALITY, chat(asked, "It opens at ten.")), "conciseness") > mean(
        last(QUALITY, chat(asked, beside)), "conciseness"
    )
    said = [
        "It opens at ten, six pounds, behind the church.",
        "Six pounds.",
        "It opens at ten; six pounds; near you.",
    ]
    talks = [msgspec.structs.replace(chat(asked, one), id=f"d{n}") for n, one in enumerate(said)]
    found = lapsus.check([Entry(one.id, one, ()) for one in talks], model=f"{QUALITY}-en")
    assert "because of" in found.to_text("en")
    assert any(one["quotes"] for one in found.as_data("en")["findings"])


def test_both_guidelines_by_command(tmp_path: Path) -> None:
    for scheme, name, language in ((TYPES, TYPES, "ja"), (QUALITY, f"{QUALITY}-en", "en")):
        log = tmp_path / f"{language}.jsonl"
        log.write_text(logs.chat_jsonl(language), encoding="utf-8")
        target = tmp_path / f"{scheme}.jsonl"
        printed, remarks = command("detect", str(log), "-o", str(target), "--scheme", scheme)
        assert "documents" in printed
        assert f"judged by {name} (judge, learned from" in remarks
        assert "left unanswered: " in remarks
        judged = [one for entry in lapsus.read(target) for one in entry.judgments]
        assert {(one.annotator, one.scheme) for one in judged} == {(name, scheme)}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_check_tells_likely_types(language: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(logs.chat_jsonl(language), encoding="utf-8")
    found = lapsus.check(log)
    planted = logs.planted(language)
    likely = {(one.document, one.turn.id): [type for type, _ in one.types] for one in found.findings}
    repeated = next(place for place, kind in planted.items() if kind == "repetition")
    assert likely[repeated][0] == "repetition"
    rule, known = kinds_of(load_scheme(TYPES))[TYPES_QUESTION], shown_to_be_right(shipped(TYPES))
    assert all(set(types) <= known and (not types or rule.allows(tuple(types))) for types in likely.values())
    line = {"en": "likely error types: ", "ja": "考えられる類型："}[language]
    assert line in found.to_text(language)
    assert line in found.to_html(language)
    shares = found.as_data(language)["findings"][0]["types"]
    assert shares == sorted(shares, key=lambda one: -one["share"])


def test_no_type_is_named_that_was_wrong_more_often_than_right(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = shipped(TYPES)
    (report,) = judge.reports_
    assert report.ranking is not None
    figures = report.ranking.choices
    assert {one for one, figure in figures.items() if (figure.precision or 0) >= 0.5} == shown_to_be_right(
        judge
    )
    unknown = {type: msgspec.structs.replace(figure, precision=None) for type, figure in figures.items()}
    ranked = msgspec.structs.replace(report.ranking, choices=unknown)
    monkeypatch.setattr(judge, "reports_", (msgspec.structs.replace(report, ranking=ranked),))
    assert shown_to_be_right(judge) == frozenset()


def test_a_language_without_a_judge_is_told() -> None:
    japanese = [Entry("chat", chat("こんにちは。", "こんにちは！", language="ja"), ())]
    with pytest.raises(UsageError, match="has no model 'response-quality-ja'"):
        list(lapsus.detect(japanese, scheme=QUALITY))


def test_a_judge_of_another_reader_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "quality.lapsus"
    shipped(QUALITY).save(path)
    assert last(QUALITY, chat("Hi!", "Hello!")) == list(load_model(path).judge([chat("Hi!", "Hello!")]))[-1]
    monkeypatch.setattr(feature_sets, "shipped_reader", lambda language: (None, f"another {language}"))
    with pytest.raises(UsageError, match="other readers of chat"):
        load_model(path)


def test_further_features() -> None:
    with pytest.raises(UsageError, match=r"knows no features 'sign'.*did you mean 'signs'"):
        FeatureSets("sign")
    known = Document(
        "k",
        (
            Segment("k", "passage", "Penguins live in the southern hemisphere."),
            Segment("u", "user", "Tell me about birds."),
            Segment("s", "system", "Penguins live in the southern hemisphere."),
            Segment("v", "user", "And?"),
            Segment("t", "system", "That is nice."),
        ),
        "en",
    )
    judged = list(units(known, load_scheme(QUALITY).unit))
    uses, does_not = FeatureSets("words").rows(judged)[:, -4:]
    assert uses[0] == does_not[0] == 1
    assert uses[1] > 0.9 > does_not[1] == 0
    assert FeatureSets("").rows(judged).shape == (2, 0)


def test_what_a_reader_makes_of_a_turn_is_known_in_its_language_alone() -> None:
    judged = [
        unit
        for language, text in (("en", "I like tea."), ("ja", "お茶が好きです。"))
        for unit in units(chat("Hi!", text, language=language), load_scheme(QUALITY).unit)
    ]
    rows = FeatureSets("hidden", ("en", "ja", "fr")).rows(judged)
    english, japanese = np.split(rows, 2, axis=1)
    assert np.isfinite([english[0], japanese[1]]).all()
    assert np.isnan([english[1], japanese[0]]).all()


def test_what_the_large_reader_says_is_a_feature_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reader:
        digest = "one"

        def said(self, passages: Sequence[Any]) -> NDArray[np.float64]:
            return np.array([[float(len(one.target))] * 22 for one in passages])

    monkeypatch.setattr(feature_sets, "large_reader", Reader)
    model = lapsus.train("judge", sample_path("dialogues-en"), scheme="breakdown", features="large")
    assert model.features_.readers == {"large": "one"}  # type: ignore[attr-defined]
    path = tmp_path / "mine.lapsus"
    model.save(path)
    talk = chat("Hi!", "Hello!")
    again, before = (next(iter(one.judge([talk]))).distributions for one in (load_model(path), model))
    assert again == before
    monkeypatch.setattr(Reader, "digest", "another")
    with pytest.raises(UsageError, match="other readers of chat"):
        load_model(path)


@pytest.mark.parametrize(
    ("language", "asked", "taken_up", "passed_over"),
    [
        ("en", "Let's play chess.", "Great idea, let's!", "Towers are tall."),
        ("ja", "将棋を指しましょう。", "いいですね、やりましょう。", "塔は高いです。"),
    ],
)
def test_moves_are_heard(language: str, asked: str, taken_up: str, passed_over: str) -> None:
    one, other = (
        moves(list(units(chat(asked, said, language=language), load_scheme(QUALITY).unit)))[0]
        for said in (taken_up, passed_over)
    )
    assert len(one) == len(other)
    assert one != other
    again = moves(list(units(chat("Hi!", "Hello!"), load_scheme(QUALITY).unit)))
    assert len(again[0]) == len(one)


def test_a_row_that_counts_twice_is_two_rows() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(40, 3)).astype(np.float32)
    shares = generator.dirichlet(np.ones(3), size=40)
    counts = np.repeat([1.0, 2.0], 20)
    for exclusive in (True, False):
        once = fit(rows, shares, 0.1, exclusive=exclusive, counts=counts)
        twice = fit(np.vstack([rows, rows[20:]]), np.vstack([shares, shares[20:]]), 0.1, exclusive=exclusive)
        np.testing.assert_allclose(once.slopes, twice.slopes, atol=1e-3)
