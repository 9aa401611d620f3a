"""Readable rules on keywords, and how much each of them counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.cases import Example, shares
from lapsus.annotators.challenge.svm import fit_softmax, predict_softmax
from lapsus.annotators.features.sign_rules import RULES, Sign, signs
from lapsus.annotators.library import need_above_zero, one_or_more
from lapsus.annotators.model_files import State
from lapsus.model import Unit

FAMILIES: Final = {
    "all": tuple(RULES),
    "topic": ("leaves-topic", "keeps-topic", "old-topic", "announces-turn", "asks-on-topic"),
    "questions": ("ignores-question", "wrong-answer", "yes-no-to-open", "asks-back", "asks-known", "asks"),
    "repetition": ("repeats-itself", "repeats-again", "rephrases-itself", "echoes-user", "stutters"),
    "contradiction": ("contradicts-itself", "contradicts-user", "at-odds", "denies", "agrees"),
    "manners": (
        "greets-late", "misses-greeting", "greets-back", "parts-early", "empty-thanks", "empty-apology", "rude",
        "commands",
    ),
    "trouble": ("user-lost", "ignores-trouble", "unsure"),
    "form": ("opens", "too-short", "too-long", "unfinished", "garbled"),
    "stance": ("speaks-of-itself", "speaks-of-you", "feels"),
}  # fmt: skip
"""Rules that go together. Each rule is in one family besides `all`."""


@dataclass(kw_only=True, eq=False)
class Rules(BreakdownAnnotator):
    """Sees signs in a turn and weighs them. Its judgments say which signs were seen."""

    method = "rules"
    title = "readable rules on keywords, weighed; says which rule fired"
    uses_words = False

    rules: str = "all"
    penalty: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        named = one_or_more("rule or family of rules", self.rules, [*FAMILIES, *RULES])
        chosen = {rule for name in named for rule in FAMILIES.get(name, (name,))}
        need_above_zero(penalty=self.penalty)
        self.rules_ = [rule for rule in RULES if rule in chosen]

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
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
