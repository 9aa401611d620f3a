from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from lapsus.language import (
    cuts_token,
    has_letters,
    language_by_script,
    language_of_turns,
    snap,
    tokens,
    word_count,
)
from lapsus.language.tokenizer import knows_words

FAMILY = "👩‍👩‍👧‍👦"
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def words(text: str, language: str | None) -> list[str]:
    return [text[token.start : token.end] for token in tokens(text, language)]


def test_words_of_languages_with_spaces() -> None:
    assert words("a . s . roma  youth\tteam.", "en") == ["a", ".", "s", ".", "roma", "youth", "team."]
    assert word_count("a . s . roma  youth\tteam.", "en") == 5


@given(texts)
def test_words_are_the_runs_that_have_a_letter_or_a_digit(text: str) -> None:
    assert word_count(text, "en") == sum(
        regex.search(r"[\p{L}\p{N}]", run) is not None for run in words(text, "en")
    )


def test_without_a_dictionary_japanese_is_cut_at_visible_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lapsus.language.tokenizer._sudachi", lambda: None)
    assert words(f"が{FAMILY}e\u0301 か\u3099", "ja") == ["が", FAMILY, "e\u0301", "か\u3099"]


def test_the_real_dictionary_cuts_japanese_at_words() -> None:
    """What `lapsus-eval[ja]` brings: words as wholes, whatever their length, and long texts in pieces."""
    assert words("東京都に行きたいです。", "ja") == ["東京都", "に", "行き", "たい", "です", "。"]
    assert word_count("東京都に行きたいです。", "ja") == 5
    text = "今日は良い天気ですね。" * 2_000
    assert "".join(words(text, "ja")) == text
    assert knows_words("ja")


def test_words_of_a_dictionary_become_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    class Morpheme:
        def __init__(self, begin: int, end: int) -> None:
            self.begin, self.end = (lambda: begin), (lambda: end)

    class Dictionary:
        def tokenize(self, text: str) -> list[Morpheme]:
            return [Morpheme(0, 2), Morpheme(2, 3), Morpheme(3, 4), Morpheme(4, 6)]

    monkeypatch.setattr("lapsus.language.tokenizer._sudachi", Dictionary)
    assert words("東京 に行く", "ja") == ["東京", "に", "行く"]
    assert snap("東京 に行く", 5, 6, "ja") == (4, 6)


def test_a_selection_grows_to_whole_words() -> None:
    text = "Joe lives in New York."
    assert snap(text, 14, 18, "en") == (13, 22)
    assert snap(text, 3, 4, "en") == (3, 4)


@pytest.mark.parametrize(
    ("text", "quote", "cuts"),
    [
        ("the president of", "president", False),
        ("the president of", "pres", True),
        ("the president of", "he president", True),
        ("united states.", "states", False),
        ("(states)", "states", False),
        ("A.S._Roma", "A.S", True),
        ("11.5 km", "11", True),
        (f"hi {FAMILY} there", FAMILY, False),
        (f"hi {FAMILY} there", "👩‍👩", True),
        ("cafe\u0301 au", "cafe", True),
    ],
)
def test_spans_may_leave_out_punctuation_but_not_letters(text: str, quote: str, cuts: bool) -> None:
    start = text.index(quote)
    assert cuts_token(text, start, start + len(quote), "en") is cuts


def test_in_japanese_only_visible_characters_count() -> None:
    text = f"か\u3099は{FAMILY}だ"
    assert not cuts_token(text, 0, 3, "ja")
    assert cuts_token(text, 0, 1, "ja")
    assert cuts_token(text, 3, 4, "ja")


@given(texts, st.sampled_from(["en", "ja", None]), st.data())
def test_a_snapped_selection_never_cuts(text: str, language: str | None, data: st.DataObject) -> None:
    found = tokens(text, language)
    assert all(a.end <= b.start for a, b in pairwise(found))
    if found:
        start = data.draw(st.integers(found[0].start, found[-1].end - 1))
        end = data.draw(st.integers(start + 1, found[-1].end))
        if any(token.start < end and start < token.end for token in found):
            assert not cuts_token(text, *snap(text, start, end, language), language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How are you? ツ", "en"),
        ("今日は良い天気です", "ja"),
        ("iPhoneとAndroidのどちらが好きですか？", "ja"),
        ("天气很好", "zh"),
        ("날씨가 좋네요", "ko"),
        ("Как дела?", "ru"),
        ("他说：「天气很好。」「我们走吧，一起去公园。」", "zh"),
        ("「」、。「」、。", None),
        ("é ü – naïve café: what a “fine” day", "en"),
        ("print('hello world of letters') と書きます", "en"),
        ("これは文です。" + "and then a lot of English " * 1_000, "en"),
        ("これは文です。" * 300 + "and then a lot of English " * 1_000, "ja"),
        ("123 !?", None),
        ("¿¡", None),
        ("", None),
    ],
)
def test_the_script_with_most_letters_decides(text: str, language: str | None) -> None:
    assert language_by_script(text) == language


def test_the_letters_of_a_long_text_are_counted_without_being_kept() -> None:
    text = "これは長い文です。" * 20_000
    tracemalloc.start()
    try:
        assert language_by_script(text) == "ja"
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("turns", "language"),
    [
        (["こんにちは", "How are you today, my dear friend of many years?", "元気です"], "ja"),
        (["了解", "はい"], "ja"),
        (["了解", "承知"], "zh"),
        (["Hello", "こんにちは"], "en"),
        (["見て https://example.com/a/long/address/with/words"], "ja"),
        (["https://example.com"], None),
        (["…", "🙂"], None),
        ([], None),
    ],
)
def test_most_turns_decide(turns: list[str], language: str | None) -> None:
    assert language_of_turns(turns) == language


@pytest.mark.parametrize(
    ("text", "has"), [("สวัสดี", True), ("é", True), ("🙂 12 …", False), ("a@b.org", False)]
)
def test_letters_of_any_script_are_letters(text: str, has: bool) -> None:
    assert has_letters(text) == has
