"""E-mail addresses and numbers in what people write, masked before anybody keeps or sends it."""

from collections.abc import Collection
from typing import Final

import regex

_EMAIL: Final = regex.compile(r"[\p{L}\p{N}._%+-]+[@＠][\p{L}\p{N}-]+([.．][\p{L}\p{N}-]+)+")
_NUMBER: Final = regex.compile(r"[+＋]?\p{Nd}([\p{Nd}\s().ー－-]{5,40})\p{Nd}")
"""Seven digits and more: telephones, cards, accounts. Years and prices stay."""


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
