"""What rules tell of data and text: values in any form, units, names cut short, facts left out whole; and grounding."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.annotators import default_model, load_model
from lapsus.annotators.triples.values import grounding, mentions, same_amount, same_date, value_of
from lapsus.model import Span
from lapsus.schemes import load_scheme
from tests.annotators.triples.tiny import pair


def marks(text: str, *triples: str) -> set[tuple[str, str]]:
    """What the shipped judge marks, by its words."""
    document = pair(text, *triples)
    (judgment,) = load_model(default_model("en", "semantic-errors")).judge([document])
    return {
        (span.label, document.segment(span.segment).text[span.start : span.end])
        for span in judgment.answers["errors"]  # type: ignore[union-attr]
        if isinstance(span, Span)
    }


def test_a_unit_that_the_data_lack_is_added_and_its_number_is_not() -> None:
    assert marks("Tarn Hill has an elevation of 610 metres.", "Tarn_Hill | elevation | 610.0") == {
        ("addition", "metres")
    }
    assert marks("Tarn Hill has an elevation of 610.", "Tarn_Hill | elevation | 610.0") == set()


def test_a_unit_that_the_predicate_names_is_said() -> None:
    data = "Tarn_Airfield | elevationAboveTheSeaLevel_(in_metres) | 610.0"
    assert marks("Tarn Airfield is 610 metres above sea level.", data) == set()
    assert ("addition", "feet") in marks("Tarn Airfield is 610 feet above sea level.", data)


def test_amounts_in_another_unit_are_the_same_if_they_are_as_much() -> None:
    assert marks("Lum Path has a length of 1.234 km.", "Lum_Path | length | 1234 m") == set()
    assert (
        marks("The top speed of the Lum Express is 75 mph.", "Lum_Express | topSpeed | 120.7 km/h") == set()
    )
    wrong = marks("Lum Path has a length of 1234 km.", "Lum_Path | length | 1234 m")
    assert {("omission", "1234 m"), ("addition", "1234 km")} <= wrong


def test_dates_are_told_by_their_day_in_any_form() -> None:
    data = "Lum_Bridge | openingDate | 2006-12-31"
    for date in ("31 December 2006", "December 31st, 2006", "the 31st of December 2006", "2006-12-31"):
        assert marks(f"Lum Bridge was opened on {date}.", data) == set(), date
    found = marks("Lum Bridge was opened on 31st July 2016.", data)
    assert {("omission", "2006-12-31"), ("addition", "31st July 2016")} <= found


def test_numbers_are_told_by_their_value_and_a_wrong_digit_is_found() -> None:
    data = "Lum_Works | numberOfEmployees | 10252"
    assert marks("Lum Works has 10,252 employees.", data) == set()
    assert {("omission", "10252"), ("addition", "10,352")} <= marks("Lum Works has 10,352 employees.", data)


def test_a_name_cut_short_is_left_out_and_what_is_left_of_it_added() -> None:
    data = "QX_Hotel_Silver_Wharf | country | Torland"
    found = marks("Hotel Silver Wharf is in Torland.", data)
    assert {("omission", "QX_Hotel_Silver_Wharf"), ("addition", "Hotel Silver Wharf")} <= found
    assert marks("QX Hotel Silver Wharf is in Torland.", data) == set()
    found = marks(
        "The architect of museum of glass is Ida Vale.", "NV_Museum_of_Glass | architect | Ida_Vale"
    )
    assert found == {("omission", "NV_Museum_of_Glass"), ("addition", "museum of glass")}


def test_values_that_stand_in_the_text_as_they_are_are_never_marked() -> None:
    names = ["Zyxel Qort", "Ootheca Prime", "Brrm", "Æthelflæd of Nowhere"]
    for name in names:
        found = marks(
            f"The architect of Lum Hall is {name}.", f"Lum_Hall | architect | {name.replace(' ', '_')}"
        )
        assert not [words for _, words in found if words in (name, name.replace(" ", "_"))], name


def test_a_fact_of_which_nothing_is_said_is_left_out_with_all_its_elements() -> None:
    found = marks(
        "Lum Hall is in the city of Sella.", "Lum_Hall | city | Sella", "Lum_Hall | architect | Ida_Vale"
    )
    assert found == {("omission", "Lum_Hall"), ("omission", "architect"), ("omission", "Ida_Vale")}


def test_a_number_of_nothing_leaves_its_predicate_out() -> None:
    found = marks(
        "Sella , 184.0 , is in Torland .",
        "Sella | elevationAboveTheSeaLevel | 184.0",
        "Sella | country | Torland",
    )
    assert found == {("omission", "elevationAboveTheSeaLevel")}


def test_most_of_the_guidelines_own_examples_are_told() -> None:
    scheme, told = load_scheme("semantic-errors"), {True: [], False: []}
    for label in scheme.labels_of(scheme.questions[0]):
        for example in label.examples["en"]:
            text = example.text or ""
            triples = [one.replace("[", "").replace("]", "") for one in example.triples]
            found = {
                words
                for name, words in marks(text.replace("[", "").replace("]", ""), *triples)
                if name == label.id
            }
            wanted = {one.split("]")[0] for part in (*example.triples, text) for one in part.split("[")[1:]}
            hit = [any(one in other or other in one for other in found) for one in wanted]
            told[example.fits].append(all(hit) if example.fits else not any(hit))
    assert sum(told[True]) / len(told[True]) >= 0.8
    assert sum(told[False]) / len(told[False]) >= 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("32 °F", "0 °C"), ("100 km/h", "62.1 mph"), ("$1.5 million", "US$1,500,000"), ("2 hours", "120 minutes"),
        ("5 ft", "1.524 m"), ("3 square kilometres", "300 hectares"), ("12%", "12 percent"),
        ("77 °F", "25 degrees Celsius"), ("2 weeks", "14 days"), ("£90", "90 pounds"), ("3 lb", "3 pounds"),
    ],
)  # fmt: skip
def test_as_much_in_another_unit(one: str, other: str) -> None:
    (a,), (b,) = mentions(one), mentions(other)
    assert same_amount(a, b)
    assert not same_amount(a, b._replace(number=(b.number or Decimal(0)) * 2 + 10))


@pytest.mark.parametrize(
    "text",
    [
        "3 March 1987",
        "March 3, 1987",
        "1987-03-03",
        "3/3/1987",
        "1987年3月3日",
        "3rd of march 1987",
        "3-Mar-1987",
    ],
)
def test_one_day_in_many_forms(text: str) -> None:
    (found,) = mentions(text)
    assert same_date(found, mentions("1987-03-03")[0])
    assert not same_date(found, mentions("1987-03-04")[0])


def test_what_is_no_value() -> None:
    assert value_of("Route_66") is None
    assert value_of("Velmora_Hall") is None
    assert [one.number for one in mentions("the 1990s, the 21st floor, A330")] == []
    assert value_of('"98.0"(minutes)') == value_of("98.0_minutes")


@given(st.text(max_size=60))
def test_any_text_can_be_read_for_values(text: str) -> None:
    for one in mentions(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.start <= one.number_end <= one.end


def test_values_of_a_reply_that_stand_in_no_evidence() -> None:
    evidence = ['{"temperature": "21 °C", "wind": 14, "date": "2026-03-05"}', "Trains leave at platform 4."]
    assert grounding("On 5 March 2026 it is 69.8 °F with wind of 14, from platform 4.", evidence) == []
    reply = "On 6 March 2026 it is 21 °F with wind of 15."
    found = [(reply[one.start : one.end], one.kind, one.instead) for one in grounding(reply, evidence)]
    assert found == [
        ("6 March 2026", "date", "2026-03-05"),
        ("21 °F", "unit", "21 °C"),
        ("15", "number", None),
    ]
    assert grounding("It is 15 degrees.", ["Nothing is known."]) == []
