"""Charts: every kind as a page's drawing and as files; names of strangers, no data, labels that keep apart."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from xml.etree import ElementTree

import pytest
import regex

from lapsus.errors import UsageError
from lapsus.reports import charts
from lapsus.reports.charts import Chart, draw, inline, style
from lapsus.reports.drawing import KINDS
from lapsus.reports.svg import date_ticks, fitting, nice_ticks, two_lines, width_of

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("Ada", "花子", '<b>&"x"</b>')
CHARTS = {
    "bars": Chart("bars", "Bars", ("n", "v", "s"), tuple((name, 3, "3") for name in NAMES)),
    "stacked": Chart("stacked", "Shares", ("n", "O", "T"), tuple((name, 0.25, 0.75) for name in NAMES)),
    "intervals": Chart(
        "intervals", "Points", ("n", "v", "l", "h"), ((NAMES[0], 0.5, -0.1, 0.7), (NAMES[1], None, None, None))
    ),
    "lines": Chart(
        "lines", "Time", ("d", "v", "l", "h"), (("2026-01-05", 0.5, 0.4, 0.6), ("2026-01-09", 0.7, None, None))
    ),
    "progress": Chart("progress", "Days", ("d", "n", "all"), (("2026-01-05", 4, 4), ("2026-03-09", 5, 9))),
    "matrix": Chart("matrix", "Pairs", ("", *NAMES), tuple((name, 0.1, None, 0.9) for name in NAMES)),
    "calibration": Chart(
        "calibration", "Sure", ("n", "s", "r", "a"), (("0.8–0.9", 0.85, 0.7, 30), ("0.9–1.0", 0.95, 0.9, 3))
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_well_formed_on_a_page_and_as_a_file(kind: str) -> None:
    chart = CHARTS[kind]
    page = ElementTree.fromstring(f"<div>{inline(chart, 'x')}</div>")  # noqa: S314  our own
    drawings = page.findall(".//svg")
    assert [drawing.get("role") for drawing in drawings] == ["img", "img"]
    for drawing in drawings:
        assert drawing.findtext("title") == chart.title
        assert "<b>" not in (drawing.findtext("desc") or "") or "<b>" in str(chart.rows)
    for theme in ("light", "dark"):
        alone = ElementTree.fromstring(draw(chart, "svg", theme))  # noqa: S314
        assert "var(" not in (alone.findtext(f"{SVG}style") or "var(")


def test_an_own_scheme_with_many_answers_gets_a_heat_map() -> None:
    many = Chart("stacked", "Many", ("n", *(f"label {n}" for n in range(12))), (("a", *([1 / 12] * 12)),))
    assert inline(many, "x").count("<rect") == 2 * 12


def test_marks_lead_to_what_is_behind_them() -> None:
    chart = Chart("stacked", "Shares", ("n", "O", "T"), (("a", 0.5, 0.5),), links=(("/o?a=1&b=2", None),))
    page = inline(chart, "x")
    assert page.count('<a href="/o?a=1&amp;b=2" aria-label="a, O: 50.0%">') == 2
    assert 'role="group"' in page


def test_nothing_to_draw_is_no_empty_frame() -> None:
    assert inline(Chart("bars", "Bars", ("n", "v", "s"), ()), "x") == ""
    unknown: tuple[tuple[str, float | None, None, None], ...] = (
        ("O", None, None, None),
        ("X", float("nan"), None, None),
    )
    assert inline(Chart("intervals", "Kappa", ("n", "v", "low", "high"), unknown), "x") == ""
    assert draw(Chart("bars", "Bars", ("n", "v", "s"), ()), "svg").startswith(b"<svg")


def test_png_and_pdf_come_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert draw(CHARTS["bars"], "png").startswith(b"\x89PNG")
    assert draw(CHARTS["bars"], "pdf").startswith(b"%PDF")
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="one more package"):
        draw(CHARTS["bars"], "png")


@pytest.mark.parametrize("days", [0, 1, 9, 40, 400, 4000])
@pytest.mark.parametrize("most", [2, 5, 9])
def test_dates_on_an_axis_are_no_more_than_there_is_room_for(days: int, most: int) -> None:
    first = date(2026, 1, 5)
    ticks = date_ticks(first, date.fromordinal(first.toordinal() + days), most)
    assert 1 <= len(ticks) <= most
    assert ticks[0] == first


def test_dates_of_a_chart_do_not_touch() -> None:
    rows = tuple((date.fromordinal(739_000 + n).isoformat(), n, n) for n in range(0, 700, 3))
    drawing = str(inline(Chart("progress", "Days", ("d", "n", "all"), rows), "x"))
    for wide in regex.findall(r"<svg.*?</svg>", drawing):
        found = regex.findall(r'<text x="([\d.]+)" y="251"[^>]*>([^<]+)</text>', wide)
        assert len(found) >= 2
        for (left, one), (right, other) in pairwise(found):
            assert float(right) - float(left) > (width_of(one) + width_of(other)) / 2


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.27, 1), (0, 3), (0, 1234), (0, 1e6)])
def test_ticks_are_round_and_hold_all_values(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert len(ticks) <= 8


def test_names_are_broken_between_words_and_cut_where_they_are_too_long() -> None:
    assert two_lines("MV_Grey_Petrel", width_of("MV_Grey_")) == ["MV_Grey_", "Petrel"]
    assert two_lines("破綻かもしれない", width_of("破綻かも")) == ["破綻かも", "しれない"]
    assert fitting("abcdefgh", width_of("abcd")).endswith("…")


def test_the_style_sheet_says_both_themes_and_every_class() -> None:
    sheet = style()
    for chart in CHARTS.values():
        for names in regex.findall(r'class="([^"]+)"', inline(chart, "x")):
            for name in names.split():
                assert f".{name}" in sheet, name
    assert "prefers-color-scheme: dark" in sheet


def test_what_rounds_to_nothing_has_no_sign() -> None:
    drawn = inline(Chart("intervals", "Kappa", ("n", "v", "low", "high"), (("O", -0.0004, -0.2, 0.2),)), "x")
    assert "-0.00" not in drawn
    assert ">0.00<" in drawn


def test_an_interval_without_a_value_has_no_point() -> None:
    drawn = inline(Chart("intervals", "Kappa", ("n", "v", "low", "high"), (("O", None, -0.2, 0.2),)), "x")
    assert "<circle" not in drawn
    assert "O: [-0.200, 0.200]" in drawn
