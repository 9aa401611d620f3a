"""Floors to print beside every breakdown detector: what costs nothing, and what people reach."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.measures.scores.breakdown import BreakdownScores, breakdown_tally
from lapsus.measures.scores.breakdown_labels import Rule, strict_labels, vote_shares
from lapsus.measures.scores.tally import Tally


def constant_prior(counts: NDArray[Any], t: float = 0.0, rule: Rule = "program") -> tuple[int, Floats]:
    """The one answer to give without looking: the mean distribution, and the strict label of that."""
    if not len(counts):
        raise InputError("no-votes-take-prior")
    shares: Floats = vote_shares(counts).mean(axis=0)
    return int(strict_labels(shares, t, rule)), shares


def constant_floor(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    *,
    training: NDArray[Any] | None = None,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> BreakdownScores:
    """The scores of always giving the same answer: the prior of the training data's counts.

    Without training data the prior is taken from the gold itself, and the signature says so (`prior:gold`):
    a floor that is a little too good, since nobody can know it beforehand.
    """
    label, shares = (
        constant_prior(gold if training is None else training, t, rule) if len(gold) else (0, np.zeros(3))
    )
    tally = _constant_tally(gold, groups, label, shares, t, rule, "constant", training)
    return BreakdownScores.of(tally, bootstrap)


def majority_accuracy(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    *,
    training: NDArray[Any] | None = None,
    t: float = 0.0,
    rule: Rule = "program",
    bootstrap: Bootstrap | None = USUAL,
) -> Score:
    """The accuracy of always giving the most frequent strict label of the training data, or of the gold.

    That need not be the label of the constant floor: where X wins often but narrowly, the mean may favour O.
    """
    source = gold if training is None else training
    frequent = np.bincount(strict_labels(vote_shares(source), t, rule), minlength=3)
    label = int(frequent.argmax())
    tally = _constant_tally(gold, groups, label, np.eye(3)[label], t, rule, "majority", training)
    return BreakdownScores.of(tally, bootstrap).accuracy


def _constant_tally(
    gold: NDArray[Any],
    groups: NDArray[np.intp],
    label: int,
    shares: Floats,
    t: float,
    rule: Rule,
    floor: str,
    training: NDArray[Any] | None,
) -> Tally:
    labels = np.full(len(gold), label, dtype=np.int8)
    own = {"floor": floor, "prior": "gold" if training is None else "training"}
    return breakdown_tally(
        gold, labels, np.broadcast_to(shares, (len(gold), 3)), groups, t=t, rule=rule, own=own
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
