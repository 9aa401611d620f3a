"""The network under the judge of error types: one hidden layer on the judge's features, then a share for each type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import brief
import numpy as np
import torch
from guideline_data import Example
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lapsus.annotators.judge.judge import raised
from lapsus.annotators.judge.regression import Weights, predict

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]

HIDDEN: Final = 256
DRAWN: Final = 45_000
"""Rows that are drawn while it is trained, each as likely as it counts."""
_BATCH, _RATE, _HELD = 128, 2e-3, 0.3
_UNSEEN: Final = (0.1, 0.3)
"""Shares of features and of hidden numbers that are left out of each step."""
_TINY: Final = 1e-4


class Network(NamedTuple):
    """A trained network: the hidden layer, and from it to the types."""

    hidden: Weights
    types: Weights

    def shares(self, rows: Rows) -> Matrix:
        """For each row the share of each type; they sum to 1."""
        return predict(raised(rows, self.hidden), self.types, exclusive=True)


class _Lesson(NamedTuple):
    rows: Tensor
    shares: Tensor
    beside: Tensor
    """The type that a near miss is taken for; -1 for all others."""
    counts: Tensor


def trained(
    rows: Rows, shares: Matrix, examples: Sequence[Example], labels: Sequence[str], drawn: int = DRAWN
) -> Network:
    """A network to whose shares those given are likeliest. A near miss says which type it is not, and no more."""
    beside = [labels.index(one.beside) if one.beside else -1 for one in examples]
    given = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
    lesson = _Lesson(
        torch.tensor(rows),
        torch.tensor(given, dtype=torch.float32),
        torch.tensor(beside),
        torch.tensor([float(one.times) for one in examples]),
    )
    torch.set_num_threads(1)  # on matrices as small as these more of them wait for each other
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Dropout(_UNSEEN[0]),
        nn.Linear(rows.shape[1], HIDDEN),
        nn.ReLU(),
        nn.Dropout(_UNSEEN[1]),
        nn.Linear(HIDDEN, shares.shape[1]),
    )
    steps = brief.steps(max(1, drawn // _BATCH))
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_HELD)
    slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    for _ in range(steps):
        here = torch.multinomial(lesson.counts, _BATCH, replacement=True)
        loss = _surprise(network(lesson.rows[here]), lesson.shares[here], lesson.beside[here])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        slower.step()
    return Network(_weights(network[1]), _weights(network[4]))


def _surprise(logits: Tensor, shares: Tensor, beside: Tensor) -> Tensor:
    """Cross-entropy to the shares given; for a near miss the surprise that its type is not the one."""
    logs = functional.log_softmax(logits, 1)
    taken = logs.gather(1, beside.clamp(min=0)[:, None])[:, 0].exp()
    missed = -torch.log((1 - taken).clamp(min=_TINY))
    return torch.where(beside >= 0, missed, -(shares * logs).sum(1)).mean()


def _weights(layer: Any) -> Weights:
    slopes, bias = (part.detach().double().numpy() for part in (layer.weight, layer.bias))
    return Weights(slopes.T, bias)
