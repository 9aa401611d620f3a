"""Which system is worse, by how much, and how sure that is: by people, by a judge, and by both together."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import msgspec
import numpy as np

from lapsus.analysis.corpus import Corpus
from lapsus.analysis.estimate import Bounds, unit_means, weights
from lapsus.campaign_stats.campaign import CampaignStats, kept_result
from lapsus.campaign_stats.judge_figures import unaided_corpus
from lapsus.kinds.votes import Quantity, bad_answers
from lapsus.measures.bootstrap import t_cdf
from lapsus.measures.comparison import holm
from lapsus.measures.score import signature
from lapsus.model.votes import Votes
from lapsus.trust.estimators import Estimate, Estimates, Sample, difference, estimates
from lapsus.trust.ranking import PeopleAndJudges

BAD, MEAN = "bad", "mean"
SURE = 0.05
ALIKE = 1e-9
"""A standard error or a difference below this is none: sums of floats are not exact."""
SIGNATURE = signature(
    interval="clopper-pearson,effective-n/t,level=0.95", clusters="documents", test="welch", adjust="holm"
)


class SystemResult(msgspec.Struct, frozen=True):
    """One system: units with an answer of people, and the quantity in up to three ways."""

    system: str
    units: int
    people: Bounds
    judge: Bounds | None
    corrected: Bounds | None
    """The judge put right by people."""


class SystemDifference(msgspec.Struct, frozen=True):
    """How much worse the first system is than the second, by people."""

    worse: str
    better: str
    by: Bounds
    p: float | None
    """Holm's, over all pairs."""
    is_sure: bool
    """Whether chance hardly explains it, by both ways in which that is told."""


class Results(NamedTuple):
    """The systems of a campaign on one question, the worst first."""

    measure: str = BAD
    """`bad`: the share of bad answers; `mean`: of a scale, where less is worse; `marks`: how many a text has."""
    bad: tuple[str, ...] = ()
    """The labels that count as bad; all marks and scales have none."""
    systems: tuple[SystemResult, ...] = ()
    differences: tuple[SystemDifference, ...] = ()
    """Every two systems, the surest first."""
    judge: str | None = None
    """The program whose answers were used."""


@kept_result(Results())
def results_of(stats: CampaignStats) -> Results:
    """What the campaign says of its systems; worked out once for the same figures."""
    if not stats.figures.days and not stats.store.browsing.programs(stats.name):
        # All documents would be read for nothing.
        return Results()
    corpus, who = unaided_corpus(stats)
    if not corpus.judgments:
        return Results()
    votes = corpus.votes(stats.scheme, stats.question)
    bad, quantity = bad_answers(votes, stats.question.alone)
    measure = BAD if quantity.is_share else quantity.measure
    # Of several programs the one that judged the most.
    said = {name: votes.annotators.index(name) for name in who.judges if name in votes.annotators}
    judge = max(said, key=lambda name: np.isfinite(quantity.values[:, said[name]]).sum(), default=None)
    parts = _by_system(corpus, stats, votes, quantity, PeopleAndJudges(who.people, (judge,) if judge else ()))
    sign = -1 if measure == MEAN else 1
    people = {name: made.people for name, (_, made) in parts.items()}
    ordered = sorted(
        people, key=lambda name: (people[name].value is None, -sign * (people[name].value or 0.0), name)
    )
    systems = tuple(_system(name, *parts[name], judge) for name in ordered)
    return Results(measure, bad, systems, _differences([(name, people[name]) for name in ordered]), judge)


def _by_system(
    corpus: Corpus, stats: CampaignStats, votes: Votes, quantity: Quantity, who: PeopleAndJudges
) -> dict[str, tuple[int, Estimates]]:
    systems = np.array([corpus.system_of(unit.document) for unit in votes.units])
    document, (weight, stratum) = votes.document_groups(), weights(corpus, stats.scheme, votes.units)
    people, judge = unit_means(quantity, votes, who)
    found: dict[str, tuple[int, Estimates]] = {}
    for name in sorted(set(systems.tolist())):
        rows = systems == name
        drawn, strata = (None if one is None else one[rows] for one in (weight, stratum))
        sample = Sample(people[rows], judge[rows], document[rows], drawn, strata, quantity.is_share)
        found[name] = int(np.isfinite(people[rows]).sum()), estimates(sample)
    return found


def _system(name: str, units: int, made: Estimates, judge: str | None) -> SystemResult:
    by_judge = _bounds(made.judge) if judge else None
    corrected = _bounds(made.corrected) if made.power is not None else None
    return SystemResult(name, units, _bounds(made.people), by_judge, corrected)


def _bounds(found: Estimate) -> Bounds:
    return Bounds(found.value, found.low, found.high)


def _differences(systems: Sequence[tuple[str, Estimate]]) -> tuple[SystemDifference, ...]:
    """Systems come the worst first, so that each pair says how much worse the first one is."""
    known = [(name, people) for name, people in systems if people.value is not None]
    pairs = [(one, other, difference(one[1], other[1])) for one, other in combinations(known, 2)]
    raw = [_p(one, other, made) for (_, one), (_, other), made in pairs]
    adjusted = iter(holm([p for p in raw if p is not None]))
    found: list[SystemDifference] = []
    for (worse, _), (better, _), made in pairs:
        p = None if raw[len(found)] is None else next(adjusted)
        is_apart = made.low is not None and made.high is not None and made.low * made.high > 0
        found.append(
            SystemDifference(worse, better, _bounds(made), p, is_apart and p is not None and p < SURE)
        )
    return tuple(sorted(found, key=lambda one: (one.p is None, one.p or 0.0)))


def _p(one: Estimate, other: Estimate, made: Estimate) -> float | None:
    """The two-sided chance of so large a difference between systems that are alike."""
    if made.value is None or not made.degrees:
        return None
    if not made.error or made.error < ALIKE:
        # All documents of each are alike: in how many ways could they have been shared out so?
        first, second = (round(side.degrees or 0) + 1 for side in (one, other))
        return min(1.0, 2 / comb(first + second, first)) if abs(made.value) > ALIKE else 1.0
    return float(2 * (1 - t_cdf(abs(made.value) / made.error, made.degrees)))
