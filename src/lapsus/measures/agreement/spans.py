"""Agreement on spans as F1: how well one annotator's spans are found again in another's."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import choose, require, require_names
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import SHARE, USUAL, Bootstrap, Floats, interval, resampled_times
from lapsus.measures.score import Interval, Score, signature, spread
from lapsus.measures.scores.spans import characters, exact, marks, on_one_line, overlapping
from lapsus.measures.scores.tally import two_sided_precision_recall_f
from lapsus.model import Span
from lapsus.model.votes import SpanVotes
from lapsus.notices import Notice

NOTHING = Notice("nobody-marked-anything")
MATCHES = ("exact", "overlapping", "characters")
CATEGORIES = ("same", "any")


class _Pair(NamedTuple):
    """Two annotators, the units that both answered, and on each of them hits and size of both sides."""

    one: int
    other: int
    units: NDArray[np.intp]
    sums: Floats


def span_f1(
    votes: SpanVotes, match: str = "exact", category: str = "same", *, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """The F1 of one annotator's spans against another's: the mean over all pairs of annotators.

    Spans match if they are `exact`ly the same stretch, or if they are `overlapping` by a character or more,
    each side counting its own that do; `characters` compares the characters marked instead of the spans. With
    the `same` category labels must be equal, with `any` they are not looked at. The counts of a pair are
    added up over the units that both answered, so units where neither marked anything count for nothing, and
    pairs who never marked anything are left out. Chance is not taken out. The interval resamples units.
    """
    require(votes, "span_f1", SpanVotes)
    require_names(votes, "span_f1", "gamma or unitizing")
    choose(Notice("way-match-spans"), match, MATCHES)
    choose(Notice("way-treat-category"), category, CATEGORIES)
    answered = votes.answered
    raters = answered.sum(axis=1)
    number, n = len(votes.annotators), int((raters >= 2).sum())
    line = signature(
        match=match,
        category=category,
        pairs=number * (number - 1) // 2,
        raters=spread(raters[raters >= 2]),
        boot=bootstrap,
    )
    if not n:
        return Score("span_f1", None, 0, note=ALONE, signature=line)
    rows = [row for row, many in zip(votes.spans, raters.tolist(), strict=True) if many >= 2]
    pairs = _pairs(rows, answered[raters >= 2], match, category == "same")
    totals = np.concatenate([pair.sums.sum(axis=0) for pair in pairs])
    value = float(mean_f1(totals))
    if np.isnan(value):
        return Score("span_f1", None, n, note=NOTHING, signature=line)
    details = {"pairs": _details(votes.annotators, pairs, _f1(totals))}
    return Score("span_f1", value, n, _interval(pairs, n, bootstrap, value), signature=line, details=details)


def _details(annotators: Sequence[str], pairs: list[_Pair], f1: Floats) -> list[dict[str, object]]:
    """The F1 of every pair, None where they have nothing to compare."""
    known = {(pair.one, pair.other): one for pair, one in zip(pairs, f1.tolist(), strict=True)}
    every = ((pair, known.get(pair, np.nan)) for pair in combinations(range(len(annotators)), 2))
    return [
        {"annotators": (annotators[one], annotators[other]), "f1": None if np.isnan(value) else value}
        for (one, other), value in every
    ]


def _interval(pairs: list[_Pair], units: int, bootstrap: Bootstrap | None, value: float) -> Interval | None:
    """As `bootstrap` would give it; but a pair is added up over its own units, of which it may share few."""
    if bootstrap is None or units < 2:
        return None
    values = []
    for draws in resampled_times(np.ones(units), bootstrap):
        totals = [draws[:, pair.units] @ pair.sums for pair in pairs]
        values.append(mean_f1(np.concatenate(totals, axis=1)))
    return interval(np.concatenate(values), bootstrap.level, value=value, groups=units, bounds=SHARE)


def mean_f1(totals: Floats) -> Floats:
    """The mean F1 over pairs, from totals of hits and sizes of both sides, four for each pair."""
    values = _f1(totals)
    defined = ~np.isnan(values)
    number = defined.sum(axis=-1)
    sums = np.where(defined, values, 0.0).sum(axis=-1)
    mean: Floats = np.divide(sums, number, out=np.full(sums.shape, np.nan), where=number > 0)
    return mean


def _f1(totals: Floats) -> Floats:
    sides = np.moveaxis(totals.reshape(*totals.shape[:-1], -1, 4), -1, 0)
    f1: Floats = two_sided_precision_recall_f(*sides)[..., 2]
    return f1


def _pairs(
    rows: list[tuple[tuple[Span, ...] | None, ...]],
    answered: NDArray[np.bool_],
    match: str,
    with_label: bool,
) -> list[_Pair]:
    """The pairs of annotators who answered a unit both."""
    marked = [[marks(spans or (), with_label) for spans in row] for row in rows]
    shared = answered.astype(np.float64).T @ answered
    pairs = []
    for one, other in np.argwhere(np.triu(shared, 1)).tolist():
        units = np.flatnonzero(answered[:, one] & answered[:, other])
        sides = [[marked[unit][column] for unit in units.tolist()] for column in (one, other)]
        if match == "exact":
            sums = exact(*sides)
        else:
            sums = (overlapping if match == "overlapping" else characters)(*on_one_line(*sides))
        pairs.append(_Pair(one, other, units, sums))
    return pairs
