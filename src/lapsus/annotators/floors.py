"""Floors: the usual answers, whatever the unit."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Annotator, Opinion, Progress, TrainingData
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.cases import Case, Example, Origin, origin_of, shares
from lapsus.annotators.library import need_share
from lapsus.annotators.model_files import State
from lapsus.errors import InputError
from lapsus.kinds import kinds_of
from lapsus.measures.scores.breakdown_labels import LABELS, strict_labels
from lapsus.model import FrozenDict, Unit


class Floor(Annotator):
    """Says of every unit what people said on the whole: the mean shares, and the best answer by them."""

    method = "floor"
    title = "floor for any guideline: the usual answers, always"
    any_language = True
    uses_words = False

    def _learn_from(self, training: TrainingData, languages: Sequence[str], progress: Progress) -> Origin:
        kinds = kinds_of(self.scheme)
        hashed, given = hashlib.blake2b(digest_size=12), 0
        self.means_: dict[str, NDArray[np.float64]] = {}
        for id, votes in training.votes.items():
            if not (votes.units and kinds[id].choices):
                continue
            shares = kinds[id].shares(votes)
            answered = shares[~np.isnan(shares).any(axis=1)]
            if len(answered):
                self.means_[id] = answered.mean(axis=0)
                given += sum(len(kinds[id].of_unit(votes, row)) for row in range(len(votes.units)))
                hashed.update(answered.tobytes())
        if not self.means_:
            raise InputError("no-question-whose-answers", hint="give-judged-documents")
        units = (case.unit for case in training.cases)
        return origin_of(self.scheme, units, given, hashed.hexdigest(), languages)

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        kinds = kinds_of(self.scheme)
        answers = FrozenDict({id: kinds[id].best(mean) for id, mean in self.means_.items()})
        shares = FrozenDict({id: FrozenDict(kinds[id].as_json(mean)) for id, mean in self.means_.items()})
        return [Opinion(answers, shares)] * len(cases)

    def _state(self) -> State:
        return State({"means": {id: mean.tolist() for id, mean in self.means_.items()}})

    def _restore(self, state: State) -> None:
        kinds = kinds_of(self.scheme)
        self.means_ = {
            id: np.array(mean, dtype=np.float64).reshape(len(kinds[id].choices))
            for id, mean in state.data["means"].items()
        }


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


@dataclass(kw_only=True, eq=False)
class Majority(BreakdownAnnotator):
    """Says the most frequent gold label, whatever the turn, and is sure of it."""

    method = "majority"
    title = "floor: the most frequent label, always"
    any_language = True
    uses_words = False

    t: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        need_share(t=self.t)

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        gold = strict_labels(shares(examples), self.t)
        self.label_ = LABELS[int(np.bincount(gold, minlength=3).argmax())]

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        return np.tile(np.eye(3)[LABELS.index(self.label_)], (len(units), 1))

    def _state(self) -> State:
        return State({"label": self.label_})

    def _restore(self, state: State) -> None:
        self.label_ = LABELS[LABELS.index(state.data["label"])]
