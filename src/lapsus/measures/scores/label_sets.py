"""Scores where a unit may get several labels, such as the types of an error."""

from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError, UsageError
from lapsus.measures.agreement.answer_codes import ratio
from lapsus.measures.bootstrap import Floats, group_sums
from lapsus.measures.score import spread
from lapsus.measures.scores.tally import EMPTY_BOTH, Tally, precision_recall_f
from lapsus.model.votes import LabelSetVotes
from lapsus.registry import did_you_mean

Against: TypeAlias = Literal["each", "union", "votes", "weights"]
"""What a prediction is held against.

- `each`: every annotator in turn; the score is the mean over annotators.
- `union`: all labels that anybody chose.
- `votes`: the labels that a share of the unit's annotators chose, half of them unless told otherwise.
- `weights`: all labels, each weighing as much as its share of annotators. There is no gold set then, and no exact
  match, Jaccard and MASI.
"""

_OVERALL = ("exact", "jaccard", "MASI")
_AVERAGES = ("micro", "macro")
_SIZES = 4
"""Sums before the labels' own: exact matches, Jaccard, MASI, and sets compared."""
_PART_OF, _OVERLAP = 2 / 3, 1 / 3
"""What MASI leaves of Jaccard where one set holds the other, and where each has labels of its own."""


def label_set_tally(
    predicted: NDArray[np.bool_], gold: LabelSetVotes, *, against: Against = "votes", least: float = 0.5
) -> Tally:
    """What predicted sets `(units, labels)` got right against votes. Units that nobody answered are left out.

    The averages are micro and macro, the plain mean over labels that were chosen or predicted at all.
    """
    if against not in get_args(Against):
        raise UsageError(
            "cannot-score-against", hint=did_you_mean(against, list(get_args(Against))), against=against
        )
    if predicted.shape != (len(gold.units), len(gold.labels)):
        shape = f"{len(gold.units)} units and {len(gold.labels)} labels"
        raise InputError("predictions-shape", shape=predicted.shape, shape2=shape)
    rows = gold.answered.any(axis=1)
    groups = np.unique(gold.document_groups()[rows], return_inverse=True)[1]
    chosen, answered = gold.chosen[rows], gold.answered[rows]
    predicted = predicted[rows]
    if against == "each":
        sums = _sums_of_each(predicted, chosen, answered, groups)
    else:
        reference = _reference(chosen, answered, against, least)
        sums = _unit_sums(predicted, reference, groups)
    setting = {
        "against": f"votes>={least:g}" if against == "votes" else against,
        "raters": spread(answered.sum(axis=1)),
    }
    has_sets = against != "weights"
    value = partial(label_set_values, labels=len(gold.labels), has_sets=has_sets)
    triples = [f"{letter}({about})" for about in (*_AVERAGES, *gold.labels) for letter in "PRF"]
    names = (*(_OVERALL if has_sets else ()), *triples)
    return Tally(names, sums, value, int(rows.sum()), setting, note=EMPTY_BOTH)


def label_set_values(sums: Floats, labels: int, has_sets: bool = True) -> Floats:
    """The scores from sums `(..., annotators * (4 + 3 * labels))`, meaned over annotators."""
    width = _SIZES + 3 * labels
    sums = sums.reshape(*sums.shape[:-1], -1, width)
    overall = ratio(sums[..., :3], sums[..., 3:4])
    hits, said, there = np.moveaxis(sums[..., _SIZES:].reshape(*sums.shape[:-1], 3, labels), -2, 0)
    by_label = precision_recall_f(hits, said, there)
    micro = precision_recall_f(hits.sum(axis=-1), said.sum(axis=-1), there.sum(axis=-1))
    macro = _mean_of_defined(by_label, axis=-2)
    flat = by_label.reshape(*by_label.shape[:-2], 3 * labels)
    values = [*([overall] if has_sets else []), micro, macro, flat]
    return _mean_of_defined(np.concatenate(values, axis=-1), axis=-2)


def _sums_of_each(
    predicted: NDArray[np.bool_],
    chosen: NDArray[np.bool_],
    answered: NDArray[np.bool_],
    groups: NDArray[np.intp],
) -> Floats:
    """The sums against each annotator, side by side."""
    count = int(groups.max()) + 1 if len(groups) else 0
    columns = []
    for place in range(answered.shape[1]):
        rows = answered[:, place]
        sums = np.zeros((count, _SIZES + 3 * predicted.shape[1]))
        own = _unit_sums(predicted[rows], chosen[rows, place], groups[rows])
        sums[: len(own)] = own
        columns.append(sums)
    return np.hstack(columns) if columns else np.zeros((0, _SIZES + 3 * predicted.shape[1]))


def _unit_sums(predicted: NDArray[np.bool_], reference: NDArray[Any], groups: NDArray[np.intp]) -> Floats:
    """The sums by document against one reference: sets, or weights from 0 to 1."""
    if reference.dtype == np.bool_:
        overlap = np.stack([*set_overlap(predicted, reference), np.ones(len(predicted))], axis=1)
    else:
        overlap = np.zeros((len(predicted), _SIZES))
    parts = (overlap, predicted * reference, predicted, reference)
    return np.hstack([group_sums(part, groups) for part in parts])


def _reference(
    chosen: NDArray[np.bool_], answered: NDArray[np.bool_], against: Against, least: float
) -> NDArray[Any]:
    if against == "union":
        return np.asarray(chosen.any(axis=1))
    shares: Floats = chosen.sum(axis=1) / np.maximum(answered.sum(axis=1, keepdims=True), 1)
    return np.asarray(shares >= least) if against == "votes" else shares


def _mean_of_defined(values: Floats, axis: int) -> Floats:
    defined = np.isfinite(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=axis), defined.sum(axis=axis))


def set_overlap(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Exact match, Jaccard and MASI of rows `(..., labels)`. Two empty sets are the same set."""
    both = np.count_nonzero(first & second, axis=-1)
    sizes = np.count_nonzero(first, axis=-1), np.count_nonzero(second, axis=-1)
    either = sizes[0] + sizes[1] - both
    same = both == either
    jaccard = np.where(same, 1.0, both / np.maximum(either, 1))
    kept = np.where(same, 1.0, np.where(both == np.minimum(*sizes), _PART_OF, _OVERLAP))
    return same.astype(np.float64), jaccard, jaccard * kept
