"""Several judges as one: what most say, with the shares of their votes, for every kind of answer."""

from __future__ import annotations

import msgspec
import pytest

from lapsus.annotators.judges import jury_of
from lapsus.model import Judgment, Span
from lapsus.schemes import load_scheme


def said(scheme: str, question: str, *answers: object) -> list[Judgment]:
    version = load_scheme(scheme).version
    return [
        Judgment(
            "d0", None if scheme == "semantic-errors" else "0", f"m{n}", scheme, version, {question: answer}
        )
        for n, answer in enumerate(answers)
        if answer is not None
    ]  # type: ignore[list-item]


def test_of_single_labels_it_is_what_most_say() -> None:
    scheme = load_scheme("breakdown")
    (found,) = jury_of(said("breakdown", "breakdown", "X", "O", "O", None), scheme)
    assert found.answers == {"breakdown": "O"}
    assert found.distributions["breakdown"] == pytest.approx({"O": 2 / 3, "T": 0, "X": 1 / 3})
    assert list(found.metadata["members"]) == ["m0", "m1", "m2"]
    (tied,) = jury_of(said("breakdown", "breakdown", "X", "O"), scheme)
    assert tied.answers == {"breakdown": "X"}


def test_of_other_kinds_it_is_an_answer_that_somebody_gave() -> None:
    types = load_scheme("error-types")
    given = said(
        "error-types", "types", ("repetition",), ("repetition", "ignore-question"), ("wrong-information",)
    )
    (found,) = jury_of(given, types)
    assert found.answers["types"] in [one.answers["types"] for one in given]
    assert found.distributions["types"]["repetition"] == pytest.approx(2 / 3)
    spans = tuple(Span("text", start, start + 3, "addition") for start in (0, 9))
    given = said("semantic-errors", "errors", spans, (), spans)
    (marked,) = jury_of(given, load_scheme("semantic-errors"))
    assert marked.answers == {"errors": spans}
    assert marked.distributions == {}
    scheme = load_scheme("response-quality")
    numbers = said("response-quality", "clarity", 1, 4, 5)
    assert jury_of(numbers, scheme)[0].answers == {"clarity": 4}


def test_it_says_what_a_member_learned_from() -> None:
    scheme = load_scheme("breakdown")
    knew, knew_not = said("breakdown", "breakdown", "X", "O")
    knew = msgspec.structs.replace(knew, metadata={"learned": True, "setting": {"model": "abc"}})
    (found,) = jury_of([knew, knew_not], scheme)
    assert found.metadata["learned"] is True
    (other,) = jury_of([knew_not], scheme)
    assert "learned" not in other.metadata
