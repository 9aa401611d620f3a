"""Votes in few signs, made-up votes, and agreement worked out slowly and plainly, pair by pair."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st

from lapsus.model import UnitKey
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes


def units(count: int) -> tuple[UnitKey, ...]:
    return tuple(UnitKey("dialogue", str(place)) for place in range(count))


def names(count: int) -> tuple[str, ...]:
    return tuple(f"annotator-{place}" for place in range(count))


def labels(rows: Sequence[str], of: str = "OTX") -> LabelVotes:
    """A string a unit, a sign an annotator, `-` for no answer."""
    codes = np.array([[of.find(sign) for sign in row] for row in rows], dtype=np.int8)
    codes = codes.reshape(len(rows), len(rows[0]) if rows else 0)
    return LabelVotes(units(len(rows)), names(codes.shape[1]), tuple(of), codes)


def numbers(rows: Sequence[Sequence[float | None]]) -> ScaleVotes:
    values = np.array([[math.nan if v is None else v for v in row] for row in rows], dtype=np.float64)
    values = values.reshape(len(rows), len(rows[0]) if rows else 0)
    return ScaleVotes(units(len(rows)), names(values.shape[1]), values)


def sets(rows: Sequence[Sequence[str | None]], of: str = "abcd") -> LabelSetVotes:
    """A string of labels an answer, "" for none of them, None for no answer."""
    width = len(rows[0]) if rows else 0
    chosen = [[[answer is not None and label in answer for label in of] for answer in row] for row in rows]
    answered = [[answer is not None for answer in row] for row in rows]
    return LabelSetVotes(
        units(len(rows)),
        names(width),
        tuple(of),
        np.array(chosen, dtype=np.bool_).reshape(len(rows), width, len(of)),
        np.array(answered, dtype=np.bool_).reshape(len(rows), width),
    )


@st.composite
def label_rows(draw: st.DrawFn, signs: str = "OTX-", least_raters: int = 1) -> list[str]:
    width = draw(st.integers(least_raters, 5))
    row = st.text(signs, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=1, max_size=8))


@st.composite
def set_rows(draw: st.DrawFn) -> list[list[str | None]]:
    width = draw(st.integers(1, 4))
    answer = st.one_of(st.none(), st.sets(st.sampled_from("abc")).map(lambda held: "".join(sorted(held))))
    return draw(st.lists(st.lists(answer, min_size=width, max_size=width), min_size=1, max_size=6))


@st.composite
def number_rows(draw: st.DrawFn, missing: bool = True) -> list[list[float | None]]:
    width = draw(st.integers(1, 4))
    number: st.SearchStrategy[float | None] = st.integers(1, 5).map(float)
    answer = st.one_of(st.none(), number) if missing else number
    return draw(st.lists(st.lists(answer, min_size=width, max_size=width), min_size=1, max_size=7))


def given_answers(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """What was answered about each unit, without `-` and None."""
    return [[answer for answer in row if answer not in ("-", None)] for row in rows]


def pairs(answers: Sequence[object]) -> list[tuple[object, object]]:
    return list(itertools.combinations(answers, 2))


def slow_percent(
    rows: Sequence[Sequence[object]], weight: Callable[..., float] = lambda a, b: a == b
) -> float:
    shares = [
        sum(weight(a, b) for a, b in pairs(answers)) / len(pairs(answers))
        for answers in given_answers(rows)
        if len(answers) >= 2
    ]
    return sum(shares) / len(shares)


def slow_shares(rows: Sequence[Sequence[object]]) -> Counter[object]:
    """The mean over units of the share of each label."""
    voted = [answers for answers in given_answers(rows) if answers]
    shares: Counter[object] = Counter()
    for answers in voted:
        for answer in answers:
            shares[answer] += 1 / len(answers) / len(voted)  # type: ignore[assignment]
    return shares


def slow_fleiss(rows: Sequence[Sequence[object]]) -> float:
    expected = sum(share**2 for share in slow_shares(rows).values())
    return (slow_percent(rows) - expected) / (1 - expected)


def slow_alpha(rows: Sequence[Sequence[object]], distance: Callable[..., float]) -> float:
    """Krippendorff's alpha from all pairs of answers, within units and anywhere."""
    pairable = [answers for answers in given_answers(rows) if len(answers) >= 2]
    everything = [answer for answers in pairable for answer in answers]
    observed = sum(
        2 * distance(a, b) / (len(answers) - 1) for answers in pairable for a, b in pairs(answers)
    ) / len(everything)
    total = len(everything) * (len(everything) - 1)
    expected = sum(2 * distance(a, b) for a, b in pairs(everything)) / total
    return 1 - observed / expected


def varies(rows: Sequence[Sequence[object]]) -> bool:
    """Whether two different answers were given to units that have at least two."""
    return len({answer for answers in given_answers(rows) if len(answers) >= 2 for answer in answers}) > 1


def has_pairs(rows: Sequence[Sequence[object]]) -> bool:
    """Whether some unit has two answers."""
    return any(len(answers) >= 2 for answers in given_answers(rows))
