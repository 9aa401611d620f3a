"""A table of results that shows itself in a notebook and exports to LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import msgspec
import regex
from markupsafe import Markup

from lapsus.formats.encoding import in_one_line
from lapsus.measures.comparison import Difference
from lapsus.measures.score import Score, shown
from lapsus.notices import as_text

MARK = "mark"
"""The detail of a score that is shown behind its value: stars, where it was compared with another."""

Cell: TypeAlias = Score | Difference | str | int | float | None

_LATEX = regex.compile(r"[\\&%$#_{}~^<>→κ]")
_LATEX_NAMES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "→": r"$\to$",
    "κ": r"$\kappa$",
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
        columns = (self.columns[0], *(plain(row[0]) for row in self.rows))
        rows = tuple(
            (name, *(row[place] for row in self.rows)) for place, name in enumerate(self.columns[1:], 1)
        )
        return replace(self, columns=columns, rows=rows)

    def to_text(self) -> str:
        """For a terminal."""
        lines = [[plain(cell) for cell in row] for row in self.rows]
        widths = [
            max(cells(text) for text in (name, *(line[place] for line in lines)))
            for place, name in enumerate(self.columns)
        ]
        right = [self.is_numeric(place) for place in range(len(self.columns))]
        shown = [_line(self.columns, widths, right), *(_line(line, widths, right) for line in lines)]
        return "\n".join([*([self.title] if self.title else []), *shown, *self.notes])

    def __str__(self) -> str:
        return self.to_text()

    def to_csv(self) -> str:
        """For a spreadsheet: numbers in full, intervals in columns of their own."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        more = [_more_columns([row[place] for row in self.rows]) for place in range(len(self.columns))]
        names = [
            [name, *(f"{name} {word}" for word in words)]
            for name, words in zip(self.columns, more, strict=True)
        ]
        writer.writerow([spreadsheet_cell(name) for group in names for name in group])
        for row in self.rows:
            writer.writerow(
                [value for cell, words in zip(row, more, strict=True) for value in _values(cell, words)]
            )
        return stream.getvalue()

    def to_latex(self) -> str:
        """For a paper: a booktabs table, with intervals in small print beside the values."""
        columns = "".join("r" if self.is_numeric(place) else "l" for place in range(len(self.columns)))
        lines = [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _latex_row(self.columns, escape_latex),
            r"\midrule",
        ]
        lines += [_latex_row(row, _latex) for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*lines, *map(latex_comment, self.notes)]) + "\n"

    def to_json(self) -> str:
        """For another program."""
        value = (
            self.data
            if self.data is not None
            else [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        )
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=as_text), indent=2).decode()

    def _repr_html_(self) -> str:
        head = Markup("").join(Markup("<th>{}</th>").format(name) for name in self.columns)
        body = Markup("").join(
            Markup("<tr>{}</tr>").format(
                Markup("").join(Markup("<td>{}</td>").format(plain(cell)) for cell in row)
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

    def is_numeric(self, place: int) -> bool:
        """Whether a column holds numbers."""
        return any(isinstance(row[place], Score | Difference | int | float) for row in self.rows)


def plain(cell: Cell) -> str:
    """A cell as people read it: `.104 [.098, .111]`, `n/a: everybody chose the same`."""
    if cell is None:
        return "-"
    if isinstance(cell, Score):
        if cell.value is None:
            return f"n/a: {cell.note}" if cell.note else "n/a"
        return f"{_number(cell.value)}{cell.details.get(MARK, '')}{_bounds(cell)}"
    if isinstance(cell, Difference):
        return "n/a" if cell.difference is None else f"{_signed(cell.difference)}{cell.mark}{_bounds(cell)}"
    if isinstance(cell, float):
        return _number(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def _bounds(cell: Score | Difference) -> str:
    return f" [{_number(cell.interval.low)}, {_number(cell.interval.high)}]" if cell.interval else ""


def _signed(value: float) -> str:
    return ("" if _number(value).startswith("-") else "+") + _number(value)


def _number(value: float) -> str:
    """Three places, without the zero before the point, as the field writes such figures."""
    text = shown(value)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def cells(text: str) -> int:
    """How many places a text takes on a terminal: Japanese signs take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _line(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for text, width, is_right in zip(texts, widths, right, strict=True):
        space = " " * (width - cells(text))
        padded.append(space + text if is_right else text + space)
    return "  ".join(padded).rstrip()


def _more_columns(cells: Sequence[Cell]) -> tuple[str, ...]:
    """What a column of a spreadsheet is followed by."""
    if any(isinstance(cell, Difference) for cell in cells):
        return ("low", "high", "p", "adjusted p")
    return ("low", "high") if any(isinstance(cell, Score) for cell in cells) else ()


def _values(cell: Cell, more: tuple[str, ...]) -> list[object]:
    if isinstance(cell, Difference):
        found = [cell.difference, *(cell.interval or (None, None)), cell.p, cell.adjusted_p]
        return ["" if value is None else value for value in found]
    if isinstance(cell, Score):
        return ["" if cell.value is None else cell.value, *(cell.interval or ("", ""))]
    return [spreadsheet_cell(cell), *("" for _ in more)]


def spreadsheet_cell(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    return "" if cell is None else in_one_line(cell) if isinstance(cell, str) else cell


def _latex_row(row: Sequence[Any], show: Callable[[Any], str]) -> str:
    return " & ".join(show(cell) for cell in row) + r" \\"


def _latex(cell: Cell) -> str:
    if isinstance(cell, Score | Difference) and cell.interval is not None:
        shown, _, bounds = plain(cell).partition(" [")
        return rf"${shown.replace('*', '^{*}')}$ {{\scriptsize [{bounds}}}" if bounds else escape_latex(shown)
    return escape_latex(plain(cell))


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it, in one line: a break would end a row, a caption or a comment."""
    return _LATEX.sub(lambda match: _LATEX_NAMES.get(match.group(), "\\" + match.group()), _one_line(text))


def latex_comment(text: str) -> str:
    """Text in the source of a paper that is not printed."""
    return f"% {_one_line(text)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
