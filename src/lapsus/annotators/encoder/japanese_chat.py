"""A small transformer that was pre-trained on Japanese chats: its lower layers, and upper ones for each view.

Every turn is read alone, two of them side by side, as in English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Final
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.english import READ_BESIDE, make_session
from lapsus.annotators.encoder.reader import GENERAL, HOME, Passage
from lapsus.annotators.features.subwords import Subwords

TOKENIZER, LOWER = "chat-tokenizer.json", "chat-lower.onnx"
UPPER: Final = {HOME: "chat-home.onnx", GENERAL: "chat-general.onnx"}
TURNS: Final = 6
"""Turns of context that it sees."""
TOKENS: Final = 160
"""Tokens that it sees in all."""
OF_A_TURN: Final = 60
_REMEMBERED = 1 << 10


class ChatTokens:
    """Turns as numbers: [CLS] the talk before [SEP] the turn [SEP], each turn with who said it, [U] or [S]."""

    def __init__(self, content: bytes) -> None:
        self._tokenizer = Subwords(content)
        self._ids = lru_cache(maxsize=_REMEMBERED)(self._encode)
        names = ("[CLS]", "[SEP]", "[U]", "[S]")
        self._begin, self._end, *self._speakers = (self._tokenizer.id_of(name) for name in names)

    def encode(self, passage: Passage) -> tuple[list[int], list[int]]:
        """The tokens, and for each whether it is of the turn itself. What is too long loses its beginning."""
        target = self._ids(True, passage.target)
        talk = [id for turn in passage.context[-TURNS:] for id in self._ids(*turn)]
        before = talk[-(TOKENS - 3 - len(target)) :]
        ids = [self._begin, *before, self._end, *target, self._end]
        return ids, [0] * (len(before) + 2) + [1] * (len(target) + 1)

    def _encode(self, by_system: bool, text: str) -> list[int]:
        return [self._speakers[by_system], *self._tokenizer.ids(normalize("NFKC", text))[:OF_A_TURN]]


class Chat:
    """Reads passages with the transformer."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._tokens = ChatTokens(files[TOKENIZER])
        self._lower = make_session(files[LOWER])
        self._upper = {view: make_session(files[name]) for view, name in UPPER.items() if name in files}
        self._pool: ThreadPoolExecutor | None = None

    def knows(self, view: str) -> bool:
        """Whether it has learned to look at turns so."""
        return view in self._upper

    def said(self, passages: Sequence[Passage], view: str) -> NDArray[np.float64]:
        """A row a passage: logits of O, T and X, and what else there is to say in this view."""
        if len(passages) < 2:
            rows = [self._row(passage, view) for passage in passages]
        else:
            self._pool = self._pool or ThreadPoolExecutor(READ_BESIDE, "lapsus-japanese")
            rows = list(self._pool.map(lambda passage: self._row(passage, view), passages))
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

    def _row(self, passage: Passage, view: str) -> NDArray[Any]:
        tokens, own = self._tokens.encode(passage)
        ids, segment = (np.array([numbers], dtype=np.int64) for numbers in (tokens, own))
        (rows,) = self._lower.run(None, {"ids": ids, "segment": segment})
        (said,) = self._upper[view].run(None, {"rows": rows, "segment": segment})
        return np.asarray(said[0])
