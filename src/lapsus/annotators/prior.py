"""The constant prior: a floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.model_files import State
from lapsus.annotators.progress import Progress
from lapsus.annotators.training_examples import Example, shares
from lapsus.model import Unit


class Prior(BreakdownAnnotator):
    """Says the mean distribution of what it learned from, whatever the turn."""

    method = "prior"
    title = "floor: the mean distribution, always"
    any_language = True
    uses_words = False

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        self.mean_: NDArray[np.float64] = shares(examples).mean(axis=0)

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        return np.tile(self.mean_, (len(units), 1))

    def _state(self) -> State:
        return State({"mean": self.mean_.tolist()})

    def _restore(self, state: State) -> None:
        self.mean_ = np.array(state.data["mean"], dtype=np.float64).reshape(3)
