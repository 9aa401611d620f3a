"""Data that is too long to be read at once: its own cuts, what is left out on purpose, numbers expected."""

from __future__ import annotations

import numpy as np
import pytest

from lapsus.annotators import load_model
from lapsus.annotators.model_files import SHIPPED
from lapsus.annotators.triples.labeller import Reading
from lapsus.annotators.triples.marks import Cuts
from lapsus.annotators.triples.triples import Triples
from lapsus.model import Document
from tests.annotators.triples.tiny import pair, tiny

__all__ = ["tiny"]
MANY = [f"osk_{n} | length | {n}" for n in range(60)]


def labels(judge: Triples, document: Document) -> list[str]:
    (judgment,) = judge.judge([document])
    return [span.label for span in judgment.answers["errors"]]


def reading(judge: Triples, document: Document) -> Reading:
    *data, text = document.segments
    (found,) = judge.labeller_.read([(data, [text], "en")])
    return found


def test_long_data_has_cuts_of_its_own(tiny: Triples) -> None:
    text = "kirrin is in penmarsh"
    assert "addition" in labels(tiny, pair(text, *MANY))
    tiny.long_cuts_ = Cuts(1.0, 1.0, 1.0)
    assert labels(tiny, pair(text, *MANY)) == []
    assert "addition" in labels(tiny, pair(text, MANY[0]))


def test_a_text_that_chooses_from_long_data_omits_nothing(tiny: Triples) -> None:
    chosen = pair("osk 7 has a length of 7", *MANY)
    assert reading(tiny, chosen).is_selection
    assert "omission" not in labels(tiny, chosen)
    most = " ".join(f"osk {n} length {n}" for n in range(60))
    whole = pair(most, *MANY, "velmora_hall | is_in | penmarsh")
    assert reading(tiny, whole).is_long
    assert not reading(tiny, whole).is_selection
    assert "omission" in labels(tiny, whole)
    # All of little data may be left out by mistake.
    assert "omission" in labels(tiny, pair("kirrin", MANY[0]))


def test_additions_expected_in_long_data_follow_its_words(tiny: Triples) -> None:
    few, many = (pair("kirrin penmarsh museum " * n, *MANY, id=str(n)) for n in (1, 4))
    readings = [reading(tiny, one) for one in (few, many)]
    before = tiny.regression_.expected(readings)
    assert before[0, 1] == before[1, 1]
    after = tiny.regression_._replace(added=np.array([0.5])).expected(readings)
    assert after[:, 1] == pytest.approx([0.5 * np.nansum(one.added) for one in readings])
    assert after[1, 1] > after[0, 1] > 0
    assert after[:, 0].tolist() == [0.0, 0.0]


def test_the_labellers_own_word_on_a_pair_counts_by_its_share(tiny: Triples) -> None:
    one = reading(tiny, pair("kirrin", MANY[0]))
    known = one._replace(short=(0.4, 0.1))
    told = tiny.regression_._replace(share=np.array([0.5]), short=np.array([2.0, 10.0]))
    assert told.expected([one])[0, :2] == pytest.approx([0.5, 0.25])
    assert told.expected([known])[0, :2] == pytest.approx([(0.5 + 0.8) / 2, (0.25 + 1.0) / 2])
    assert told.times(np.array([2.0, 4.0, 1.0])).expected([known])[0, :2] == pytest.approx([1.3, 2.5])


def test_the_shipped_model_marks_what_a_long_record_does_not_say() -> None:
    judge = load_model(SHIPPED / "semantic-errors-en.lapsus")
    days = [
        f"2030-05-{day:02} | {name} | {value}"
        for day in range(1, 25)
        for name, value in (("temperature", f"{10 + day} degrees"), ("sky", "clear"), ("wind", f"{day} m/s"))
    ]
    text = (
        "On 2030-05-03 the temperature is 13 degrees and the sky is clear. A hurricane destroys the harbour."
    )
    document = pair(text, "Penmarsh | country | Cornwall", *days)
    (judgment,) = judge.judge([document])
    assert any("hurricane" in text[span.start : span.end] for span in judgment.answers["errors"])
    assert {span.label for span in judgment.answers["errors"]} == {"addition"}
    assert isinstance(judge, Triples)
    words = reading(judge, document)
    told = text.index("A hurricane")
    said, invented = (
        np.mean(
            [
                share
                for word, share in zip(words.pair.words, words.added, strict=True)
                if (word.start >= told) == late
            ]
        )
        for late in (False, True)
    )
    assert invented > said
