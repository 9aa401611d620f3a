"""Decision rules: from a distribution to the one label that is said.

The same distribution serves different measures with different rules: who is scored by F(PB+B) does well to
say O only where O is more likely than all the rest.
"""

from collections.abc import Callable
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_tally
from lapsus.measures.scores.breakdown_labels import Codes, strict_labels

Decision: TypeAlias = Callable[[NDArray[np.float64]], Codes]
"""From rows of O, T and X to places in O, T, X."""

ARGMAX = "argmax"
_CUTS = regex.compile(r"cuts\(\s*([0-9.]+)\s*,\s*([0-9.]+)\s*\)")
_AIMS = ("accuracy", "f1_b", "f1_pb_b")


def decision(rule: str) -> Decision:
    """A rule by its name.

    `argmax`: the likeliest label; ties go to O, then T, then X.
    `cuts(o,x)`: O where p(O) is at least o, else X unless p(X) is below x times p(T).
    """
    if rule == ARGMAX:
        return strict_labels
    match = _CUTS.fullmatch(rule.strip())
    if match is None:
        raise UsageError("no-decision-rule", hint="argmax-cuts-o-x", rule=rule)
    try:
        o, x = map(float, match.groups())
    except ValueError:
        raise UsageError("no-decision-rule", hint="cuts-takes-two-numbers", rule=rule) from None
    return lambda rows: _cut(rows, o, x)


def _cut(rows: NDArray[np.float64], o: float, x: float) -> Codes:
    broken = np.where(rows[:, 2] < x * rows[:, 1], 1, 2)
    return np.where(rows[:, 0] >= o, 0, broken).astype(np.int8)


def tune_cuts(counts: NDArray[Any], rows: NDArray[np.float64], *, t: float = 0.0) -> str:
    """The cuts that do best on judged turns that the model has not learned from.

    Best is the sum of accuracy, F(B) and F(PB+B): one label must serve all three.
    """
    places = [list(BREAKDOWN_MEASURES).index(aim) for aim in _AIMS]
    groups = np.zeros(len(rows), dtype=np.intp)
    best, chosen = -1.0, ARGMAX
    for o, x in product(range(30, 61, 2), range(50, 151, 5)):
        rule = f"cuts({o / 100:g},{x / 100:g})"
        tally = breakdown_tally(counts, decision(rule)(rows), rows, groups, t=t)
        value = float(tally.values()[places].sum())
        if value > best:
            best, chosen = value, rule
    return chosen
