"""Charts that people can read: drawn by Altair as SVG, PNG or PDF, light or dark, with the table behind each.

Altair comes with `lapsus[charts]`. Without it there are the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from lapsus.errors import UsageError
from lapsus.reports.table import Cell, Table

Kind: TypeAlias = Literal["progress", "intervals", "stacked", "matrix", "lines"]
Theme: TypeAlias = Literal["light", "dark"]
FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "csv": "text/csv"}
HINT = "pip install 'lapsus[charts]'"

WIDTH = 620
FONT = "system-ui, 'Noto Sans', 'Hiragino Sans', 'Noto Sans CJK JP', 'Yu Gothic UI', Meiryo, sans-serif"
_COLOURS: dict[Theme, dict[str, str]] = {
    "light": {
        "ink": "#1b1d20",
        "quiet": "#575d66",
        "line": "#dde0e4",
        "accent": "#1a5a9e",
        "paper": "#ffffff",
    },
    "dark": {
        "ink": "#e7e9ec",
        "quiet": "#a6adb6",
        "line": "#343940",
        "accent": "#8dbdf2",
        "paper": "#15171a",
    },
}
_RANGES: dict[Theme, list[str]] = {
    "light": ["#2f6fb0", "#d9a13b", "#b6493c", "#4f8f6f", "#7d62a8", "#8a6d4b", "#5d93a6", "#9a5b86"],
    "dark": ["#7db1ea", "#e3b55c", "#e08575", "#86c5a4", "#b39ddb", "#c4a882", "#8fc7d9", "#d193bd"],
}
"""Told apart by lightness as well as by hue."""
_HEAT: dict[Theme, list[str]] = {"light": ["#eef3f9", "#1a5a9e"], "dark": ["#23272c", "#8dbdf2"]}


@dataclass(frozen=True)
class Chart:
    """What to draw: rows of a table, and what stands in which column.

    `progress`: day, judgments, total. `intervals`: name, value, low, high. `lines`: the same with days for names.
    `stacked`: name, then a column a share. `matrix`: name, then a column a name.
    """

    kind: Kind
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """How it was computed."""

    def table(self) -> Table:
        """The table behind it."""
        return Table(self.columns, self.rows, self.title, (self.note,) if self.note else ())


def can_draw() -> bool:
    """Whether Altair is there."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def draw(chart: Chart, format: str, theme: Theme = "light") -> bytes:
    """A chart as a file: svg, png, pdf, or its table as csv."""
    if format == "csv":
        return chart.table().to_csv().encode()
    if format not in FORMATS:
        raise UsageError(f"no chart is drawn as {format!r}", hint=f"known: {', '.join(FORMATS)}")
    if not can_draw():
        raise UsageError("drawing charts needs Altair", hint=HINT)
    import vl_convert

    specification = _specification(chart, theme, on_paper=format != "svg")
    if format == "svg":
        return str(vl_convert.vegalite_to_svg(specification)).encode()
    if format == "png":
        return bytes(vl_convert.vegalite_to_png(specification, scale=2))
    return bytes(vl_convert.vegalite_to_pdf(specification))


def _specification(chart: Chart, theme: Theme, *, on_paper: bool) -> dict[str, Any]:
    import altair as alt

    drawn = {
        "progress": _progress,
        "intervals": _intervals,
        "lines": _lines,
        "stacked": _stacked,
        "matrix": _matrix,
    }[chart.kind](alt, chart, theme)
    # A file stands alone, so it has a title and a ground; on a page both are there already.
    whole = drawn.properties(title=chart.title) if on_paper else drawn
    specification: dict[str, Any] = whole.to_dict(validate=False)
    specification["config"] = _config(theme, on_paper)
    return specification


def _config(theme: Theme, on_paper: bool) -> dict[str, Any]:
    colours = _COLOURS[theme]
    words = {
        "labelColor": colours["ink"],
        "titleColor": colours["quiet"],
        "labelFontSize": 13,
        "titleFontSize": 13,
    }
    return {
        "background": colours["paper"] if on_paper else None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **words, "gridColor": colours["line"], "domainColor": colours["line"], "tickColor": colours["line"],
            "titleFontWeight": "normal", "labelLimit": 220,
        },
        "legend": {**words, "titleFontWeight": "normal", "labelLimit": 400, "symbolType": "square"},
        "title": {"color": colours["ink"], "fontSize": 15, "anchor": "start"},
        "range": {"category": _RANGES[theme], "ramp": _HEAT[theme], "heatmap": _HEAT[theme]},
    }  # fmt: skip


def _values(alt: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    return alt.Data(values=[dict(row) for row in rows])


def _named(chart: Chart, *names: str) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=False)) for row in chart.rows]


def _progress(alt: Any, chart: Chart, theme: Theme) -> Any:
    colours = _COLOURS[theme]
    base = alt.Chart(_values(alt, _named(chart, "day", "judgments", "total")), width=WIDTH, height=220)
    when = alt.X(
        "day:T",
        title=None,
        axis=alt.Axis(format="%Y-%m-%d", grid=False, labelOverlap="greedy", labelSeparation=16),
    )
    bars = base.mark_bar(color=colours["line"], width=8).encode(
        when, alt.Y("judgments:Q", title=chart.columns[1])
    )
    line = base.mark_line(color=colours["accent"], point={"filled": True, "color": colours["accent"]}).encode(
        when, alt.Y("total:Q", title=chart.columns[2], axis=alt.Axis(grid=False))
    )
    return alt.layer(bars, line).resolve_scale(y="independent")


def _bounded(chart: Chart) -> list[dict[str, Any]]:
    return [row for row in _named(chart, "name", "value", "low", "high") if row["value"] is not None]


def _intervals(alt: Any, chart: Chart, theme: Theme) -> Any:
    accent = _COLOURS[theme]["accent"]
    rows = _bounded(chart)
    base = alt.Chart(_values(alt, rows), width=WIDTH - 140, height=alt.Step(30))
    which = alt.Y("name:N", sort=None, title=None)
    low = min((0.0, *(row["low"] for row in rows if row["low"] is not None)))
    scale = alt.Scale(domain=[low, 1])
    points = base.mark_point(filled=True, size=70, color=accent, opacity=1).encode(
        which, alt.X("value:Q", title=chart.columns[1], scale=scale)
    )
    rules = base.mark_rule(color=accent, strokeWidth=2).encode(
        which, alt.X("low:Q", scale=scale), alt.X2("high:Q")
    )
    words = base.mark_text(align="left", dx=9, dy=-9, color=_COLOURS[theme]["quiet"], fontSize=12).encode(
        which, alt.X("value:Q", scale=scale), alt.Text("value:Q", format=".3f")
    )
    return alt.layer(rules, points, words)


def _lines(alt: Any, chart: Chart, theme: Theme) -> Any:
    accent = _COLOURS[theme]["accent"]
    base = alt.Chart(_values(alt, _bounded(chart)), width=WIDTH, height=220)
    when = alt.X(
        "name:T",
        title=None,
        axis=alt.Axis(format="%Y-%m-%d", grid=False, labelOverlap="greedy", labelSeparation=16),
    )
    around = base.mark_errorbar(color=accent, thickness=2).encode(
        when, alt.Y("low:Q", title=chart.columns[1]), alt.Y2("high:Q")
    )
    line = base.mark_line(color=accent, point={"filled": True, "color": accent}).encode(
        when, alt.Y("value:Q")
    )
    return alt.layer(around, line)


def _stacked(alt: Any, chart: Chart, theme: Theme) -> Any:
    answers = list(chart.columns[1:])
    rows = [
        {"name": row[0], "answer": answer, "share": share, "order": place}
        for row in chart.rows
        for place, (answer, share) in enumerate(zip(answers, row[1:], strict=True))
    ]
    columns = 3 if max(map(len, answers), default=0) < 20 else 1
    return alt.Chart(_values(alt, rows), width=WIDTH - 140, height=alt.Step(34)).mark_bar().encode(
        alt.X("share:Q", title=None, axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        alt.Y("name:N", sort=None, title=None),
        alt.Color("answer:N", sort=answers, title=None, legend=alt.Legend(orient="top", columns=columns)),
        alt.Order("order:Q"),
    )  # fmt: skip


def _matrix(alt: Any, chart: Chart, theme: Theme) -> Any:
    names = list(chart.columns[1:])
    rows = [
        {"one": row[0], "other": other, "value": value}
        for row in chart.rows
        for other, value in zip(names, row[1:], strict=True)
        if value is not None
    ]
    step = 34 if len(names) <= 14 else 18
    base = alt.Chart(_values(alt, rows), width=alt.Step(step), height=alt.Step(step))
    one = alt.Y("one:N", sort=names, title=None)
    other = alt.X("other:N", sort=names, title=None, axis=alt.Axis(labelAngle=-60))
    low, high = _HEAT[theme]
    scale = alt.Scale(domain=[0, 1], range=[low, high], clamp=True)
    cells = base.mark_rect().encode(one, other, alt.Color("value:Q", scale=scale, title=None))
    if step < 30:
        return cells
    ink = {"light": ("#1b1d20", "#ffffff"), "dark": ("#e7e9ec", "#0d1a29")}[theme]
    colour = alt.condition("datum.value > 0.55", alt.value(ink[1]), alt.value(ink[0]))
    return cells + base.mark_text(fontSize=11).encode(
        one, other, alt.Text("value:Q", format=".2f"), color=colour
    )
