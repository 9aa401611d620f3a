"""The reader of English: a small transformer on bytes, and what single words give away.

For talk of any kind, another small network looks at what its layers have found.

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

from lapsus.annotators.byte_graphs import exact_here
from lapsus.annotators.encoder.reader import GENERAL, HOME, Passage, numbers_of
from lapsus.annotators.encoder.word_weights import SIZE, word_shares
from lapsus.annotators.features.subwords import Subwords
from lapsus.annotators.model_files import State
from lapsus.annotators.optional_libraries import require
from lapsus.annotators.protobuf import content_field, number_field

MODEL, TOKENIZER, UPPER = "encoder.onnx", "tokenizer.json", "general.onnx"
LAYERS: Final = "layers"
"""In the reader's data: the names that the outputs of its layers have in the graph, as far as UPPER looks at them."""
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
        self._layers = [str(name) for name in state.data.get(LAYERS, ())]
        self._session = make_session(state.files[MODEL] + b"".join(map(output_named, self._layers)))
        self._upper = make_session(state.files[UPPER]) if self._layers else None
        self._table = np.asarray(state.arrays["words"], dtype=np.float32).reshape(SIZE, 3)
        self._usual = np.asarray(state.arrays["usual"], dtype=np.float32).reshape(3)
        self._pool: ThreadPoolExecutor | None = None

    def logits(self, passages: Sequence[Passage], view: str = HOME) -> NDArray[np.float64]:
        """A row a passage: logits of O, T and X, and the shares that the words alone would give.

        In general: what the other network says, and the logits.
        """
        row = self._general if view == GENERAL else self._row
        if len(passages) < 2:
            rows = [row(passage) for passage in passages]
        else:
            self._pool = self._pool or ThreadPoolExecutor(READ_BESIDE, "lapsus-english")
            rows = list(self._pool.map(row, passages))
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

    def forget(self) -> None:
        """Turns are read one by one, so that nothing depends on others."""

    def state(self) -> State:
        """What it must keep to be what it is."""
        return self._state

    @classmethod
    def restore(cls, state: State) -> Self:
        """The reader whose state a model's file holds."""
        return cls(state)

    def _row(self, passage: Passage) -> NDArray[np.float64]:
        (logits,) = self._session.run(["logits"], self._given(passage))
        words = word_shares(passage, self._table, self._usual)
        return np.concatenate([logits[0], WORDS_COUNT * words])

    def _general(self, passage: Passage) -> NDArray[np.float64]:
        if self._upper is None:
            raise ValueError("the reader has not learned to look at talk of any kind")
        given = self._given(passage)
        logits, *found = self._session.run(["logits", *self._layers], given)
        rows = dict(zip(self._layers, found, strict=True))
        (said,) = self._upper.run(None, {**rows, "segment": given["segment"]})
        return np.concatenate([said[0], logits[0]])

    def _given(self, passage: Passage) -> dict[str, NDArray[Any]]:
        ids, segment = self._tokens.encode(passage)
        return {
            "ids": np.array([ids], dtype=np.int64),
            "segment": np.array([segment], dtype=np.int64),
            "features": np.array([numbers_of(passage)], dtype=np.float32),
        }


class Tokens:
    """Turns as numbers: [CLS] the talk before [SEP] the turn [SEP]."""

    def __init__(self, content: bytes) -> None:
        self._tokenizer = Subwords(content)
        # Words never reach across turns, and a turn is context of several: each is taken apart once.
        self._ids = lru_cache(maxsize=_REMEMBERED)(self._encode)
        self._begin, self._end = (self._tokenizer.id_of(token) for token in ("[CLS]", "[SEP]"))

    def encode(self, passage: Passage) -> tuple[list[int], list[int]]:
        """The tokens, and for each whether it is of the turn itself. What is too long loses its beginning."""
        target = self._ids(True, passage.target)[: TOKENS // 2]
        talk = [id for turn in passage.context[-TURNS:] for id in self._ids(*turn)]
        before = talk[-(TOKENS - 3 - len(target)) :]
        ids = [self._begin, *before, self._end, *target, self._end]
        return ids, [0] * (len(before) + 2) + [1] * (len(target) + 1)

    def _encode(self, by_system: bool, text: str) -> list[int]:
        said = f"{'S' if by_system else 'U'}: {text}"
        return self._tokenizer.ids(said)


def output_named(name: str) -> bytes:
    """One more output for a graph of ONNX, to be put after its bytes.

    Messages of protobuf that follow each other are read as one: here a model that is nothing but a graph, which is
    nothing but an output of floats (fields 7 and 12; name and type are 1 and 2, and 1 is the number of float).
    """
    floats = content_field(2, content_field(1, number_field(1, 1)))
    return content_field(7, content_field(12, content_field(1, name.encode()) + floats))


def make_session(content: bytes) -> Any:
    """One thread a turn. Fusing sums with what follows them, and a store of memory of its own, make it slower."""
    runtime = require("onnxruntime", "detect", _PURPOSE)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(exact_here(content), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no base of their own
        raise ValueError(f"the encoder cannot be read: {error}") from error
