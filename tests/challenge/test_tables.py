"""The paper's tables, for any corpus."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lapsus.challenge.board import Entrant
from lapsus.challenge.figures import Figure, Figures, Floors, RunFigures
from lapsus.challenge.paper import BEST, Line, PaperTable
from lapsus.challenge.tables import CLASSIFICATION, DISTRIBUTION, describe, table_1, table_2, table_3
from lapsus.measures.scores import BREAKDOWN_MEASURES
from tests.challenge.helpers import track


def figures(value: float) -> Figures:
    return Figures(10, {name: Figure(value) for name in BREAKDOWN_MEASURES}, "t:0.5|lapsus:0")


def entrant(id: int, team: str | None, name: str, value: float) -> Entrant:
    return Entrant(id, team, name, datetime(2026, 3, 1, tzinfo=UTC), RunFigures(figures(value), {}))


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


def test_table_2_has_baselines_first_then_teams_and_the_best_marked() -> None:
    table = table_2(RUNS, FLOORS, 0.5)
    assert [(line.group, line.name) for line in table.lines[:4]] == [
        ("organisers", "Baseline"),
        ("Team 1", "run1"),
        ("Team 1", "run2"),
        ("Team 2", "run1"),
    ]
    # Alike in the three places that are shown, both are the best; a floor competes with nobody.
    assert table.best() == {(place, column) for place in (0, 1) for column in range(len(CLASSIFICATION))}
    lines = table.to_text().splitlines()
    assert "(t = 0.5)" in lines[0]
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


def test_names_of_teams_are_text_wherever_they_go() -> None:
    line = Line("A & B_1", "=1+1", [0.5], is_run=True)
    table = PaperTable("κ 50%", (("", "x"),), (line,), (False,))
    assert r"A \& B\_1 & =1+1 & \textbf{0.500}" in table.to_latex()
    assert "'=1+1" in table.to_csv()
    assert table.to_data()["rows"] == [{"group": "A & B_1", "name": "=1+1", "x": 0.5}]
