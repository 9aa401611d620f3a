"""The paper's tables, for any corpus."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lapsus.challenge.leaderboard import Entrant
from lapsus.challenge.paper_tables import (
    BEST,
    Estimate,
    PaperLine,
    PaperTable,
    Scored,
    describe,
    results,
    table_1,
    table_2,
    table_3,
)
from lapsus.challenge.published import CLASSIFICATION, DISTRIBUTION, published
from lapsus.challenge.run_scores import Floors, RunScores, ScoreValue, ScoreValues
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES
from tests.challenge.helpers import track


def figures(value: float) -> ScoreValues:
    return ScoreValues(10, {name: ScoreValue(value) for name in BREAKDOWN_MEASURES}, "t:0.5|lapsus:0")


def entrant(id: int, team: str | None, name: str, value: float) -> Entrant:
    return Entrant(id, team, name, datetime(2026, 3, 1, tzinfo=UTC), RunScores(figures(value), {}))


FLOORS = Floors(figures(0.9), figures(0.001))
RUNS = [
    entrant(1, "Team 1", "run1", 0.4811),
    entrant(2, None, "Baseline", 0.481),
    entrant(3, "Team 2", "run1", 0.3),
    entrant(4, "Team 1", "run2", 0.2),
]


def test_table_1_counts_a_corpus() -> None:
    found = describe(track(4))
    # Four dialogues of three system and two user turns of five words each; two of the three are scored.
    assert (found.dialogues, found.turns["system"], found.turns["user"]) == (4, 12, 8)
    assert (found.words["system"], found.raters) == (60, "10")
    # Votes of dialogue n: those of places n+1 and n+2 in VOTES, so each comes twice among eight turns.
    assert found.shares == pytest.approx((14 / 40, 12 / 40, 14 / 40))
    shown = table_1({"dev": track(2), "test": track(4)}).to_text()
    assert "NB (Not a breakdown)" in shown
    assert "35.0%" in shown
    heads = [below for _, below in table_1({"test": track(4)}).heads]
    assert heads == ["test", "paper: init100", "paper: rest1046", "paper: dev", "paper: test"]
    kappas = table_1({"test": track(4)}).lines[-2].cells[1:]
    assert kappas == [0.28, 0.28, 0.19, 0.20]


def test_table_2_has_baselines_first_then_teams_and_the_best_marked() -> None:
    table = table_2(Scored(0.5, RUNS, FLOORS))
    assert [(line.group, line.name) for line in table.lines[:4]] == [
        ("organisers", "Baseline"),
        ("Team 1", "run1"),
        ("Team 1", "run2"),
        ("Team 2", "run1"),
    ]
    # Alike in the three places that are shown, both are the best; a floor competes with nobody.
    assert table.best() == {(place, column) for place in (0, 1) for column in range(len(CLASSIFICATION))}
    lines = table.to_text().splitlines()
    assert "(t = 0.5, a gold label needs at least t)" in lines[0]
    assert lines[1].split() == ["Precision", "Recall", "F", "Precision", "Recall", "F"]
    assert lines[3].split() == ["organisers", "Baseline", *[f"0.481{BEST}"] * 7]


def test_in_table_3_lower_is_better() -> None:
    table = table_3(RUNS, FLOORS)
    assert table.best() == {(2, column) for column in range(len(DISTRIBUTION))}
    latex = table.to_latex()
    assert r"\multicolumn{3}{c}{JS divergence} & \multicolumn{3}{c}{Mean squared error}" in latex
    assert r"Team 1 & run1 & 0.481" in latex
    assert r" & run2 & \textbf{0.200}" in latex
    assert latex.count(r"\midrule") == 2
    assert "% paper: as published" in latex


def test_the_papers_figures_are_whole_and_agree_with_themselves() -> None:
    runs = published()
    assert [run.team for run in runs].count("Team 4") == 3
    assert len(runs) == 16
    for run in runs:
        for precision, recall, f in (CLASSIFICATION[1:4], CLASSIFICATION[4:]):
            p, r = run.values[precision], run.values[recall]
            assert run.values[f] == pytest.approx(2 * p * r / (p + r), abs=0.0015)
    best = {name: max(run.values[name] for run in runs) for name in CLASSIFICATION}
    assert (best["accuracy"], best["f1_b"], best["f1_pb_b"]) == (0.643, 0.468, 0.798)
    assert min(run.values["jsd"] for run in runs) == 0.105


def test_the_papers_figures_stand_apart_and_only_at_the_papers_threshold() -> None:
    baseline = entrant(9, "after baseline", "crf t=0", 0.1)
    tables = results([Scored(0.5, RUNS, FLOORS), Scored(0.0, [*RUNS[:1], baseline], FLOORS)])
    of_paper = [[line for line in table.lines if line.group.startswith("paper:")] for table in tables]
    assert [len(lines) for lines in of_paper] == [16, 0, 16]
    assert not any(line.is_run for lines in of_paper for line in lines)
    # By distributions each run stands once, whichever thresholds it was scored at.
    assert [line.name for line in tables[2].lines if line.is_run].count("run1") == 2
    assert "Other data" in tables[0].to_text()
    assert "about" not in tables[1].to_data()


def test_a_page_shows_intervals_and_nothing_of_a_name_means_anything() -> None:
    line = PaperLine("A|B", "*x*_<b>", [Estimate(0.5, 0.25, 0.75), None], is_run=True)
    table = PaperTable("T", (("F", "(B)"), ("", "y")), (line,), (False, True), "t:0.5")
    lines = table.to_markdown().splitlines()
    assert lines[2:5] == [
        "|  |  | F (B) | y |",
        "| --- | --- | ---: | ---: |",
        r"| A\|B | \*x\*\_\<b\> | **0.500** [.250, .750] | n/a |",
    ]
    assert lines[-1] == "`t:0.5`"
    assert table.to_data()["rows"][0]["intervals"] == {"F (B)": (0.25, 0.75)}


def test_names_of_teams_are_text_wherever_they_go() -> None:
    line = PaperLine("A & B_1", "=1+1", [0.5], is_run=True)
    table = PaperTable("κ 50%", (("", "x"),), (line,), (False,))
    assert r"A \& B\_1 & =1+1 & \textbf{0.500}" in table.to_latex()
    assert "'=1+1" in table.to_csv()
    assert table.to_data()["rows"] == [{"group": "A & B_1", "name": "=1+1", "x": 0.5}]
