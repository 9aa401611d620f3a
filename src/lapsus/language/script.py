"""Which language a text is probably in, told by its script alone."""

from __future__ import annotations

import regex

_LETTERS = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "ko": regex.compile(r"\p{Hangul}"),
    "zh": regex.compile(r"\p{Han}"),
    "ru": regex.compile(r"\p{Cyrillic}"),
    "en": regex.compile(r"\p{Latin}"),
}

_LETTERS_A_SIGN = {"ja": 3, "ko": 2, "zh": 3}
"""A sign of these scripts says as much as several letters."""


def language_by_script(text: str) -> str | None:
    """A guess to be announced, never relied on silently: the script with the most letters decides.

    Latin letters count as English. Kanji count as Japanese beside kana, else as Chinese.
    """
    if text.isascii():
        return "en" if _LETTERS["en"].search(text) else None
    counts = {
        language: len(letters.findall(text)) * _LETTERS_A_SIGN.get(language, 1)
        for language, letters in _LETTERS.items()
    }
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    language = max(counts, key=lambda name: counts[name])
    return language if counts[language] else None
