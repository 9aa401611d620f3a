from __future__ import annotations

import math

import msgspec
import pytest

from lapsus import __version__
from lapsus.measures.score import SAME, Interval, Score, signature


def test_prints_with_its_interval() -> None:
    assert str(Score("F(B)", 0.4681, 880)) == "F(B) 0.468"
    assert str(Score("F(B)", 0.4681, 880, Interval(0.4111, 0.5256))) == "F(B) 0.468 [0.411, 0.526]"


def test_undefined_is_said_so() -> None:
    score = Score("alpha", None, 12, note=SAME)
    assert str(score) == "alpha n/a: everybody chose the same"
    assert str(Score("alpha", None, 0)) == "alpha n/a"
    assert math.isnan(float(score))
    assert float(Score("alpha", 0.25, 3)) == 0.25


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_undefined(value: float) -> None:
    assert Score("alpha", value, 3).value is None
    assert Score("alpha", 0.5, 3, Interval(0.1, value)).interval is None


def test_json_comes_back_and_is_short() -> None:
    score = Score("F(B)", 0.5, 10, Interval(0.4, 0.6), signature="t:0")
    assert msgspec.json.decode(msgspec.json.encode(score), type=Score) == score
    assert msgspec.to_builtins(Score("F(B)", None, 0)) == {"measure": "F(B)", "value": None, "n": 0}


def test_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Score("F(B)", 0.5, 10).value = 0.9  # type: ignore[misc]


def test_signature() -> None:
    assert (
        signature(t=0.0, ties="O>T>X", boot=None, raters=30)
        == f"t:0|ties:O>T>X|raters:30|lapsus:{__version__}"
    )
    assert signature() == f"lapsus:{__version__}"


def test_no_point_of_a_chart_rests_on_fewer_than_ten_units() -> None:
    assert Score("alpha", 0.5, 9, Interval(0.1, 0.8)).drawn == (None, 0.1, 0.8)
    assert Score("alpha", 0.5, 10, Interval(0.1, 0.8)).drawn == (0.5, 0.1, 0.8)
    assert Score("percent", 1.0, 10).drawn == (1.0, None, None)
