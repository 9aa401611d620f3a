"""Rules that spoil a good pair of data and text: each gives the new pair, or None where it cannot be planted there."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import regex

from lapsus.model import Document, Segment, Span

NUMBER = regex.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
UNITS = (
    ("metres", "feet"), ("meters", "miles"), ("m", "ft"), ("km", "miles"), ("kilometres", "metres"),
    ("kilometers", "meters"), ("kg", "g"), ("kilograms", "pounds"), ("grams", "kilograms"), ("g", "kg"),
    ("days", "years"), ("minutes", "hours"), ("kelvins", "degrees"), ("feet", "metres"), ("inches", "feet"),
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
DATE = regex.compile(rf"\b(?:{'|'.join(MONTHS)})\b")


class Pair(NamedTuple):
    """Triples, a text, which letters of it were put in, and which triple was left out."""

    triples: tuple[tuple[str, str, str], ...]
    text: str
    planted: tuple[int, int] | None = None
    element: tuple[int, int] | None = None

    @classmethod
    def of(cls, document: Document) -> Pair | None:
        """The pair in a document; None where it holds none."""
        triples = tuple(one.parts for one in document.segments if one.parts)
        text = next((one.text for one in document.segments if one.role == "text"), None)
        return cls(triples, text) if triples and text else None

    def document(self, id: str, language: str | None = "en") -> Document:
        """As the judge reads it."""
        data = (Segment.triple(f"t{n}", *triple) for n, triple in enumerate(self.triples))
        return Document(id, (*data, Segment("text", "text", self.text)), language)

    def places(self) -> tuple[tuple[str, int, int], ...]:
        """Where marks are to be: segment, start and end; a triple with its whole length."""
        found = [("text", *self.planted)] if self.planted else []
        if self.element is not None:
            found.append((f"t{self.element[0]}", 0, len(" | ".join(self.triples[self.element[0]]))))
        return tuple(found)


def touches(span: Span, place: tuple[str, int, int]) -> bool:
    """Whether a mark and a place have letters in common."""
    segment, start, end = place
    return span.segment == segment and span.start < end and start < span.end


def said(value: str) -> str:
    """A value as a text says it."""
    return regex.sub(r"\s*\(.*?\)", "", value.replace("_", " ").strip().strip('"')).strip()


def place(pair: Pair, value: str) -> tuple[int, int] | None:
    """Where a text says a value."""
    at = pair.text.lower().find(said(value).lower()) if len(said(value)) > 2 else -1
    return None if at < 0 else (at, at + len(said(value)))


def put(pair: Pair, start: int, end: int, words: str, element: tuple[int, int] | None = None) -> Pair:
    """The pair with other words at a place."""
    text = pair.text[:start] + words + pair.text[end:]
    return Pair(pair.triples, text, (start, start + len(words)), element)


def omission(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A triple of which the text says nothing: of the same subject where another pair knows one, else of its own."""
    subject = pair.triples[0][0]
    known = [t for other in others for t in other.triples if t[0] == subject and t not in pair.triples]
    if not known:
        known = [(subject, *t[1:]) for other in others for t in other.triples if t[0] != subject]
        known = [one for one in known if one[1] not in {t[1] for t in pair.triples}]
    if not known or place(pair, (triple := rng.choice(known))[2]):
        return None
    return Pair((*pair.triples, triple), pair.text, None, (len(pair.triples), 2))


def addition(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A sentence about something else."""
    strange = [one for one in others if one.triples[0][0] != pair.triples[0][0]]
    short = [one for one in strange if len(one.triples) == 1] or strange
    return put(pair, len(pair.text), len(pair.text), f" {rng.choice(short).text}") if short else None


def repetition(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A sentence said again."""
    sentences = [one for one in regex.split(r"(?<=[.!?])\s+|(?<=。)", pair.text) if one.strip()]
    return put(pair, len(pair.text), len(pair.text), f" {rng.choice(sentences)}") if sentences else None


def entity(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """The object of a triple gives way to another one of the same predicate."""
    for n, (_, predicate, value) in enumerate(pair.triples):
        pool = {t[2] for other in others for t in other.triples if t[1] == predicate and t[2] != value}
        if not any(map(str.isdigit, value)) and pool and (at := place(pair, value)):
            return put(pair, *at, said(rng.choice(sorted(pool))), (n, 2))
    return None


def number(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A digit of a number that the data give changes."""
    found = [one for one in NUMBER.finditer(pair.text) if any(one.group() in t[2] for t in pair.triples)]
    if not found:
        return None
    one = rng.choice(found)
    digits = list(one.group())
    where = rng.choice([n for n, sign in enumerate(digits) if sign.isdigit()])
    digits[where] = str((int(digits[where]) + rng.randint(1, 8)) % 9 + (where == 0 and digits[where] == "0"))
    wrong = "".join(digits)
    element = next(n for n, t in enumerate(pair.triples) if one.group() in t[2])
    return None if wrong == one.group() else put(pair, one.start(), one.end(), wrong, (element, 2))


def unit(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A number keeps its digits and gets another unit."""
    for right, wrong in rng.sample(UNITS, len(UNITS)):
        if one := regex.search(rf"(?<=\d\s?){right}\b(?!\s?/)", pair.text):
            return put(pair, one.start(), one.end(), wrong)
    return None


def date(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """Another month."""
    if not any(regex.search(r"\d{4}-\d\d-\d\d", t[2]) for t in pair.triples):
        return None
    one = DATE.search(pair.text)
    other = [name for name in MONTHS if one is not None and name != one.group()]
    return one and put(pair, one.start(), one.end(), rng.choice(other))


PairRule: TypeAlias = Callable[[Pair, Sequence[Pair], random.Random], Pair | None]
PAIR_RULES: dict[str, PairRule] = {
    "omission": omission, "addition": addition, "repetition": repetition, "entity": entity, "number": number,
    "unit": unit, "date": date,
}  # fmt: skip
