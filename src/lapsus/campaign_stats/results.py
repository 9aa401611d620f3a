"""Which system is worse, by how much, and how sure that is: by people, by a judge, and by both together."""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from lapsus.analysis.corpus import Corpus, load_corpus
from lapsus.analysis.estimate import unit_means, weights
from lapsus.analysis.trust import only_drawn, people_and_judges
from lapsus.campaign_stats.campaign import CampaignStats
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


class SystemResult(NamedTuple):
    """One system: units with an answer of people, and the quantity in up to three ways."""

    system: str
    units: int
    people: Estimate
    judge: Estimate | None
    corrected: Estimate | None


class SystemDifference(NamedTuple):
    """How much worse the first system is than the second, by people."""

    worse: str
    better: str
    estimate: Estimate
    p: float | None
    """Holm's, over all pairs."""

    @property
    def is_sure(self) -> bool:
        """Whether chance hardly explains it, by both ways in which that is told."""
        low, high = self.estimate.low, self.estimate.high
        return (
            self.p is not None and self.p < SURE and low is not None and high is not None and low * high > 0
        )


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


def results_of(stats: CampaignStats) -> Results:
    """What the campaign says of its systems; worked out once for the same figures."""
    return stats.kept("results", _results, Results())


def _results(stats: CampaignStats) -> Results:
    if not stats.figures.days and not stats.store.browsing.programs(stats.name):
        # All documents would be read for nothing.
        return Results()
    exported = stats.store.exports.export(stats.name, names="names", programs=True)
    whole = load_corpus(list(exported))
    unaided = [one for one in whole.judgments if "suggested" not in one.metadata]
    corpus = Corpus(whole.name, whole.documents, unaided)
    if not unaided:
        return Results()
    who = people_and_judges(corpus, stats.scheme, by_name=False, need_people=False, need_judges=False)
    corpus = only_drawn(corpus, stats.scheme, who.people)
    votes = corpus.votes(stats.scheme, stats.question)
    bad, quantity = bad_answers(votes, stats.question.alone)
    measure = BAD if quantity.is_share else quantity.measure
    # Of several programs the one that judged the most.
    said = {name: votes.annotators.index(name) for name in who.judges if name in votes.annotators}
    judge = max(said, key=lambda name: np.isfinite(quantity.values[:, said[name]]).sum(), default=None)
    parts = _by_system(corpus, stats, votes, quantity, PeopleAndJudges(who.people, (judge,) if judge else ()))
    sign = -1 if measure == MEAN else 1
    systems = sorted(
        (_system(name, units, made, judge) for name, (units, made) in parts.items()),
        key=lambda one: (one.people.value is None, -sign * (one.people.value or 0.0), one.system),
    )
    return Results(measure, bad, tuple(systems), _differences(systems), judge)


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
    corrected = made.corrected if made.power is not None else None
    return SystemResult(name, units, made.people, made.judge if judge else None, corrected)


def _differences(systems: list[SystemResult]) -> tuple[SystemDifference, ...]:
    """Systems come the worst first, so that each pair says how much worse the first one is."""
    pairs = [
        (one, other, difference(one.people, other.people))
        for one, other in combinations(systems, 2)
        if one.people.value is not None and other.people.value is not None
    ]
    raw = [_p(one.people, other.people, made) for one, other, made in pairs]
    adjusted = iter(holm([p for p in raw if p is not None]))
    found = [
        SystemDifference(one.system, other.system, made, None if p is None else next(adjusted))
        for (one, other, made), p in zip(pairs, raw, strict=True)
    ]
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
