"""The English reader at home as one graph: the form in which it is trained, exported and calibrated.

`readers.py en` then cuts it into the halves that are shipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.encoder.chat_reader import SIZE, TOKENIZER, WORDS_COUNT, word_shares
from lapsus.annotators.encoder.reader import HOME, Passage, numbers_of
from lapsus.annotators.encoder.tokens import EnglishTokens
from lapsus.annotators.model_files import State

MODEL: Final = "encoder.onnx"
_BESIDE = 2


class HomeReader:
    """Gives logits of O, T and X, and the shares that the words alone would give."""

    name: ClassVar[str] = "home"

    def __init__(self, state: State) -> None:
        self._state = state
        self._tokens = EnglishTokens(state.files[TOKENIZER])
        self._session = make_session(state.files[MODEL])
        self._table = np.asarray(state.arrays["words"], dtype=np.float32).reshape(SIZE, 3)
        self._usual = np.asarray(state.arrays["usual"], dtype=np.float32).reshape(3)
        self._pool = ThreadPoolExecutor(_BESIDE)

    def logits(self, passages: Sequence[Passage], view: str = HOME) -> NDArray[np.float64]:
        """A row a passage."""
        rows = list(self._pool.map(self._row, passages))
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

    def state(self) -> State:
        """What it must keep to be what it is."""
        return self._state

    def _row(self, passage: Passage) -> NDArray[np.float64]:
        ids, segment = self._tokens.encode(passage)
        given = {
            "ids": np.array([ids], dtype=np.int64),
            "segment": np.array([segment], dtype=np.int64),
            "features": np.array([numbers_of(passage)], dtype=np.float32),
        }
        (logits,) = self._session.run(["logits"], given)
        return np.concatenate([logits[0], WORDS_COUNT * word_shares(passage, self._table, self._usual)])
