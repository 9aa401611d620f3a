"""From files to results, on the samples and on small invented data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import lapsus
from lapsus.errors import InputError, UsageError
from lapsus.formats.dbdc_run import DbdcRun
from lapsus.formats.jsonl import Jsonl
from lapsus.measures.comparison import Difference
from lapsus.measures.score import Score
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.samples import sample_path

VOTES = {"0": "OOOO", "2": "OOTX", "4": "TTXX", "6": "XXXT"}


def entry(votes: dict[str, str], id: str = "d", system: str = "A") -> Entry:
    turns = [Segment(str(i), "user" if i % 2 else "system", f"turn {i}") for i in range(8)]
    judgments = [
        Judgment(id, turn, f"ann{k}", "breakdown", "1.0", {"breakdown": label})
        for turn, labels in votes.items()
        for k, label in enumerate(labels)
    ]
    return Entry(id, Document(id, tuple(turns), "en", {"system": system}), tuple(judgments))


def answers(labels: str, id: str = "d", turns: Iterator[str] | None = None) -> Entry:
    said = zip(turns or iter(VOTES), labels, strict=True)
    return Entry(
        id,
        None,
        tuple(Judgment(id, turn, "bot", "breakdown", "1.0", {"breakdown": label}) for turn, label in said),
    )


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    Jsonl().write([entry(VOTES), entry(VOTES, "e", "B")], path)
    return path


def run(path: Path, *entries: Entry) -> Path:
    DbdcRun().write(entries, path)
    return path


def scores_of(table: lapsus.reports.Table, which: int = 0) -> dict[str, float]:  # type: ignore[name-defined]
    scores: dict[str, float] = json.loads(table.to_json())["runs"][which]["scores"]
    return scores


def test_scores_by_hand(gold: Path, tmp_path: Path) -> None:
    """Strict gold: O, O, T (tie of T and X goes to T), X. Lenient: O, O (2 of 4 is no less), X, X."""
    made = lapsus.score(gold, run(tmp_path / "r.zip", answers("OTTX"), answers("OTTX", "e")))
    found = scores_of(made)
    assert found["accuracy"] == pytest.approx(3 / 4)
    assert found["f1_b"] == 1.0
    assert (found["precision_pb_b"], found["recall_pb_b"]) == (pytest.approx(2 / 3), 1.0)
    assert found["n"] == 8


def test_the_threshold_changes_the_gold(gold: Path, tmp_path: Path) -> None:
    """At t = .6 only turn 0 (O) and turn 6 (X) have a majority; the others fall back to O."""
    made = run(tmp_path / "r.zip", answers("OOOX"), answers("OOOX", "e"))
    assert scores_of(lapsus.score(gold, made, threshold=0.6))["accuracy"] == 1.0


def test_by_system_and_several_runs(gold: Path, tmp_path: Path) -> None:
    good = run(tmp_path / "good.zip", answers("OOTX"), answers("XXXO", "e"))
    bad = run(tmp_path / "bad.zip", answers("XXOO"), answers("XXOO", "e"))
    made = json.loads(lapsus.score(gold, good, bad, by="system").to_json())
    assert [found["run"] for found in made["runs"]] == ["good", "bad"]
    assert made["runs"][0]["by"]["A"]["scores"]["accuracy"] == 1.0
    assert made["runs"][0]["by"]["B"]["scores"]["accuracy"] == 0.0
    assert set(made["runs"][0]["floors"]) == {"constant prior", "half against half"}
    assert made["runs"][0]["signature"].startswith(
        "t:0|rule:program|ties:O>T>X|match:turn-index|log:2|raters:4"
    )


@pytest.mark.parametrize(
    ("labels", "turns", "words"),
    [("OOT", "024", "does not answer"), ("OOTXX", "02468", "does not have"), ("OTTX", "0246", None)],
)
def test_runs_must_fit_the_gold(
    gold: Path, tmp_path: Path, labels: str, turns: str, words: str | None
) -> None:
    made = run(tmp_path / "r.zip", answers(labels, turns=iter(turns)), answers("OOTX", "e"))
    if words is None:
        assert scores_of(lapsus.score(gold, made))["n"] == 8
        return
    with pytest.raises(InputError, match=words):
        lapsus.score(gold, made)


def test_turns_without_votes_may_be_answered(gold: Path, tmp_path: Path) -> None:
    made = run(tmp_path / "r.zip", answers("OOOTX", turns=iter("01246")), answers("OOTX", "e"))
    assert scores_of(lapsus.score(gold, made))["n"] == 8


def test_compare_tells_runs_apart(tmp_path: Path) -> None:
    gold, good, bad = tmp_path / "g.jsonl", tmp_path / "good.zip", tmp_path / "bad.zip"
    names = [f"d{i}" for i in range(20)]
    Jsonl().write([entry(VOTES, name) for name in names], gold)
    run(good, *(answers("OOTX", name) for name in names))
    run(bad, *(answers("XXOO", name) for name in names))
    table = lapsus.compare(gold, good, bad)
    assert table.rows[0][0] == "good → bad"
    difference = table.rows[0][1]
    assert isinstance(difference, Difference)
    assert (difference.difference, difference.mark) == (-1.0, "***")
    assert "-1.000*** [-1.000, -1.000]" in str(table)
    assert "accuracy adjusted p" in table.to_csv()
    with pytest.raises(UsageError, match="two runs"):
        lapsus.compare(gold, good)


def test_agreement_table(gold: Path) -> None:
    table = lapsus.agree(gold, by="system")
    found = json.loads(table.to_json())
    assert (found["documents"], found["judged_units"], found["annotators"]) == (2, 8, 4)
    assert found["share_NB"] == pytest.approx(6 / 16)
    assert set(found["by"]) == {"A", "B"}
    assert found["fleiss_kappa"] < found["fleiss_kappa_merged"]
    assert "fleiss_kappa" in found["intervals"]


def test_agreement_where_everybody_says_the_same_is_undefined(tmp_path: Path) -> None:
    path = tmp_path / "same.jsonl"
    Jsonl().write([entry({"0": "OOO", "2": "OOO"})], path)
    table = lapsus.agree(path)
    cell = {row[0]: row[1] for row in table.rows}["fleiss"]
    assert isinstance(cell, Score)
    assert cell.value is None
    assert "n/a: everybody chose the same" in str(table)


@pytest.mark.parametrize("scheme", ["breakdown", "error-types", "response-quality"])
def test_every_scheme_of_the_samples_has_agreement_and_gold(scheme: str) -> None:
    table = lapsus.agree(sample_path("dialogues-ja"), scheme=scheme)
    values = [cell.value for row in table.rows for cell in row if isinstance(cell, Score)]
    assert values
    assert all(value is not None and value > 0.1 for value in values)
    assert lapsus.gold(sample_path("dialogues-ja"), scheme=scheme)


def test_spans_have_agreement_and_gold() -> None:
    table = lapsus.agree(sample_path("pairs-en"))
    assert any(isinstance(cell, Score) for row in table.rows for cell in row)
    (made,) = lapsus.gold(sample_path("pairs-en")).values()
    assert made.method == "spans"


def test_the_measure_and_the_merge_can_be_chosen(gold: Path) -> None:
    table = lapsus.agree(gold, measures=["alpha(ordinal)"], merge="NB+PB")
    assert [row[0] for row in table.rows][-2:] == ["alpha(ordinal)", "alpha(ordinal) (NB+PB, B)"]
    with pytest.raises(UsageError, match="no label 'Q'"):
        lapsus.agree(gold, merge="Q+PB")
    with pytest.raises(UsageError, match="merges nothing"):
        lapsus.agree(gold, merge="PB")
    with pytest.raises(UsageError, match="did you mean"):
        lapsus.agree(gold, measures=["alfa"])


def test_which_scheme_must_be_clear() -> None:
    with pytest.raises(UsageError, match="say which with `scheme=`"):
        lapsus.agree(sample_path("dialogues-en"))
    with pytest.raises(InputError, match="nothing is judged under 'semantic-errors'"):
        lapsus.agree(sample_path("dialogues-en"), scheme="semantic-errors")


@pytest.mark.parametrize("method", ["majority", "distribution", "dawid-skene", "mace"])
def test_gold_of_clear_votes_is_what_everybody_said(method: str, tmp_path: Path) -> None:
    path = tmp_path / "clear.jsonl"
    Jsonl().write([entry({"0": "OOO", "2": "XXX", "4": "TTT"})], path)
    made = lapsus.gold(path, method=method)["breakdown"]
    if made.answers is not None:
        assert made.answers == ("O", "X", "T")
    assert made.distributions is not None
    assert [int(row.argmax()) for row in made.distributions] == [0, 2, 1]


def test_gold_methods_and_thresholds_are_checked(gold: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'majority'"):
        lapsus.gold(gold, method="majorty")
    with pytest.raises(UsageError, match="takes no threshold"):
        lapsus.gold(gold, method="mace", threshold=0.5)
    made = lapsus.gold(gold, threshold=0.6)["breakdown"]
    assert made.answers == ("O", "O", "O", "X") * 2


def quality(answers: list[dict[str, object]]) -> Entry:
    document = Document(
        "d", (Segment("0", "system", "hi"), Segment("1", "system", "ho")), "en", {"system": "A"}
    )
    judgments = [
        Judgment("d", segment, f"ann{k}", "response-quality", "1.0", answer)  # type: ignore[arg-type]
        for k, answer in enumerate(answers)
        for segment in ("0", "1")
    ]
    return Entry("d", document, tuple(judgments))


def test_questions_do_not_stand_in_for_each_other(tmp_path: Path) -> None:
    """Two questions of the same kind: each keeps its own row and its own key."""
    path = tmp_path / "q.jsonl"
    said = [{"emotion": "Y", "dialogue-act": label} for label in "YPN"]
    Jsonl().write([quality(said)], path)
    found = json.loads(lapsus.agree(path).to_json())
    assert found["dialogue-act.fleiss_kappa"] == pytest.approx(-0.5)
    assert found["emotion.fleiss_kappa"] is None
    only = json.loads(lapsus.agree(path, questions=["dialogue-act"]).to_json())
    assert only["fleiss_kappa"] == pytest.approx(-0.5)


def test_a_run_of_majority_labels_is_right(tmp_path: Path) -> None:
    """A tie of Y and P goes to Y, as for gold: a set of one, never of both or none."""
    path, made = tmp_path / "q.jsonl", tmp_path / "gold.jsonl"
    Jsonl().write([quality([{"emotion": label, "soundness": 4} for label in "YYPP"])], path)
    Jsonl().write([quality([{"emotion": "Y", "soundness": 4}])], made)
    found = json.loads(lapsus.score(path, made).to_json())["runs"][0]["questions"]
    assert found["emotion"]["exact"]["value"] == 1.0
    assert found["soundness"]["mae"]["value"] == 0.0
    by_system = json.loads(lapsus.score(path, made, by="system").to_json())["runs"][0]["by"]
    assert by_system["A"]["emotion"]["exact"]["value"] == 1.0
    with pytest.raises(UsageError, match="threshold"):
        lapsus.score(path, made, questions=["emotion"], threshold=0.7)


def test_steps_of_a_scale_that_nobody_chose_count_too(tmp_path: Path) -> None:
    """Ratings of 4 and 5 on a scale of five are near; on a scale of two they would be as far apart as can be."""
    path = tmp_path / "q.jsonl"
    Jsonl().write([quality([{"soundness": level} for level in (4, 5, 4)])], path)
    table = lapsus.agree(path, questions=["soundness"], measures=["ac2"])
    score = next(cell for row in table.rows for cell in row if isinstance(cell, Score))
    assert score.value is not None
    assert score.value > 0.8


def test_gold_comes_once_where_a_document_comes_in_pieces(tmp_path: Path) -> None:
    from lapsus.analysis.gold_standard import gold_entries

    whole = entry(VOTES)
    parts = [Entry("d", None, (judgment,)) for judgment in whole.judgments]
    path = tmp_path / "pieces.jsonl"
    Jsonl().write(
        [
            entry(VOTES, "e"),
            *[part for judgment in parts for part in (judgment, entry({}, f"x{id(judgment)}"))],
        ],
        path,
    )
    _, entries = gold_entries(path)
    units = [judgment.unit for made in entries for judgment in made.judgments]
    assert len(units) == len(set(units)) == 8


@pytest.mark.parametrize(
    ("scheme", "answers"),
    [
        ("error-types", {"types": 3}),
        ("error-types", {"types": "repetition"}),
        ("response-quality", {"soundness": "high"}),
        ("semantic-errors", {"errors": "none"}),
    ],
)
def test_answers_of_the_wrong_kind_are_no_votes(
    tmp_path: Path, scheme: str, answers: dict[str, object]
) -> None:
    path = tmp_path / "odd.jsonl"
    segment = None if scheme == "semantic-errors" else "0"
    judgment = Judgment("d", segment, "ann", scheme, "1.0", answers)  # type: ignore[arg-type]
    Jsonl().write([Entry("d", Document("d", (Segment("0", "system", "hi"),)), (judgment,))], path)
    table = lapsus.agree(path)
    assert table.data["broken"] == 1
    assert "1 of these have an answer that the guideline does not know" in table.notes[-1]


def test_methods_are_used_where_they_are_made_for() -> None:
    (strict,) = lapsus.gold(sample_path("pairs-en"), method="spans@at_least=5").values()
    (usual,) = lapsus.gold(sample_path("pairs-en")).values()
    assert strict.answers != usual.answers
    with pytest.raises(UsageError, match="not made for these answers"):
        lapsus.gold(sample_path("pairs-en"), method="mace")


def test_other_versions_of_a_guideline_are_told(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    old = [msgspec.structs.replace(judgment, version="0.1") for judgment in entry(VOTES).judgments]
    Jsonl().write([Entry("d", entry(VOTES).document, tuple(old))], path)
    assert any("judged under breakdown 0.1; ours is 1.0" in note for note in lapsus.agree(path).notes)


def types(*sets: tuple[str, ...], id: str = "d") -> Entry:
    judgments = tuple(
        Judgment(id, "0", f"ann{k}", "error-types", "1.2", {"types": labels}) for k, labels in enumerate(sets)
    )
    return Entry(id, Document(id, (Segment("0", "system", "Hello"),), "en", {"system": "A"}), judgments)


def test_a_threshold_of_nothing_is_not_one_half(tmp_path: Path) -> None:
    """With t = 0 every label counts as chosen, so that one right label is no exact match; at .5 it is."""
    gold, run = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    Jsonl().write([types(("repetition",), ("repetition",), ("contradiction",))], gold)
    Jsonl().write([types(("repetition",))], run)
    found = {
        t: json.loads(lapsus.score(gold, run, threshold=t).to_json())["runs"][0]["questions"]["types"]
        for t in (None, 0.5, 0.0)
    }
    assert [found[t]["exact"]["value"] for t in (None, 0.5, 0.0)] == [1.0, 1.0, 0.0]
    assert "votes>=0|" in found[0.0]["exact"]["signature"]


def test_scores_are_asked_for_by_name(gold: Path, tmp_path: Path) -> None:
    made = tmp_path / "run.jsonl"
    Jsonl().write([answers("OOTX"), answers("OOTX", "e")], made)
    rows = {
        row[2]: row[3] for row in lapsus.score(gold, made, measures=["accuracy", "jsd"], bootstrap=None).rows
    }
    assert list(rows) == ["accuracy", "JSD(NB,PB,B)"]
    whole = scores_of(lapsus.score(gold, made, bootstrap=None))
    assert rows["accuracy"].value == whole["accuracy"]
    assert rows["JSD(NB,PB,B)"].value == whole["jsd"]
    (like,) = lapsus.score(gold, made, measures=["likeness"], bootstrap=None).rows
    assert (like[2], like[3].value) == ("likeness(equal)", pytest.approx(11 / 16))
    with pytest.raises(UsageError, match="no score of these answers is called pearson"):
        lapsus.score(gold, made, measures=["pearson"])


@pytest.mark.parametrize(
    ("measure", "first"), [("ratings", "pearson"), ("mae", "mae"), ("likeness", "likeness(rmse)")]
)
def test_scores_of_a_scale_by_name(tmp_path: Path, measure: str, first: str) -> None:
    path, made = tmp_path / "q.jsonl", tmp_path / "run.jsonl"
    Jsonl().write([quality([{"soundness": level} for level in (4, 5, 4)])], path)
    Jsonl().write([quality([{"soundness": 4}])], made)
    table = lapsus.score(path, made, measures=[measure], questions=["soundness"], bootstrap=None)
    assert table.rows[0][2] == first
