"""A table as the challenge's paper prints it: heads over two lines, runs under their team, the best in bold."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from lapsus.formats.encoding import in_one_line
from lapsus.reports.table import cells, escape_latex, latex_comment

_MARKDOWN = re.compile(r"[\\`*_\[\]<>|#]")
BEST = "•"
"""Behind the best value of a column where there is no bold."""


class Share(NamedTuple):
    """A share, shown in percent."""

    value: float


class Estimate(NamedTuple):
    """A score, and where it would lie in most other samples, where that is known."""

    value: float
    low: float | None = None
    high: float | None = None


Cell: TypeAlias = Share | Estimate | float | int | str | None


class PaperLine(NamedTuple):
    """One line: whose, which, and its values."""

    group: str
    name: str
    cells: Sequence[Cell]
    is_run: bool = False
    """Whether it competes for the best of a column."""


@dataclass(frozen=True)
class PaperTable:
    """A table for a paper. Intervals of estimates are shown in Markdown and JSON, where there is room."""

    title: str
    heads: tuple[tuple[str, str], ...]
    """Of each column what stands above, and below that."""
    lines: tuple[PaperLine, ...]
    low: tuple[bool, ...] = ()
    """Of each column whether lower is better; none where nothing competes."""
    note: str = ""
    """The signature of the figures."""
    about: str = ""
    """What a reader must know of some lines."""
    places: int = 3

    def best(self) -> set[tuple[int, int]]:
        """Line and column of the best values. Equals, as shown, are all best."""
        found = set()
        for column, is_low in enumerate(self.low):
            values = {
                place: round(value, self.places)
                for place, line in enumerate(self.lines)
                if line.is_run and (value := _figure(line.cells[column])) is not None
            }
            if values:
                top = (min if is_low else max)(values.values())
                found |= {(place, column) for place, value in values.items() if value == top}
        return found

    def to_text(self) -> str:
        """For a terminal."""
        best = self.best()
        above = [head for head, _ in self.heads]
        # A head over several columns is said once.
        once = [head if head != before else "" for head, before in zip(above, ["", *above], strict=False)]
        rows = [["", *once], ["", *(below for _, below in self.heads)]]
        rows = [row for row in rows if any(row)]
        for place, line in enumerate(self.lines):
            shown = [
                self._plain(cell) + (BEST if (place, column) in best else " " if self.low else "")
                for column, cell in enumerate(line.cells)
            ]
            rows.append([self._label(place), *shown])
        widths = [max(cells(row[place]) for row in rows) for place in range(len(rows[0]))]
        text = [self.title, *(_padded(row, widths) for row in rows)]
        return "\n".join(
            [*text, *([f"{BEST} best of its column"] if best else []), *_some(self.about, self.note)]
        )

    def to_markdown(self) -> str:
        """For a page: intervals in brackets, the best in bold."""
        best = self.best()
        heads = ["", "", *(" ".join(_some(above, below)) for above, below in self.heads)]
        rows = [heads, ["---", "---", *("---:" for _ in self.heads)]]
        for place, line in enumerate(self.lines):
            marked = [
                f"**{self._plain(cell)}**{self._bounds(cell)}"
                if (place, column) in best
                else f"{self._plain(cell)}{self._bounds(cell)}"
                for column, cell in enumerate(line.cells)
            ]
            rows.append([_markdown(line.group), _markdown(line.name), *marked])
        notes = [*(["In bold the best of each column."] if best else []), *_some(self.about)]
        shown = [f"### {self.title}", "\n".join(f"| {' | '.join(row)} |" for row in rows), *notes]
        return "\n\n".join([*shown, *(f"`{note}`" for note in _some(self.note))]) + "\n"

    def to_csv(self) -> str:
        """For a spreadsheet: numbers in full."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["", "", *(" ".join(_some(above, below)) for above, below in self.heads)])
        for line in self.lines:
            writer.writerow(
                [in_one_line(line.group), in_one_line(line.name), *(_value(cell) for cell in line.cells)]
            )
        return stream.getvalue()

    def to_latex(self) -> str:
        """For the paper: a booktabs table with its caption."""
        best = self.best()
        above = [head for head, _ in self.heads]
        title = f"{self.title} Bold: the best of each column." if best else self.title
        lines = [r"\begin{table}", rf"\caption{{{escape_latex(title)}}}"]
        lines += [rf"\begin{{tabular}}{{ll{'r' * len(self.heads)}}}", r"\toprule"]
        if any(above):
            spans = [(text, len(list(group))) for text, group in groupby(above)]
            shown = (rf"\multicolumn{{{many}}}{{c}}{{{escape_latex(text)}}}" for text, many in spans)
            lines.append(f"& & {' & '.join(shown)} \\\\")
        lines += [f"& & {' & '.join(escape_latex(below) for _, below in self.heads)} \\\\", r"\midrule"]
        for place, line in enumerate(self.lines):
            if place and self.lines[place - 1].is_run and not line.is_run:
                lines.append(r"\midrule")
            marked = (self._bold(cell, (place, column) in best) for column, cell in enumerate(line.cells))
            group = "" if self._continues(place) else line.group
            lines.append(f"{escape_latex(group)} & {escape_latex(line.name)} & {' & '.join(marked)} \\\\")
        lines += [
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            *map(latex_comment, _some(self.about, self.note)),
        ]
        return "\n".join(lines) + "\n"

    def to_data(self) -> dict[str, Any]:
        """For another program."""
        names = [" ".join(_some(above, below)) for above, below in self.heads]
        rows = [
            {
                **({"group": line.group} if line.group else {}),
                "name": line.name,
                **{name: _value(cell, None) for name, cell in zip(names, line.cells, strict=True)},
                **_intervals(dict(zip(names, line.cells, strict=True))),
            }
            for line in self.lines
        ]
        found = {"title": self.title, "rows": rows, "signature": self.note}
        return {**found, "about": self.about} if self.about else found

    def _label(self, place: int) -> str:
        line = self.lines[place]
        if not line.group:
            return line.name
        return f"{' ' * cells(line.group) if self._continues(place) else line.group} {line.name}"

    def _continues(self, place: int) -> bool:
        return (
            place > 0
            and bool(self.lines[place].group)
            and self.lines[place - 1].group == self.lines[place].group
        )

    def _plain(self, cell: Cell) -> str:
        if cell is None:
            return "n/a"
        if isinstance(cell, Share):
            return f"{100 * cell.value:.1f}%"
        if isinstance(cell, Estimate):
            return f"{cell.value:.{self.places}f}"
        if isinstance(cell, float):
            return f"{cell:.{self.places}f}"
        return f"{cell:,}" if isinstance(cell, int) else cell

    def _bounds(self, cell: Cell) -> str:
        if not isinstance(cell, Estimate) or cell.low is None or cell.high is None:
            return ""
        low, high = (f"{bound:.{self.places}f}".removeprefix("0") for bound in (cell.low, cell.high))
        return f" [{low}, {high}]"

    def _bold(self, cell: Cell, is_best: bool) -> str:
        shown = escape_latex(self._plain(cell))
        return rf"\textbf{{{shown}}}" if is_best else shown


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    first = row[0] + " " * (widths[0] - cells(row[0]))
    rest = (" " * (width - cells(text)) + text for text, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([first, *rest]).rstrip()


def _figure(cell: Cell) -> float | None:
    """What competes for the best of a column."""
    if isinstance(cell, Estimate):
        return cell.value
    return cell if isinstance(cell, float) else None


def _intervals(cells: Mapping[str, Cell]) -> dict[str, dict[str, tuple[float, float]]]:
    """The intervals of those cells that have one."""
    found = {
        name: (cell.low, cell.high)
        for name, cell in cells.items()
        if isinstance(cell, Estimate) and cell.low is not None and cell.high is not None
    }
    return {"intervals": found} if found else {}


def _markdown(text: str) -> str:
    """Text of others in a table of a page: nothing in it means anything."""
    return _MARKDOWN.sub(lambda sign: f"\\{sign.group()}", " ".join(text.split()))


def _value(cell: Cell, nothing: Any = "") -> Any:
    if cell is None:
        return nothing
    if isinstance(cell, Share | Estimate):
        return cell.value
    return in_one_line(cell) if isinstance(cell, str) else cell


def _some(*texts: str) -> Iterator[str]:
    return (text for text in texts if text)
