"""Gamma (Mathet, Widlöcher and Métivier, 2015): agreement on spans, where they are and what they are at once."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import ratio, require
from lapsus.measures.agreement.gamma_alignment import aligned
from lapsus.measures.agreement.gamma_candidates import (
    Continuum,
    Dissimilarity,
    Ints,
    Lengths,
    Marks,
    candidates,
    continua,
    in_order,
    ragged,
)
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats, bootstrap_interval
from lapsus.measures.score import Score, signature, spread
from lapsus.model import UnitKey
from lapsus.model.votes import SpanVotes
from lapsus.notices import Notice

NOTHING = Notice("nobody-marked-anything")
NO_ROOM = Notice("random-marks-would-agree")
FIRST = 30
"""How many random continua are made of each continuum before anything is known of how they vary."""
MOST = 5_000
"""How many are made at most, however much they vary; the details tell how well the mean is then known."""
MOST_PEOPLE = 12
"""How many people's marks on one unit are aligned. With a few more, the best alignment is neither quick nor sure."""
_Marked: TypeAlias = Sequence[tuple[UnitKey, Continuum]]
"""Units that two or more annotators answered and somebody marked."""
_CONFIDENT = 1.96
_BATCH = 1 << 16
"""How many random marks are drawn together."""
_ROOM = 1 << 18
"""How many marks are aligned together, times the square of the annotators: so fast grows what is remembered of each."""


class Disorders(NamedTuple):
    """The disorder that the best alignment of each continuum leaves, over its marks by annotator."""

    values: Floats
    excess: Floats
    """By how much each may be above the least; infinite where nobody knows."""


class UnitaryAlignment(NamedTuple):
    """Marks that stand for the same thing, at most one of each annotator, by their place in the continuum."""

    marks: tuple[int, ...]
    disorder: float


def gamma(
    votes: SpanVotes,
    *,
    lengths: Lengths | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    delta_empty: float = 1.0,
    between: Floats | None = None,
    precision: float = 0.02,
    seed: int = 0,
    bootstrap: Bootstrap | None = USUAL,
) -> Score:
    """Gamma of spans: 1 for the same spans with the same labels, 0 for what random marks would give.

    Each unit of the votes is one continuum (see `continua`; `lengths` are those of the texts). Its marks are
    aligned so that disorder is least: two marks are as unlike as `alpha` times the square of how far their
    ends are apart over their lengths, plus `beta` times 1 (or what `between` says) for different labels; a
    mark without a partner costs 1. `delta_empty` multiplies all disorders, and leaves gamma as it is. Gamma
    is 1 less the disorder over the mean disorder of random continua, of which as many are made as it takes to
    know that mean to within `precision`, 95 times of 100.

    Over several continua, disorders are added up, each counting with its mean number of marks by annotator,
    so that what few marked weighs little and what nobody marked weighs nothing. The interval resamples
    continua.
    """
    require(votes, "gamma", SpanVotes)
    _check(alpha, beta, delta_empty, precision, seed)
    _check_distances(between, len(votes.labels))
    measure = Dissimilarity(float(alpha), float(beta), between)
    read = [
        pair for pair in zip(votes.units, continua(votes, lengths), strict=True) if pair[1].annotators >= 2
    ]
    marked = [pair for pair in read if pair[1].marks]
    _check_crowd([one.annotators for _, one in marked])
    told = {"delta_empty": float(delta_empty), "lengths": "marks" if lengths is None else "texts"}
    line = _line(marked, measure, {**told, "precision": float(precision), "seed": seed, "boot": bootstrap})
    if not marked:
        return Score("gamma", None, 0, note=NOTHING if read else ALONE, signature=line)
    chosen = [one for _, one in marked]
    chance = random_disorders(chosen, measure, precision, seed)
    return _score(marked, disorders(chosen, measure), chance, delta_empty, bootstrap, line)


def _line(marked: _Marked, measure: Dissimilarity, told: Mapping[str, object]) -> str:
    raters = spread(np.array([one.annotators for _, one in marked]))
    labels = "same or not" if measure.between is None else "given"
    return signature(alpha=measure.alpha, beta=measure.beta, labels=labels, raters=raters, **told)


def best_alignment(continuum: Continuum, measure: Dissimilarity | None = None) -> list[UnitaryAlignment]:
    """The alignment of a continuum's marks that leaves the least disorder, in the order of the text."""
    if continuum.annotators < 2:
        raise UsageError("alignment-needs-two-annotators")
    marks, order = in_order(_marks([continuum]))
    found = candidates(marks, continuum.annotators, measure or Dissimilarity())
    best = aligned(found, marks, continuum.annotators, 1)
    alone = set(range(continuum.marks))
    alignment = []
    for number in best.chosen.tolist():
        members = order[found.mark[found.owner == number]].tolist()
        alone -= set(members)
        alignment.append(UnitaryAlignment(tuple(members), len(members) - float(found.saves[number])))
    alignment += [UnitaryAlignment((mark,), 1.0) for mark in alone]
    return sorted(alignment, key=lambda unitary: int(continuum.start[list(unitary.marks)].min()))


def disorders(chosen: Sequence[Continuum], measure: Dissimilarity) -> Disorders:
    """The least disorder of each continuum, all of which have marks, an empty place costing 1."""
    return _disorders(_marks(chosen), np.array([one.annotators for one in chosen]), measure)


def random_disorders(
    chosen: Sequence[Continuum], measure: Dissimilarity, precision: float, seed: int
) -> Disorders:
    """The disorders of random continua: a row for each time, a column for each continuum."""
    first = _sampled(chosen, measure, FIRST, (seed, 0))
    unsure = _reached(first, np.array([_mean_marks(one) for one in chosen]))
    wanted = min(math.ceil(FIRST * (unsure / precision) ** 2), MOST)
    if wanted <= FIRST:
        return first
    more = _sampled(chosen, measure, wanted - FIRST, (seed, 1))
    return Disorders(*(np.concatenate(parts) for parts in zip(first, more, strict=True)))


def _reached(chance: Disorders, weights: Floats) -> float:
    """To within which share the mean disorder of random continua is known, 95 times of 100."""
    sums = chance.values @ weights
    mean = float(sums.mean())
    return _CONFIDENT * float(sums.std(ddof=1)) / math.sqrt(len(sums)) / mean if mean > 0 else 0.0


def _sampled(
    chosen: Sequence[Continuum], measure: Dissimilarity, samples: int, seed: tuple[int, int]
) -> Disorders:
    parts = []
    step = max(1, _BATCH // max(1, samples * max(one.marks for one in chosen)))
    for start in range(0, len(chosen), step):
        block = chosen[start : start + step]
        drawn = [
            shuffled(one, samples, np.random.default_rng((*seed, start + place)))
            for place, one in enumerate(block)
        ]
        numbered = [
            marks._replace(continuum=marks.continuum + place * samples) for place, marks in enumerate(drawn)
        ]
        marks = Marks(*(np.concatenate(columns) for columns in zip(*numbered, strict=True)))
        found = _disorders(marks, np.repeat([one.annotators for one in block], samples), measure)
        parts.append(Disorders(*(column.reshape(-1, samples).T for column in found)))
    return Disorders(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))


def _disorders(marks: Marks, annotators: Ints, measure: Dissimilarity) -> Disorders:
    """The least disorder of each continuum, solved together for those with equally many annotators."""
    values, excess = np.zeros(len(annotators)), np.zeros(len(annotators))
    sizes = np.bincount(marks.continuum, minlength=len(annotators))
    for number in np.unique(annotators).tolist():
        same = np.flatnonzero(annotators == number)
        for block in _blocks(same, sizes[same], max(1, _ROOM // number**2)):
            place = np.full(len(annotators), -1)
            place[block] = np.arange(len(block))
            own = place[marks.continuum] >= 0
            here, _ = in_order(Marks(place[marks.continuum[own]], *(column[own] for column in marks[1:])))
            best = aligned(candidates(here, number, measure), here, number, len(block))
            values[block] = best.disorder / (sizes[block] / number)
            excess[block] = best.excess / (sizes[block] / number)
    return Disorders(values, excess)


def _blocks(continua_: Ints, sizes: Ints, most: int) -> list[Ints]:
    """Continua in blocks of at most so many marks, or of one continuum with more."""
    number = (np.cumsum(sizes) - 1) // most
    return np.split(continua_, np.flatnonzero(np.diff(number)) + 1)


def _marks(chosen: Sequence[Continuum]) -> Marks:
    columns = [(one.annotator, one.start, one.end, one.label) for one in chosen]
    number = np.repeat(np.arange(len(chosen)), [one.marks for one in chosen])
    return Marks(number, *(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def _mean_marks(continuum: Continuum) -> float:
    return continuum.marks / continuum.annotators


def gamma_value(totals: Floats) -> Floats:
    """Gamma from the totals of observed and of expected disorder."""
    value: Floats = 1 - ratio(totals[..., 0], totals[..., 1])
    return value


def _score(
    marked: _Marked,
    observed: Disorders,
    chance: Disorders,
    delta_empty: float,
    bootstrap: Bootstrap | None,
    line: str,
) -> Score:
    weights = np.array([_mean_marks(one) for _, one in marked])
    expected = chance.values.mean(axis=0)
    sums = weights[:, None] * np.stack([observed.values, expected], axis=1)
    value = float(gamma_value(sums.sum(axis=0)))
    mean = sums.sum(axis=0) / weights.sum() * delta_empty
    each = gamma_value(np.stack([observed.values, expected], axis=1)).tolist()
    details: dict[str, Any] = {
        "observed": float(mean[0]),
        "expected": float(mean[1]),
        "samples": len(chance.values),
        "precision": _reached(chance, weights),
        "units": [
            {"document": unit.document, "segment": unit.segment, "gamma": None if math.isnan(one) else one}
            for (unit, _), one in zip(marked, each, strict=True)
        ],
    }
    if math.isnan(value):
        return Score("gamma", None, len(marked), note=NO_ROOM, signature=line, details=details)
    around = bootstrap_interval(sums, gamma_value, bootstrap)
    return Score("gamma", value, len(marked), around, _note(observed, chance), line, details)


def _note(observed: Disorders, chance: Disorders) -> str | None:
    """What to say where it is not sure that alignments are the best."""
    values, excess = (
        np.append(*(part.ravel() for part in parts)) for parts in zip(observed, chance, strict=True)
    )
    unsure = excess > 0
    if not unsure.any():
        return None
    text = f"the best alignment of {int(unsure.sum())} of {len(unsure)} continua (drawn ones included) is not sure"
    if np.isinf(excess).any():
        return Notice("too-many-ways-align", text=text)
    return Notice("up-their-disorder-may", text=text, float=float((excess[unsure] / values[unsure]).max()))


def _check(alpha: float, beta: float, delta_empty: float, precision: float, seed: int) -> None:
    if not (alpha > 0 and beta >= 0 and delta_empty > 0):
        raise UsageError("gamma-needs-alpha-delta")
    if not 0 < precision < 1:
        raise UsageError("precision-share-not", hint="0-02-usual-0", precision=precision)
    if seed < 0:
        raise UsageError("seed-whole-number-0", seed=seed)


def _check_crowd(annotators: Sequence[int]) -> None:
    crowd = max(annotators, default=0)
    if crowd > MOST_PEOPLE:
        raise UsageError(
            "people-answered-one-unit",
            hint="measure-unitizing-measure-span",
            crowd=crowd,
            most_people=MOST_PEOPLE,
        )


def _check_distances(between: Floats | None, labels: int) -> None:
    if between is not None and (between.shape != (labels, labels) or not (between >= 0).all()):
        raise UsageError(
            "distances-shape-labels", hint="give-numbers-0-row", shape=between.shape, labels=labels
        )


_TRIES = 30


def shuffled(continuum: Continuum, samples: int, generator: np.random.Generator) -> Marks:
    """So many random continua, numbered from 0, of a continuum that has marks. None of them is empty."""
    order = np.argsort(continuum.annotator, kind="stable")
    marks = np.bincount(continuum.annotator, minlength=continuum.annotators)
    begin = np.cumsum(marks) - marks
    drawn = _drawn(marks, samples, generator).ravel()
    shift = _shifts(continuum, samples, generator).ravel()
    row, place = ragged(marks[drawn])
    mark = order[begin[drawn[row]] + place]
    start = (continuum.start[mark] + shift[row]) % continuum.length
    return Marks(
        row // continuum.annotators,
        row % continuum.annotators,
        start,
        start + continuum.end[mark] - continuum.start[mark],
        continuum.label[mark],
    )


def _drawn(marks: Ints, samples: int, generator: np.random.Generator) -> Ints:
    """For each place of each random continuum, which annotator stands in it."""
    drawn = generator.integers(0, len(marks), (samples, len(marks)))
    while len(empty := np.flatnonzero(marks[drawn].sum(axis=1) == 0)):
        drawn[empty] = generator.integers(0, len(marks), (len(empty), len(marks)))
    return drawn


def _shifts(continuum: Continuum, samples: int, generator: np.random.Generator) -> Ints:
    apart = float((continuum.end - continuum.start).mean()) / 2
    shifts = generator.integers(0, continuum.length, (samples, continuum.annotators))
    for place in range(1, continuum.annotators):
        for _ in range(_TRIES):
            close = _is_close(shifts[:, :place], shifts[:, place], continuum.length, apart)
            if not close.any():
                break
            shifts[close, place] = generator.integers(0, continuum.length, int(close.sum()))
    return shifts


def _is_close(others: Ints, shift: Ints, length: int, apart: float) -> NDArray[np.bool_]:
    distance = np.abs(others - shift[:, None])
    close: NDArray[np.bool_] = np.minimum(distance, length - distance).min(axis=1) < apart
    return close
