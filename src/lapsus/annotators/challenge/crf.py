"""The challenge's baseline: a conditional random field over the system's turns."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.cases import Example, by_document, shares
from lapsus.annotators.features.network_layers import softmax
from lapsus.annotators.library import need_at_least, need_share
from lapsus.annotators.model_files import State
from lapsus.annotators.optional_libraries import require
from lapsus.measures.scores.breakdown_labels import LABELS, strict_labels
from lapsus.model import Segment, Unit


@dataclass(kw_only=True, eq=False)
class Crf(BreakdownAnnotator):
    """Labels the system's turns as a sequence, from the words of each turn and of the utterances before it."""

    method = "crf"
    title = "the baseline: a conditional random field over words of the target and the turns before"

    t: float = 0.0
    context: int = 2
    l1: float = 0.0
    l2: float = 20.0
    iterations: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        need_share(t=self.t)
        need_at_least(0, context=self.context, l1=self.l1, l2=self.l2)
        need_at_least(1, iterations=self.iterations)

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        crfsuite = require("pycrfsuite", "train", "purpose-crf")
        trainer = crfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c1": self.l1, "c2": self.l2, "max_iterations": self.iterations})
        for group in by_document(examples):
            for run in _unbroken(group):
                gold = [LABELS[code] for code in strict_labels(shares(run), self.t)]
                trainer.append([self._attributes(example.unit) for example in run], gold)
        progress(0, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "crf")
            trainer.train(path)
            tagger = crfsuite.Tagger()
            with tagger.open(path):
                learned = tagger.info()
        self._take(learned.state_features, learned.transitions)
        progress(1, 1)

    def _take(self, scores: dict[tuple[str, str], float], steps: dict[tuple[str, str], float]) -> None:
        """Keep what was learned as arrays, so that judging needs numpy alone."""
        names = sorted({name for name, _ in scores})
        self.places_ = {name: place for place, name in enumerate(names)}
        self.scores_ = np.zeros((len(names), 3))
        for (name, label), weight in scores.items():
            self.scores_[self.places_[name], LABELS.index(label)] = weight
        self.steps_ = np.zeros((3, 3))
        for (label, following), weight in steps.items():
            self.steps_[LABELS.index(label), LABELS.index(following)] = weight

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        return np.array([self._last_marginal(unit) for unit in units])

    def _last_marginal(self, unit: Unit) -> NDArray[Any]:
        """The forward pass up to the target. Nothing comes after it, so there is nothing to pass backward."""
        turns = unit.visible
        places = [place for place, turn in enumerate(turns) if turn.role == "system"]
        forward = self._score(self._attributes_at(turns, places[0], unit.language))
        for place in places[1:]:
            peak = forward.max()
            forward = np.log(np.exp(forward - peak) @ np.exp(self.steps_)) + peak
            forward = forward + self._score(self._attributes_at(turns, place, unit.language))
        return softmax(forward)

    def _score(self, attributes: list[str]) -> NDArray[np.float64]:
        known = [self.places_[name] for name in attributes if name in self.places_]
        total: NDArray[np.float64] = self.scores_[known].sum(axis=0)
        return total

    def _attributes(self, unit: Unit) -> list[str]:
        return self._attributes_at(unit.visible, len(unit.visible) - 1, unit.language)

    def _attributes_at(self, turns: Sequence[Segment], place: int, language: str | None) -> list[str]:
        """The words of a turn and of those before it, each with how far back it is."""
        found = {"here"}
        for back in range(min(self.context, place) + 1):
            terms = self.words_.terms(turns[place - back].text, language)
            found.update(f"{back}:{term}" for term in terms)
        return sorted(found)

    def _state(self) -> State:
        arrays = {"scores": self.scores_, "steps": self.steps_}
        return State({"attributes": list(self.places_)}, arrays)

    def _restore(self, state: State) -> None:
        self.places_ = {name: place for place, name in enumerate(state.data["attributes"])}
        self.scores_ = state.arrays["scores"].reshape(len(self.places_), 3)
        self.steps_ = state.arrays["steps"].reshape(3, 3)


def _unbroken(examples: Sequence[Example]) -> list[list[Example]]:
    """Runs of system turns that were all judged: between them the sequence is not known."""
    runs: list[list[Example]] = []
    before: tuple[Segment, ...] = ()
    for example in examples:
        unit = example.unit
        skipped = any(turn.role == "system" for turn in unit.context[len(before) :])
        if not runs or skipped:
            runs.append([])
        runs[-1].append(example)
        before = unit.visible
    return runs
