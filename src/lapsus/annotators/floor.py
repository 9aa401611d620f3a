"""The usual answers, under any guideline: a floor."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Annotator, Lesson, Opinion
from lapsus.annotators.cases import Case
from lapsus.annotators.model_files import State
from lapsus.annotators.progress import Progress
from lapsus.annotators.training_examples import Origin
from lapsus.errors import InputError
from lapsus.kinds import kinds_of
from lapsus.model import FrozenDict


class Floor(Annotator):
    """Says of every unit what people said on the whole: the mean shares, and the best answer by them."""

    method = "floor"
    title = "floor for any guideline: the usual answers, always"
    any_language = True
    uses_words = False

    def _learn_from(self, lesson: Lesson, languages: Sequence[str], progress: Progress) -> Origin:
        kinds = kinds_of(self.scheme)
        hashed, given = hashlib.blake2b(digest_size=12), 0
        self.means_: dict[str, NDArray[np.float64]] = {}
        for id, votes in lesson.votes.items():
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
        return Origin(
            version=self.scheme.version,
            documents=len({case.unit.document for case in lesson.cases}),
            units=len(lesson.cases),
            votes=given,
            digest=hashed.hexdigest(),
            languages=tuple(languages),
            words={},
        )

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
