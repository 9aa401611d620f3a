"""Evidence and contradictions, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapsus.annotators.features.evidence import (
    STRONGEST,
    Evidence,
    evidence,
    kind_name,
    kinds,
    sign_table,
    strength,
)
from lapsus.annotators.features.reply_signs import RULES as REPLY_RULES
from lapsus.annotators.features.sign_rules import RULES
from lapsus.annotators.features.statements import contradict
from lapsus.model import Segment, Unit
from lapsus.schemes import load_scheme


def seen(language: str, *turns: str) -> dict[str, Evidence]:
    """Evidence in the last of some turns; users and systems take turns, and a system speaks last."""
    roles = ("system", "user")
    segments = [
        Segment(f"t{n}", roles[(len(turns) - 1 - n) % 2], text)  # type: ignore[arg-type]
        for n, text in enumerate(turns)
    ]
    found = evidence(Unit("d", language, segments[-1], tuple(segments[:-1])))
    assert found == sorted(found, key=lambda one: -one.weight)
    return {one.sign: one for one in found}


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("en", "I have two cats.", "Sorry, I have never had a cat."),
        ("en", "I live in Rome.", "I am living in Oslo, near the sea."),
        ("en", "I love spicy food.", "I don't like spicy food at all."),
        ("en", "My favourite colour is blue.", "Well, my favourite colour is red."),
        ("en", "I am a vegetarian and I never eat meat.", "I eat meat every day."),
        ("en", "I have never been to Paris.", "When I went to Paris I saw the tower."),
        ("en", "My name is Max.", "Call me Tim."),
        ("en", "I can swim.", "I cannot swim."),
        ("en", "I am 30 years old.", "I’m 41 years old."),
        ("en", "I am a teacher.", "I am not a teacher."),
        ("en", "I love dogs.", "I hate dogs."),
        ("ja", "猫を二匹飼っています。", "猫は飼ったことがありません。"),
        ("ja", "東京に住んでいます。", "大阪に住んでいますよ。"),
        ("ja", "辛い料理が大好きです。", "辛い料理は苦手です。"),
        ("ja", "一度も北海道に行ったことがありません。", "去年北海道に行きました。"),
        ("ja", "私は肉を食べません。", "昨日は肉を食べました。"),
        ("ja", "好きな色は青です。", "好きな色は赤です。"),
    ],
)
def test_contradictions(language: str, first: str, second: str) -> None:
    assert contradict(first, second, language)
    assert contradict(second, first, language)
    assert not contradict(first, first, language)


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("en", "I like cats.", "I don't have a cat."),
        ("en", "I love tea.", "I love coffee."),
        ("en", "I don't like rain.", "It rains a lot."),
        ("en", "Do you like cats? I do not like dogs.", "I like cats."),
        ("en", "You do not like hiking.", "I like hiking."),
        ("en", "I would not have a cat.", "I have a cat."),
        ("en", "I live in the city.", "I live in Oslo."),
        ("en", "", "..."),
        ("ja", "犬が好きです。", "犬は飼っていません。"),
        ("ja", "すみません、映画の話ですね。", "映画が好きです。"),
        ("ja", "北海道には行ったことがありますか？", "北海道には行ったことがありません。"),
        ("ja", "高い所は得意ではありません。", "高い所は苦手です。"),
        ("ja", "雨が降るかもしれません。", "雨が降ります。"),
    ],
)
def test_no_contradictions(language: str, first: str, second: str) -> None:
    assert not contradict(first, second, language)
    assert not contradict(second, first, language)


def test_a_repeated_turn_is_quoted_with_all_its_places() -> None:
    turns = (
        "Where do you live?",
        "In Rome.",
        "I see the sea.",
        "Oh.",
        "Where do you live?",
        "Rome!",
        "Where do you live?",
    )
    found = seen("en", *turns)
    assert found["same-again"].weight > 3
    assert found["same-again"].segments == ("t0", "t4")
    # Thanks, and other short turns, may come twice.
    assert "same-again" not in seen("en", "Thank you!", "Sure.", "Thank you!")
    assert "same-again" not in seen("ja", "なるほど。", "はい", "なるほど。")


def test_questions_and_topics_are_quoted() -> None:
    found = seen("en", "I went hiking near the lakes. Do you hike?", "Pancakes contain flour.")
    assert found["ignores-question"].segments == ("t0",)
    assert found["leaves-topic"].says("en") == "leaves the topic: went, hiking, near, lakes"
    assert found["leaves-topic"].segments == ()
    # An answer to an open question may be in words of its own: this explains, and does not count.
    assert seen("en", "What do you like best?", "Pizza!")["evades-question"].weight == 0
    assert (
        seen("ja", "京都の紅葉を見ました。", "パンは小麦で作ります。")["leaves-topic"].quote == "京都、紅葉"
    )


def test_only_the_strongest_sign_of_a_kind_counts_and_there_is_a_limit() -> None:
    def one(kind: str, weight: float) -> Evidence:
        return Evidence(kind, "abuses", "", (), weight)

    assert strength([]) == 0
    assert strength([one("a", 0.5), one("a", 0.4)]) == 0.5
    assert strength([one("a", 0.5), one("b", 0.4)]) == 0.9
    assert strength([one(str(number), 2.0) for number in range(9)]) == STRONGEST


def test_every_sign_has_its_kind_its_words_and_its_worth() -> None:
    assert set(REPLY_RULES) <= set(sign_table())
    for sign, told in sign_table().items():
        assert (
            sign in REPLY_RULES or sign in RULES or sign in ("another-chat", "short-apart", "evades-question")
        )
        assert 0 <= told["weight"] <= 5
        for language in ("en", "ja"):
            assert Evidence(told["kind"], sign, "{quote}", (), 0).says(language)
    for kind in kinds():
        assert kind_name(kind, "en") != kind_name(kind, "ja")
    assert {told["kind"] for told in sign_table().values()} == set(kinds())


def test_a_sign_weighs_more_the_rarer_it_is_in_good_replies() -> None:
    measured = [told for told in sign_table().values() if "found" in told]
    for told in measured:
        (hits, faults), (alarms, replies) = told["found"], told["alarms"]
        assert 0 <= hits <= faults
        assert 0 <= alarms <= replies / 50
    rare = max(told["weight"] for told in measured if told["found"][0] == told["found"][1])
    often = [told["weight"] for told in measured if told["alarms"][0] > 4]
    assert all(rare > one for one in often)


def test_good_turns_have_no_evidence_that_counts() -> None:
    assert not any(one.weight for one in seen("en", "Do you like tea?", "Yes, I like tea a lot.").values())
    assert not any(one.weight for one in seen("ja", "お茶は好きですか？", "はい、お茶が好きです。").values())


def test_each_sign_names_types_of_the_guideline() -> None:
    types = {label.id for label in load_scheme("error-types").questions[0].labels}
    for sign, told in sign_table().items():
        found = Evidence(told["kind"], sign, "", (), 0.0).types
        assert found
        assert set(found) <= types


def test_a_greeting_missed_is_shown() -> None:
    assert seen("en", "Hello!", "Trains are late today.")["misses-greeting"].types == ("ignore-greeting",)


def test_the_table_in_the_docs_is_the_data() -> None:
    page = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    for sign, told in sign_table().items():
        (hits, faults), (alarms, replies) = told.get("found", (0, 0)), told.get("alarms", (0, 0))
        counts = f"{hits} of {faults} | {alarms} of {replies:,}" if faults else "– | –"
        assert f"| `{sign}` | {kind_name(told['kind'], 'en')} | {counts} | {told['weight']} |" in page
