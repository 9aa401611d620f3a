"""The same figures in plain loops, straight from the definitions, and SciPy's t where one is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scipy import stats

Answers = Mapping[str, Mapping[Any, Any]]
"""person → unit → answer"""


def equal(one: Any, others: Sequence[Any]) -> float:
    return sum(one == other for other in others) / len(others)


def minus_rmse(one: float, others: Sequence[float]) -> float:
    return -math.sqrt(sum((one - other) ** 2 for other in others) / len(others))


def masi(one: frozenset[Any], others: Sequence[frozenset[Any]]) -> float:
    def near(a: frozenset[Any], b: frozenset[Any]) -> float:
        if not a and not b:
            return 1.0
        if a == b:
            kind = 1.0
        elif a <= b or b <= a:
            kind = 2 / 3
        elif a & b:
            kind = 1 / 3
        else:
            kind = 0.0
        return kind * len(a & b) / len(a | b)

    return sum(near(one, other) for other in others) / len(others)


def f1(one: frozenset[Any], others: Sequence[frozenset[Any]]) -> float:
    def near(a: frozenset[Any], b: frozenset[Any]) -> float:
        return 1.0 if not a and not b else 2 * len(a & b) / (len(a) + len(b))

    return sum(near(one, other) for other in others) / len(others)


def alternative(
    people: Answers,
    judge: Mapping[Any, Any],
    score: Callable[[Any, Sequence[Any]], float],
    epsilon: float,
    *,
    least: int = 30,
    document: Callable[[Any], Any] | None = None,
) -> tuple[float, float]:
    """Winning rate and advantage; clustered by document where `document` says which a unit is of."""
    p_values, advantages = [], []
    for who, said in people.items():
        differences, wins, groups = [], [], []
        for unit, answer in said.items():
            rest = [other[unit] for name, other in people.items() if name != who and unit in other]
            if not rest or unit not in judge:
                continue
            mine, its = score(answer, rest), score(judge[unit], rest)
            wins.append(its >= mine - 1e-12)
            differences.append(int(mine >= its - 1e-12) - int(its >= mine - 1e-12))
            groups.append(unit if document is None else document(unit))
        if len(wins) >= least:
            p_values.append(one_sided(differences, groups, epsilon))
            advantages.append(sum(wins) / len(wins))
    many = len(p_values)
    harmonic = sum(1 / k for k in range(1, many + 1))
    reject = 0
    for k, p in enumerate(sorted(p_values), 1):
        if p <= k / many * 0.05 / harmonic:
            reject = k
    return reject / many, sum(advantages) / many


def one_sided(values: Sequence[float], groups: Sequence[Any], epsilon: float) -> float:
    n = len(values)
    mean = sum(values) / n
    sums: dict[Any, float] = {}
    for value, group in zip(values, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + value - mean
    g = len(sums)
    variance = g / (g - 1) * sum(each**2 for each in sums.values()) / n**2
    if variance == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(stats.t.cdf((mean - epsilon) / math.sqrt(variance), g - 1))
