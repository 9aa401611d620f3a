"""Each method learns something: trained on a small sample it is better than its floor on other dialogues."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from lapsus.annotators import Annotator, detect, make_annotator
from lapsus.annotators.base import Opinion
from lapsus.annotators.cases import Case
from lapsus.kinds import kinds_of
from lapsus.measures.scores.breakdown import BreakdownScores
from lapsus.measures.scores.runs import align_run
from lapsus.samples import sample_path
from tests.annotators import invented

FLOORS = ("floor", "prior", "majority")
QUICK: dict[str, dict[str, Any]] = {
    "crf": {"l2": 1.0},
    "lstm": {"members": 1, "rate": 0.01, "dropout": 0.1},
    "acts": {"members": 1},
    "ncm": {"members": 1, "epochs": 12, "rate": 0.01, "dropout": 0.1},
}


@cache
def scores(name: str, language: str) -> BreakdownScores:
    annotator = make_annotator(name, QUICK.get(name), "breakdown").fit(*invented.data(language, 40))
    documents, votes = invented.data(language, 12, seed=1)
    return align_run(votes, annotator.judge(documents)).scores(bootstrap=None)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", [name for name in invented.FOR_TURNS if name not in FLOORS])
def test_it_is_better_than_its_floor(name: str, language: str) -> None:
    found = scores(name, language)
    prior, majority = scores("prior", language), scores("majority", language)
    assert float(found["jsd"]) < 0.95 * float(prior["jsd"])
    assert float(found["accuracy"]) > float(majority["accuracy"]) + 0.1
    assert float(found["f1_b"]) > max(float(prior["f1_b"]), float(majority["f1_b"]))


def test_the_floors_are_what_they_say() -> None:
    documents, votes = invented.data("en", 6)
    counts = votes.counts()
    mean = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    prior = next(make_annotator("prior").fit(documents, votes).judge(documents))
    assert list(prior.distributions["breakdown"].values()) == pytest.approx(mean.tolist())
    majority = next(make_annotator("majority").fit(documents, votes).judge(documents))
    assert majority.distributions["breakdown"] == {"O": 1.0, "T": 0.0, "X": 0.0}


class FirstChoice(Annotator):
    """A method in one file, for any guideline, that learns nothing."""

    method = "first-choice"
    title = "the first choice, always"
    needs_fit = False
    uses_words = False

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        kinds = {id: kind for id, kind in kinds_of(self.scheme).items() if kind.choices}
        answers = {id: kind.best(np.eye(len(kind.choices))[0]) for id, kind in kinds.items()}
        return [Opinion(answers) for _ in cases]


@pytest.mark.parametrize("scheme", ["breakdown", "response-quality"])
def test_a_method_for_any_guideline_takes_the_one_that_is_asked_for(scheme: str) -> None:
    found = detect(sample_path("dialogues-en"), model=FirstChoice(), scheme=scheme, turns="all")
    judgments = [judgment for entry in found for judgment in entry.judgments]
    assert {(judgment.annotator, judgment.scheme) for judgment in judgments} == {("first-choice", scheme)}
    assert len(judgments) == found.units > 50
