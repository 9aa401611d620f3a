"""The reader of English: a small transformer on bytes, and what single words give away.

Every turn is read alone. Then nothing hangs on what else is read along with it, no time goes into filling up shorter
ones, and two turns are read side by side on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import Passage, numbers_of
from lapsus.annotators.encoder.words import SIZE, word_shares
from lapsus.annotators.extras import require
from lapsus.annotators.storage import State

MODEL, TOKENIZER = "encoder.onnx", "tokenizer.json"
TURNS: Final = 5
"""Turns of context that the transformer sees."""
TOKENS: Final = 128
"""Tokens that it sees in all; the turn itself may take up half of them."""
READ_BESIDE: Final = 2
WORDS_COUNT: Final = 3.0
"""The scale of the words' shares beside logits: what is larger is held less when the calibration is fitted."""
_PURPOSE = "judging English"
_REMEMBERED = 1 << 10


class English:
    """Reads English dialogue."""

    name: ClassVar[str] = "english"

    def __init__(self, state: State) -> None:
        self._state = state
        self._tokens = Tokens(state.files[TOKENIZER])
        self._session = make_session(state.files[MODEL])
        self._table = np.asarray(state.arrays["words"], dtype=np.float32).reshape(SIZE, 3)
        self._usual = np.asarray(state.arrays["usual"], dtype=np.float32).reshape(3)
        self._pool: ThreadPoolExecutor | None = None

    def logits(self, passages: Sequence[Passage]) -> NDArray[np.float64]:
        """A row a passage: logits of O, T and X, and the shares that the words alone would give."""
        if len(passages) < 2:
            rows = [self._row(passage) for passage in passages]
        else:
            self._pool = self._pool or ThreadPoolExecutor(READ_BESIDE, "lapsus-english")
            rows = list(self._pool.map(self._row, passages))
        return np.array(rows, dtype=np.float64).reshape(-1, 6)

    def state(self) -> State:
        """What it must keep to be what it is."""
        return self._state

    @classmethod
    def restore(cls, state: State) -> Self:
        """The reader that was kept."""
        return cls(state)

    def _row(self, passage: Passage) -> NDArray[np.float64]:
        ids, segment = self._tokens.encode(passage)
        given = {
            "ids": np.array([ids], dtype=np.int64),
            "segment": np.array([segment], dtype=np.int64),
            "features": np.array([numbers_of(passage)], dtype=np.float32),
        }
        logits = self._session.run(None, given)[0][0]
        words = word_shares(passage, self._table, self._usual)
        return np.concatenate([logits, WORDS_COUNT * words])


class Tokens:
    """Turns as numbers: [CLS] the talk before [SEP] the turn [SEP]."""

    def __init__(self, content: bytes) -> None:
        tokenizers = require("tokenizers", "detect", _PURPOSE)
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(content.decode())
        except Exception as error:  # the library raises nothing more special
            raise ValueError(f"the tokenizer cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Words never reach across turns, and a turn is context of several: each is taken apart once.
        self._ids = lru_cache(maxsize=_REMEMBERED)(self._encode)
        self._begin, self._end = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))

    def encode(self, passage: Passage) -> tuple[list[int], list[int]]:
        """The tokens, and for each whether it is of the turn itself. What is too long loses its beginning."""
        target = self._ids(True, passage.target)[: TOKENS // 2]
        talk = [id for turn in passage.context[-TURNS:] for id in self._ids(*turn)]
        before = talk[-(TOKENS - 3 - len(target)) :]
        ids = [self._begin, *before, self._end, *target, self._end]
        return ids, [0] * (len(before) + 2) + [1] * (len(target) + 1)

    def _encode(self, by_system: bool, text: str) -> list[int]:
        said = f"{'S' if by_system else 'U'}: {text}"
        ids: list[int] = self._tokenizer.encode(said, add_special_tokens=False).ids
        return ids


def make_session(content: bytes) -> Any:
    """One thread a turn. Fusing sums with what follows them, and a store of memory of its own, make it slower."""
    runtime = require("onnxruntime", "detect", _PURPOSE)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no base of their own
        raise ValueError(f"the encoder cannot be read: {error}") from error
