"""What is said twice in the same words, and amounts in other units: told by rule, whatever the labeller says."""

from __future__ import annotations

import numpy as np
import pytest

from lapsus.annotators import default_model, load_model
from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.triples.labeller import Reading, said_again, with_repeats, with_rules
from lapsus.annotators.triples.pair import Pair, Pairs
from lapsus.annotators.triples.rules import settled
from tests.annotators.triples.tiny import pair, tokenizer

BORN = "Ada_Vale | birthPlace | Osterby"
AIRPORT = "Pell_Airport | runwayLength | 2750 m"


def taken_apart(text: str, *data: str) -> Pair:
    document = pair(text, *data)
    return Pairs(Subwords(tokenizer())).pair(document.segments[:-1], document.segments[-1:], "en")


def again(text: str, *data: str) -> list[str]:
    """The stretches that are said again."""
    found = taken_apart(text, *data)
    return [" ".join(found.words[n].text for n in place) for place in said_again(found)]


@pytest.mark.parametrize(
    ("text", "data", "wanted"),
    [
        ("Ada Vale was born in Osterby and was born in Osterby.", BORN, ["was born in Osterby."]),
        (
            "Ada Vale was born in Osterby. Ada Vale was born in Osterby. She sings.",
            BORN,
            ["Ada Vale was born in Osterby."],
        ),
        ("ada vale , born in osterby , comes from osterby .", BORN, ["osterby"]),
        ("Osterby! Osterby's Ada Vale. Osterby.", BORN, ["Osterby's", "Osterby."]),
        (
            "it has a runway length of 2.75 km and a runway length of 2.75 km .",
            AIRPORT,
            ["a runway length of 2.75 km"],
        ),
        # Subjects are named as often as one likes; so is what is part of a longer name.
        ("Ada Vale sings. Ada Vale was born in Osterby.", BORN, []),
        ("Pell Airport is in Pell.", "Pell_Airport | city | Pell", []),
        ("Ada Vale of Osterby is the mayor of Osterby.", f"{BORN}\nOsterby | mayor | Ada_Vale", []),
        ("Ada is in no way in Osterby.", "Ada | state | in", []),
        ("", BORN, []),
    ],
)
def test_a_value_that_the_data_give_once_and_the_text_twice(text: str, data: str, wanted: list[str]) -> None:
    assert again(text, *data.split("\n")) == wanted


def reading(text: str, *data: str, added: float = 0.3) -> Reading:
    """One in which the labeller sees no repetition."""
    found = taken_apart(text, *data)
    words, elements = len(found.words), len(found.elements)
    return Reading(
        found,
        np.full(elements, 0.9),
        np.full(words, added),
        np.zeros(words),
        np.full((len(found.pieces), 2), added),
    )


def test_words_that_come_again_are_repeated_and_not_added() -> None:
    found = with_repeats(reading("Ada Vale was born in Osterby and was born in Osterby.", BORN))
    assert (found.repeated > 0.9).tolist() == [False] * 7 + [True] * 4
    assert found.added[7:].max() == 0


def test_a_value_within_something_new_is_no_repetition() -> None:
    found = reading("Ada Vale was born in Osterby, and a fossil of Osterby is known.", BORN)
    found.added[7:] = 0.9
    assert with_repeats(found).repeated.max() == 0


def test_the_same_amount_in_another_unit_is_said() -> None:
    one = reading("It is 2.75 km long, 275 m wide.", AIRPORT, added=0.9)
    found = with_rules(one, settled(one.pair))
    assert found.omitted.tolist() == [0.9, 0.9, 0.0]
    assert found.added[:5].tolist() == [0.9, 0.9, 0.0, 0.0, 0.9]
    assert found.added[5:7].min() > 0.9


def test_the_shipped_model_marks_a_phrase_that_comes_again() -> None:
    shipped = load_model(default_model("en", "semantic-errors"))
    document = pair("Ada Vale was born in Osterby and was born in Osterby.", BORN)
    (judgment,) = shipped.judge([document])
    (mark,) = judgment.answers["errors"]
    assert mark.label == "repetition"
    assert document.segment(mark.segment).text[mark.start : mark.end] == "was born in Osterby"
    assert judgment.metadata["expected"]["repetition"] > 0
