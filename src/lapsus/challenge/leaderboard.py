"""The leaderboard: runs in order, with what separates each from the next, and the floors below them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal

import msgspec

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.run_scores import Floors, RunScores, ScoreValue, ScoreValues
from lapsus.errors import UsageError
from lapsus.measures.comparison import MARKS, TRIALS, holm
from lapsus.measures.score import Interval, Score
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, LOWER_IS_BETTER
from lapsus.model import EMPTY
from lapsus.notices import Notice, as_text
from lapsus.registry import did_you_mean
from lapsus.reports import Table
from lapsus.reports.table import MARK, Cell

FIRST: Final = SHOWN[0]
"""The measure by which a board is ordered unless another is asked for."""
FLOORS: Final = {"prior": "constant prior", "halves": "half against half"}
ORGANISERS: Final = "organisers"


class Entrant(msgspec.Struct, frozen=True):
    """A run that is to stand on a board."""

    id: int
    team: str | None
    name: str
    at: datetime
    figures: RunScores


class LeaderboardRow(msgspec.Struct, frozen=True):
    """A run on its place."""

    place: int
    run: int
    team: str | None
    name: str
    at: datetime
    n: int
    values: dict[str, ScoreValue]
    p: dict[str, float | None] | None = None
    """How likely chance alone would set it this far apart from the next; adjusted for how many pairs there are."""
    marks: dict[str, str] = {}
    systems: dict[str, ScoreValue] = {}
    """The measure that the board is ordered by, for each system."""


class Note(msgspec.Struct, frozen=True):
    """Something to know of a run."""

    team: str | None
    name: str
    kind: Literal["one-hot", "out-of-place"]
    """Turns without a distribution; dialogues whose answers are out of order."""
    count: int

    def told(self) -> Notice:
        """The note in words."""
        text = Notice(f"board-{self.kind}", count=self.count)
        return Notice("prefixed", name=f"{self.team or ORGANISERS} {self.name}", text=text)

    def __str__(self) -> str:
        return str(self.told())


class Leaderboard(msgspec.Struct, frozen=True):
    """A leaderboard."""

    language: str
    by: str
    threshold: float
    rows: tuple[LeaderboardRow, ...]
    floors: dict[str, ScoreValues]
    systems: tuple[str, ...]
    signature: str
    test: str
    notes: tuple[Note, ...] = ()


Compare = Callable[[Sequence[tuple[int, int]]], Mapping[tuple[int, int], Mapping[str, float | None]]]
"""Gives the p of each measure for pairs of runs."""


def check_measure(name: str) -> str:
    """A measure by which a board can be ordered."""
    if name not in SHOWN:
        raise UsageError("board-cannot-ordered", hint=did_you_mean(name, list(SHOWN)), name=name)
    return name


def order(entrants: Sequence[Entrant], by: str) -> list[Entrant]:
    """The best first; of equals, the one that came first."""

    def key(entrant: Entrant) -> tuple[bool, float, int]:
        value = entrant.figures.all.values[by].value
        sign = 1 if by in LOWER_IS_BETTER else -1
        return value is None, 0.0 if value is None else sign * value, entrant.id

    return sorted(entrants, key=key)


def neighbours(ordered: Sequence[Entrant]) -> list[tuple[int, int]]:
    """Each run and the one below it."""
    return [(above.id, below.id) for above, below in pairwise(ordered)]


def make_board(
    entrants: Sequence[Entrant],
    floors: Floors,
    compare: Compare,
    *,
    language: str,
    threshold: float,
    by: str = FIRST,
) -> Leaderboard:
    """The board of one language."""
    ordered = order(entrants, check_measure(by))
    adjusted = _adjusted(compare(neighbours(ordered)))
    systems = sorted({system for entrant in ordered for system in entrant.figures.systems})
    rows = tuple(
        _row(place, entrant, adjusted.get(entrant.id), by)
        for place, entrant in zip(_places(ordered, by), ordered, strict=True)
    )
    return Leaderboard(
        language=language,
        by=by,
        threshold=threshold,
        rows=rows,
        floors={"prior": floors.prior, "halves": floors.halves},
        systems=tuple(systems),
        signature=floors.prior.signature if not ordered else ordered[0].figures.all.signature,
        test=f"randomization,trials={TRIALS.resamples},seed={TRIALS.seed}|adjust:holm,pairs={max(len(rows) - 1, 0)}",
        notes=tuple(_notes(ordered)),
    )


def _places(ordered: Sequence[Entrant], by: str) -> list[int]:
    """The place of each run. Equals share one, and the next after them is left out."""
    values = [entrant.figures.all.values[by].value for entrant in ordered]
    return [values.index(value) + 1 for value in values]


def mark(p: float | None) -> str:
    """Stars for an adjusted p: three below .001, two below .01, one below .05."""
    return next((stars for bound, stars in MARKS if p is not None and p < bound), "")


def _adjusted(
    found: Mapping[tuple[int, int], Mapping[str, float | None]],
) -> dict[int, dict[str, float | None]]:
    """By the upper run of each pair: p for all measures, each adjusted for the number of pairs."""
    result: dict[int, dict[str, float | None]] = {first: {} for first, _ in found}
    for name in SHOWN:
        given = {first: p[name] for (first, _), p in found.items()}
        defined = {first: p for first, p in given.items() if p is not None}
        larger = dict(zip(defined, holm(list(defined.values())), strict=True)) if defined else {}
        for first in given:
            result[first][name] = larger.get(first)
    return result


def _row(place: int, entrant: Entrant, p: dict[str, float | None] | None, by: str) -> LeaderboardRow:
    found = entrant.figures
    return LeaderboardRow(
        place=place,
        run=entrant.id,
        team=entrant.team,
        name=entrant.name,
        at=entrant.at,
        n=found.all.n,
        values=found.all.values,
        p=p,
        marks={name: mark(value) for name, value in (p or {}).items() if mark(value)},
        systems={system: figures.values[by] for system, figures in found.systems.items()},
    )


def _notes(ordered: Sequence[Entrant]) -> Iterator[Note]:
    for entrant in ordered:
        if bare := entrant.figures.one_hot:
            yield Note(entrant.team, entrant.name, "one-hot", bare)
        if moved := entrant.figures.out_of_place:
            yield Note(entrant.team, entrant.name, "out-of-place", moved)


def board_table(board: Leaderboard) -> Table:
    """The board for a terminal, a spreadsheet or a paper."""
    title = f"{board.language}, by {BREAKDOWN_MEASURES[board.by]}, t={board.threshold:g}"
    columns = ("run", *(str(BREAKDOWN_MEASURES[name]) for name in SHOWN), "n")
    rows: list[tuple[Cell, ...]] = [
        (
            f"{row.place}. {row.team or ORGANISERS} {row.name}",
            *(_cell(row.values[name], row.n, name, row.marks.get(name, "")) for name in SHOWN),
            row.n,
        )
        for row in board.rows
    ]
    rows += [
        (
            f"({FLOORS[floor]})",
            *(_cell(found.values[name], found.n, name, "") for name in SHOWN),
            found.n,
        )
        for floor, found in board.floors.items()
    ]
    notes = (
        board.signature,
        f"test:{board.test}",
        Notice("against-run-below-p"),
        Notice(
            "lower-better",
            shown=", ".join(str(BREAKDOWN_MEASURES[n]) for n in SHOWN if n in LOWER_IS_BETTER),
        ),
        *(Notice("warning", text=note.told()) for note in board.notes),
    )
    return Table(
        columns, tuple(rows), title=title, notes=notes, data=msgspec.to_builtins(board, enc_hook=as_text)
    )


def _cell(figure: ScoreValue, n: int, name: str, stars: str) -> Score:
    around = None if figure.low is None or figure.high is None else Interval(figure.low, figure.high)
    return Score(
        str(BREAKDOWN_MEASURES[name]), figure.value, n, around, details={MARK: stars} if stars else EMPTY
    )
