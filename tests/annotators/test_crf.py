from __future__ import annotations

import itertools

import numpy as np
import pytest

from lapsus.annotators.cases import Example
from lapsus.annotators.challenge.crf import Crf, _unbroken
from lapsus.errors import UsageError
from lapsus.model import Document, Entry, Segment, UnitRule, units
from tests.annotators import invented

RULE = UnitRule(role="system")


def test_the_last_marginal_is_that_of_all_label_sequences() -> None:
    """Against the plain sum over every sequence of labels."""
    documents, votes = invented.data("en")
    crf = Crf(l2=0.1).fit(documents, votes)
    for unit in list(units(documents[0], RULE)):
        turns = unit.visible
        places = [n for n, turn in enumerate(turns) if turn.role == "system"]
        scores = [crf._score(crf._attributes_at(turns, place, "en")) for place in places]
        total = np.zeros(3)
        for labels in itertools.product(range(3), repeat=len(places)):
            along = sum(scores[n][label] for n, label in enumerate(labels))
            along += sum(crf.steps_[a, b] for a, b in itertools.pairwise(labels))
            total[labels[-1]] += np.exp(along)
        assert crf._last_marginal(unit) == pytest.approx(total / total.sum(), rel=1e-9)


def test_the_threshold_makes_the_gold() -> None:
    """With t above every share all gold is O, and so is all that is learned."""
    documents, votes = invented.data("en")
    crf = Crf(t=1.0).fit(documents, votes)
    assert {j.answers["breakdown"] for j in crf.judge(documents)} == {"O"}
    assert {j.answers["breakdown"] for j in Crf().fit(documents, votes).judge(documents)} > {"O"}


def test_words_before_the_turn_are_seen_as_far_back_as_asked() -> None:
    turns = tuple(Segment(str(n), role, text) for n, (role, text) in enumerate(  # type: ignore[arg-type]
        [("system", "one"), ("user", "two"), ("system", "three")]
    ))  # fmt: skip
    unit = list(units(Document("d", turns, "en"), RULE))[-1]
    assert Crf(context=1)._attributes(unit) == ["0:three", "1:two", "here"]
    assert Crf(context=5)._attributes(unit) == ["0:three", "1:two", "2:one", "here"]


def test_a_turn_that_nobody_judged_breaks_the_sequence() -> None:
    document = Document("d", tuple(Segment(str(n), "system", "x") for n in range(4)), "en")
    examples = [Example(unit, (1, 0, 0)) for unit in units(document, RULE)]
    runs = _unbroken([examples[0], examples[1], examples[3]])
    assert [[e.unit.key.segment for e in run] for run in runs] == [["0", "1"], ["3"]]


@pytest.mark.filterwarnings("error")
def test_numbers_that_run_away_are_told() -> None:
    """As in a model from elsewhere."""
    documents, votes = invented.data("en")
    crf = Crf().fit(documents, votes)
    crf.steps_ = np.full((3, 3), 1e308)
    with pytest.raises(UsageError, match="no distribution"):
        list(crf.judge([Entry(documents[0].id, documents[0])]))
