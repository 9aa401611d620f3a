"""Units to judge and examples to learn from, and what a model keeps of where it learned."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError
from lapsus.measures.scores.breakdown_labels import breakdown_counts, vote_shares
from lapsus.model import EMPTY, Document, Entry, Scheme, Unit, units
from lapsus.model.unit import target_votes, wanted_units
from lapsus.model.votes import LabelVotes
from lapsus.schemes import need_askable

SIZE: Final = 8
"""Bytes a document: among a million documents two are taken for each other once in 40 million times."""


class Case(NamedTuple):
    """A unit to judge."""

    unit: Unit
    earlier: Mapping[str, float] = EMPTY
    """Under a scheme that goes on from another: the share of votes for each label there, where there are any."""


def document_of(item: Document | Entry) -> Document | None:
    """The document itself, or that of an entry."""
    return item.document if isinstance(item, Entry) else item


def cases_of(item: Document | Entry, scheme: Scheme, *, all_units: bool = False) -> Iterator[Case]:
    """The units of a document that a scheme wants judged, in order; or all, whatever its target says."""
    entry = item if isinstance(item, Entry) else Entry(item.id, item)
    if entry.document is None:
        return
    need_askable(scheme, entry.document)
    votes = target_votes(entry, scheme)
    for unit in units(entry.document, scheme.unit) if all_units else wanted_units(entry, scheme):
        counts = votes.get(unit.key)
        total = counts.total() if counts else 0
        yield Case(
            unit, {label: count / total for label, count in counts.items()} if counts and total else EMPTY
        )


def text_digest(document: Document) -> bytes:
    """Of what is said in a document, whatever it is called and whoever said it."""
    texts = [segment.text for segment in document.segments]
    return hashlib.blake2b(msgspec.json.encode(texts), digest_size=SIZE).digest()


def packed(digests: Iterable[bytes], before: bytes = b"") -> bytes:
    """Digests one after the other, with those that were packed before. The same ones give the same bytes."""
    return b"".join(sorted({*unpacked(before), *digests}))


def unpacked(digests: bytes) -> frozenset[bytes]:
    """The digests that were packed."""
    return frozenset(digests[place : place + SIZE] for place in range(0, len(digests), SIZE))


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
    """Short digests of the documents' texts, one after the other."""


def origin_of(
    scheme: Scheme, units: Iterable[Unit], votes: int, digest: str, languages: Iterable[str]
) -> Origin:
    """What a model was fitted on, where it found no words of its own."""
    seen = [unit.document for unit in units]
    return Origin(scheme.version, len(set(seen)), len(seen), votes, digest, tuple(languages), {})


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
