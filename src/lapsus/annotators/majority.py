"""The most frequent label: a floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.decision_rules import ARGMAX
from lapsus.annotators.model_files import State
from lapsus.annotators.parameter_bounds import need_share
from lapsus.annotators.progress import Progress
from lapsus.annotators.training_examples import Example, shares
from lapsus.measures.scores.breakdown_labels import LABELS, strict_labels
from lapsus.model import Unit


class Majority(BreakdownAnnotator):
    """Says the most frequent gold label, whatever the turn, and is sure of it."""

    method = "majority"
    title = "floor: the most frequent label, always"
    any_language = True
    uses_words = False

    def __init__(self, *, t: float = 0.0, decide: str = ARGMAX) -> None:
        super().__init__(decide=decide)
        need_share(t=t)
        self.t = t

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        gold = strict_labels(shares(examples), self.t)
        self.label_ = LABELS[int(np.bincount(gold, minlength=3).argmax())]

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        return np.tile(np.eye(3)[LABELS.index(self.label_)], (len(units), 1))

    def _state(self) -> State:
        return State({"label": self.label_})

    def _restore(self, state: State) -> None:
        self.label_ = LABELS[LABELS.index(state.data["label"])]
