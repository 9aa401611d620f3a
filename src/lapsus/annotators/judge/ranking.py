"""How well a judge's shares put units in order, whatever answers are taken from them: AUC, or Spearman for scales."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.agreement import Figure
from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.measures.bootstrap import USUAL, bootstrap_interval, group_sums
from lapsus.measures.scores.ratings import mean_ranks, pearson, spearman
from lapsus.model import Answer

Matrix: TypeAlias = NDArray[np.float64]

CHANCE: Final = {"AUC": 0.5, "Spearman": 0.0}
_NORMAL: Final = 1.96
"""Standard errors on both sides of a 95% interval."""


class ChoiceFigures(msgspec.Struct, frozen=True):
    """One choice of a question."""

    prevalence: float
    """How often people give it..."""
    said: float
    """...and how often the judge."""
    auc: float | None
    average_precision: float | None
    precision: float | None
    """How often a person gives it where the judge does."""


class Ranking(msgspec.Struct, frozen=True):
    """How well units are put in order by what people say of them; the mean over choices that somebody gave."""

    measure: Literal["AUC", "Spearman"]
    judge: Figure
    """With its 95% interval over documents."""
    people: float | None
    """One person against another: what the answers of one more person would reach."""
    average_precision: float | None = None
    prevalence: float | None = None
    """What average precision would be if units stood in any order: the mean over the same choices; of two choices the
    rarer one alone."""
    choices: dict[str, ChoiceFigures] = {}

    @property
    def is_above_chance(self) -> bool:
        """Whether the whole interval is."""
        return self.judge.low is not None and self.judge.low > CHANCE[self.measure]


class _Curve(NamedTuple):
    """AUC of one choice, and what each row adds to it: the mean over rows is 0."""

    auc: float
    influence: Matrix


def ranking(given: PeopleAnswers, shares: Matrix, answers: Sequence[Answer]) -> Ranking:
    """How well shares, given for rows that were not learned from, order these rows."""
    if given.kind.numbers:
        steps = np.array(given.kind.numbers)
        judge = _spearman(shares @ steps, given.shares @ steps, given.groups)
        return Ranking("Spearman", judge, _people_spearman(given))
    figures = _choices(given, shares, answers)
    curves = [_curve(shares[:, place], given.shares[:, place]) for place in range(shares.shape[1])]
    told = [
        place for place, curve in enumerate(curves) if curve is not None and _in_documents(given, place) > 1
    ]
    if not told:
        return Ranking("AUC", Figure(None), None, choices=figures)
    if shares.shape[1] == 2:
        told = [int(given.shares.mean(axis=0).argmin())]
    known = [curve for place in told if (curve := curves[place]) is not None]
    auc = float(np.mean([curve.auc for curve in known]))
    off = _NORMAL * _error(np.mean([curve.influence for curve in known], axis=0), given.groups)
    names = [given.kind.choices[place] for place in told]
    people = [value for place in told if (value := _people_auc(given, place)) is not None]
    return Ranking(
        "AUC",
        Figure(auc, max(auc - off, 0.0), min(auc + off, 1.0)) if np.isfinite(off) else Figure(auc),
        float(np.mean(people)) if people else None,
        float(np.mean([figures[name].average_precision or 0.0 for name in names])),
        float(np.mean([figures[name].prevalence for name in names])),
        figures,
    )


def ranking_value(given: PeopleAnswers, shares: Matrix) -> float:
    """AUC or Spearman alone; what chance gives where it is not defined."""
    found = ranking(given, shares, ()).judge.value
    return CHANCE["Spearman" if given.kind.numbers else "AUC"] if found is None else found


def auc(scores: Matrix, yes: Matrix) -> float | None:
    """How often a row for which people say yes has the higher score; `yes` is the share of people who do."""
    found = _curve(scores, yes)
    return None if found is None else found.auc


def average_precision(scores: Matrix, yes: Matrix) -> float | None:
    """The mean precision at each yes, highest scores first; rows with the same score come together."""
    if not yes.sum() > 0:
        return None
    _, place = np.unique(-scores, return_inverse=True)
    hits, rows = np.bincount(place, yes), np.bincount(place)
    return float(np.cumsum(hits) / np.cumsum(rows) @ hits / yes.sum())


def _choices(given: PeopleAnswers, shares: Matrix, answers: Sequence[Answer]) -> dict[str, ChoiceFigures]:
    found = {}
    sets = [frozenset(map(str, one if isinstance(one, tuple) else (one,))) for one in answers]
    for place, name in enumerate(given.kind.choices):
        yes = given.shares[:, place]
        said = np.array([name in one for one in sets], dtype=bool)
        found[name] = ChoiceFigures(
            float(yes.mean()),
            float(said.mean()) if len(said) else 0.0,
            auc(shares[:, place], yes),
            average_precision(shares[:, place], yes),
            float(yes[said].mean()) if said.any() else None,
        )
    return found


def _curve(scores: Matrix, yes: Matrix) -> _Curve | None:
    no = 1 - yes
    if not (yes.sum() > 0 and no.sum() > 0):
        return None
    _, place = np.unique(scores, return_inverse=True)
    yes_at, no_at = np.bincount(place, yes), np.bincount(place, no)
    # The share of noes below each row, and of yeses above it; those with the same score count half.
    below = ((np.cumsum(no_at) - no_at / 2) / no.sum())[place]
    above = 1 - ((np.cumsum(yes_at) - yes_at / 2) / yes.sum())[place]
    value = float(yes @ below / yes.sum())
    influence = yes * (below - value) / yes.sum() + no * (above - value) / no.sum()
    return _Curve(value, influence)


def _error(influence: Matrix, groups: NDArray[np.intp]) -> float:
    """The standard error over documents (DeLong's, with documents in the place of rows)."""
    by_document = np.bincount(groups, influence)
    count = len(np.unique(groups))
    return float(np.sqrt((by_document**2).sum() * count / (count - 1))) if count > 1 else np.inf


def _in_documents(given: PeopleAnswers, choice: int) -> int:
    return len(np.unique(given.groups[given.shares[:, choice] > 0]))


def _people_auc(given: PeopleAnswers, choice: int) -> float | None:
    """AUC of a yes or no: half of sensitivity and specificity of one person, where another one is right."""
    people = given.counts.sum(axis=1)
    paired = people > 1
    yes, all_of = (given.shares[:, choice] * people)[paired], people[paired]
    pairs = all_of * (all_of - 1)
    both, neither, one = (
        float(part.sum())
        for part in (
            yes * (yes - 1) / pairs,
            (all_of - yes) * (all_of - yes - 1) / pairs,
            yes * (all_of - yes) / pairs,
        )
    )
    if not (both + one > 0 and neither + one > 0):
        return None
    return (both / (both + one) + neither / (neither + one)) / 2


def _spearman(ours: Matrix, theirs: Matrix, groups: NDArray[np.intp]) -> Figure:
    """Spearman's correlation; in resamples units keep their ranks."""
    value = spearman(ours, theirs)
    if not np.isfinite(value):
        return Figure(None)
    x, y = mean_ranks(ours) / len(ours), mean_ranks(theirs) / len(theirs)
    sums = group_sums(np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y]), groups)
    bounds = bootstrap_interval(sums, _correlation, USUAL)
    return Figure(value, bounds.low, bounds.high) if bounds else Figure(value)


def _correlation(sums: Matrix) -> Matrix:
    count, x, y, xx, yy, xy = sums.T
    spread = (count * xx - x * x) * (count * yy - y * y)
    found: Matrix = (count * xy - x * y) / np.sqrt(spread)
    return found


def _people_spearman(given: PeopleAnswers) -> float | None:
    """One person against the mean of the others."""
    values = np.array([float(answer) for answer in given.answers if isinstance(answer, int | float)])
    ours: list[float] = []
    others: list[float] = []
    for counts in given.counts:
        people, total = counts.sum(), float(counts @ values)
        for value, times in zip(values, counts, strict=True):
            if people > 1 and times:
                ours += [value] * int(times)
                others += [(total - value) / (people - 1)] * int(times)
    if len(ours) < 2:
        return None
    found = pearson(mean_ranks(np.array(ours)), mean_ranks(np.array(others)))
    return float(found) if np.isfinite(found) else None
