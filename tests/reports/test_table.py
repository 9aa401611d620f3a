from __future__ import annotations

import csv
import io
import json

from lapsus.measures.score import Interval, Score
from lapsus.reports import Table

SCORE = Score("F(B)", 0.1044, 10, Interval(-0.01, 0.2))
TABLE = Table(
    ("run", "F(B)", "n"),
    (("a_b & c", SCORE, 1200), ("日本", Score("F(B)", None, 10, note="everybody chose the same"), 7)),
    notes=("t:0",),
)


def test_on_a_terminal_columns_line_up_also_in_japanese() -> None:
    lines = TABLE.to_text().splitlines()
    assert lines[1] == "a_b & c             .104 [-.010, .200]  1,200"
    assert lines[2] == "日本     n/a: everybody chose the same      7"
    assert lines[3] == "t:0"


def test_csv_has_numbers_in_full_and_bounds_in_columns() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows[0] == ["run", "F(B)", "F(B) low", "F(B) high", "n"]
    assert rows[1] == ["a_b & c", "0.1044", "-0.01", "0.2", "1200"]
    assert rows[2][1:4] == ["", "", ""]


def test_csv_is_safe_in_a_spreadsheet() -> None:
    rows = list(csv.reader(io.StringIO(Table(("run",), (("=1+1",),)).to_csv())))
    assert "\r" not in Table(("run",), (("a\r=1+1",),)).to_csv()
    assert rows[1] == ["'=1+1"]


def test_latex_is_escaped() -> None:
    latex = TABLE.to_latex()
    assert r"a\_b \& c & $.104$ {\scriptsize [-.010, .200]} & 1,200 \\" in latex
    assert latex.startswith(r"\begin{tabular}{lrr}")


def test_nothing_in_a_name_can_run_in_a_notebook() -> None:
    shown = Table(("<b>",), (("<script>alert(1)</script>",),))._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown


def test_json_is_the_data_or_the_rows() -> None:
    assert json.loads(TABLE.to_json())[0]["F(B)"]["value"] == 0.1044
    assert json.loads(Table((), (), data={"x": 1}).to_json()) == {"x": 1}


def test_turned_around_nothing_is_lost() -> None:
    turned = TABLE.transposed()
    assert turned.columns == ("run", "a_b & c", "日本")
    assert turned.rows[0][0] == "F(B)"
    assert turned.transposed().rows == TABLE.rows
