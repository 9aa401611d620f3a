"""The three tables of the challenge's paper, for any corpus: what the data are, and how the runs did."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lapsus.challenge.leaderboard import FLOORS, ORGANISERS, Entrant
from lapsus.challenge.published import (
    CLASSIFICATION,
    DISTRIBUTION,
    OF_PAPER,
    PAPER_CORPORA,
    PAPER_DATA,
    PUBLISHED_THRESHOLD,
    Described,
    PublishedRun,
    published,
    published_data,
)
from lapsus.challenge.run_scores import Floors, ScoreValues
from lapsus.challenge.testset import Track
from lapsus.formats.encoding import in_one_line
from lapsus.language import word_count
from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.score import spread
from lapsus.measures.scores.breakdown import LOWER_IS_BETTER
from lapsus.measures.scores.breakdown_labels import RULES, Rule
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


_HEADS_2 = (
    ("", "Accuracy"), ("Precision", "(B)"), ("Recall", "(B)"), ("F", "(B)"),
    ("Precision", "(PB+B)"), ("Recall", "(PB+B)"), ("F", "(PB+B)"),
)  # fmt: skip
_HEADS_3 = (
    ("JS divergence", "(NB,PB,B)"), ("JS divergence", "(NB,PB+B)"), ("JS divergence", "(NB+PB,B)"),
    ("Mean squared error", "(NB,PB,B)"), ("Mean squared error", "(NB,PB+B)"), ("Mean squared error", "(NB+PB,B)"),
)  # fmt: skip


class Scored(NamedTuple):
    """Runs and floors as they score at one threshold."""

    threshold: float
    entrants: Sequence[Entrant]
    floors: Floors
    rule: Rule = "program"


def describe(track: Track) -> Described:
    """Count a corpus."""
    turns: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for gold in track.documents:
        for segment in gold.document.segments:
            turns[segment.role] += 1
            words[segment.role] += word_count(segment.text, gold.document.language)
    counts = track.counts
    o, t, x = (float(share) for share in counts.sum(axis=0) / counts.sum())
    merged = np.stack([counts[:, 0], counts[:, 1] + counts[:, 2]], axis=1)
    return Described(
        dialogues=len(track.documents),
        turns=turns,
        words=words,
        raters=spread(counts.sum(axis=1)) or "",
        shares=(o, t, x),
        kappa=fleiss_kappa(counts, bootstrap=None).value,
        kappa_merged=fleiss_kappa(merged, bootstrap=None).value,
    )


def table_1(corpora: Mapping[str, Track]) -> PaperTable:
    """Statistics of the datasets, a column each; then what the paper says of its own."""
    paper = published_data()
    found = [*(describe(track) for track in corpora.values()), *paper.values()]
    rows: list[tuple[str, list[Cell]]] = [
        ("No. of dialogues", [one.dialogues for one in found]),
        ("No. of user utterances", [one.turns["user"] for one in found]),
        ("No. of system utterances", [one.turns["system"] for one in found]),
        ("No. of words (user)", [one.words["user"] for one in found]),
        ("No. of words (system)", [one.words["system"] for one in found]),
        ("No. of annotators", [one.raters for one in found]),
        ("NB (Not a breakdown)", [Share(one.shares[0]) for one in found]),
        ("PB (Possible breakdown)", [Share(one.shares[1]) for one in found]),
        ("B (Breakdown)", [Share(one.shares[2]) for one in found]),
        ("Fleiss' κ (NB, PB, B)", [one.kappa for one in found]),
        ("Fleiss' κ (NB, PB+B)", [one.kappa_merged for one in found]),
    ]
    heads = tuple(("", name) for name in (*corpora, *(f"{OF_PAPER} {name}" for name in paper)))
    lines = tuple(PaperLine("", *row) for row in rows)
    return PaperTable("Table 1: Statistics of the datasets.", heads, lines, about=PAPER_CORPORA, places=2)


def results(scored: Sequence[Scored]) -> list[PaperTable]:
    """Tables 2 and 3 of the paper: by labels once for each threshold, by distributions once.

    The paper's own figures stand below the runs, as lines of their own: they are of other data.
    """
    by_labels = [table_2(one) for one in scored]
    everybody = {(run.team, run.name): run for one in scored for run in one.entrants}
    return [*by_labels, table_3(list(everybody.values()), scored[0].floors)]


def table_2(scored: Scored) -> PaperTable:
    """Results by labels."""
    how = f"t = {scored.threshold:g}, a gold label needs {RULES[scored.rule]}"
    title = f"Table 2: Results of the runs by classification-related metrics ({how})."
    # The paper has no figures for another threshold.
    shown = published() if scored.threshold == PUBLISHED_THRESHOLD else ()
    return _results(title, _HEADS_2, CLASSIFICATION, scored.entrants, scored.floors, shown)


def table_3(entrants: Sequence[Entrant], floors: Floors) -> PaperTable:
    """Results by distributions."""
    title = "Table 3: Results of the runs by distribution-related metrics."
    return _results(title, _HEADS_3, DISTRIBUTION, entrants, floors, published())


def _results(
    title: str,
    heads: tuple[tuple[str, str], ...],
    measures: Sequence[str],
    entrants: Sequence[Entrant],
    floors: Floors,
    paper: Sequence[PublishedRun],
) -> PaperTable:
    """Baselines first, then the teams in the order in which they came, then the floors and what the paper has,
    which compete with nobody.
    """
    baselines_first = sorted(entrants, key=lambda entrant: (entrant.team is not None, entrant.id))
    teams = dict.fromkeys(entrant.team for entrant in baselines_first)
    lines = [
        PaperLine(team or ORGANISERS, entrant.name, _cells(entrant.figures.all, measures), is_run=True)
        for team in teams
        for entrant in entrants
        if entrant.team == team
    ]
    lines += [
        PaperLine("", f"({FLOORS['prior']})", _cells(floors.prior, measures)),
        PaperLine("", f"({FLOORS['halves']})", _cells(floors.halves, measures)),
    ]
    lines += [
        PaperLine(f"{OF_PAPER} {run.team}", run.name, [Estimate(run.values[name]) for name in measures])
        for run in paper
    ]
    low = tuple(measure in LOWER_IS_BETTER for measure in measures)
    about = PAPER_DATA if paper else ""
    signature = entrants[0].figures.all.signature if entrants else floors.prior.signature
    return PaperTable(title, heads, tuple(lines), low, signature, about)


def _cells(figures: ScoreValues, measures: Sequence[str]) -> list[Cell]:
    found = (figures.values[measure] for measure in measures)
    return [None if score.value is None else Estimate(score.value, score.low, score.high) for score in found]
