"""Floors to print beside every breakdown detector: what costs nothing, and what people reach."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.scores.breakdown import BreakdownScores, breakdown_tally
from lapsus.measures.scores.breakdown_labels import Rule, strict_labels, vote_shares


def constant_floor(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    *,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> BreakdownScores:
    """The scores of always giving the same answer: the gold's mean distribution, and the strict label of that.

    A floor that is a little too good, since nobody can know the gold beforehand; the signature says `prior:gold`.
    """
    shares: Floats = vote_shares(gold).mean(axis=0) if len(gold) else np.zeros(3)
    labels = np.full(len(gold), strict_labels(shares, t, rule), dtype=np.int8)
    given, own = np.broadcast_to(shares, (len(gold), 3)), {"floor": "constant", "prior": "gold"}
    return BreakdownScores.of(
        breakdown_tally(gold, labels, given, groups, t=t, rule=rule, own=own), bootstrap
    )


def half_floor(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    *,
    splits: int = 10,
    seed: int = 0,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> BreakdownScores:
    """Half of the annotators scored against the other half, as if the one half were a detector.

    Each turn's annotators are split by chance (of an odd number, the larger half is the gold), the sums of
    several splits are averaged, and the scores follow from them. Turns with a single vote are left out.
    Counts are all it takes: which half a vote falls into does not depend on whose it is.
    """
    many = gold.sum(axis=1) > 1
    gold, groups = gold[many], groups[many]
    own = {"floor": f"halves,splits={splits},seed={seed}"}
    generator = np.random.default_rng(seed)
    tallies = []
    for _ in range(splits):
        half = draw_half(gold, generator)
        shares = vote_shares(half)
        tallies.append(
            breakdown_tally(
                gold - half, strict_labels(shares, t, rule), shares, groups, t=t, rule=rule, own=own
            )
        )
    mean = np.mean([tally.sums for tally in tallies], axis=0)
    return BreakdownScores.of(tallies[0]._replace(sums=mean), bootstrap)


def draw_half(counts: NDArray[Any], generator: np.random.Generator) -> NDArray[np.int64]:
    """The votes of a random half of each turn's annotators, rounded down, as counts of O, T and X."""
    o, t, x = counts.T
    wanted = counts.sum(axis=1) // 2
    of_o = generator.hypergeometric(o, t + x, wanted)
    of_t = generator.hypergeometric(t, x, wanted - of_o)
    return np.stack([of_o, of_t, wanted - of_o - of_t], axis=1)
