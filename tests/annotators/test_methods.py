"""Each method learns something: trained on a small sample it is better than its floor on other dialogues."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.annotators import METHODS, make_annotator
from lapsus.measures.scores import BreakdownScores, align_run
from tests.annotators import invented

FLOORS = ("prior", "majority")
QUICK: dict[str, dict[str, Any]] = {
    "crf": {"l2": 1.0},
    "lstm": {"members": 1, "rate": 0.01, "dropout": 0.1},
    "acts": {"members": 1},
    "ncm": {"members": 1, "epochs": 12, "rate": 0.01, "dropout": 0.1},
}


def scores(name: str, language: str) -> BreakdownScores:
    annotator = make_annotator(name, QUICK.get(name)).fit(*invented.data(language, 40))
    documents, votes = invented.data(language, 12, seed=1)
    return align_run(votes, annotator.judge(documents)).scores(plan=None)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", [name for name in METHODS.names() if name not in FLOORS])
def test_it_is_better_than_its_floor(name: str, language: str) -> None:
    found = scores(name, language)
    prior, majority = scores("prior", language), scores("majority", language)
    assert float(found.jsd) < 0.95 * float(prior.jsd)
    assert float(found.accuracy) > float(majority.accuracy) + 0.1
    assert float(found.f1_b) > max(float(prior.f1_b), float(majority.f1_b))


def test_the_floors_are_what_they_say() -> None:
    documents, votes = invented.data("en", 6)
    counts = votes.counts()
    mean = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    prior = next(make_annotator("prior").fit(documents, votes).judge(documents))
    assert list(prior.distributions["breakdown"].values()) == pytest.approx(mean.tolist())
    majority = next(make_annotator("majority").fit(documents, votes).judge(documents))
    assert majority.distributions["breakdown"] == {"O": 1.0, "T": 0.0, "X": 0.0}
