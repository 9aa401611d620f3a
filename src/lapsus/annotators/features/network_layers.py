"""Small networks in plain numpy. They are fitted with torch and judge without it."""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=np.floating[Any])
Floats: TypeAlias = NDArray[np.floating[Any]]
Arrays: TypeAlias = Mapping[str, Floats]
"""The weights of a network, named as torch names them."""


def dense(arrays: Arrays, name: str, rows: Floats) -> Floats:
    """A linear layer."""
    product: Floats = rows @ arrays[f"{name}.weight"].T + arrays[f"{name}.bias"]
    return product


def softmax(rows: NDArray[F]) -> NDArray[F]:
    """The softmax of each row."""
    powers: NDArray[F] = np.exp(rows - rows.max(axis=-1, keepdims=True))
    shares: NDArray[F] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def log_softmax(rows: Floats) -> Floats:
    """The logarithms of what softmax gives."""
    shifted: Floats = rows - rows.max(axis=-1, keepdims=True)
    logs: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logs


def sigmoid(rows: Floats) -> Floats:
    """From any number to one between 0 and 1, without overflow."""
    squeezed: Floats = 0.5 * (np.tanh(0.5 * rows) + 1)
    return squeezed


def last(states: Floats, lengths: NDArray[np.int64]) -> Floats:
    """Each row's state at its last step."""
    chosen: Floats = states[np.arange(len(states)), np.maximum(lengths, 1) - 1]
    return chosen


def recurrent(
    arrays: Arrays,
    name: str,
    inputs: Floats,
    cell: str,
    start: tuple[Floats, Floats] | None = None,
    layer: int = 0,
) -> tuple[Floats, Floats]:
    """All states `(rows, steps, width)` of a recurrent layer, and the cell memories (an rnn has none: its states).

    What fills up short rows comes after their last step, and so changes nothing before it.
    """
    w_in, w_back = arrays[f"{name}.weight_ih_l{layer}"], arrays[f"{name}.weight_hh_l{layer}"]
    bias = arrays[f"{name}.bias_ih_l{layer}"] + arrays[f"{name}.bias_hh_l{layer}"]
    width = w_back.shape[1]
    driven = inputs @ w_in.T + bias
    state, memory = start or (np.zeros((len(inputs), width), driven.dtype),) * 2
    states, memories = np.empty((2, *driven.shape[:2], width), driven.dtype)
    for step in range(driven.shape[1]):
        drive = driven[:, step] + state @ w_back.T
        if cell == "lstm":
            take, keep, new, show = np.split(drive, 4, axis=1)
            memory = sigmoid(keep) * memory + sigmoid(take) * np.tanh(new)
            state = sigmoid(show) * np.tanh(memory)
        else:
            state = memory = np.tanh(drive)
        states[:, step], memories[:, step] = state, memory
    return states, memories
