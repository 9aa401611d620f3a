"""A report of several parts: as one self-contained page, as tables for a paper, or as one table for a spreadsheet."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lapsus.errors import UsageError
from lapsus.measures.score import Score
from lapsus.notices import Notice, localized
from lapsus.reports.charts import Chart, inline, style
from lapsus.reports.html_page import page
from lapsus.reports.table import Cell, Table, escape_latex, latex_comment, plain, spreadsheet_cell
from lapsus.reports.table import plain as shown

KINDS = ("html", "tex", "csv")


@dataclass(frozen=True)
class Example:
    """A unit to look at: its text, and what was said of it."""

    name: str
    text: str
    language: str | None
    answers: tuple[tuple[str, int], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportSection:
    """A part of a report: words, tables, charts, examples."""

    id: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    examples: tuple[Example, ...] = ()
    signatures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A report in one language."""

    title: str
    language: str
    subtitle: str
    parts: tuple[ReportSection, ...]
    words: dict[str, str] = field(default_factory=dict)
    """The few words that the page itself says."""

    def render(self, kind: str) -> str:
        """As a page (html), tables for LaTeX (tex) or one long table (csv)."""
        match kind:
            case "html":
                return self.to_html()
            case "tex":
                return self.to_latex()
            case "csv":
                return self.to_csv()
        raise UsageError("no-report-written", hint="end-files-name", kind=kind, kinds=", ".join(KINDS))

    def to_html(self) -> str:
        """One page that needs nothing else: style and charts are in it; light or dark as the reader has it."""
        extra = (files("lapsus.reports") / "templates" / "report.css").read_text(encoding="utf-8")
        return page(
            "lapsus.reports",
            "report.html",
            self.language,
            report=self,
            extra=Markup(extra + style()),  # noqa: S704  our own files
            inline=inline,
            numeric=Table.is_numeric,
            shown=shown,
        )

    def to_latex(self) -> str:
        """The tables (booktabs), each with its caption, after the methods in words."""
        lines = [latex_comment(self.title), latex_comment(self.subtitle), ""]
        for part in self.parts:
            lines += [latex_comment(part.title)]
            lines += [escape_latex(paragraph) + "\n" for paragraph in part.paragraphs]
            lines += map(latex_comment, part.signatures)
            for table in part.tables:
                caption = escape_latex(table.title or part.title)
                body = table.to_latex().rstrip()
                lines += [
                    r"\begin{table}",
                    r"\centering",
                    rf"\caption{{{caption}}}",
                    body,
                    r"\end{table}",
                    "",
                ]
        return "\n".join(lines)

    def to_csv(self) -> str:
        """Every figure in a row of its own: part, table, row, column, value, low, high, n, signature."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("part", "table", "row", "column", "value", "low", "high", "n", "signature"))
        for part in self.parts:
            for table in part.tables:
                for row in table.rows:
                    for column, cell in zip(table.columns[1:], row[1:], strict=True):
                        start = (part.id, table.title or part.title, row[0], column)
                        writer.writerow([spreadsheet_cell(value) for value in (*start, *_values(cell))])
        return stream.getvalue()


def _values(cell: Cell) -> Sequence[object]:
    if isinstance(cell, Score):
        low, high = cell.interval or (None, None)
        return cell.value, low, high, cell.n, cell.signature
    return cell, None, None, None, None


_WORDS = {"strength": Notice("ranking-strength"), "win_rate": Notice("ranking-win-rate")}


def write_ranking(table: Table, path: Path, language: str = "en") -> None:
    """Write the page of a table that `lapsus.rank` gave."""
    charts = [
        inline(_chart(question, found["systems"], name, language), f"{name}-{place}")
        for place, (question, found) in enumerate(table.data.items())
        for name in _WORDS
    ]
    text = page(
        "lapsus.reports",
        "ranking.html",
        language,
        title=Notice("ranking-title").in_language(language),
        chart_style=Markup(style()),  # noqa: S704  our own file
        charts=charts,
        columns=table.columns,
        rows=[[plain(cell) for cell in row] for row in table.rows],
        notes=[localized(note, language) for note in table.notes],
    )
    path.write_text(text, encoding="utf-8")


def _chart(question: str, systems: list[dict[str, Any]], name: str, language: str) -> Chart:
    rows = tuple((one["system"], one[name], *(one[f"{name}_interval"] or (None, None))) for one in systems)
    title = f"{question}: {_WORDS[name].in_language(language)}"
    return Chart("intervals", title, ("system", name, "low", "high"), rows, language=language)
