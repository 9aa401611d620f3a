from __future__ import annotations

import pytest

from lapsus.annotators.features import word_forms
from lapsus.annotators.features.word_forms import CHARACTERS, SPACES, SUDACHI, Words, way_to_find_words
from lapsus.errors import UsageError


@pytest.fixture
def no_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_forms, "knows_words", lambda language: language != "ja")


def test_english_words_are_small_and_signs_stand_apart() -> None:
    assert Words.here(["en"])("Hello, WORLD! Don’t stop: a-b 3.", "en-GB") == (
        "hello", ",", "world", "!", "don’t", "stop", ":", "a-b", "3", ".",
    )  # fmt: skip


def test_without_a_dictionary_japanese_is_runs_of_characters(no_dictionary: None) -> None:
    found = Words.here(["ja"])
    assert found.ways == {"ja": CHARACTERS}
    assert found("犬 だ！", "ja") == ("犬", "だ", "!")
    assert found.terms("犬だ！", "ja") == ("犬", "だ", "!", "犬だ", "だ!", "犬だ!")


def test_a_model_with_words_of_a_dictionary_asks_for_it(no_dictionary: None) -> None:
    with pytest.raises(UsageError, match="SudachiPy") as caught:
        Words({"ja": SUDACHI})
    assert caught.value.hint == "pip install 'lapsus-eval[ja]'"


def test_a_model_with_characters_keeps_to_them() -> None:
    """Whatever is installed later: the model knows characters."""
    assert Words({"ja": CHARACTERS})("東京に", "ja") == ("東", "京", "に")


def test_a_text_without_a_language_is_read_as_the_model_knows() -> None:
    assert Words({"ja": CHARACTERS}).way(None) == CHARACTERS
    assert Words({}).way(None) == SPACES
    assert way_to_find_words("fr") == SPACES


def test_only_the_beginning_of_a_very_long_text_is_read() -> None:
    assert len(Words({"ja": CHARACTERS})("あ" * 100_000, "ja")) == word_forms.LONGEST
