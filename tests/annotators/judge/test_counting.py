"""Levels of response quality that follow from counting."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.annotators.judge import counting
from lapsus.annotators.judge.counting import POINTS, STATEMENTS, WORDINGS, SpareStatements, count
from lapsus.annotators.judge.regression import Weights
from lapsus.model import Segment, Unit
from lapsus.schemes import load_scheme

STEPS = (1.0, 2.0, 3.0, 4.0, 5.0)
MUSEUM = "When do you open, what does a ticket cost, where can I park, and may I bring my dog?"
SPARE = SpareStatements(Weights(np.zeros((10, 2)), np.array([0.5, -0.5])), cut=0.9)


def reply(user: str, system: str, language: str = "en") -> Unit:
    return Unit("d", language, Segment("s", "system", system), (Segment("u", "user", user),))


def level(what: str, user: str, system: str) -> float | None:
    counted = count(what, reply(user, system), STEPS, SPARE)
    return counted and counted.level


@pytest.mark.parametrize(
    ("said", "wanted", "left"),
    [
        ("At ten. A ticket costs six pounds, the parking is free, and dogs are fine.", 5, ()),
        ("We open at ten, tickets are six pounds, and dogs are fine.", 4, ("where can i park",)),
        ("Tickets are six pounds, and dogs stay outside.", 3, ("when do you open", "where can i park")),
        ("Dogs are welcome.", 1, ("when do you open", "what does a ticket cost", "where can i park")),
    ],
)
def test_completeness_is_the_share_of_points_that_are_dealt_with(
    said: str, wanted: int, left: tuple[str, ...]
) -> None:
    counted = count(POINTS, reply(MUSEUM, said), STEPS, SPARE)
    assert counted is not None
    assert (counted.level, counted.found) == (wanted, left)


def test_to_know_nothing_of_any_point_deals_with_none() -> None:
    assert level(POINTS, MUSEUM, "Sorry, I don't know.") == 1
    assert (
        level(POINTS, MUSEUM, "I don't know when we open, what tickets cost, or about parking and dogs.") == 5
    )


def test_things_wanted_in_a_list_are_points() -> None:
    asked = "Please tell me the address, the price, and the opening hours."
    assert counting.points(asked) == ["the address", "the price", "the opening hours"]
    assert level(POINTS, asked, "It is 4 Mill Street, and admission is $3.") == 3


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("How are you?", "Fine."),
        ("I went to the sea.", "How nice."),
        ("Why? Is there anything else?", "No, that is all."),
        ("Are you feeling better now? Do you need some pills?", "Much better, thank you."),
        (MUSEUM, "What a lovely morning."),
    ],
)
def test_where_points_cannot_be_counted_there_is_no_count(user: str, said: str) -> None:
    assert level(POINTS, user, said) is None


@given(st.integers(2, 12).flatmap(lambda asked: st.tuples(st.integers(0, asked), st.just(asked))))
def test_a_half_goes_up_and_nothing_is_one(counts: tuple[int, int]) -> None:
    dealt, asked = counts
    plain = (Decimal(dealt) * 5 / Decimal(asked)).quantize(Decimal(1), ROUND_HALF_UP)
    assert counting._of_points(dealt, asked, STEPS) == max(1, int(plain))


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Not yet, but I hope to see it soon.", 5),
        ("No, the stone bridge is too far from here.", 4),
        ("I have not seen the stone bridge, and the stone bridge is far.", 3),
        ("Not to of it yet.", 2),
        ("Bridge to of the by yet an of the from stone.", 1),
        ("Good morning! Thank you, I have.", 5),
    ],
)
def test_wordings_that_were_said_in_full_already_are_needless(said: str, wanted: int) -> None:
    assert level(WORDINGS, "Good morning! Have you seen the stone bridge in the valley?", said) == wanted


def test_the_guidelines_own_examples() -> None:
    """Rules were written before the examples were counted; no more of them may be missed than then."""
    questions = {question.id: question for question in load_scheme("response-quality").questions}
    right = {}
    for id, what in (("completeness", POINTS), ("brevity", WORDINGS)):
        told = [
            level(what, one.turns[0][3:], one.turns[1][3:]) == one.answer
            for one in questions[id].examples["en"]
        ]
        right[id] = sum(told)
    assert right["completeness"] == 6
    assert right["brevity"] >= 3


def test_a_reply_is_parted_into_what_it_states() -> None:
    said = "It opens at ten, and my aunt lives next door. We sell apples, pears and plums; come in!"
    assert counting.statements(said) == [
        "It opens at ten",
        "my aunt lives next door.",
        "We sell apples, pears and plums;",
        "come in!",
    ]
    assert counting.statements("… !") == []


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0, 1))
def test_a_further_statement_never_makes_a_reply_more_concise(chances: list[float], more: float) -> None:
    one, other = (counting._fewer((), some, STEPS).shares for some in (chances, [*chances, more]))
    assert one.sum() == pytest.approx(1)
    assert other @ STEPS <= one @ STEPS + 1e-9


def test_statements_from_the_cut_on_could_go() -> None:
    unit = reply("How long do I boil an egg?", "About six minutes. My cousin keeps hens.")
    said, rows = counting.statement_rows(unit)
    assert (len(said), rows.shape) == (2, (2, 10))
    middle = 50 * float(rows[:, 3].mean())
    longer = Weights(
        np.vstack([np.zeros((3, 2)), [[-50.0, 50.0]], np.zeros((6, 2))]), np.array([middle, -middle])
    )
    counted = counting.spare_statements(said, rows, STEPS, SpareStatements(longer, cut=0.5))
    assert (counted.found, counted.level) == (("My cousin keeps hens.",), 4)


def test_other_languages_and_replies_to_nothing_are_not_counted() -> None:
    for what in (POINTS, WORDINGS, STATEMENTS):
        assert (
            count(what, reply("何時に開きますか。いくらですか。", "十時です。", "ja"), STEPS, SPARE) is None
        )
    alone = Unit("d", "en", Segment("s", "system", "Hello. Good day."), ())
    assert count(STATEMENTS, alone, STEPS, SPARE) is None
