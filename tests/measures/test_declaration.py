from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.score import Measure, parse_measure


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("accuracy", Measure("accuracy")),
        ("F(B)@t=0.5", Measure("F", ("B",), (("t", "0.5"),))),
        ("JSD(NB,PB+B)", Measure("JSD", ("NB", "PB+B"))),
        ("alpha(ordinal)", Measure("alpha", ("ordinal",))),
        ("F(topic-transition-error)", Measure("F", ("topic-transition-error",))),
        ("F(PB+B)@t=0.5,ties=O", Measure("F", ("PB+B",), (("t", "0.5"), ("ties", "O")))),
    ],
)
def test_parses_and_prints_back(text: str, measure: Measure) -> None:
    assert parse_measure(text) == measure
    assert str(measure) == text


def test_blanks_do_not_matter() -> None:
    assert str(parse_measure("  JSD ( NB , PB+B ) @ t = 0.5 , k=2 ")) == "JSD(NB,PB+B)@t=0.5,k=2"
    assert str(parse_measure("accuracy()")) == "accuracy"


@pytest.mark.parametrize("text", ["", "F(B", "F)B(", "F((B))", "1F", "F(B)@", "F(B) t=0.5", "F(B)@t=0.5@k=1"])
def test_what_is_no_measure_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write it like"):
        parse_measure(text)


@pytest.mark.parametrize("text", ["F(B)@t", "F(B)@t=", "F(B)@=1", "F(B)@t=1,", "F(B)@t=1=2"])
def test_what_is_no_parameter_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"no parameter of 'F'.*t=0\.5"):
        parse_measure(text)


names = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,6}", fullmatch=True)
words = st.from_regex(r"[^\s(),=@][^(),=@\n]{0,5}(?<!\s)", fullmatch=True)
keys = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,4}", fullmatch=True)


@given(names, st.lists(words, max_size=3), st.lists(st.tuples(keys, words), max_size=2))
def test_every_measure_prints_as_it_parses(
    name: str, arguments: list[str], parameters: list[tuple[str, str]]
) -> None:
    measure = Measure(
        name, tuple(arg.strip() for arg in arguments), tuple((k, v.strip()) for k, v in parameters)
    )
    assert parse_measure(str(measure)) == measure


@given(st.text(max_size=20))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        measure = parse_measure(text)
    except UsageError:
        return
    assert parse_measure(str(measure)) == measure
