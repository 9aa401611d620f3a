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

from lapsus.annotators.encoder.features import NAMES, Turn, features
from lapsus.annotators.storage import State

READERS: Final = {
    "english": "lapsus.annotators.encoder.english:English",
    "japanese": "lapsus.annotators.encoder.japanese:Japanese",
}
"""Where each reader is found. None is imported before a model asks for it."""
_KNOWN = 1 << 10


class Passage(NamedTuple):
    """A system turn, and the turns before it."""

    context: tuple[Turn, ...]
    target: str


class Reader(Protocol):
    """Reads passages. What it says of one must not depend on those that are read along with it."""

    name: ClassVar[str]
    """Its name in READERS."""

    def logits(self, passages: Sequence[Passage]) -> NDArray[np.floating[Any]]:
        """A row a passage: logits of O, T and X, and after them any other numbers for the calibration to weigh."""
        ...

    def state(self) -> State:
        """What it must keep to be what it is."""
        ...

    @classmethod
    def restore(cls, state: State) -> Self:
        """The reader that was kept."""
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
