"""The challenge's scores once more, turn by turn in plain Python: slow, and with nothing of Lapsus in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

Three = Sequence[float]

GROUPINGS = {"": ((0,), (1,), (2,)), "_nb_vs_rest": ((0,), (1, 2)), "_rest_vs_b": ((0, 1), (2,))}


def strict(p: Three, t: float) -> str:
    if p[0] >= p[1] and p[0] >= p[2] and p[0] >= t:
        return "O"
    if p[1] >= p[0] and p[1] >= p[2] and p[1] >= t:
        return "T"
    if p[2] >= p[0] and p[2] >= p[1] and p[2] >= t:
        return "X"
    return "O"


def lenient(p: Three, t: float) -> str:
    if p[0] >= p[1] + p[2] and p[0] >= t:
        return "O"
    if p[1] + p[2] >= p[0] and p[1] + p[2] >= t:
        return "X"
    return "O"


def divergence(p: Three, q: Three) -> float:
    def kl(a: Three, m: Three) -> float:
        return sum(x * math.log(x / y, 2) for x, y in zip(a, m, strict=True) if x > 0)

    middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
    return kl(p, middle) / 2 + kl(q, middle) / 2


def squared(p: Three, q: Three) -> float:
    return sum((x - y) ** 2 for x, y in zip(p, q, strict=True)) / len(p)


def merged(p: Three, grouping: Sequence[Sequence[int]]) -> list[float]:
    return [sum(p[place] for place in group) for group in grouping]


def prf(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float, float]:
    """Of (is gold, is predicted) pairs."""
    hits = sum(gold and said for gold, said in pairs)
    if hits == 0:
        return 0.0, 0.0, 0.0
    precision = hits / sum(said for _, said in pairs)
    recall = hits / sum(gold for gold, _ in pairs)
    return precision, recall, 2 * precision * recall / (precision + recall)


def official_scores(
    counts: Sequence[Sequence[int]], labels: Sequence[int], shares: Sequence[Three], t: float
) -> dict[str, float]:
    gold = [[count / sum(row) for count in row] for row in counts]
    said = ["OTX"[label] for label in labels]
    true = [strict(p, t) for p in gold]
    broken = [lenient(p, t) for p in gold]
    found = {"accuracy": sum(a == b for a, b in zip(true, said, strict=True)) / len(true)}
    for name, label in (("b", "X"), ("pb", "T"), ("nb", "O")):
        pairs = [(a == label, b == label) for a, b in zip(true, said, strict=True)]
        found |= dict(zip((f"precision_{name}", f"recall_{name}", f"f1_{name}"), prf(pairs), strict=True))
    pairs = [(a == "X", b in ("T", "X")) for a, b in zip(broken, said, strict=True)]
    found |= dict(zip(("precision_pb_b", "recall_pb_b", "f1_pb_b"), prf(pairs), strict=True))
    for name, grouping in GROUPINGS.items():
        rows = [(merged(p, grouping), merged(q, grouping)) for p, q in zip(gold, shares, strict=True)]
        found[f"jsd{name}"] = sum(divergence(p, q) for p, q in rows) / len(rows)
        found[f"mse{name}"] = sum(squared(p, q) for p, q in rows) / len(rows)
    return found
