"""Readable rules on keywords, and how much each of them counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Annotator
from lapsus.annotators.decide import ARGMAX
from lapsus.annotators.examples import Example, shares
from lapsus.annotators.parts.regression import fit_softmax, predict_softmax
from lapsus.annotators.parts.sign_rules import RULES
from lapsus.annotators.parts.signs import Sign, signs
from lapsus.annotators.progress import Progress
from lapsus.annotators.settings import need_above_zero
from lapsus.annotators.storage import State
from lapsus.model import Unit


class Rules(Annotator):
    """Sees signs in a turn and weighs them. Its judgments say which signs were seen."""

    name = "rules"
    title = "readable rules on keywords, weighed; says which rule fired"
    uses_words = False

    def __init__(self, *, penalty: float = 3.0, decide: str = ARGMAX) -> None:
        super().__init__(decide=decide)
        need_above_zero(penalty=penalty)
        self.penalty = penalty

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        self.rules_ = list(RULES)
        seen = self._seen([example.unit for example in examples])
        self.weights_ = fit_softmax(seen, shares(examples), self.penalty)
        progress(1, 1)

    def _seen(self, units: Sequence[Unit]) -> NDArray[np.float64]:
        place = {name: number for number, name in enumerate(self.rules_)}
        rows = np.zeros((len(units), len(self.rules_)))
        for row, unit in zip(rows, units, strict=True):
            row[[place[sign.rule] for sign in signs(unit) if sign.rule in place]] = 1.0
        return rows

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        return predict_softmax(self._seen(units), self.weights_)

    def _evidence(self, unit: Unit) -> list[dict[str, Any]]:
        """The signs seen, those that speak most for a breakdown first."""
        weighed = [(self._pull(sign), sign) for sign in signs(unit) if sign.rule in self.rules_]
        weighed.sort(key=lambda pair: -pair[0])
        return [{"rule": sign.rule, "weight": round(pull, 2), "quote": sign.quote} for pull, sign in weighed]

    def _pull(self, sign: Sign) -> float:
        """How far a sign pulls from O to X, in log odds."""
        weights = self.weights_[self.rules_.index(sign.rule)]
        return float(weights[2] - weights[0])

    def _state(self) -> State:
        return State({"rules": self.rules_}, {"weights": self.weights_})

    def _restore(self, state: State) -> None:
        self.rules_ = list(state.data["rules"])
        self.weights_ = state.arrays["weights"].reshape(len(self.rules_) + 1, 3)
        if unknown := set(self.rules_) - set(RULES):
            raise ValueError(f"no rule is called {min(unknown)!r}")
