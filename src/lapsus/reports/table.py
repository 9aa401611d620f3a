"""A table of results that shows itself in a notebook and exports to LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import msgspec
import regex
from markupsafe import Markup

from lapsus.measures.score import Score

Cell: TypeAlias = Score | str | int | float | None

_LATEX = regex.compile(r"[\\&%$#_{}~^<>]")
_LATEX_NAMES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


@dataclass(frozen=True)
class Table:
    """Rows under named columns. Cells hold values, not strings, so that each export shows them its own way."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    """Said below the table: signatures, what a mark means."""
    data: Any = field(default=None, compare=False)
    """The same results for another program; what `to_json` gives."""

    def transposed(self) -> Table:
        """Rows as columns and columns as rows: wide tables read better so on a terminal."""
        columns = (self.columns[0], *(_plain(row[0]) for row in self.rows))
        rows = tuple(
            (name, *(row[place] for row in self.rows)) for place, name in enumerate(self.columns[1:], 1)
        )
        return replace(self, columns=columns, rows=rows)

    def to_text(self) -> str:
        """For a terminal."""
        lines = [[_plain(cell) for cell in row] for row in self.rows]
        widths = [_width([name, *(line[place] for line in lines)]) for place, name in enumerate(self.columns)]
        right = [self._is_numeric(place) for place in range(len(self.columns))]
        shown = [_line(self.columns, widths, right), *(_line(line, widths, right) for line in lines)]
        return "\n".join([*([self.title] if self.title else []), *shown, *self.notes])

    def to_csv(self) -> str:
        """For a spreadsheet: numbers in full, intervals in columns of their own."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        bounded = [
            any(isinstance(row[place], Score) for row in self.rows) for place in range(len(self.columns))
        ]
        header: list[str] = []
        for name, has_bounds in zip(self.columns, bounded, strict=True):
            header += [name, f"{name} low", f"{name} high"] if has_bounds else [name]
        writer.writerow(header)
        for row in self.rows:
            values: list[object] = []
            for cell, has_bounds in zip(row, bounded, strict=True):
                values += _with_bounds(cell) if has_bounds else [_safe(cell)]
            writer.writerow(values)
        return stream.getvalue()

    def to_latex(self) -> str:
        """For a paper: a booktabs table, with intervals in small print beside the values."""
        columns = "".join("r" if self._is_numeric(place) else "l" for place in range(len(self.columns)))
        lines = [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _latex_row(self.columns, _escape_latex),
            r"\midrule",
        ]
        lines += [_latex_row(row, _latex) for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*lines, *(f"% {note}" for note in self.notes)]) + "\n"

    def to_json(self) -> str:
        """For another program."""
        value = (
            self.data
            if self.data is not None
            else [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        )
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()

    def _repr_html_(self) -> str:
        head = Markup("").join(Markup("<th>{}</th>").format(name) for name in self.columns)
        body = Markup("").join(
            Markup("<tr>{}</tr>").format(
                Markup("").join(Markup("<td>{}</td>").format(_plain(cell)) for cell in row)
            )
            for row in self.rows
        )
        caption = Markup("<caption>{}</caption>").format(self.title) if self.title else Markup("")
        notes = Markup("").join(Markup("<p><small>{}</small></p>").format(note) for note in self.notes)
        return str(
            Markup("<table>{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}").format(
                caption, head, body, notes
            )
        )

    def __str__(self) -> str:
        return self.to_text()

    def _is_numeric(self, place: int) -> bool:
        return any(isinstance(row[place], Score | int | float) for row in self.rows)


def _plain(cell: Cell) -> str:
    """A cell as people read it: `.104 [.098, .111]`, `n/a: everybody chose the same`."""
    if cell is None:
        return "-"
    if isinstance(cell, Score):
        if cell.value is None:
            return f"n/a: {cell.note}" if cell.note else "n/a"
        shown = _number(cell.value)
        if cell.interval is not None:
            shown += f" [{_number(cell.interval.low)}, {_number(cell.interval.high)}]"
        return shown
    if isinstance(cell, float):
        return _number(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def _number(value: float) -> str:
    """Three places, without the zero before the point, as the field writes such figures."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _width(texts: Sequence[str]) -> int:
    return max(cells(text) for text in texts)


def cells(text: str) -> int:
    """How many places a text takes on a terminal: Japanese signs take two."""
    return sum(
        2 if regex.match(r"[\p{Han}\p{Hiragana}\p{Katakana}\uff00-\uff60]", sign) else 1 for sign in text
    )


def _line(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for text, width, is_right in zip(texts, widths, right, strict=True):
        space = " " * (width - cells(text))
        padded.append(space + text if is_right else text + space)
    return "  ".join(padded).rstrip()


def _with_bounds(cell: Cell) -> list[object]:
    if not isinstance(cell, Score):
        return [_safe(cell), "", ""]
    if cell.value is None:
        return ["", "", ""]
    return [cell.value, *(cell.interval or ("", ""))]


def _safe(cell: Cell) -> object:
    """Text that a spreadsheet would run as a formula is defused."""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{cell}"
    return "" if cell is None else cell


def _latex_row(row: Sequence[Any], show: Callable[[Any], str]) -> str:
    return " & ".join(show(cell) for cell in row) + r" \\"


def _latex(cell: Cell) -> str:
    if isinstance(cell, Score) and cell.value is not None and cell.interval is not None:
        return rf"{_number(cell.value)} {{\scriptsize [{_number(cell.interval.low)}, {_number(cell.interval.high)}]}}"
    return _escape_latex(_plain(cell))


def _escape_latex(text: str) -> str:
    return _LATEX.sub(lambda match: _LATEX_NAMES.get(match.group(), "\\" + match.group()), text)
