"""Tallies: what a run got right, document by document, as sums from which every measure follows.

Scores, their intervals and the comparison of runs all start from here, so they cannot disagree.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import ratio
from lapsus.measures.bootstrap import SHARE, SIGNED, Bootstrap, Bounds, Floats, interval, resampled_values
from lapsus.measures.score import Score, signature
from lapsus.model import EMPTY
from lapsus.notices import Notice

NOTHING = Notice("nothing-score")
EMPTY_BOTH = Notice("nothing-find-nothing-found")
_BOUNDS: Final[Mapping[str, Bounds]] = {
    **dict.fromkeys(("pearson", "spearman", "kendall", "kappa(linear)", "kappa(quadratic)"), SIGNED),
    **dict.fromkeys(("MAE", "likeness(rmse)"), None),
}
"""What measures can be that are no shares."""


class Tally(NamedTuple):
    """The sums of one run by document, and how the measures are worked out from them."""

    measures: tuple[str, ...]
    sums: Floats
    """A row a document. Sums of several documents are added up."""
    value: Callable[[Floats], Floats]
    """From sums `(..., S)` to the measures `(..., M)`, NaN where one is undefined."""
    n: int
    """How many units were scored."""
    setting: Mapping[str, object] = EMPTY
    """What must be the same where two runs are compared: threshold, matching, raters."""
    own: Mapping[str, object] = EMPTY
    """What is particular to this run."""
    note: str = NOTHING
    """Why a measure is undefined where something was scored."""

    def signature(self, bootstrap: Bootstrap | None) -> str:
        """The line that makes the numbers comparable."""
        return signature(**self.setting, **self.own, boot=bootstrap)

    def values(self) -> Floats:
        """The measures of all documents together."""
        return self.value(self.sums.sum(axis=0))

    def scores(self, bootstrap: Bootstrap | None) -> dict[str, Score]:
        """The scores by name. All intervals come from one bootstrap over documents."""
        bootstrap = bootstrap if len(self.sums) > 1 else None
        line = self.signature(bootstrap)
        drawn = None if bootstrap is None else resampled_values(self.sums, self.value, bootstrap)
        values = self.values() if self.n else np.full(len(self.measures), np.nan)
        return scores_of(
            self.measures,
            values,
            drawn,
            bootstrap,
            n=self.n,
            groups=len(self.sums),
            signature=line,
            note=lambda _: self.note if self.n else NOTHING,
        )


def scores_of(
    measures: Sequence[str],
    values: Floats,
    drawn: Floats | None,
    bootstrap: Bootstrap | None,
    *,
    n: int,
    groups: int,
    signature: str,
    note: Callable[[str], str],
) -> dict[str, Score]:
    """The scores by name, with intervals from the resampled values; `note` says why one is undefined."""
    scores = {}
    for place, (measure, value) in enumerate(zip(measures, values.tolist(), strict=True)):
        if math.isnan(value):
            scores[measure] = Score(measure, None, n, note=note(measure), signature=signature)
        else:
            around = None
            if bootstrap and drawn is not None:
                bounds = _BOUNDS.get(measure, SHARE)
                around = interval(drawn[:, place], bootstrap.level, value=value, groups=groups, bounds=bounds)
            scores[measure] = Score(measure, value, n, around, signature=signature)
    return scores


def precision_recall_f(hits: NDArray[Any], said: NDArray[Any], there: NDArray[Any]) -> Floats:
    """Precision, recall and F as a new last axis, of how many were right, were said, and were there.

    All three are 0 where nothing was right, and NaN where nothing was said and nothing was there.
    """
    return two_sided_precision_recall_f(hits, said, hits, there)


def two_sided_precision_recall_f(
    said_hits: NDArray[Any], said: NDArray[Any], there_hits: NDArray[Any], there: NDArray[Any]
) -> Floats:
    """The same where one thing said may hit several that are there, so that each side counts its own hits."""
    undefined = (said + there) == 0
    precision = np.nan_to_num(ratio(said_hits, said))
    recall = np.nan_to_num(ratio(there_hits, there))
    f = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
    return np.where(undefined[..., None], np.nan, np.stack([precision, recall, f], axis=-1))
