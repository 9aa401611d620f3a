"""The alternative annotator test (Calderon, Reichart and Dror 2025): may a judge stand in for a person?

Each person in turn is left out: who agrees better with the remaining people, that person or the judge? Several judges
may stand as one (`jury`).
"""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.kinds.votes import Answers, Codes
from lapsus.measures.bootstrap import Floats, t_cdf, t_quantile
from lapsus.notices import Notice

EPSILONS = {0.1: Notice("crowd-workers"), 0.15: Notice("trained-annotators"), 0.2: Notice("experts")}
"""How much worse a judge may be, for what it saves: more where people are dear."""
LEAST_UNITS = 30
"""People with fewer units are not tested; what they said still counts as what others are compared with."""
LEVEL = 0.05
POWER = 0.8
_TIE = 1e-12
_PAIRS = 1 << 21
"""How many pairs of answers are compared at a time."""
_FAR = 1_000_000
"""More units than that are no advice."""


class Duels(NamedTuple):
    """A row for each answer of a person about a unit that the judge answered too, and at least one other person."""

    unit: Codes
    person: Codes
    judge_score: Floats
    """How well the judge agrees with the remaining people."""
    person_score: Floats

    @property
    def judge_wins(self) -> Floats:
        """1 where the judge agrees with the rest at least as well as the person, else 0."""
        margin = _TIE * np.maximum(1, np.abs(self.person_score))
        return (self.judge_score >= self.person_score - margin).astype(np.float64)

    @property
    def person_wins(self) -> Floats:
        """1 where the person agrees with the rest at least as well as the judge, else 0."""
        margin = _TIE * np.maximum(1, np.abs(self.person_score))
        return (self.person_score >= self.judge_score - margin).astype(np.float64)


class Means(NamedTuple):
    """For each person tested: the mean of `person_wins - judge_wins`, its standard error, degrees of freedom."""

    mean: Floats
    error: Floats
    degrees: Floats
    units: Floats

    def p_values(self, epsilon: float) -> Floats:
        """One-sided, against "the judge is worse than this person by epsilon or more"."""
        return _below(self.mean - epsilon, self.error, self.degrees)


class Outcome(NamedTuple):
    """The test at one epsilon."""

    epsilon: float
    winning_rate: float | None
    passes: bool | None
    more_units: int | None
    """How many more units each person would have to judge until it is settled; None: too many to say."""
    p_values: tuple[float, ...]


class Trial(NamedTuple):
    """What the test says of one judge: plain, as published, and clustered by document."""

    people: tuple[int, ...]
    """Columns of the people who are tested."""
    left_out: tuple[int, ...]
    """Columns of those with too few units."""
    units: int
    documents: int
    advantage: float | None
    interval: tuple[float, float] | None
    """Of the advantage, clustered by document."""
    judge_agreement: float | None
    people_agreement: float | None
    plain: tuple[Outcome, ...]
    clustered: tuple[Outcome, ...]


def duels(answers: Answers, people: Sequence[int], judge: Codes, among: Floats | None = None) -> Duels:
    """Every person against the judge. `judge` holds a code a unit, -1 where the judge gave no answer.

    `among` is what `people_scores` says of these people, for those who ask about several judges.
    """
    columns = np.asarray(people, dtype=np.intp)
    known = people_scores(answers, people) if among is None else among
    parts = []
    for rows, who, said in _blocks(answers, columns, judge >= 0):
        judged = answers.near(judge[rows, None], said)[:, 0, :]
        count = who.shape[1]
        # Left out: what the person who is tested says to the judge.
        score = answers.score((judged.sum(axis=1, keepdims=True) - judged) / (count - 1))
        scores = np.take_along_axis(known[rows], who, axis=1)
        parts.append((np.repeat(rows, count), columns[who].ravel(), score.ravel(), scores.ravel()))
    if not parts:
        nothing = np.zeros(0)
        return Duels(nothing.astype(np.intp), nothing.astype(np.intp), nothing, nothing)
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort((joined[1], joined[0]))
    unit, person, judge_score, person_score = (column[order] for column in joined)
    return Duels(unit.astype(np.intp), person.astype(np.intp), judge_score, person_score)


def people_scores(answers: Answers, people: Sequence[int]) -> Floats:
    """How well each person agrees with the others on each unit: (units, people), NaN where nobody can tell."""
    columns = np.asarray(people, dtype=np.intp)
    found = np.full((len(answers.codes), len(columns)), np.nan)
    for rows, who, said in _blocks(answers, columns, np.ones(len(answers.codes), dtype=bool)):
        near = answers.near(said, said)
        # Left out: what a person says to themself.
        own = np.diagonal(near, axis1=1, axis2=2)
        found[rows[:, None], who] = answers.score((near.sum(axis=2) - own) / (who.shape[1] - 1))
    return found


def _blocks(
    answers: Answers, columns: Codes, usable: NDArray[np.bool_]
) -> Iterator[tuple[Codes, Codes, Codes]]:
    """Units that equally many people answered, two at least: which they are, who answered (by place), and what."""
    given = answers.codes[:, columns] >= 0
    many = np.where(usable, given.sum(axis=1), 0)
    for count in np.unique(many[many >= 2]).tolist():
        rows_of = np.flatnonzero(many == count)
        for rows in np.array_split(rows_of, math.ceil(len(rows_of) / max(1, _PAIRS // count**2))):
            who = np.nonzero(given[rows])[1].reshape(len(rows), count)
            yield rows, who, np.take_along_axis(answers.codes[rows][:, columns], who, axis=1)


def trial(
    found: Duels,
    documents: NDArray[np.intp],
    *,
    epsilons: Sequence[float] = tuple(EPSILONS),
    least_units: int = LEAST_UNITS,
) -> Trial:
    """The test on all duels of a judge. `documents` says for each unit which document it is of."""
    if not all(0 <= epsilon < 1 for epsilon in epsilons):
        raise UsageError("epsilon-0-below-1", hint="0-1-crowds-0")
    everybody, counts = np.unique(found.person, return_counts=True)
    people = everybody[counts >= least_units]
    left_out = tuple(everybody[counts < least_units].tolist())
    kept = np.isin(found.person, people)
    if not kept.any():
        nothing = tuple(Outcome(epsilon, None, None, None, ()) for epsilon in epsilons)
        return Trial((), left_out, 0, 0, None, None, None, None, nothing, nothing)
    tested = Duels(found.unit[kept], found.person[kept], found.judge_score[kept], found.person_score[kept])
    person = np.searchsorted(people, tested.person)
    document = np.unique(documents[tested.unit], return_inverse=True)[1].reshape(-1)
    difference = tested.person_wins - tested.judge_wins
    plain, clustered = _means(difference, person), _means(difference, person, document)
    wins = _means(tested.judge_wins, person).mean
    advantage = float(wins.mean())
    return Trial(
        tuple(people.tolist()),
        left_out,
        len(np.unique(tested.unit)),
        int(document.max()) + 1,
        advantage,
        _around(advantage, tested.judge_wins, wins, person, document),
        float(_means(tested.judge_score, person).mean.mean()),
        float(_means(tested.person_score, person).mean.mean()),
        tuple(outcome(plain, epsilon) for epsilon in epsilons),
        tuple(outcome(clustered, epsilon) for epsilon in epsilons),
    )


def _means(values: Floats, person: Codes, document: Codes | None = None) -> Means:
    """Each person's mean with its standard error; with documents, units of one document count as one draw."""
    people = int(person.max()) + 1
    count = np.bincount(person, minlength=people).astype(np.float64)
    mean = np.bincount(person, values, people) / count
    away = values - mean[person]
    if document is None:
        groups, squares = count, np.bincount(person, away**2, people)
    else:
        pairs = person * (int(document.max()) + 1) + document
        each, place = np.unique(pairs, return_inverse=True)
        whose = each // (int(document.max()) + 1)
        groups = np.bincount(whose, minlength=people).astype(np.float64)
        squares = np.bincount(whose, np.bincount(place.reshape(-1), away) ** 2, people)
    with np.errstate(divide="ignore", invalid="ignore"):
        # n/(n-1) of the sum of squares over n²: for single units the usual variance of a mean.
        error = np.sqrt(squares * groups / (groups - 1)) / count
    return Means(mean, error, groups - 1, count)


def _around(
    value: float, wins: Floats, means: Floats, person: Codes, document: Codes
) -> tuple[float, float] | None:
    """The interval of the mean of people's means, clustered by document."""
    groups = int(document.max()) + 1
    if groups < 2:
        return None
    count = np.bincount(person)
    pull = (wins - means[person]) / count[person] / len(count)
    squares = float((np.bincount(document, pull) ** 2).sum())
    half = t_quantile(0.975, groups - 1) * math.sqrt(squares * groups / (groups - 1))
    return max(0.0, value - half), min(1.0, value + half)


def _below(distance: Floats, error: Floats, degrees: Floats) -> Floats:
    """P-values of "the mean is below": 0 or 1 where nothing varies, 1 where there is one draw only."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, distance / error, np.where(distance < 0, -np.inf, np.inf))
    alone = (degrees < 1) | ~np.isfinite(error)
    return np.where(alone, 1.0, t_cdf(np.where(alone, 0.0, t), np.maximum(degrees, 1)))


def rejected(p_values: Floats) -> int:
    """How many of the smallest p-values count, of all tested together (Benjamini and Yekutieli 2001)."""
    many = len(p_values)
    if not many:
        return 0
    bounds = np.arange(1, many + 1) / many * LEVEL / (1 / np.arange(1, many + 1)).sum()
    below = np.flatnonzero(np.sort(p_values) <= bounds)
    return int(below[-1]) + 1 if len(below) else 0


def outcome(means: Means, epsilon: float) -> Outcome:
    """Winning rate, verdict and what is missing at one epsilon."""
    p_values = means.p_values(epsilon)
    rate = rejected(p_values) / len(p_values)
    return Outcome(epsilon, rate, rate >= 0.5, _more_units(means, epsilon), tuple(p_values.tolist()))


def _more_units(means: Means, epsilon: float) -> int | None:
    """How many more units a person would settle it either way, were the means and their spread to stay as they are.

    It is settled where half of the people are rejected, or where so many are surely not below epsilon that half
    cannot be. With `POWER` the units would be enough.
    """
    many = len(means.mean)
    passing = math.ceil(many / 2)
    failing = many - passing + 1
    found = []
    for distance, enough in ((epsilon - means.mean, passing), (means.mean - epsilon, failing)):
        if rejected(_below(-distance, means.error, means.degrees)) >= enough:
            return 0
        level = enough / many * LEVEL / (1 / np.arange(1, many + 1)).sum()
        needed = units_needed(distance, means.error**2 * means.units, level)
        found.append(float(np.sort(np.maximum(needed - means.units, 1))[enough - 1]))
    more = min(found)
    return None if not more < _FAR else math.ceil(more)


def units_needed(distance: Floats, variance: Floats, level: float) -> Floats:
    """How many units show with `POWER` that a mean lies so far below a bound; infinite where it does not."""
    normal = NormalDist()
    reach = normal.inv_cdf(1 - level) + normal.inv_cdf(POWER)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(distance > 0, reach**2 * np.maximum(variance, 1e-4) / distance**2, np.inf)
    return found


def agrees_better(one: Duels, other: Duels, documents: NDArray[np.intp]) -> bool | None:
    """Whether a judge is shown to agree with people better than another on the same units, documents as clusters.

    One-sided at `LEVEL`; None where there are fewer than two documents.
    """
    document = np.unique(documents[one.unit], return_inverse=True)[1].reshape(-1)
    if not len(document) or document.max() < 1:
        return None
    everybody = np.zeros(len(document), dtype=np.intp)
    found = _means(one.judge_score - other.judge_score, everybody, document)
    return bool(_below(-found.mean, found.error, found.degrees)[0] <= LEVEL)


def constant_judge(answers: Answers, people: Sequence[int]) -> Codes:
    """A floor: the usual answer, always."""
    given = answers.codes[:, list(people)]
    return np.full(len(given), answers.usual(given[given >= 0]), dtype=np.intp)


def random_judge(answers: Answers, people: Sequence[int], seed: int = 0) -> Codes:
    """A floor: for each unit what some person said of some unit, drawn at random."""
    given = answers.codes[:, list(people)]
    drawn: Codes = np.random.default_rng(seed).choice(given[given >= 0], size=len(given))
    return drawn


JURY = "(jury)"
SHUFFLES = 200


def jury(answers: Answers, judges: Sequence[int]) -> Codes:
    """For each unit the answer of the judge who is nearest to the others; of equals, that of the one named first.

    For single labels that is what most of them said. It is always an answer that somebody gave, so the guideline's
    rules hold for it. -1 where no judge answered.
    """
    given = answers.codes[:, list(judges)]
    there = given >= 0
    rows = np.flatnonzero(there.any(axis=1))
    found = np.full(len(given), -1, dtype=np.intp)
    # Where one is missing, an answer of another stands in for it and counts for nothing.
    some = np.take_along_axis(given[rows], there[rows].argmax(axis=1)[:, None], axis=1)
    filled = np.where(there[rows], given[rows], some)
    near = np.where(there[rows][:, None, :], answers.near(filled, filled), 0.0).sum(axis=2)
    best = np.where(there[rows], near, -np.inf).argmax(axis=1)
    found[rows] = np.take_along_axis(filled, best[:, None], axis=1)[:, 0]
    return found


class AgreementWithPeople(NamedTuple):
    """How near a judge's answers are to people's, unit by unit; None where nobody judged what the judge did."""

    agreement: float | None
    """Mean over units of what the test compares: the share of people who said the same, minus RMSE of a scale, …"""
    shuffled: float | None
    """The same with the judge's answers put to units at random: what one has without reading."""
    p_value: float | None
    """How often shuffled answers did as well or better."""
    answered: int
    wanted: int
    """Units that people judged."""


def agreement_with_people(
    answers: Answers, people: Sequence[int], judge: Codes, seed: int = 0
) -> AgreementWithPeople:
    """Agreement of a judge with people, and of its shuffled answers."""
    given = answers.codes[:, list(people)]
    wanted = (given >= 0).any(axis=1)
    rows = np.flatnonzero(wanted & (judge >= 0))
    if not len(rows):
        return AgreementWithPeople(None, None, None, 0, int(wanted.sum()))
    own = _agreement(answers, given[rows], judge[rows])
    rng = np.random.default_rng(seed)
    others = [_agreement(answers, given[rows], rng.permutation(judge[rows])) for _ in range(SHUFFLES)]
    as_good = sum(other >= own - 1e-12 for other in others)
    p_value = (1 + as_good) / (1 + SHUFFLES)
    return AgreementWithPeople(own, float(np.mean(others)), p_value, len(rows), int(wanted.sum()))


def _agreement(answers: Answers, given: Codes, judge: Codes) -> float:
    there = given >= 0
    near = answers.near(judge[:, None], np.where(there, given, judge[:, None]))[:, 0, :]
    means = np.where(there, near, 0.0).sum(axis=1) / there.sum(axis=1)
    return float(answers.score(means).mean())
