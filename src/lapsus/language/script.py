"""Which language a text is probably in, told by its script alone."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import regex

LOOKED_AT = 2_000
"""How many signs of a text are looked at: enough to know its script, however long it is."""
_LETTERS = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]++"),
    "ko": regex.compile(r"\p{Hangul}++"),
    "zh": regex.compile(r"\p{Han}++"),
    "ru": regex.compile(r"\p{Cyrillic}++"),
    "en": regex.compile(r"\p{Latin}++"),
}

_LETTERS_A_SIGN = {"ja": 3, "ko": 2, "zh": 3}
"""A sign of these scripts says as much as several letters."""
_KANA_PAGE = 0x30
"""The upper byte of kana in UTF-16, and of what stands between them: `。`, `ー`."""
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
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
    text = _without_addresses(text[:LOOKED_AT])
    if text.isascii():
        return "en" if _LETTERS["en"].search(text) else None
    # Most texts are told by what the other scripts can be at most; only the rest are counted through.
    ascii = text.encode("ascii", "ignore")
    latin, others = len(ascii.translate(None, _NO_LETTERS)), len(text) - len(ascii)
    if latin > _LETTERS_A_SIGN["ja"] * others:
        return "en"
    kana = text.encode("utf-16-be", "surrogatepass")[::2].count(_KANA_PAGE)
    is_most = kana * _LETTERS_A_SIGN["ja"] >= latin + (others - kana) * _LETTERS_A_SIGN["ko"]
    if is_most and _LETTERS["ja"].search(text):
        return "ja"
    counts = {
        language: len("".join(letters.findall(text))) * _LETTERS_A_SIGN.get(language, 1)
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
