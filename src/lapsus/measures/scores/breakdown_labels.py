"""Gold labels for breakdowns, from the shares of votes for O, T and X, as the challenge's program or paper has them.

O, T and X are also written NB, PB and B: not a breakdown, possible breakdown, breakdown.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import Floats
from lapsus.model.votes import LabelVotes
from lapsus.registry import did_you_mean

Codes: TypeAlias = NDArray[np.int8]
"""Labels as places in LABELS."""

Rule: TypeAlias = Literal["program", "paper"]
"""What a gold label needs: a share of at least `t`, as in the challenge's program, or one above `t` (paper, §4.1)."""

RULES: Final[Mapping[Rule, str]] = {"program": "at least t", "paper": "more than t"}
"""The share that a gold label needs by each rule, in words."""
LABELS = ("O", "T", "X")
_ROUNDING = 1e-12
TIES = "O>T>X"


def breakdown_votes(votes: object) -> LabelVotes:
    """Votes that are of one label, as those on breakdown are."""
    if not isinstance(votes, LabelVotes):
        raise InputError("votes-breakdown-not-one")
    return votes


def breakdown_counts(votes: LabelVotes) -> NDArray[np.int64]:
    """How many annotators chose O, T and X of each turn. Other labels do not count."""
    if missing := [label for label in LABELS if label not in votes.labels]:
        known = ", ".join(votes.labels)
        raise InputError("votes-know-no-label", hint="know", missing=missing[0], known=known)
    return np.stack([(votes.codes == votes.labels.index(label)).sum(axis=1) for label in LABELS], axis=1)


def vote_shares(counts: NDArray[Any]) -> Floats:
    """Counts of O, T and X `(n, 3)` as shares of their sum, without smoothing."""
    shares: Floats = np.divide(counts, counts.sum(axis=-1, keepdims=True), dtype=np.float64)
    return shares


def check_rule(rule: str) -> None:
    """See to it that a rule is one of `RULES`."""
    if rule not in RULES:
        raise UsageError("no-rule-gold-labels", hint=did_you_mean(rule, list(RULES)), rule=rule)


def _enough(share: Floats, t: float, rule: Rule) -> NDArray[np.bool_]:
    # The program's rule goes by binary fractions, as the program does; the paper's by the numbers themselves.
    return share > t + _ROUNDING if rule == "paper" else share >= t


def strict_labels(shares: Floats, t: float = 0.0, rule: Rule = "program") -> Codes:
    """The label with the largest share, if that is enough by the rule; O otherwise. Ties go to O, then T, then X."""
    o, p, x = np.moveaxis(shares, -1, 0)
    is_o = (o >= p) & (o >= x) & _enough(o, t, rule)
    is_t = (p >= o) & (p >= x) & _enough(p, t, rule)
    is_x = (x >= o) & (x >= p) & _enough(x, t, rule)
    return np.where(is_o, 0, np.where(is_t, 1, 2 * is_x)).astype(np.int8)


def lenient_labels(shares: Floats, t: float = 0.0, rule: Rule = "program") -> Codes:
    """The label behind F(PB+B): X where T and X together have at least O's share and enough by the rule, else O.

    An exact tie goes to O, if O has enough. This is not the strict label with T and X taken as one: with .4 for
    O and .3 for each of T and X, the strict label is O and the lenient one X. The two shares are added up as
    the challenge's program does it, in binary fractions, so .7 and .1 fall just short of .8.
    """
    o, p, x = np.moveaxis(shares, -1, 0)
    rest = p + x
    is_o = (o >= rest) & _enough(o, t, rule)
    is_rest = (rest >= o) & _enough(rest, t, rule)
    return np.where(is_rest & ~is_o, 2, 0).astype(np.int8)
