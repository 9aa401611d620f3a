"""Numbers that are written in another way: 10252 and 10,252, or 455.0 and 455."""

from __future__ import annotations

import regex

_NUMBER = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")


def number_in(text: str) -> str | None:
    """The one number in a text, in plain form; None where there is none, or several."""
    found = _NUMBER.findall(text)
    return plain_number(found[0]) if len(found) == 1 else None


def plain_number(text: str) -> str:
    """Without commas, and without what adds nothing after the point."""
    whole, _, rest = text.replace(",", "").partition(".")
    return f"{whole}.{rest}" if (rest := rest.rstrip("0")) else whole
