"""Charts that people can read: drawn here as SVG, light or dark, with the table behind each.

A page holds the drawing itself, so that marks lead to what is behind them and colours follow the page. PNG and PDF
are made of the same drawing by `lapsus-eval[charts]`.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Literal, TypeAlias

import regex
from markupsafe import Markup

from lapsus.errors import UsageError
from lapsus.reports.drawing import KINDS, Drawn
from lapsus.reports.svg import element, words
from lapsus.reports.table import Cell, Table, plain

Kind: TypeAlias = Literal["bars", "stacked", "intervals", "lines", "progress", "matrix", "calibration"]
Theme: TypeAlias = Literal["light", "dark"]
FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "csv": "text/csv"}
HINT = "pip install 'lapsus-eval[charts]'"

WIDE, NARROW = 530, 320
"""Widths in pixels that a chart is laid out for: beside others or alone, and on a phone."""
_MARGIN = 24
_FONT = "system-ui, 'Noto Sans', 'Hiragino Sans', 'Noto Sans CJK JP', 'Yu Gothic UI', Meiryo, sans-serif"
_VARIABLE = regex.compile(r"(--[a-z0-9-]+): ([^;]+);")
_MOST_SAID = 40
"""How many rows are read out before the table is left to say the rest."""


@dataclass(frozen=True)
class Chart:
    """What to draw: rows of a table, and what stands in which column.

    `bars`: name, number, number as text. `stacked`: name, then a column a share. `intervals`: name, value, low,
    high. `lines`: the same with days for names. `progress`: day, judgments, total. `matrix`: name, then a column a
    name. `calibration`: name, how sure, how often right, how many.
    """

    kind: Kind
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """How it was computed."""
    links: tuple[tuple[str | None, ...], ...] = ()
    """Where marks lead to: for each row one address, or one for each column."""
    language: str = "en"
    ordered: bool = False
    """Whether the answers of a stacked chart are steps from less to more."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw: no row, or rows whose numbers are not known yet."""
        numbers = (cell for row in self.rows for cell in row[1:] if not isinstance(cell, str | None))
        return not any(number == number for number in numbers)

    def table(self) -> Table:
        """The table behind it."""
        return Table(self.columns, self.rows, self.title, (self.note,) if self.note else ())

    def link(self, row: int, column: int = 0) -> str | None:
        """Where a mark leads to."""
        mine = self.links[row] if row < len(self.links) else ()
        return mine[column] if column < len(mine) else None


def has_files() -> bool:
    """Whether PNG and PDF can be made here."""
    return find_spec("vl_convert") is not None


def inline(chart: Chart, id: str) -> Markup:
    """A chart for a page with the style sheet: laid out wide and narrow, of which the page shows what fits.

    Nothing where there is nothing to draw: no axes without marks.
    """
    if chart.is_empty:
        return Markup("")
    return Markup("").join(
        element("div", _svg(chart, width, f"{id}-{name}"), class_=f"chart-{name}")
        for name, width in (("wide", WIDE), ("narrow", NARROW))
    )


def style() -> str:
    """The style sheet that charts in a page need."""
    return (files("lapsus.reports") / "templates" / "chart.css").read_text(encoding="utf-8")


def draw(chart: Chart, format: str, theme: Theme = "light") -> bytes:
    """A chart as a file: svg, png, pdf, or its table as csv."""
    if format == "csv":
        return chart.table().to_csv().encode()
    if format not in FORMATS:
        raise UsageError("no-chart-drawn", hint="known", format=format, known=", ".join(FORMATS))
    picture = _file(chart, theme)
    if format == "svg":
        return picture.encode()
    if not has_files():
        raise UsageError("chart-needs-one-more", hint=HINT, format=format.upper())
    import vl_convert

    if format == "png":
        return bytes(vl_convert.svg_to_png(picture, scale=2))
    return bytes(vl_convert.svg_to_pdf(picture))


def _svg(chart: Chart, width: int, id: str) -> Markup:
    """The drawing for a page, with a title and what it says for those who do not see it."""
    drawn = KINDS[chart.kind](chart, width)
    return element(
        "svg",
        element("title", chart.title, id=f"{id}-title"),
        element("desc", _said(chart), id=f"{id}-desc"),
        drawn.body,
        width=round(drawn.width),
        height=round(drawn.height),
        viewBox=f"0 0 {drawn.width:.0f} {drawn.height:.0f}",
        class_="chart-svg",
        role="group" if chart.links else "img",
        aria_labelledby=f"{id}-title",
        aria_describedby=f"{id}-desc",
    )


def _file(chart: Chart, theme: Theme) -> str:
    """The drawing as a file: it stands alone, so it has a title, a ground and colours of its own."""
    bare = Chart(
        chart.kind, chart.title, chart.columns, chart.rows, language=chart.language, ordered=chart.ordered
    )
    drawn = KINDS[chart.kind](bare, WIDE) if chart.rows else Drawn(Markup(""), WIDE, 0)
    wide, high = drawn.width + 2 * _MARGIN, drawn.height + 2 * _MARGIN + 34
    picture = element(
        "svg",
        element("title", chart.title),
        element("desc", _said(chart)),
        element("style", Markup(_coloured(theme))),  # noqa: S704  our own file
        element("rect", width=wide, height=high, class_="paper"),
        element("g", words(chart.title, _MARGIN, _MARGIN + 6, drawn.width, "name"), class_="chart-svg"),
        element("g", drawn.body, class_="chart-svg", transform=f"translate({_MARGIN} {_MARGIN + 34})"),
        xmlns="http://www.w3.org/2000/svg",
        width=round(wide),
        height=round(high),
        viewBox=f"0 0 {wide:.0f} {high:.0f}",
        role="img",
        font_family=_FONT,
    )
    return str(picture)


@cache
def _coloured(theme: Theme) -> str:
    """The style sheet with the colours of one theme put in: programs that make pictures know no variables."""
    light, dark = (
        dict(_VARIABLE.findall(part)) for part in style().split("@media (prefers-color-scheme: dark)")
    )
    colours = light | (dark if theme == "dark" else {})
    rules = style().partition("/* Rules */")[2].partition("/* On a page")[0]
    return regex.sub(r"var\((--[a-z0-9-]+)\)", lambda match: colours[match[1]], rules)


def _said(chart: Chart) -> str:
    """The rows in words."""
    shown = [
        f"{plain(row[0])}: "
        + ", ".join(
            f"{name} {plain(cell)}"
            for name, cell in zip(chart.columns[1:], row[1:], strict=False)
            if cell is not None
        )
        for row in chart.rows[:_MOST_SAID]
    ]
    return ". ".join([*shown, "…"] if len(chart.rows) > _MOST_SAID else shown)
