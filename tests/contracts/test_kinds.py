"""What every kind of question must do, and that a new one needs nothing but itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import lapsus
from lapsus.annotators.language_model.prompt import make_prompt
from lapsus.annotators.language_model.reply import answer_schema, take
from lapsus.errors import InvalidError
from lapsus.formats import convert, read
from lapsus.formats.jsonl import Jsonl
from lapsus.kinds import KINDS, Kind, kind_of, kinds_of
from lapsus.kinds.packed_votes import Given, PackedVotes, pack
from lapsus.kinds.votes import votes_of
from lapsus.model import Document, Entry, Judgment, Scheme, Segment, Span, units
from lapsus.schemes import broken_rules, load_scheme, read_scheme
from tests.contracts.made_up_kind import offer_duel

DOCUMENT = Document(
    "d",
    (
        Segment.triple("t", "Ann", "born_in", "Rome"),
        Segment("text", "text", "Ann was born in Rome in May."),
        Segment("A", "system", "In Rome."),
        Segment("B", "system", "In Oslo."),
    ),
    "en",
)
CASES: dict[str, tuple[str, str, list[Any], Any]] = {
    "label": ("breakdown", "breakdown", ["O", "X", "X"], "Q"),
    "labels": (
        "error-types",
        "types",
        [("repetition",), ("repetition", "contradiction"), ("repetition",)],
        ("Q",),
    ),
    "scale": ("response-quality", "soundness", [2, 4, 4], "high"),
    "spans": (
        "semantic-errors",
        "errors",
        [(Span("text", 20, 27, "addition"),), (Span("text", 23, 27, "addition"),), ()],
        (Span("text", 0, 3, "Q"),),
    ),
    "text": ("breakdown", "comment", ["a", "b"], 3),
    "preference": ("preference", "better", ["A", "B", "B"], "C"),
}
"""Of each kind a scheme, a question, answers that keep the rules, and one that the question does not know."""


@pytest.fixture
def duel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A scheme with a question of a kind that comes from another package."""
    return offer_duel(monkeypatch, tmp_path)


@pytest.fixture(params=[*CASES, "duel"])
def case(request: pytest.FixtureRequest) -> tuple[Scheme, Kind, list[Any], Any]:
    if request.param == "duel":
        scheme = read_scheme(request.getfixturevalue("duel"))
        return scheme, kind_of(scheme.questions[0], scheme), ["left", "right", "right"], "up"
    name, question, answers, unknown = CASES[request.param]
    scheme = load_scheme(name)
    return scheme, kinds_of(scheme)[question], answers, unknown


def judged(scheme: Scheme, kind: Kind, answers: list[Any]) -> list[Judgment]:
    return [
        Judgment("d", "0", f"ann{k}", scheme.id, scheme.version, {kind.question.id: answer})
        for k, answer in enumerate(answers)
    ]


def test_every_kind_has_its_case() -> None:
    assert set(CASES) == set(KINDS.names())


def test_answers_are_checked_by_the_rules(case: tuple[Scheme, Kind, list[Any], Any]) -> None:
    _, kind, answers, unknown = case
    assert all(kind.holds(answer) and kind.allows(answer, DOCUMENT) for answer in answers)
    (broken, *_) = kind.check(unknown)
    assert broken.message("en") != broken.message("ja")
    assert [rule.rule for rule in kind.check(3.5)] == ["wrong-kind"]


def test_votes_have_one_builder_and_what_is_unknown_is_named(
    case: tuple[Scheme, Kind, list[Any], Any],
) -> None:
    scheme, kind, answers, unknown = case
    if not kind.is_countable:
        with pytest.raises(InvalidError, match="free text"):
            votes_of(judged(scheme, kind, answers), kind)
        return
    votes = votes_of(judged(scheme, kind, answers), kind)
    assert [kind.same(one) for one in kind.of_unit(votes, 0)] == [kind.same(one) for one in answers]
    assert kind.is_answered(votes)
    totals, whole = kind.totals(votes)
    assert totals.sum() > 0
    assert whole > 0
    with pytest.raises(InvalidError, match="document 'd', annotator 'ann3'"):
        votes_of(judged(scheme, kind, [*answers, unknown]), kind)
    if kind.is_packed:
        given = [Given(1, k, None, None, {kind.question.id: a}) for k, a in enumerate([*answers, unknown])]
        rows = PackedVotes(scheme, pack(scheme, given)).votes(kind.question)
        # The same votes; what the question does not know is, among stored judgments, no answer.
        assert kind.of_unit(rows, 0) == kind.of_unit(votes, 0)
        assert len(rows.annotators) == len(answers) + 1


def test_distributions_over_the_space_of_answers(case: tuple[Scheme, Kind, list[Any], Any]) -> None:
    scheme, kind, answers, _ = case
    if not kind.choices:
        return
    (shares,) = kind.shares(votes_of(judged(scheme, kind, answers), kind))
    told = kind.as_json(shares)
    assert tuple(told) == kind.choices
    assert all(0 <= share <= 1 for share in told.values())
    assert list(told.values()) == shares.tolist()
    generator = np.random.default_rng(1)
    for drawn in generator.random((200, len(kind.choices))):
        assert kind.allows(kind.best(drawn / drawn.sum()))
        assert kind.allows(kind.best(drawn))


def test_answers_are_compared(case: tuple[Scheme, Kind, list[Any], Any]) -> None:
    _, kind, answers, _ = case
    same = kind.compared([kind.compare(answers[0], answers[0])])
    other = kind.compared([kind.compare(answers[0], answers[1])])
    assert same == (0.0 if kind.comparison == "rmse" else 1.0)
    assert not math.isclose(same, other)
    assert kind.compare(answers[0], answers[1]) == kind.compare(answers[1], answers[0])


def test_answers_go_through_the_long_table(
    case: tuple[Scheme, Kind, list[Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme, kind, answers, _ = case
    entry = Entry("d", None, tuple(judged(scheme, kind, answers)))
    done = convert([entry], tmp_path / "t.csv", "csv")
    assert done.judgments == len(answers)
    back = [judgment for entry in read(tmp_path / "t.csv") for judgment in entry.judgments]
    assert [judgment.answers for judgment in back] == [judgment.answers for judgment in entry.judgments]


def test_language_models_are_told_and_understood(case: tuple[Scheme, Kind, list[Any], Any]) -> None:
    scheme, kind, answers, _ = case
    assert kind.question.id in answer_schema(scheme)["properties"]
    assert f'"{kind.question.id}"' in make_prompt(scheme).system
    assert list(kind.in_words(answers[0], "ja"))


def test_label_studio_has_a_control_or_says_so(case: tuple[Scheme, Kind, list[Any], Any]) -> None:
    _, kind, answers, _ = case
    if kind.on_text:
        return
    if not kind.controls:
        with pytest.raises(InvalidError, match="Label Studio"):
            kind.control_value(answers[0])
        return
    type, value = kind.control_value(answers[0])
    assert type in kind.controls
    assert value


# A kind that nobody knew


def duels() -> Iterator[Entry]:
    for number, said in enumerate(["left left right", "right right right", "left right"]):
        document = Document(f"d{number}", (Segment("0", "system", "Hello"),), "en")
        yield Entry(
            document.id,
            document,
            tuple(
                Judgment(document.id, "0", who, "duel", "1", {"better": answer})
                for who, answer in zip("abc", said.split(), strict=False)
            ),
        )


def test_a_made_up_kind_goes_all_the_way(duel: Path, tmp_path: Path) -> None:
    scheme = read_scheme(duel)
    assert not broken_rules(scheme, {"better": "left"})
    assert [rule.rule for rule in broken_rules(scheme, {"better": "up"})] == ["wrong-kind"]
    data = tmp_path / "duels.jsonl"
    Jsonl().write(duels(), data)
    shown = lapsus.agree(data, scheme=str(duel), bootstrap=None)
    assert {row[0] for row in shown.rows} >= {"fleiss", "percent"}
    gold = lapsus.gold(data, scheme=str(duel))["better"]
    assert gold.answers == ("left", "right", None)
    assert [unit.document for unit in gold.undecided] == ["d2"]
    run = tmp_path / "run.jsonl"
    Jsonl().write(
        [Entry(e.id, None, (msgspec.structs.replace(e.judgments[0], annotator="bot"),)) for e in duels()],
        run,
    )
    table = lapsus.score(data, run, scheme=str(duel), bootstrap=None)
    assert ("likeness(equal)", pytest.approx(6 / 8)) in [(row[2], row[3].value) for row in table.rows]
    document = next(duels()).document
    assert document is not None
    (unit,) = units(document, scheme.unit)
    assert take('{"better": "left"}', unit, scheme, "en").answers == {"better": "left"}


def test_the_command_knows_a_made_up_kind(
    duel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lapsus.cli.results import agree_command

    Jsonl().write(duels(), tmp_path / "duels.jsonl")
    agree_command(tmp_path / "duels.jsonl", scheme=str(duel), resamples=0)
    assert "fleiss" in capsys.readouterr().out
