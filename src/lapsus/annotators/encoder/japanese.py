"""The reader of Japanese: sentence vectors, how well the turn fits what it answers, and like turns that were judged.

What people said of like turns is a first answer; decision trees and small networks, half and half, weigh it against
all else that is known of the turn. This needs nothing but numpy. Vectors of the latest utterances are remembered, so
that each is computed once. Beside it stands a transformer that knows Japanese chats and alone reads talk of any kind,
and dialogues' first turns: those of the corpora are all alike, so nothing was to be learned from them.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.japanese_chat import LOWER, Chat
from lapsus.annotators.encoder.japanese_kernel import SEEN, Findings, KernelRegression, Matrix, TurnVectors
from lapsus.annotators.encoder.japanese_nets import Nets
from lapsus.annotators.encoder.japanese_surface import form_rows
from lapsus.annotators.encoder.japanese_tokenizer import Pieces
from lapsus.annotators.encoder.japanese_trees import Trees
from lapsus.annotators.encoder.japanese_vectors import Vectors
from lapsus.annotators.encoder.reader import GENERAL, HOME, Passage, feature_rows
from lapsus.annotators.features.sentence_encoder import WIDTH
from lapsus.annotators.model_files import State

ENCODER: Final = "encoder."
MACHINE: Final = "machine."
TREES: Final = "trees."
NETS: Final = "nets."
VIEW: Final = "view"
_LEAST_SHARE = 0.005
_DECIMALS = 4
"""Of the logits: finer differences are noise of the order in which numbers are added up."""


class Japanese:
    """Reads Japanese dialogue."""

    name: ClassVar[str] = "japanese"

    def __init__(self, state: State) -> None:
        self._state = state
        self._vectors = Vectors(Pieces(state.data["pieces"], state.data["scores"]), _under(state, ENCODER))
        self._machine = KernelRegression(_under(state, MACHINE), state.data["replies"])
        self._trees = Trees.restore(_under(state, TREES))
        self._nets = Nets.restore(_under(state, NETS))
        self._view: Matrix = state.arrays[VIEW].astype(np.float32)
        self._chat = Chat(state.files) if LOWER in state.files else None

    def logits(self, passages: Sequence[Passage], view: str = HOME) -> NDArray[np.floating[Any]]:
        """A row a passage: logits of O, T and X, and those of the transformer. In general: all that it has to say."""
        if self._chat is None:
            return self._known_logits(passages)
        if view == GENERAL:
            return self._chat.said(passages, GENERAL)
        parts: list[NDArray[Any]] = [self._known_logits(passages)]
        if self._chat.knows(HOME):
            parts.append(self._chat.said(passages, HOME).reshape(-1, 3))
        rows = np.hstack(parts)
        first = [place for place, passage in enumerate(passages) if not passage.context]
        if first:
            said = self._chat.said([passages[place] for place in first], GENERAL)[:, :3]
            rows[first] = np.hstack([said] * len(parts))
        return rows

    def _known_logits(self, passages: Sequence[Passage]) -> Matrix:
        """From what people said of like turns."""
        if not passages:
            return np.zeros((0, 3), dtype=np.float32)
        with _one_thread():
            scene = scene_of(passages, self._vectors)
            known = known_rows(passages, scene, self._machine.findings(scene), self._view)
            return logits_of(mixed(known, scene, self._trees, self._nets))

    def forget(self) -> None:
        """Compute every vector anew."""
        self._vectors.forget()

    def state(self) -> State:
        """What it must keep to be what it is."""
        return self._state

    @classmethod
    def restore(cls, state: State) -> Self:
        """The reader whose state a model's file holds."""
        return cls(state)


def _one_thread() -> AbstractContextManager[Any]:
    """Products of matrices in one thread: these are small, and threads that wait for a busy core cost more."""
    control = _thread_control()
    return nullcontext() if control is None else control.limit(limits=1, user_api="blas")


@cache
def _thread_control() -> Any:
    """What sets numpy's threads, where it is installed. Looking for numpy's libraries takes a while: once is enough."""
    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None


def mixed(known: Matrix, scene: TurnVectors, trees: Trees, nets: Nets) -> Matrix:
    """How votes would fall: what trees and networks say, half and half."""
    shares: Matrix = np.float32(0.5) * (trees.mean(known) + nets.mean(known, scene))
    return shares


def logits_of(shares: NDArray[np.floating[Any]]) -> Matrix:
    """Logits from shares of votes as regression gives them, which may lie outside of 0 and 1."""
    logits: Matrix = np.log(np.clip(shares, _LEAST_SHARE, 1)).round(_DECIMALS).astype(np.float32)
    return logits


def scene_of(passages: Sequence[Passage], vectors: Vectors) -> TurnVectors:
    """The passages as the kernel sees them."""
    texts = [text for passage in passages for text in _texts(passage)]
    rows = vectors.of(texts).reshape(len(passages), SEEN + 1, WIDTH)
    target, earlier = rows[:, 0], rows[:, 1:]
    alike: Matrix = np.einsum("nd,nkd->nk", target, earlier)
    first = np.array([[not passage.context] for passage in passages])
    plain = np.hstack([feature_rows(passages), alike, first]).astype(np.float32)
    return TurnVectors(target, earlier[:, 0], earlier[:, 1], plain)


def known_rows(passages: Sequence[Passage], scene: TurnVectors, findings: Findings, view: Matrix) -> Matrix:
    """All that trees and networks go by, a row a passage. `view` shows vectors in the directions that tell most."""
    target, last = scene.target @ view, scene.last @ view
    rows: Matrix = np.hstack([form_rows(passages), *findings, target, last, target - last])
    return rows


def _texts(passage: Passage) -> list[str]:
    """The target and the turns before it, the latest first; nothing where there were fewer."""
    before = [turn.text for turn in passage.context[: -SEEN - 1 : -1]]
    return [passage.target, *before, *[""] * (SEEN - len(before))]


def _under(state: State, prefix: str) -> dict[str, NDArray[np.generic]]:
    return {
        name.removeprefix(prefix): array for name, array in state.arrays.items() if name.startswith(prefix)
    }
