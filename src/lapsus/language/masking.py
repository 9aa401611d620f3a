"""E-mail addresses and numbers in what people write, masked before anybody keeps or sends it."""

from collections.abc import Collection, Mapping
from typing import Final, TypeVar

import regex

A = TypeVar("A")
_EMAIL: Final = regex.compile(r"[\p{L}\p{N}._%+'’-]+[@＠][\p{L}\p{N}-]+([.．][\p{L}\p{N}-]+)+")
_DAY, _YEAR = r"[0-3０-３]?\p{Nd}", r"(?:19|20|１９|２０)\p{Nd}{2}"
_DATE: Final = (
    rf"(?<![\p{{Nd}}/／])(?:{_YEAR}|{_DAY})(?:[/／](?:{_YEAR}|{_DAY})){{1,2}}"
    r"(?![\p{Nd}/／]|(?:[\s.．ー\p{Pd}]\p{Nd}{2}){3})"
)
"""A slash stands in dates and in telephones. Three pairs of digits after it are those of a telephone."""
_NUMBER: Final = regex.compile(
    rf"{_DATE}(*SKIP)(*FAIL)"
    rf"|[+＋(（]?\p{{Nd}}((?:(?!{_DATE})[\p{{Nd}}\s()（）./／ー\u2212\p{{Pd}}]){{5,40}})(?!{_DATE})\p{{Nd}}"
)
"""Seven digits and more, with any dash that keyboards write: telephones, cards, accounts. Dates and prices stay."""


def masked(text: str, what: Collection[str]) -> str:
    """The text with `[email]` and `[number]` in place of those; `what` says which."""
    if "email" in what:
        text = _EMAIL.sub("[email]", text)
    if "number" in what:
        text = _NUMBER.sub(_if_long, text)
    return text


def _if_long(found: regex.Match[str]) -> str:
    said = found.group()
    return "[number]" if sum(sign.isdigit() for sign in said) >= 7 else said


def masked_answers(answers: Mapping[str, A], what: Collection[str]) -> dict[str, A | str]:
    """Answers that were given, with what is masked in those in words."""
    return {
        name: masked(value, what) if isinstance(value, str) else value
        for name, value in answers.items()
        if value is not None
    }
