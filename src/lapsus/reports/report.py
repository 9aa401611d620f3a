"""A report of several parts: as one self-contained page, as tables for a paper, or as one table for a spreadsheet."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from markupsafe import Markup

from lapsus.errors import UsageError
from lapsus.formats.encoding import in_one_line
from lapsus.measures.score import Score
from lapsus.reports.charts import Chart, inline, style
from lapsus.reports.html_page import page
from lapsus.reports.table import Cell, Table, escape_latex, latex_comment
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
            numeric=_is_numeric,
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
                        writer.writerow([_safe(value) for value in (*start, *_values(cell))])
        return stream.getvalue()


def _values(cell: Cell) -> Sequence[object]:
    if isinstance(cell, Score):
        low, high = cell.interval or (None, None)
        return cell.value, low, high, cell.n, cell.signature
    return cell, None, None, None, None


def _safe(value: object) -> object:
    return "" if value is None else in_one_line(value) if isinstance(value, str) else value


def _is_numeric(table: Table, place: int) -> bool:
    return any(isinstance(row[place], Score | int | float) for row in table.rows)
