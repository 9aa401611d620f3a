from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.score import Score, parse_measure
from lapsus.measures.scores.label_sets import label_set_tally, set_overlap
from lapsus.model import UnitKey
from lapsus.model.votes import LabelSetVotes

LABELS = ("a", "b", "c")


def rows(*sets: str) -> np.ndarray:
    return np.array([[label in chosen for label in LABELS] for chosen in sets], dtype=bool).reshape(-1, 3)


def votes(*units: list[str | None], documents: list[str] | None = None) -> LabelSetVotes:
    """For each unit what each annotator chose: "ab", "" for none of the labels, None for no answer."""
    width = max(map(len, units), default=0)
    chosen = np.array([rows(*(answer or "" for answer in unit)) for unit in units]).reshape(-1, width, 3)
    answered = np.array([[answer is not None for answer in unit] for unit in units]).reshape(-1, width)
    names = documents or [f"d{place}" for place in range(len(units))]
    keys = tuple(UnitKey(name, str(place)) for place, name in enumerate(names))
    return LabelSetVotes(keys, tuple(f"w{place}" for place in range(width)), LABELS, chosen, answered)


def label_set_scores(
    predicted: np.ndarray, gold: LabelSetVotes, *, bootstrap: Bootstrap | None = USUAL, **how: Any
) -> dict[str, Score]:
    return label_set_tally(predicted, gold, **how).scores(bootstrap)


def prf(found: dict[str, Score], name: str) -> tuple[float | None, ...]:
    return tuple(found[f"{letter}({name})"].value for letter in "PRF")


@pytest.mark.parametrize(
    ("first", "second", "exact", "jaccard", "masi"),
    [
        ("ab", "ab", 1, 1, 1),
        ("", "", 1, 1, 1),
        ("a", "b", 0, 0, 0),
        ("a", "", 0, 0, 0),
        # One holds the other: ⅔ of Jaccard.
        ("a", "ab", 0, Fraction(1, 2), Fraction(1, 3)),
        ("abc", "b", 0, Fraction(1, 3), Fraction(2, 9)),
        # Each has a label of its own: ⅓ of Jaccard.
        ("ab", "bc", 0, Fraction(1, 3), Fraction(1, 9)),
    ],
)
def test_set_overlap(first: str, second: str, exact: int, jaccard: Any, masi: Any) -> None:
    for pair in ((first, second), (second, first)):
        found = [float(value[0]) for value in set_overlap(rows(pair[0]), rows(pair[1]))]
        assert found == pytest.approx([exact, float(jaccard), float(masi)])


def test_against_a_single_annotator_by_hand() -> None:
    gold = votes(["ab"], ["c"], ["a"], [""])
    found = label_set_scores(rows("a", "c", "ab", ""), gold, bootstrap=None)
    assert found["exact"].n == 4
    assert found["exact"].value == 2 / 4
    # {a} and {a,b}: ½; the same; {a,b} and {a}: ½; both empty: 1.
    assert found["jaccard"].value == pytest.approx((0.5 + 1 + 0.5 + 1) / 4)
    assert found["MASI"].value == pytest.approx((1 / 3 + 1 + 1 / 3 + 1) / 4)
    assert prf(found, "a") == (1, 1, 1)
    assert prf(found, "b") == (0, 0, 0)
    assert prf(found, "c") == (1, 1, 1)
    # 3 right of 4 said and of 4 there.
    assert prf(found, "micro") == (0.75, 0.75, 0.75)
    assert prf(found, "macro") == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_the_four_things_to_score_against() -> None:
    gold = votes(["a", "ab"], ["b", "c"])
    predicted = rows("a", "b")
    # Each annotator: the first is met exactly. The second chose ab and c: one hit of 2 said and 3 there.
    each = label_set_scores(predicted, gold, against="each", bootstrap=None)
    assert each["exact"].value == pytest.approx((1 + 0) / 2)
    assert each["jaccard"].value == pytest.approx((1 + (0.5 + 0) / 2) / 2)
    assert each["F(micro)"].value == pytest.approx((1 + 2 / 5) / 2)
    # The union: ab and bc.
    union = label_set_scores(predicted, gold, against="union", bootstrap=None)
    assert prf(union, "micro") == pytest.approx((1, 0.5, 2 / 3))
    # Half of the annotators or more: the same as the union here. Two thirds of them: a, and nothing.
    assert label_set_scores(predicted, gold, bootstrap=None)["F(micro)"].value == union["F(micro)"].value
    many = label_set_scores(predicted, gold, least=2 / 3, bootstrap=None)
    assert prf(many, "micro") == pytest.approx((0.5, 1, 2 / 3))
    # Weights: a 1, b ½; b ½, c ½. Hits 1 + ½ of 2 said and 2.5 there.
    weighted = label_set_scores(predicted, gold, against="weights", bootstrap=None)
    assert prf(weighted, "micro") == pytest.approx((0.75, 0.6, 2 * 1.5 / 4.5))
    # There is no set to be met.
    assert "exact" not in weighted
    assert "MASI" not in weighted


def test_exactly_half_is_enough() -> None:
    found = label_set_scores(rows("a"), votes(["a", "a", "b", "c"]), bootstrap=None)
    assert found["exact"].value == 1


def test_no_answer_is_not_an_empty_answer() -> None:
    predicted = rows("a", "a")
    with_gap = label_set_scores(predicted, votes(["a", None], [None, None]), bootstrap=None)
    assert (with_gap["exact"].n, with_gap["exact"].value) == (1, 1)
    with_empty = label_set_scores(predicted, votes(["a", ""], ["", ""]), against="weights", bootstrap=None)
    assert (with_empty["F(micro)"].n, with_empty["R(micro)"].value) == (2, 1)
    assert with_empty["P(micro)"].value == 0.25
    # Of each annotator only what they answered: the second answered nothing and is no part of the mean.
    assert (
        label_set_scores(predicted, votes(["a", None], ["b", None]), against="each", bootstrap=None)[
            "exact"
        ].value
        == 0.5
    )


def test_labels_that_are_nowhere_are_undefined_and_no_part_of_the_macro_mean() -> None:
    found = label_set_scores(rows("a", "b"), votes(["a"], ["a"]), bootstrap=None)
    assert prf(found, "c") == (None, None, None)
    assert found["F(c)"].note == "there was nothing to find and nothing was found"
    # F(a) = 2/3, F(b) = 0.
    assert found["F(macro)"].value == pytest.approx(1 / 3)


def test_names_and_signature() -> None:
    found = label_set_scores(rows("a", "b"), votes(["a", "b"], ["a", None]), bootstrap=Bootstrap(10))
    names = [
        found["exact"].measure,
        found["MASI"].measure,
        found["F(macro)"].measure,
        found["R(b)"].measure,
    ]
    assert names == ["exact", "MASI", "F(macro)", "R(b)"]
    assert [str(parse_measure(name)) for name in names] == names
    assert found["exact"].signature.startswith(
        "against:votes>=0.5|raters:1-2|boot:10,seed=0,level=0.95|lapsus:"
    )
    assert "against:union|" in label_set_scores(rows("a"), votes(["a"]), against="union")["exact"].signature


def test_nothing_to_score() -> None:
    gold = votes([None, None])
    found = label_set_scores(rows("a"), gold)
    assert (found["exact"].n, found["exact"].value, found["exact"].note) == (0, None, "nothing to score")
    assert label_set_scores(rows("a"), gold, against="each")["F(micro)"].value is None


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="did you mean 'union'"):
        label_set_scores(rows("a"), votes(["a"]), against="unoin")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 units and 3 labels"):
        label_set_scores(rows("a", "b"), votes(["a"]))


def slow(predicted: list[set[str]], gold: list[set[str]]) -> dict[str, float]:
    """Exact match, Jaccard, MASI, micro and macro F by sets in plain Python."""
    found = {"exact": 0.0, "jaccard": 0.0, "masi": 0.0}
    for a, b in zip(predicted, gold, strict=True):
        jaccard = len(a & b) / len(a | b) if a | b else 1.0
        kept = 1.0 if a == b else 2 / 3 if a <= b or b <= a else 1 / 3
        for name, value in (("exact", a == b), ("jaccard", jaccard), ("masi", jaccard * kept)):
            found[name] += value / len(gold)
    counts = {
        label: (
            sum(label in a and label in b for a, b in zip(predicted, gold, strict=True)),
            sum(label in a for a in predicted) + sum(label in b for b in gold),
        )
        for label in LABELS
    }
    used = [(hits, both) for hits, both in counts.values() if both]
    if used:
        found["micro"] = 2 * sum(hits for hits, _ in used) / sum(both for _, both in used)
        found["macro"] = sum(2 * hits / both for hits, both in used) / len(used)
    return found


sets = st.sets(st.sampled_from(LABELS)).map(lambda chosen: "".join(sorted(chosen)))


@settings(deadline=None)
@given(st.lists(st.tuples(sets, st.lists(sets, min_size=3, max_size=3)), min_size=1, max_size=8))
def test_as_plain_sets(units: list[tuple[str, list[str]]]) -> None:
    predicted = [set(said) for said, _ in units]
    columns = [[set(chosen[place]) for _, chosen in units] for place in range(3)]
    arguments = rows(*(said for said, _ in units)), votes(*(list(chosen) for _, chosen in units))
    unions = [set().union(*chosen) for chosen in zip(*columns, strict=True)]
    expected = slow(predicted, unions)
    found = label_set_scores(*arguments, against="union", bootstrap=None)
    assert values(found) == pytest.approx(expected)
    singles = [slow(predicted, column) for column in columns]
    each = values(label_set_scores(*arguments, against="each", bootstrap=None))
    for name, value in each.items():
        defined = [single[name] for single in singles if name in single]
        assert value == pytest.approx(sum(defined) / len(defined))


def values(found: dict[str, Score]) -> dict[str, float]:
    names = {"exact": "exact", "jaccard": "jaccard", "masi": "MASI", "micro": "F(micro)", "macro": "F(macro)"}
    scores = {name: found[written] for name, written in names.items() if written in found}
    return {name: score.value for name, score in scores.items() if score.value is not None}


def test_annotators_and_units_in_any_order() -> None:
    generator = np.random.default_rng(0)
    chosen, answered = generator.random((40, 5, 3)) < 0.4, generator.random((40, 5)) < 0.8
    chosen &= answered[..., None]
    predicted = generator.random((40, 3)) < 0.4
    units = tuple(UnitKey(f"d{place % 7}", str(place)) for place in range(40))

    def scored(rows: Any, columns: Any, against: Any) -> dict[str, Score]:
        keys = tuple(units[row] for row in rows)
        names = tuple(f"w{column}" for column in columns)
        gold = LabelSetVotes(keys, names, LABELS, chosen[rows][:, columns], answered[rows][:, columns])
        return label_set_scores(predicted[rows], gold, against=against, bootstrap=None)

    for against in ("each", "union", "votes", "weights"):
        plain = values(scored(np.arange(40), np.arange(5), against))
        mixed = values(scored(generator.permutation(40), generator.permutation(5), against))
        assert mixed == pytest.approx(plain)


def test_intervals_hold_the_value_and_draw_documents() -> None:
    generator = np.random.default_rng(1)
    predicted = generator.random((200, 3)) < 0.5
    chosen = (predicted ^ (generator.random((200, 3)) < 0.2))[:, None]
    units = tuple(UnitKey(f"d{place // 10}", str(place)) for place in range(200))
    gold = LabelSetVotes(units, ("w",), LABELS, chosen, np.ones((200, 1), bool))
    for against in ("each", "votes"):
        found = label_set_scores(predicted, gold, against=against)
        for score in (found["exact"], found["F(micro)"], found["F(macro)"], found["P(a)"]):
            assert score.interval is not None
            assert score.interval.low < score.value < score.interval.high  # type: ignore[operator]
    one = LabelSetVotes(
        tuple(UnitKey("d", str(k)) for k in range(200)), ("w",), LABELS, chosen.copy(), gold.answered
    )
    assert label_set_scores(predicted, one)["exact"].interval is None
