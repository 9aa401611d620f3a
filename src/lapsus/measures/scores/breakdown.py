"""The breakdown challenge's scores of labels and of distributions, as its own program computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError, UsageError
from lapsus.measures.agreement.answer_codes import ratio
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Measure, Score, spread
from lapsus.measures.scores.breakdown_labels import (
    TIES,
    Rule,
    check_rule,
    lenient_labels,
    strict_labels,
    vote_shares,
)
from lapsus.measures.scores.tally import Tally, precision_recall_f
from lapsus.model import EMPTY
from lapsus.notices import Notice

TOLERANCE: Final = 1e-3
"""How far from 1 a predicted distribution may sum to. It is used as given all the same."""

_THREE, _NB_REST, _REST_B = ("NB", "PB", "B"), ("NB", "PB+B"), ("NB+PB", "B")

BREAKDOWN_MEASURES: Final[Mapping[str, Measure]] = {
    "accuracy": Measure("accuracy"),
    "precision_b": Measure("P", ("B",)),
    "recall_b": Measure("R", ("B",)),
    "f1_b": Measure("F", ("B",)),
    "precision_pb_b": Measure("P", ("PB+B",)),
    "recall_pb_b": Measure("R", ("PB+B",)),
    "f1_pb_b": Measure("F", ("PB+B",)),
    "precision_pb": Measure("P", ("PB",)),
    "recall_pb": Measure("R", ("PB",)),
    "f1_pb": Measure("F", ("PB",)),
    "precision_nb": Measure("P", ("NB",)),
    "recall_nb": Measure("R", ("NB",)),
    "f1_nb": Measure("F", ("NB",)),
    "jsd": Measure("JSD", _THREE),
    "jsd_nb_vs_rest": Measure("JSD", _NB_REST),
    "jsd_rest_vs_b": Measure("JSD", _REST_B),
    "mse": Measure("MSE", _THREE),
    "mse_nb_vs_rest": Measure("MSE", _NB_REST),
    "mse_rest_vs_b": Measure("MSE", _REST_B),
}
"""Each score's name in JSON and the measure as one writes it, in the order of the tally's values."""

LOWER_IS_BETTER: Final = frozenset(name for name in BREAKDOWN_MEASURES if name.startswith(("jsd", "mse")))

# Places of the sums: counts by strict gold label, lenient gold label and predicted label, then six distances.
_CELLS = (3, 2, 3)
_CELL_COUNT = 18
_DISTANCES = 6
_BLOCK = 1 << 13
"""Rows worked on at a time: few enough to stay in the processor's cache."""

# The parts O, T, X, T+X and O+T that make up the three ways to group the labels.
_GROUPINGS = np.array([[1, 1, 1, 0, 0], [1, 0, 0, 1, 0], [0, 0, 1, 0, 1]], dtype=np.float64)
_SIZES = _GROUPINGS.sum(axis=1, keepdims=True)
_TINY = np.finfo(np.float64).tiny

BreakdownScores: TypeAlias = dict[str, Score]
"""The challenge's scores of one run, by their names in JSON."""


def scores_of(tally: Tally, bootstrap: Bootstrap | None) -> BreakdownScores:
    """The scores that follow from a tally."""
    return dict(zip(BREAKDOWN_MEASURES, tally.scores(bootstrap).values(), strict=True))


def breakdown_scores(
    gold: NDArray[Any],
    labels: NDArray[Any],
    distributions: Floats,
    groups: NDArray[np.intp],
    *,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> BreakdownScores:
    """Score labels `(n,)` and distributions `(n, 3)` against counts of O, T and X `(n, 3)`.

    `groups` numbers each turn's document. `t` is the share that a gold label needs: 0 in the challenge's
    program unless it is told otherwise, 0.5 in the 2016 paper; by the paper's `rule` it must be above `t`.
    """
    return scores_of(breakdown_tally(gold, labels, distributions, groups, t=t, rule=rule), bootstrap)


def breakdown_tally(
    gold: NDArray[Any],
    labels: NDArray[Any],
    distributions: Floats,
    groups: NDArray[np.intp],
    *,
    t: float = 0.0,
    rule: Rule = "program",
    own: Mapping[str, object] = EMPTY,
) -> Tally:
    """The sums by document from which all of the scores follow. `own` is added to the signature."""
    _check(gold, labels, distributions, groups, t)
    check_rule(rule)
    sums = _by_document(gold, labels, distributions, groups, t, rule)
    # A number that no turn has is no document, and must not be drawn as one.
    sums = sums[sums[:, :_CELL_COUNT].any(axis=1)]
    setting = {
        "t": float(t),
        "rule": rule,
        "ties": TIES,
        "match": "turn-index",
        "log": 2,
        "raters": spread(gold.sum(axis=1)),
    }
    names = tuple(str(measure) for measure in BREAKDOWN_MEASURES.values())
    return Tally(names, sums, breakdown_values, len(gold), setting, own)


def breakdown_values(sums: Floats) -> Floats:
    """The scores, in the order of BREAKDOWN_MEASURES, from sums `(..., 24)`."""
    cells = sums[..., :_CELL_COUNT].reshape(*sums.shape[:-1], *_CELLS)
    n = cells.sum(axis=(-3, -2, -1))[..., None]
    strict, lenient = cells.sum(axis=-2), cells.sum(axis=-3)
    hits = np.diagonal(strict, axis1=-2, axis2=-1)
    said, there = strict.sum(axis=-2), strict.sum(axis=-1)
    broken_hits = lenient[..., 1, 1:].sum(axis=-1)
    broken_said, broken_there = lenient[..., 1:].sum(axis=(-2, -1)), lenient[..., 1, :].sum(axis=-1)
    # The challenge gives 0, not "undefined", to a label that is neither there nor said.
    nb, pb, b = np.moveaxis(np.nan_to_num(precision_recall_f(hits, said, there)), -2, 0)
    broken = np.nan_to_num(precision_recall_f(broken_hits, broken_said, broken_there))
    accuracy = ratio(hits.sum(axis=-1, keepdims=True), n)
    means = ratio(sums[..., _CELL_COUNT:], n)
    return np.concatenate([accuracy, b, broken, pb, nb, means], axis=-1)


def bad_distribution(distributions: Floats) -> int | None:
    """The first row that is no distribution: three numbers from 0 on that sum to 1 within the tolerance."""
    o, t, x = distributions.T
    with np.errstate(invalid="ignore"):
        good = (np.abs(o + t + x - 1) <= TOLERANCE) & (o >= 0) & (t >= 0) & (x >= 0)
    return None if good.all() else int(np.argmin(good))


def _by_document(
    gold: NDArray[Any],
    labels: NDArray[Any],
    given: Floats,
    groups: NDArray[np.intp],
    t: float,
    rule: Rule,
) -> Floats:
    """For each document how many of its turns fall into each cell, and its turns' six distances added up.

    Added up block by block: held for all turns at once, the distances would take more memory than the input.
    """
    sums = np.zeros((int(groups.max()) + 1 if len(groups) else 0, _CELL_COUNT + _DISTANCES))
    for start in range(0, len(gold), _BLOCK):
        rows = slice(start, start + _BLOCK)
        shares = vote_shares(gold[rows])
        strict, lenient = strict_labels(shares, t, rule), lenient_labels(shares, t, rule)
        cells = strict * 6 + (lenient > 0) * 3 + labels[rows]
        parts, predicted = _parts(shares), _parts(given[rows])
        distances = np.empty((_DISTANCES, len(shares)))
        distances[:3] = _GROUPINGS @ jensen_shannon_terms(parts, predicted)
        distances[3:] = (_GROUPINGS @ np.square(parts - predicted)) / _SIZES
        _add(sums, groups[rows], cells, distances)
    return sums


def _add(sums: Floats, groups: NDArray[np.intp], cells: NDArray[np.intp], distances: Floats) -> None:
    """Add one block to its documents' sums."""
    there, places = np.unique(groups, return_inverse=True)
    crossed = np.bincount(places * _CELL_COUNT + cells, minlength=len(there) * _CELL_COUNT)
    sums[there, :_CELL_COUNT] += crossed.reshape(-1, _CELL_COUNT)
    for place, row in enumerate(distances, _CELL_COUNT):
        sums[there, place] += np.bincount(places, row)


def _parts(shares: Floats) -> Floats:
    """The shares of O, T, X, T+X and O+T, a row each."""
    parts = np.empty((5, len(shares)))
    parts[:3] = shares.T
    np.add(parts[1], parts[2], out=parts[3])
    np.add(parts[0], parts[1], out=parts[4])
    return parts


def _check(
    gold: NDArray[Any], labels: NDArray[Any], distributions: Floats, groups: NDArray[np.intp], t: float
) -> None:
    n = len(gold)
    if not 0 <= t <= 1:
        raise UsageError("threshold-t-must-0", t=t)
    if gold.shape != (n, 3) or distributions.shape != (n, 3) or labels.shape != (n,) or groups.shape != (n,):
        shapes = ", ".join(str(array.shape) for array in (gold, labels, distributions, groups))
        raise InputError("counts-labels-distributions-documents", shapes=shapes)
    if not n:
        return
    if gold.min() < 0 or gold.sum(axis=1).min() < 1:
        row = int(np.argmin(np.minimum(gold.min(axis=1) + 1, gold.sum(axis=1))))
        raise InputError("no-votes-o-t", where=Notice("row-2", row=row), hint="leave-turns-out")
    if labels.min() < 0 or labels.max() > 2:
        row = int(np.argmax((labels < 0) | (labels > 2)))
        raise InputError("label-none-0-o", where=Notice("row-2", row=row), labels=labels[row])
    if (bad := bad_distribution(distributions)) is not None:
        raise InputError(
            "no-distribution",
            where=Notice("row-2", row=bad),
            hint="must-sum-1",
            tolist=distributions[bad].tolist(),
        )


def jensen_shannon_terms(gold: Floats, predicted: Floats) -> Floats:
    """What each label adds to the Jensen-Shannon divergence, in bits.

    Half of `p log(p/m)` and half of `q log(q/m)` with `m` midway between the two, written so that three
    logarithms do; zeros add nothing. No term is below 0, whatever the distributions sum to.
    """
    middle = (gold + predicted) / 2
    terms = (_x_log_x(gold) + _x_log_x(predicted)) / 2 - _x_log_x(middle)
    return np.maximum(terms, 0.0, out=terms)


def _x_log_x(x: Floats) -> Floats:
    logs = np.maximum(x, _TINY)
    np.log2(logs, out=logs)
    logs *= x
    return logs


def constant_floor(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    *,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> BreakdownScores:
    """The scores of always giving the same answer: the gold's mean distribution, and the strict label of that.

    A floor that is a little too good, since nobody can know the gold beforehand; the signature says `prior:gold`.
    """
    shares: Floats = vote_shares(gold).mean(axis=0) if len(gold) else np.zeros(3)
    labels = np.full(len(gold), strict_labels(shares, t, rule), dtype=np.int8)
    given, own = np.broadcast_to(shares, (len(gold), 3)), {"floor": "constant", "prior": "gold"}
    return scores_of(breakdown_tally(gold, labels, given, groups, t=t, rule=rule, own=own), bootstrap)


def half_floor(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    *,
    splits: int = 10,
    seed: int = 0,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> BreakdownScores:
    """Half of the annotators scored against the other half, as if the one half were a detector.

    Each turn's annotators are split by chance (of an odd number, the larger half is the gold), the sums of
    several splits are averaged, and the scores follow from them. Turns with a single vote are left out.
    Counts are all it takes: which half a vote falls into does not depend on whose it is.
    """
    many = gold.sum(axis=1) > 1
    gold, groups = gold[many], groups[many]
    own = {"floor": f"halves,splits={splits},seed={seed}"}
    generator = np.random.default_rng(seed)
    tallies = []
    for _ in range(splits):
        half = draw_half(gold, generator)
        shares = vote_shares(half)
        tallies.append(
            breakdown_tally(
                gold - half, strict_labels(shares, t, rule), shares, groups, t=t, rule=rule, own=own
            )
        )
    mean = np.mean([tally.sums for tally in tallies], axis=0)
    return scores_of(tallies[0]._replace(sums=mean), bootstrap)


def draw_half(counts: NDArray[Any], generator: np.random.Generator) -> NDArray[np.int64]:
    """The votes of a random half of each turn's annotators, rounded down, as counts of O, T and X."""
    o, t, x = counts.T
    wanted = counts.sum(axis=1) // 2
    of_o = generator.hypergeometric(o, t + x, wanted)
    of_t = generator.hypergeometric(t, x, wanted - of_o)
    return np.stack([of_o, of_t, wanted - of_o - of_t], axis=1)
