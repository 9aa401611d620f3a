"""Vectors of an encoder of one's own: an int8 graph and its tokenizer, as a model's file holds them. No PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.byte_graphs import exact_here
from lapsus.annotators.optional_libraries import require

Matrix: TypeAlias = NDArray[np.float32]

GRAPH, TOKENIZER = "encoder.onnx", "tokenizer.json"
LONGEST: Final = 128
"""Tokens read of a text; what follows is left out."""
_TOGETHER: Final = 16
_REMEMBERED: Final = 4_000
_DECIMALS: Final = 4
"""Vectors are rounded, so that it does not show which texts were computed together."""


class OwnVectors:
    """Gives a unit vector for each text: the mean over its tokens of what the encoder's last layer holds."""

    def __init__(self, name: str, graph: bytes, tokenizer: bytes, width: int) -> None:
        self.name, self.width = name, width
        self.files = {GRAPH: graph, TOKENIZER: tokenizer}
        library = require("tokenizers", "encoder", "an encoder of your own")
        self._tokens = library.Tokenizer.from_str(tokenizer.decode())
        self._tokens.enable_truncation(LONGEST)
        self._tokens.no_padding()
        self._session = _session(graph)
        self._known: dict[str, Matrix] = {}

    def of(self, texts: Sequence[str]) -> Matrix:
        """A row for each text. One without any sign gets zeros."""
        new = [text for text in dict.fromkeys(texts) if text.strip() and text not in self._known]
        found = {text: self._known[text] for text in texts if text in self._known}
        encoded = sorted(
            zip(new, (one.ids for one in self._tokens.encode_batch(new)), strict=True),
            key=lambda one: len(one[1]),
        )
        for start in range(0, len(encoded), _TOGETHER):
            batch = encoded[start : start + _TOGETHER]
            rows = self._rows([ids for _, ids in batch])
            found.update(zip((text for text, _ in batch), rows, strict=True))
        self._known.update((text, found[text]) for text in new[-_REMEMBERED:])
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        nothing = np.zeros(self.width, dtype=np.float32)
        return np.array([found.get(text, nothing) for text in texts], dtype=np.float32).reshape(
            -1, self.width
        )

    def forget(self) -> None:
        """Compute everything anew."""
        self._known.clear()

    def _rows(self, texts: Sequence[Sequence[int]]) -> Matrix:
        longest = max(map(len, texts))
        ids, mask = (np.zeros((len(texts), longest), dtype=np.int64) for _ in range(2))
        for place, one in enumerate(texts):
            ids[place, : len(one)], mask[place, : len(one)] = one, 1
        (rows,) = self._session.run(["vectors"], {"ids": ids, "mask": mask})
        return np.asarray(rows, dtype=np.float32).round(_DECIMALS)


def _session(graph: bytes) -> Any:
    runtime = require("onnxruntime", "detect", "an encoder of your own")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(exact_here(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no base of their own
        raise ValueError(f"the encoder cannot be read: {error}") from error
