"""What Lapsus does in the races. Votes are made beforehand, as the other side's input is; then the clock starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.agreement.gamma import gamma
from lapsus.measures.agreement.krippendorff import krippendorff_alpha
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.gold.dawid_skene import dawid_skene
from lapsus.measures.scores.breakdown import breakdown_scores
from lapsus.model import Span, UnitKey
from lapsus.model.votes import LabelVotes, SpanVotes
from measures_worker import Results


def _load(folder: Path, name: str) -> NDArray[Any]:
    array: NDArray[Any] = np.load(folder / f"{name}.npy")
    return array


def _votes(codes: NDArray[Any]) -> LabelVotes:
    units = tuple(UnitKey(str(number), None) for number in range(len(codes)))
    return LabelVotes(units, tuple(f"a{rater}" for rater in range(codes.shape[1])), ("O", "T", "X"), codes)


def _alpha(name: str) -> Callable[[Path], Callable[[], Results]]:
    def prepare(folder: Path) -> Callable[[], Results]:
        votes = _votes(_load(folder, name))
        return lambda: {"alpha": krippendorff_alpha(votes, bootstrap=None).value}

    return prepare


def _fleiss(folder: Path) -> Callable[[], Results]:
    counts = _load(folder, "counts")
    return lambda: {"kappa": fleiss_kappa(counts, bootstrap=None).value}


def _scores(prefix: str, bootstrap: Bootstrap | None) -> Callable[[Path], Callable[[], Results]]:
    def prepare(folder: Path) -> Callable[[], Results]:
        gold, labels, distributions, groups = (
            _load(folder, prefix + name) for name in ("counts", "labels", "distributions", "groups")
        )

        def action() -> Results:
            found = breakdown_scores(gold, labels, distributions, groups, bootstrap=bootstrap)
            return {name: score.value for name, score in found.items()}

        return action

    return prepare


def _dawid_skene(folder: Path) -> Callable[[], Results]:
    votes = _votes(_load(folder, "modelled_codes"))
    iterations = int(_load(folder, "iterations"))

    def action() -> Results:
        gold = dawid_skene(votes, smoothing=0.0, iterations=iterations, tolerance=0.0)
        return {"posteriors": gold.distributions, "iterations": gold.details["iterations"]}

    return action


def _gamma(folder: Path) -> Callable[[], Results]:
    rows, precision = _load(folder, "marks"), float(_load(folder, "precision"))
    spans = tuple(
        tuple(
            Span("text", start, end, "abcd"[label])
            for who, start, end, label in rows.tolist()
            if who == annotator
        )
        for annotator in np.unique(rows[:, 0])
    )
    names = tuple(f"a{number}" for number in range(len(spans)))
    votes = SpanVotes((UnitKey("d", None),), names, tuple("abcd"), (spans,))

    def action() -> Results:
        found = gamma(votes, precision=precision, bootstrap=None)
        told = found.details
        return {
            "gamma": found.value,
            "observed disorder": told["observed"],
            "random continua": told["samples"],
        }

    return action


TASKS = {
    "alpha": _alpha("codes"),
    "alpha of lists": _alpha("listed_codes"),
    "fleiss": _fleiss,
    "scores": _scores("", None),
    "dawid-skene": _dawid_skene,
    "gamma": _gamma,
    "bootstrap": _scores("eval_", Bootstrap(1000)),
}
