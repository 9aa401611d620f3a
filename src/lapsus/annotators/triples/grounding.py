"""Which values of a reply stand in nothing that it could rest on: tool results, passages, earlier turns."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from lapsus.annotators.triples.values import Mention, mentions, same_amount, same_date, same_number


class Ungrounded(NamedTuple):
    """A date, a number or an amount of a reply that no evidence has."""

    start: int
    end: int
    kind: Literal["date", "number", "unit"]
    """`unit`: the number is there, with another unit."""
    instead: str | None = None
    """What the evidence has that comes nearest: the same number with its own unit, or another date."""


def grounding(reply: str, evidence: Iterable[str]) -> list[Ungrounded]:
    """The values of a reply that stand in no text of the evidence, in whatever form they are written.

    Numbers in words and values within other words or names are passed over. Without a value in the evidence nothing
    can be told, and nothing is.
    """
    texts = list(evidence)
    known = [(text, one) for text in texts for one in mentions(text)]
    if not known:
        return []
    found = []
    for mention in mentions(reply):
        said = reply[mention.start : mention.end]
        if not mention.is_numeral or any(said in text or _is_same(mention, one) for text, one in known):
            continue
        found.append(_ungrounded(mention, known))
    return found


def _is_same(one: Mention, other: Mention) -> bool:
    if one.dates and other.dates:
        return same_date(one, other)
    if one.number is None or other.number is None:
        years = {date.year for date in (*one.dates, *other.dates)}
        return (one.number or other.number) in years
    if one.unit is None or other.unit is None:
        return same_number(one.number, other.number)
    return same_amount(one, other)


def _ungrounded(mention: Mention, known: Iterable[tuple[str, Mention]]) -> Ungrounded:
    for text, one in known:
        there = text[one.start : one.end]
        if mention.dates and one.dates:
            return Ungrounded(mention.start, mention.end, "date", there)
        if mention.number is not None and one.number is not None and same_number(mention.number, one.number):
            return Ungrounded(mention.start, mention.end, "unit", there)
    return Ungrounded(mention.start, mention.end, "date" if mention.dates else "number")
