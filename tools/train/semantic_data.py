"""Texts of WebNLG with errors put in by rule, and where they are: what the labeller learns from.

A triple is added to the data, or one is taken away and what its object said becomes an addition; a value in the text
gives way to another of the same predicate, or its digits change; two values change places; a sentence is said again, or
one about something else comes in; or the text is one that says fewer of the triples. Some are left as they are.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import regex

from lapsus.formats import read
from lapsus.model import Document, Segment

Triple: TypeAlias = tuple[str, str, str]
SAID, ADDED, REPEATED = range(3)
_BRACKETS = regex.compile(r"\s*\(.*?\)")
_BETWEEN = regex.compile(r"(?<=[.!?])\s+")


@dataclass
class Item:
    """Triples, which of their elements the text leaves out, the text, and what each of its letters is."""

    triples: list[Triple]
    text: str
    omitted: list[list[bool]] = field(default_factory=list)
    letters: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.omitted = self.omitted or [[False] * 3 for _ in self.triples]
        self.letters = self.letters or [SAID] * len(self.text)

    def put(self, start: int, end: int, words: str, letter: int = ADDED) -> None:
        """Put words in the place of others."""
        self.text = self.text[:start] + words + self.text[end:]
        self.letters = self.letters[:start] + [letter] * len(words) + self.letters[end:]

    def place(self, value: str) -> tuple[int, int] | None:
        """Where the text says a value, if it does and nothing was changed there."""
        found = place_of(self.text, value)
        return None if found is None or any(self.letters[slice(*found)]) else found

    def document(self, id: str) -> Document:
        """As a pair."""
        data = [Segment.triple(f"t{n}", *triple) for n, triple in enumerate(self.triples, 1)]
        return Document(id, (*data, Segment("text", "text", self.text)), "en")


def surface(value: str) -> str:
    """A value as a text says it: without underscores, quotes, what stands in brackets and what follows an @."""
    return _BRACKETS.sub("", value.replace("_", " ").strip().strip('"')).split("@")[0].strip().strip('"')


def place_of(text: str, value: str) -> tuple[int, int] | None:
    """Where a text says a value."""
    said = surface(value)
    start = text.lower().find(said.lower()) if len(said) > 1 else -1
    return None if start < 0 else (start, start + len(said))


def load_pairs(split: str | None = None) -> list[tuple[tuple[Triple, ...], str]]:
    """The pairs of WebNLG 2017; those whose text was called bad are left out."""
    found = []
    for entry in read(Path(os.environ["LAPSUS_DATA"]) / "webnlg-2017.zip"):
        document = entry.document
        if document is None or document.metadata.get("comment", "good") == "bad":
            continue
        if split is None or document.metadata.get("split") == split:
            triples = tuple(segment.parts for segment in document.segments if segment.parts)
            text = " ".join(document.segments[-1].text.split())
            if triples and text and document.segments[-1].role == "text":
                found.append((triples, text))
    return found


class Damage:
    """Makes damaged pairs out of whole ones."""

    def __init__(self, pairs: Sequence[tuple[tuple[Triple, ...], str]]) -> None:
        self.pairs = pairs
        about, values = defaultdict(set), defaultdict(set)
        self.alone: dict[Triple, list[str]] = defaultdict(list)
        self.texts: dict[frozenset[Triple], list[str]] = defaultdict(list)
        for triples, text in pairs:
            for triple in triples:
                about[triple[0]].add(triple)
                values[triple[1]].add(triple[2])
            if len(triples) == 1:
                self.alone[triples[0]].append(text)
            self.texts[frozenset(triples)].append(text)
        self.about = {name: sorted(known) for name, known in about.items()}
        self.values = {name: sorted(known) for name, known in values.items()}
        self.triples = sorted({triple for triples, _ in pairs for triple in triples})
        self.sets: dict[Triple, list[frozenset[Triple]]] = defaultdict(list)
        for known in self.texts:
            for triple in known:
                self.sets[triple].append(known)

    def make(self, rng: random.Random) -> Item:
        """A pair, mostly with one or two errors."""
        triples, text = rng.choice(self.pairs)
        item, draw = Item(list(triples), text), rng.random()
        if 0.22 <= draw < 0.38 and len(triples) > 1:
            item = self.fewer(triples, rng) or item
        elif draw >= 0.38:
            kinds = (self.extra, self.drop, self.swap, self.crossed, self.repeat, self.invent)
            for _ in range(1 if rng.random() < 0.65 else 2):
                rng.choices(kinds, (0.28, 0.18, 0.30, 0.06, 0.08, 0.10))[0](item, rng)
        if rng.random() < 0.15 and len(item.text.lower()) == len(item.text):
            item.text = item.text.lower()
        order = rng.sample(range(len(item.triples)), len(item.triples))
        item.triples = [item.triples[n] for n in order]
        item.omitted = [item.omitted[n] for n in order]
        return item

    def extra(self, item: Item, rng: random.Random) -> None:
        """A triple that the text does not say."""
        subject = rng.choice(item.triples)[0]
        known = [triple for triple in self.about.get(subject, ()) if triple not in item.triples]
        other = rng.choice(self.triples)
        triple = rng.choice(known) if known and rng.random() < 0.75 else (subject, other[1], other[2])
        if not place_of(item.text, triple[2]):
            place = rng.randrange(len(item.triples) + 1)
            item.triples.insert(place, triple)
            item.omitted.insert(place, [True] * 3)

    def drop(self, item: Item, rng: random.Random) -> None:
        """A triple is taken out of the data, so that the text adds its object."""
        for place in _shuffled(len(item.triples), rng) if len(item.triples) > 1 else ():
            value = item.triples[place][2]
            others = {one for n, triple in enumerate(item.triples) if n != place for one in triple[::2]}
            if value not in others and (found := item.place(value)):
                item.letters[slice(*found)] = [ADDED] * (found[1] - found[0])
                del item.triples[place], item.omitted[place]
                return

    def swap(self, item: Item, rng: random.Random) -> None:
        """Another value of the same kind in the text, or other digits."""
        for place in _shuffled(len(item.triples), rng):
            which = 2 if rng.random() < 0.85 else 0
            value = item.triples[place][which]
            found, new = item.place(value), self._other(item.triples[place], which, rng)
            if not found or not new or new.lower() == surface(value).lower():
                continue
            item.put(*found, new)
            if not place_of(item.text, value):
                for triple, marks in zip(item.triples, item.omitted, strict=True):
                    for n in (0, 2):
                        marks[n] |= triple[n] == value
            return

    def crossed(self, item: Item, rng: random.Random) -> None:
        """Two values change places: right names, wrong relations."""
        count = len(item.triples)
        pairs = [(a, b) for a in range(count) for b in range(a) if item.triples[a][1] != item.triples[b][1]]
        for a, b in rng.sample(pairs, len(pairs)):
            one, other = item.triples[a][2], item.triples[b][2]
            here, there = item.place(one), item.place(other)
            if not here or not there or surface(one).lower() == surface(other).lower():
                continue
            if here[1] <= there[0] or there[1] <= here[0]:
                # From the end, so that the first place stays where it is.
                for (start, end), words in sorted(
                    ((here, surface(other)), (there, surface(one))), reverse=True
                ):
                    item.put(start, end, words)
                item.omitted[a][2] = item.omitted[b][2] = True
                return

    def repeat(self, item: Item, rng: random.Random) -> None:
        """A sentence again, or something that was said in other words."""
        words = rng.choice(_BETWEEN.split(item.text))
        if rng.random() < 0.5:
            place = rng.randrange(len(item.triples))
            known = self.alone.get(item.triples[place])
            if known and not any(item.omitted[place]):
                words = rng.choice(known)
        item.text += f" {words}"
        item.letters += [SAID] + [REPEATED] * len(words)

    def invent(self, item: Item, rng: random.Random) -> None:
        """A sentence that says what the data does not."""
        subject = rng.choice(item.triples)[0]
        known = [one for one in self.about.get(subject, ()) if one not in item.triples and one in self.alone]
        if known:
            words = rng.choice(self.alone[rng.choice(known)])
        else:
            triple = rng.choice(sorted(self.alone))
            words = rng.choice(self.alone[triple])
            if found := place_of(words, triple[0]):
                words = words[: found[0]] + surface(subject) + words[found[1] :]
        own = [ADDED] * len(words)
        if rng.random() < 0.5:
            item.text, item.letters = f"{item.text} {words}", [*item.letters, SAID, *own]
        else:
            item.text, item.letters = f"{words} {item.text}", [*own, SAID, *item.letters]

    def fewer(self, triples: Sequence[Triple], rng: random.Random) -> Item | None:
        """A text that was written for some of the triples only."""
        known = [one for one in self.sets[rng.choice(triples)][:400] if one < frozenset(triples)]
        if not known:
            return None
        said = rng.choice(known)
        return Item(list(triples), rng.choice(self.texts[said]), [[one not in said] * 3 for one in triples])

    def _other(self, triple: Triple, which: int, rng: random.Random) -> str | None:
        said = surface(triple[which])
        places = [n for n, sign in enumerate(said) if sign.isdigit() and sign.isascii()]
        if places and rng.random() < 0.6:
            signs = list(said)
            for n in rng.sample(places, min(len(places), rng.choice([1, 1, 2]))):
                signs[n] = str((int(signs[n]) + rng.randint(1, 9)) % 10)
            return "".join(signs)
        known = self.values.get(triple[1], ()) if which == 2 else [*self.about]
        return surface(rng.choice(known)) if len(known) > 1 else None


def _shuffled(count: int, rng: random.Random) -> list[int]:
    return rng.sample(range(count), count)
