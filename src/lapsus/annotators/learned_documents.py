"""Which documents a model learned from, as short digests of their texts: what it is not to be tested on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

from lapsus.model import Document

SIZE: Final = 8
"""Bytes a document: among a million documents two are taken for each other once in 40 million times."""


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
