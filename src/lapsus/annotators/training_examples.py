"""Examples: units with what people said of them, and where the fitting got them from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError
from lapsus.measures.scores.breakdown_labels import breakdown_counts, vote_shares
from lapsus.model import Document, Unit, UnitRule, units
from lapsus.model.votes import LabelVotes


class Example(NamedTuple):
    """A turn, seen as its judge sees it, and how many people chose O, T and X."""

    unit: Unit
    counts: tuple[int, int, int]


class Origin(msgspec.Struct, frozen=True):
    """What a model was fitted on: how much, a digest of all of it, and how its words were found."""

    version: str
    """Of the scheme."""
    documents: int
    units: int
    votes: int
    digest: str
    languages: tuple[str, ...]
    words: dict[str, str]
    """For each language how words were found: `spaces`, `sudachi` or `characters`."""
    before: str | None = None
    """The digest of what the model had learned from before it was adapted."""
    texts: bytes = b""
    """Short digests of the documents' texts, one after the other; models of before have none."""


def make_examples(documents: Iterable[Document], votes: LabelVotes, rule: UnitRule) -> Iterator[Example]:
    """The units that somebody voted on, in the order of the documents."""
    return voted_examples((unit for document in documents for unit in units(document, rule)), votes)


def voted_examples(units: Iterable[Unit], votes: LabelVotes) -> Iterator[Example]:
    """Those of some units that somebody voted on."""
    rows = dict(zip(votes.units, breakdown_counts(votes).tolist(), strict=True))
    for unit in units:
        o, t, x = rows.get(unit.key, (0, 0, 0))
        if o + t + x:
            yield Example(unit, (o, t, x))


def shares(examples: Sequence[Example]) -> NDArray[np.float64]:
    """The share of votes for O, T and X: a row an example."""
    return vote_shares(np.array([example.counts for example in examples], dtype=np.int64).reshape(-1, 3))


def by_document(examples: Iterable[Example]) -> list[list[Example]]:
    """The examples of each document together, in order."""
    groups: dict[str, list[Example]] = {}
    for example in examples:
        groups.setdefault(example.unit.document, []).append(example)
    return list(groups.values())


def folds(examples: Sequence[Example], count: int, seed: int) -> NDArray[np.intp]:
    """For each example the fold it falls in. Examples of one document fall together."""
    names = list(dict.fromkeys(example.unit.document for example in examples))
    drawn = np.random.default_rng(seed).permutation(len(names)) % count
    fold = dict(zip(names, drawn.tolist(), strict=True))
    return np.array([fold[example.unit.document] for example in examples], dtype=np.intp)


def digest(examples: Iterable[Example]) -> str:
    """A few letters that differ where texts or votes differ."""
    hashed = hashlib.blake2b(digest_size=12)
    for unit, counts in examples:
        texts = [segment.text for segment in unit.visible[-2:]]
        hashed.update(msgspec.json.encode([unit.document, unit.key.segment, texts, counts]))
    return hashed.hexdigest()


def require_examples(examples: Sequence[Example]) -> None:
    """There must be something to learn from."""
    if not examples:
        raise InputError("no-judged-system-turn", hint="give-dialogues-judgments-under")
