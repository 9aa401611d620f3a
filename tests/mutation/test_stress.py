"""Judges made with known gifts and blind spots are found out within their intervals."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest

import lapsus
from lapsus.annotators import Annotator
from lapsus.annotators.base import Opinion
from lapsus.annotators.cases import Case
from lapsus.model import Document, Entry, Judgment, Scheme, Segment
from lapsus.mutation.result import Stress
from lapsus.mutation.sources import Guide
from lapsus.mutation.stress import planted
from lapsus.mutation.turn_rules import Plant
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme

WORDS = [
    "garden",
    "train",
    "winter",
    "letter",
    "bread",
    "window",
    "music",
    "river",
    "market",
    "doctor",
    "bicycle",
    "island",
]


def chats(many: int = 60) -> list[Entry]:
    chance = random.Random(5)
    found = []
    for number in range(many):
        a, b, c = chance.sample(WORDS, 3)
        turns = [
            ("user", f"Could you please tell me about the {a} near the {b}?"),
            ("system", f"Of course. The {a} near the {b} is open from nine to five, number {number}."),
            ("user", f"We spent the whole afternoon at the {c} and liked it a lot."),
            (
                "system",
                f"I am glad to hear that you liked the {c} so much, it is number {number} in the list.",
            ),
        ]
        segments = tuple(Segment(str(n), role, text) for n, (role, text) in enumerate(turns))  # type: ignore[arg-type]
        found.append(Entry(f"chat-{number}", Document(f"chat-{number}", segments, "en")))
    return found


class Made(Annotator):
    """A judge that knows what was planted, finds each type with a share of its own, and errs on good units."""

    method, title, needs_fit, any_language = "made", "a judge made for a test", False, True

    def __init__(
        self, plants: Sequence[Plant], finds: dict[str, float], alarms: float, scheme: Scheme
    ) -> None:
        super().__init__()
        self.scheme, self.name = scheme, "made"
        self._types = {_shown(plant.document): plant for plant in plants}
        self._finds, self._alarms, self._chance = finds, alarms, random.Random(1)

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        return [Opinion({"breakdown": "X" if self._calls(case) else "O"}) for case in cases]

    def _calls(self, case: Case) -> bool:
        plant = self._types[tuple(one.text for one in case.unit.visible)]
        share = self._finds.get(plant.type, self._finds["*"]) if plant.type else self._alarms
        return self._chance.random() < share


def _shown(document: Document) -> tuple[str, ...]:
    return tuple(one.text for one in document.segments)


def outcome(finds: dict[str, float], alarms: float, each: int = 40) -> Stress:
    scheme, entries = load_scheme("breakdown"), chats()
    plants = planted(entries, Guide.of(scheme), each=each)
    return lapsus.stress(entries, [Made(plants, finds, alarms, scheme)], each=each)


def test_blind_spots_are_found_out_within_their_intervals() -> None:
    spots = {"word-order": 0.1, "looping": 0.5, "*": 0.9}
    found = outcome(spots, 0.1).judges[0]
    assert found.weakest.type == "word-order"
    assert found.misses
    assert {miss.type for miss in found.misses} == {"word-order"}
    held = [row.share.low <= spots.get(row.type, 0.9) <= row.share.high for row in found.types]
    assert sum(held) >= len(held) - 1
    by_type = {row.type: row.share for row in found.types}
    assert by_type["word-order"].high < 0.5 < by_type["gibberish"].low
    assert found.total.false_alarms is not None
    assert found.total.false_alarms.low <= 0.1 <= found.total.false_alarms.high


def test_a_perfect_judge_finds_all_and_raises_no_false_alarm() -> None:
    found = outcome({"*": 1.0}, 0.0)
    judge = found.judges[0]
    assert all(row.share.value == row.share.high == 1 for row in judge.types)
    assert not judge.misses
    assert judge.total.false_alarms is not None
    assert judge.total.false_alarms.value == 0
    assert found.below(0.999, 0.0) == ()


def test_a_random_judge_finds_as_much_as_it_alarms() -> None:
    found = outcome({"*": 0.5}, 0.5)
    judge = found.judges[0]
    alarms = judge.total.false_alarms
    assert alarms is not None
    assert judge.total.share.low < 0.5 < judge.total.share.high
    assert alarms.low < 0.5 < alarms.high
    assert found.below(0.8)
    assert len(found.below(0.0, 0.2)) == 1


def test_a_judge_that_always_calls_out_is_seen_by_its_false_alarms() -> None:
    found = outcome({"*": 1.0}, 1.0)
    assert found.below(0.8) == ()
    assert len(found.below(0.8, 0.1)) == 1


def test_nothing_tells_a_judge_what_was_planted() -> None:
    plants = planted(chats(), Guide.of(load_scheme("breakdown")), each=10)
    spoilt = [bool(plant.type) for plant in plants]
    assert sum(spoilt) == pytest.approx(len(plants) / 2, abs=len(plants) / 6)
    assert len({plant.document.id for plant in plants}) == len(plants)
    # Neither early nor late ids are of one sort, and no metadata tells.
    half = len(spoilt) // 2
    assert 0.3 < sum(spoilt[:half]) / max(1, sum(spoilt)) < 0.7
    assert {tuple(plant.document.metadata) for plant in plants} == {("drawn_units",)}


def test_the_same_seed_plants_the_same_and_another_does_not() -> None:
    guide = Guide.of(load_scheme("breakdown"))
    first, again, other = (planted(chats(), guide, each=5, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_units_that_people_found_bad_are_left_alone() -> None:
    entries = chats(20)
    bad = entries[0]
    said = tuple(
        Judgment(one.id, segment, "ann", "breakdown", "1", {"breakdown": "X" if one is bad else "O"})
        for one in entries
        for segment in ("1", "3")
    )
    judged = [
        msgspec.structs.replace(one, judgments=tuple(j for j in said if j.document == one.id))
        for one in entries
    ]
    plants = planted(judged, Guide.of(load_scheme("breakdown")), each=20)
    assert bad.id not in {plant.source for plant in plants}


@pytest.mark.parametrize("scheme", ["breakdown", "error-types", "response-quality"])
def test_every_error_of_a_guideline_with_a_fitting_example_is_planted(scheme: str) -> None:
    guide = Guide.of(load_scheme(scheme))
    types = {plant.type for plant in planted(chats(), guide, each=3)} - {""}
    assert {type for _, type, _ in guide.errors()} <= types


def test_ones_own_scheme_is_planted_from_its_fitting_examples() -> None:
    scheme = load_scheme("error-types")
    question = msgspec.structs.replace(scheme.questions[0], id="mine", axes=None)
    own = msgspec.structs.replace(scheme, scheme="mine", questions=(question,), target=None)
    plants = [one for one in planted(chats(), Guide.of(own, good=["repetition"]), each=5) if one.type]
    assert {plant.means for plant in plants} == {"example"}
    assert "repetition" not in {plant.type for plant in plants}
    assert all(plant.document.segments[-1].text == plant.text for plant in plants)


def test_marks_must_touch_what_was_planted() -> None:
    entries = list(lapsus.read(sample_path("pairs-en")))
    plants = [one for one in planted(entries, Guide.of(load_scheme("semantic-errors")), each=5) if one.type]
    assert {"omission", "addition", "repetition"} <= {plant.type for plant in plants}
    for plant in plants:
        assert plant.expected is not None
        assert plant.expected.places
        for segment, start, end in plant.expected.places:
            assert 0 <= start < end <= len(plant.document.segment(segment).text)
            assert "[" not in plant.document.segment(segment).text
