"""The parts of the default detector: what is seen of a dialogue, words, tokens, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from lapsus.annotators import default_model
from lapsus.annotators.encoder import reader
from lapsus.annotators.encoder.calibration import (
    Seen,
    fit_weights,
    mean_before,
    rows_of,
    shares_of,
)
from lapsus.annotators.encoder.chat_reader import TOKENIZER
from lapsus.annotators.encoder.reader import (
    LONGEST,
    NAMES,
    WINDOW,
    Memory,
    Passage,
    TurnWords,
    features,
    passages_of,
)
from lapsus.annotators.encoder.tokens import EnglishTokens
from lapsus.annotators.model_files import State, read_model
from lapsus.measures.scores.breakdown import jensen_shannon_terms
from lapsus.model import Document, Segment, Unit, units
from lapsus.schemes import load_scheme


def units_of(*turns: tuple[str, str]) -> list[Unit]:
    segments = tuple(Segment(str(n), role, text) for n, (role, text) in enumerate(turns))  # type: ignore[arg-type]
    return list(units(Document("d", segments), load_scheme("breakdown").unit))


def said(*texts: str) -> tuple[TurnWords, ...]:
    """Turns of user and system by turns; the user begins."""
    return tuple(TurnWords(place % 2 == 1, text) for place, text in enumerate(texts))


class Counting:
    """A reader that says how long the target is, and notes what it is asked."""

    name: ClassVar[str] = "counting"

    def __init__(self) -> None:
        self.asked: list[Passage] = []

    def logits(self, passages: Sequence[Passage], view: str) -> NDArray[np.float64]:
        self.asked += passages
        return np.array([[len(passage.target), 0.0, 0.0] for passage in passages])

    def state(self) -> State:
        return State()


def test_a_turn_and_the_system_turns_before_it() -> None:
    *_, last = units_of(
        ("system", "Hi."), ("user", "Hello."), ("system", "A?"), ("user", "B!"), ("system", "C.")
    )
    own, earlier = passages_of(last)
    before = (
        TurnWords(True, "Hi."),
        TurnWords(False, "Hello."),
        TurnWords(True, "A?"),
        TurnWords(False, "B!"),
    )
    assert own == Passage(before, "C.")
    # The greeting answers nothing, so it says nothing of how the system answers.
    assert earlier == [Passage(before[:2], "A?")]


def test_what_a_turn_was_when_it_was_said_it_is_later_on() -> None:
    """Even in dialogues that are longer than the window, so that each turn is read once."""
    talk = [("user", f"u{n}") if n % 2 else ("system", f"s{n}") for n in range(5 * WINDOW)]
    found = [passages_of(unit) for unit in units_of(*talk)]
    own = {passage for passage, _ in found}
    assert all(passage in own for _, earlier in found for passage in earlier)
    assert max(len(earlier) for _, earlier in found) == WINDOW // 2
    assert max(len(passage.context) for passage in own) == WINDOW


def test_long_turns_are_cut() -> None:
    (unit,) = units_of(("user", "x" * 5000), ("system", "y" * 5000))
    own, _ = passages_of(unit)
    assert (len(own.context[0].text), len(own.target)) == (LONGEST, LONGEST)


def test_each_passage_is_read_once_and_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_REMEMBERED", 3)
    memory = Memory(Counting())
    a, b, c, d = (Passage((), "x" * size) for size in range(1, 5))
    assert [row[0] for row in memory.readings([a, b, a]).values()] == [1, 2]
    assert memory.readings([b, c, d])[c][0] == 3
    assert isinstance(memory.reader, Counting)
    assert memory.reader.asked == [a, b, c, d]
    memory.readings([b, c, d])
    assert len(memory.reader.asked) == 4
    memory.readings([a])
    assert memory.reader.asked[4:] == [a]


def test_features_tell_what_is_repeated_and_taken_up() -> None:
    def find(context: tuple[TurnWords, ...], target: str) -> dict[str, float]:
        return dict(zip(NAMES, features(context, target), strict=True))

    talk = said("I grow tomatoes.", "Do you water them?", "Every day. Do tomatoes need sun?")
    again = find(talk, "do you water them")
    taken = find(talk, "Tomatoes need a lot of sun.")
    assert (again["repeats_exactly"], taken["repeats_exactly"]) == (1, 0)
    assert taken["words_of_last_user_taken_up"] > 0.5 > again["words_of_last_user_taken_up"]
    assert (taken["user_asks"], taken["system_asks"]) == (1, 0)
    assert find(said("What do you mean?"), "Yes.")["user_puzzled"] == 1
    assert find((), "") == dict.fromkeys(NAMES, 0.0)


@pytest.fixture(scope="module")
def tokens() -> EnglishTokens:
    _, state = read_model(default_model("en"))
    return EnglishTokens(state.files[TOKENIZER])


def test_tokens_of_the_talk_and_of_the_turn(tokens: EnglishTokens) -> None:
    ids, own = tokens.encode(Passage(said("Hi", "Hello"), "Yes"))
    begin, end = 101, 102
    assert ids[0] == begin
    assert [place for place, token in enumerate(ids) if token == end] == [7, 11]
    assert own == [0] * 8 + [1] * 4
    assert ids[1:4] == tokens.encode(Passage(said("HI"), "x"))[0][1:4]


def test_what_is_too_long_loses_the_oldest_of_the_talk_and_the_end_of_the_turn(tokens: EnglishTokens) -> None:
    long = Passage((TurnWords(False, "old " * 300), TurnWords(False, "new " * 20)), "yes " * 300)
    ids, own = tokens.encode(long)
    assert len(ids) == len(own) == EnglishTokens.TOKENS
    assert sum(own) == EnglishTokens.OF_TARGET + 1
    short, _ = tokens.encode(Passage((TurnWords(False, "new"),), "yes"))
    new = short[3]
    assert ids[: own.index(1) - 1].count(new) == 20
    # A sixth turn before is out of sight.
    seen = tokens.encode(Passage(said("a", "b", "c", "d", "e"), "x"))
    assert tokens.encode(Passage((TurnWords(True, "gone"), *said("a", "b", "c", "d", "e")), "x")) == seen


def seen(count: int, seed: int, extra: int = 0) -> Seen:
    chance = np.random.default_rng(seed)
    return Seen(
        chance.normal(size=(count, 3 + extra)),
        chance.normal(size=(count, 3)),
        chance.uniform(size=(count, len(NAMES))),
    )


def plain_map(width: int) -> NDArray[np.float64]:
    """Takes the reader at its word."""
    return np.eye(width, 3)


def test_fitting_finds_the_map_that_made_the_shares() -> None:
    rows = rows_of(seen(3000, seed=0, extra=2))
    truth = plain_map(rows.shape[1])
    truth[3:] += np.random.default_rng(1).normal(scale=0.5, size=truth[3:].shape)
    wanted = shares_of(rows, truth)
    start = plain_map(rows.shape[1])
    found = fit_weights(rows, wanted, start, held=1e-3)
    assert jensen_shannon_terms(wanted, shares_of(rows, found)).sum(axis=-1).max() < 1e-4
    assert jensen_shannon_terms(wanted, shares_of(rows, start)).sum(axis=-1).mean() > 0.05


def test_fitting_never_makes_it_worse_and_a_single_turn_does_little() -> None:
    rows = rows_of(seen(40, seed=2))
    start = plain_map(rows.shape[1])
    certain = np.eye(3)[np.random.default_rng(3).integers(3, size=40)]
    found = fit_weights(rows, certain, start)
    assert np.isfinite(found).all()
    assert (
        jensen_shannon_terms(certain, shares_of(rows, found)).sum(axis=-1).mean()
        < jensen_shannon_terms(certain, shares_of(rows, start)).sum(axis=-1).mean()
    )
    one = fit_weights(rows[:1], certain[:1], start)
    assert np.abs(shares_of(rows, one) - shares_of(rows, start)).mean() < 0.2


def test_logits_count_by_their_differences_only() -> None:
    some = seen(5, seed=4)
    moved = some._replace(readings=some.readings + 7)
    assert rows_of(moved) == pytest.approx(rows_of(some))
    assert mean_before(some.readings + 7) == pytest.approx(mean_before(some.readings))
    assert mean_before(np.zeros((0, 3))).tolist() == [0, 0, 0]
    # One turn before says less than four that say the same.
    row = np.array([[2.0, -1.0, -1.0]])
    assert mean_before(row)[0] < mean_before(np.repeat(row, 4, axis=0))[0] < 2
