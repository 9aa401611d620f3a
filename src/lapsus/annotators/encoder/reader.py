"""Readers: what looks at a turn and the talk before it, in one language.

A reader comes out of the state of a model and goes back into it: weights travel in the model's one file. The models
that are shipped lie in `annotators/models`, where `default_model` finds them.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.turn_features import NAMES, TurnWords, features
from lapsus.annotators.model_files import State

READERS: Final = {
    "chat": "lapsus.annotators.encoder.chat_reader:ChatReader",
}
"""Where each reader is found. None is imported before a model asks for it."""
HOME: Final = ""
"""How a reader looks at a turn that is like those of the challenges' corpora."""
GENERAL: Final = "general"
"""How it looks at talk of any kind: between people, with good systems, about tasks."""
_KNOWN = 1 << 10


class Passage(NamedTuple):
    """A system turn, and the turns before it."""

    context: tuple[TurnWords, ...]
    target: str


class Reader(Protocol):
    """Reads passages. What it says of one must not depend on those that are read along with it."""

    name: ClassVar[str]
    """Its name in READERS."""

    def logits(self, passages: Sequence[Passage], view: str = HOME) -> NDArray[np.floating[Any]]:
        """A row a passage: logits of O, T and X, and after them any other numbers for the calibration to weigh.

        `view` is HOME, or GENERAL where the reader has learned that too.
        """
        ...

    def state(self) -> State:
        """What it must keep to be what it is."""
        ...

    @classmethod
    def restore(cls, state: State) -> Self:
        """The reader whose state a model's file holds."""
        ...


def restore_reader(name: str, state: State) -> Reader:
    """The reader of that name."""
    module, _, attribute = READERS[name].partition(":")
    kind: type[Reader] = getattr(importlib.import_module(module), attribute)
    return kind.restore(state)


@lru_cache(maxsize=_KNOWN)
def numbers_of(passage: Passage) -> tuple[float, ...]:
    """The plain features of a passage. The reader and the calibration both ask for them."""
    return tuple(features(passage.context, passage.target))


def feature_rows(passages: Sequence[Passage]) -> NDArray[np.float64]:
    """The plain features, a row a passage."""
    rows = [numbers_of(passage) for passage in passages]
    return np.array(rows, dtype=np.float64).reshape(-1, len(NAMES))
