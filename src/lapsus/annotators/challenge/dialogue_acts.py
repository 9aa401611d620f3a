"""Dialogue acts by cues, in the absence of a corpus to learn them from, and which act should come next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.cues import SurfaceCues

_FEELING, _SELF = "feeling", "self"
_BY_CUE: Final = ("request", "greeting", "farewell", "thanks", "apology", "unsure", "deny", "agree")
ACTS: Final = (
    "none", "ask-open", "ask-yes-no", "lost", *_BY_CUE, "own-feeling", "own-fact", "opinion", "about-you", "fact",
)  # fmt: skip
"""Every act; `none` where nobody spoke. `act_of` says which goes before which."""
QUESTIONS: Final = (
    "none", "how-many", "when", "where", "who", "why", "which", "how", "what", "yes-no", "other",
)  # fmt: skip


def act_of(seen: SurfaceCues | None) -> str:
    """The act that an utterance most looks like."""
    if seen is None:
        return "none"
    if "confused" in seen.does:
        return "lost"
    if seen.asks is not None:
        return "ask-yes-no" if seen.asks in ("yes-no", "other") else "ask-open"
    for cue in _BY_CUE:
        if cue in seen.does:
            return cue
    if _SELF in seen.does:
        return "own-feeling" if _FEELING in seen.does else "own-fact"
    if _FEELING in seen.does:
        return "opinion"
    return "about-you" if "you" in seen.does else "fact"


class NextActs:
    """Which act should come after which, learned from turns that people found good."""

    def __init__(self, shares: NDArray[np.float64]) -> None:
        self.shares = shares
        """A row an act of the user, a column an act of the system."""

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str, float]]) -> NextActs:
        """From acts of user and system, with how good the turn was."""
        counts = np.zeros((len(ACTS), len(ACTS)))
        for user, system, weight in pairs:
            counts[ACTS.index(user), ACTS.index(system)] += weight
        usual = (counts.sum(axis=0) + 1) / (counts.sum() + len(ACTS))
        # Acts seldom seen lean on what is usual after any act.
        return cls((counts + 5 * usual) / (counts.sum(axis=1, keepdims=True) + 5))

    def after(self, user: str) -> NDArray[np.float64]:
        """How likely each act is to come next."""
        row: NDArray[np.float64] = self.shares[ACTS.index(user)]
        return row
