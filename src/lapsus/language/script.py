"""Which language a text is probably in, told by its script alone."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import regex

_LETTERS = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]++"),
    "ko": regex.compile(r"\p{Hangul}++"),
    "zh": regex.compile(r"\p{Han}++"),
    "ru": regex.compile(r"\p{Cyrillic}++"),
    "en": regex.compile(r"\p{Latin}++"),
}

_LETTERS_A_SIGN = {"ja": 3, "ko": 2, "zh": 3}
"""A sign of these scripts says as much as several letters."""
_ADDRESS = regex.compile(r"(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]+")
_LETTER = regex.compile(r"\p{L}")


@lru_cache(maxsize=256)
def plain_language(language: str | None) -> str:
    """`en` for `en-GB` and `EN_us`; nothing where the language is not known."""
    return (language or "").replace("_", "-").partition("-")[0].lower()


def language_by_script(text: str) -> str | None:
    """A guess to be announced, never relied on silently: the script with the most letters decides.

    Latin letters count as English. Kanji count as Japanese beside kana, else as Chinese.
    """
    text = _without_addresses(text)
    if text.isascii():
        return "en" if _LETTERS["en"].search(text) else None
    counts = {
        language: sum(run.end() - run.start() for run in letters.finditer(text))
        * _LETTERS_A_SIGN.get(language, 1)
        for language, letters in _LETTERS.items()
    }
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    language = max(counts, key=lambda name: counts[name])
    return language if counts[language] else None


def language_of_turns(texts: Iterable[str]) -> str | None:
    """The language of most of the turns: a long quotation in another one is still a single turn.

    Where as many are in one as in another, the first that came. Kanji alone count as Japanese beside kana elsewhere.
    """
    found = Counter(language for text in texts if (language := language_by_script(text)))
    if found["ja"]:
        found["ja"] += found.pop("zh", 0)
    return max(found, key=lambda name: found[name]) if found.total() else None


def _without_addresses(text: str) -> str:
    # One of these signs is in every address. Few texts hold one, and looking takes a hundredth of the time.
    may_hold_one = "@" in text or "://" in text or "www." in text
    return _ADDRESS.sub(" ", text) if may_hold_one else text


def has_letters(text: str) -> bool:
    """Whether anything in a text is written, in whatever script."""
    return _LETTER.search(_without_addresses(text)) is not None
