"""How good the profile `general` is on dialogues that were kept back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pool import BROKEN, LATER, RANDOM, REAL, REPEATED, RUDE
from scipy.stats import rankdata, spearmanr

if TYPE_CHECKING:
    from pool import Row

WAYS = (RANDOM, REPEATED, LATER, BROKEN, RUDE)
DRAWS = 500


def area(higher: NDArray[Any], lower: NDArray[Any]) -> float:
    """How often one of the first is above one of the second: the area under the curve."""
    if not len(higher) or not len(lower):
        return float("nan")
    ranks = rankdata(np.concatenate([higher, lower]))[: len(higher)]
    return float((ranks.sum() - len(higher) * (len(higher) + 1) / 2) / len(higher) / len(lower))


def interval(values: Sequence[NDArray[Any]], figure: Any) -> str:
    """A figure with what it is in 95 of 100 draws."""
    drawn = np.random.default_rng(0)
    draws = [figure(*(drawn.choice(part, len(part)) for part in values)) for _ in range(DRAWS)]
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return f"{figure(*values):.3f} [{low:.3f}, {high:.3f}]"


def tell_figures(rows: Sequence[Row], shares: NDArray[Any], places: NDArray[np.intp]) -> None:
    """The share of real replies called broken, and how well wrong ones are told from them, a line a corpus."""
    risk = shares[:, 2] + shares[:, 1] / 2
    corpora = sorted({rows[place].corpus for place in places})
    for corpus in (*corpora, "all"):
        own = [place for place in places if corpus in (rows[place].corpus, "all")]
        by_way = {way: risk[[place for place in own if rows[place].way == way]] for way in (*WAYS, REAL)}
        judged = [place for place in own if rows[place].way == "votes"]
        rated = [place for place in own if rows[place].way == "rated"]
        line = f"{corpus:32}"
        if len(by_way[REAL]):
            line += f" {len(by_way[REAL]):5} real, called broken {interval([by_way[REAL]], called)}"
            told = {way: interval([by_way[way], by_way[REAL]], area) for way in WAYS if len(by_way[way])}
            line += "".join(f"; {way} {figure}" for way, figure in told.items())
        if judged and corpus != "all":
            votes = np.array([rows[place].wanted[2] + rows[place].wanted[1] / 2 for place in judged])
            parts = [risk[judged][votes >= 0.5], risk[judged][votes < 0.5]]
            line += f" {len(judged):5} judged, called broken {called(risk[judged]):.3f}; votes {interval(parts, area)}"
        if rated and corpus != "all":
            alike = -spearmanr(risk[rated], [rows[place].wanted[0] for place in rated])[0]
            line += f" {len(rated):5} rated, called broken {called(risk[rated]):.3f}; Spearman {alike:.3f}"
        sys.stdout.write(line + "\n")


def called(risk: NDArray[Any]) -> float:
    """The share of turns that are called broken."""
    return float((risk >= 0.5).mean())
