"""The signs that a reader can check, in both languages."""

from __future__ import annotations

import pytest

from lapsus.annotators import make_annotator
from lapsus.annotators.features.cues import look, share_topic
from lapsus.annotators.features.sign_rules import RULES, meaning, signs
from lapsus.model import Segment, Unit
from lapsus.word_files import word_file
from tests.annotators import invented


def seen(language: str, *turns: str) -> dict[str, str]:
    """Signs in the last of some turns; users and systems take turns, and a system speaks last."""
    roles = ("system", "user")
    segments = [
        Segment(str(n), roles[(len(turns) - 1 - n) % 2], text)  # type: ignore[arg-type]
        for n, text in enumerate(turns)
    ]
    return dict(signs(Unit("d", language, segments[-1], tuple(segments[:-1]))))


@pytest.mark.parametrize(
    ("rule", "turns"),
    [
        ("opens", ["Hello!"]),
        ("repeats-itself", ["Where do you live now?", "In Rome.", "Where do you live now?"]),
        ("repeats-again", ["I see the sea.", "Oh.", "I see the sea.", "So?", "I see the sea."]),
        ("rephrases-itself", ["I like old songs a lot.", "Me too.", "I like old songs."]),
        ("echoes-user", ["My sister plays chess.", "My sister plays chess."]),
        ("stutters", ["I like films.", "I like the band, but I like the band."]),
        ("ignores-question", ["Do you play tennis?", "Spoons are made in factories."]),
        ("wrong-answer", ["When does the train leave?", "Green apples."]),
        ("yes-no-to-open", ["Which colour do you like?", "Yes."]),
        ("asks-back", ["Do you have a cat?", "What is your name?"]),
        ("asks-known", ["I have two dogs.", "Do you have dogs?"]),
        ("leaves-topic", ["I went hiking near the lake.", "Pancakes contain flour."]),
        ("keeps-topic", ["I went hiking near the lake.", "Is the lake deep?"]),
        ("announces-turn", ["I am tired.", "By the way, how was your weekend?"]),
        ("greets-late", ["Hi.", "Hello.", "Nice day.", "I baked bread.", "Hello there!"]),
        ("greets-back", ["Hi!", "Hello!"]),
        ("parts-early", ["Tell me about whales.", "Goodbye!"]),
        ("contradicts-itself", ["I love dogs.", "Why?", "I hate dogs."]),
        ("contradicts-itself", ["I have a sister.", "Nice.", "I do not have a sister."]),
        ("contradicts-user", ["I love winter.", "You hate winter."]),
        ("empty-thanks", ["What time is it?", "Thank you."]),
        ("unsure", ["Who painted it?", "I don't know."]),
        ("too-short", ["I lost my job today.", "Okay."]),
        ("unfinished", ["And then?", "I went to the shop and"]),
        ("garbled", ["And then?", "We went to the the shop."]),
        ("rude", ["I am back.", "Shut up, idiot."]),
        ("user-lost", ["What do you mean?", "The moon is round."]),
        ("ignores-trouble", ["That makes no sense.", "The moon is round."]),
        ("asks-on-topic", ["I have a bakery.", "Is the bakery large?"]),
    ],
)
def test_english_signs(rule: str, turns: list[str]) -> None:
    assert rule in seen("en", *turns)


@pytest.mark.parametrize(
    ("rule", "turns"),
    [
        ("opens", ["こんにちは。"]),
        ("repeats-itself", ["好きな季節はいつですか？", "秋です", "好きな季節はいつですか？"]),
        ("rephrases-itself", ["映画がとても好きです", "そうですか", "映画が好きです"]),
        ("ignores-question", ["どこに住んでいますか？", "スプーンは便利だね"]),
        ("wrong-answer", ["電車は何時に出ますか？", "きれいですね"]),
        ("leaves-topic", ["先週、北海道へ旅行しました", "ケーキが焼けました"]),
        ("keeps-topic", ["先週、北海道へ旅行しました", "北海道は広いですね"]),
        ("asks-on-topic", ["北海道旅行に行きます", "北海道は初めてですか？"]),
        ("announces-turn", ["疲れました", "ところで、お休みは何をしますか？"]),
        ("greets-back", ["こんにちは", "こんにちは。"]),
        ("contradicts-itself", ["辛い料理が好きです", "本当？", "辛い料理は苦手です"]),
        ("contradicts-itself", ["犬を飼っています", "へえ", "犬を飼っていません"]),
        ("unsure", ["誰が書きましたか？", "わかりません"]),
        ("unfinished", ["それで？", "好きなジャンルにもよりますが、"]),
        ("user-lost", ["どういう意味ですか？", "月は丸いです"]),
        ("rude", ["戻りました", "うるさい、ばか"]),
        ("asks-back", ["猫はいますか？", "お名前は何ですか？"]),
    ],
)
def test_japanese_signs(rule: str, turns: list[str]) -> None:
    assert rule in seen("ja", *turns)


@pytest.mark.parametrize(
    ("language", "turns", "absent"),
    [
        ("en", ["I planted basil.", "How is the basil?"], {"leaves-topic", "ignores-question", "asks-known"}),
        ("en", ["Do you like tea?", "Yes, I do."], {"ignores-question", "wrong-answer", "contradicts-user"}),
        ("en", ["Where is it?", "It is in Rome."], {"wrong-answer", "ignores-question", "yes-no-to-open"}),
        ("en", ["I love dogs.", "Me too.", "I love cats."], {"contradicts-itself", "repeats-itself"}),
        ("en", ["Hello!", "Hello!", "Hello! How are you?"], {"greets-late"}),
        ("ja", ["こんにちは", "こんにちは。"], {"unfinished", "echoes-user", "leaves-topic"}),
        ("ja", ["どこに行きましたか？", "京都に行きました"], {"wrong-answer", "ignores-question"}),
    ],
)
def test_signs_that_are_not_there(language: str, turns: list[str], absent: set[str]) -> None:
    assert not absent & set(seen(language, *turns))


def test_what_is_repeated_is_quoted() -> None:
    assert seen("en", "I am a cook.", "Oh.", "I am a cook!")["repeats-itself"] == "I am a cook."
    found = seen("en", "Do you play tennis?", "Spoons are made in factories.")
    assert found["ignores-question"] == "Do you play tennis?"


def test_every_rule_says_what_it_means_in_both_languages() -> None:
    words = word_file("lapsus.annotators.features", "signs.yaml")
    assert set(words) == set(RULES)
    for texts in words.values():
        assert set(texts) == {"en", "ja"}


def test_a_quote_may_hold_braces() -> None:
    found = signs(
        Unit("d", "en", Segment("1", "system", "{x} y {quote}"), (Segment("0", "system", "{x} y {quote}"),))
    )
    repeated = next(sign for sign in found if sign.rule == "repeats-itself")
    assert meaning(repeated, "en") == "repeats what it said before: “{x} y {quote}”"
    assert meaning(repeated, "ja").startswith("前に言ったこと")


def test_keywords_need_no_dictionary() -> None:
    assert look("北海道でラーメンを食べました", "ja").keywords == {"北海道", "ラーメン", "食"}
    assert look("I really like two movies about trains", "en").keywords == {"movy", "train"}
    assert share_topic(frozenset({"北海道旅行"}), frozenset({"北海道"})) == "北海道"
    assert share_topic(frozenset({"a"}), frozenset({"ab"})) is None


def test_the_rule_that_fired_is_the_evidence_strongest_first() -> None:
    documents, votes = invented.data("en", 12)
    annotator = make_annotator("rules").fit(documents, votes)
    judgments = {(j.document, j.segment): j for j in annotator.judge(documents)}
    for document in documents:
        said: set[str] = set()
        for segment in document.segments:
            if segment.role != "system":
                continue
            evidence = judgments[document.id, segment.id].metadata["evidence"]
            rules = [found["rule"] for found in evidence]
            weights = [found["weight"] for found in evidence]
            assert ("repeats-itself" in rules) == (segment.text in said)
            assert weights == sorted(weights, reverse=True)
            said.add(segment.text)
