"""What the trainings of readers share: batches made beside the accelerator, and steps.

It needs PyTorch and numpy alone, so that it runs on machines without Lapsus.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PAD = 0
"""The token that fills up shorter turns, in both vocabularies."""
READ_AT_ONCE = 512 if DEVICE == "cuda" else 32
WAITING = 24
"""Batches that wait for the accelerator."""
PATIENCE = 600.0
"""Seconds to wait for a batch before something must be wrong with those who make them."""

Encoded: TypeAlias = tuple[list[int], list[int]]
"""Tokens, and for each whether it is of the turn itself."""
Arrays: TypeAlias = tuple[NDArray[Any], ...]


def padded(rows: Sequence[Encoded], pad: int = PAD) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tokens and segments (turns, tokens), filled up to the longest."""
    longest = max(len(ids) for ids, _ in rows)
    ids = np.full((len(rows), longest), pad, dtype=np.int64)
    segments = np.zeros_like(ids)
    for place, (tokens, own) in enumerate(rows):
        ids[place, : len(tokens)] = tokens
        segments[place, : len(own)] = own
    return ids, segments


def on_device(arrays: Arrays) -> list[Tensor]:
    """The arrays where the network is."""
    return [torch.from_numpy(array).to(DEVICE, non_blocking=True) for array in arrays]


@contextmanager
def batches(
    make: Callable[[random.Random], Arrays], makers: int, first: int = 0
) -> Iterator[Iterator[list[Tensor]]]:
    """Batches without end, made by processes that end with the block; each has random numbers of its own."""
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue(WAITING)

    def fill(seed: int) -> None:
        rng = random.Random(seed)
        while True:
            queue.put(make(rng))

    def drawn() -> Iterator[list[Tensor]]:
        while True:
            yield on_device(queue.get(timeout=PATIENCE))

    processes = [
        context.Process(target=fill, args=(seed,), daemon=True) for seed in range(first, first + makers)
    ]
    for process in processes:
        process.start()
    try:
        yield drawn()
    finally:
        for process in processes:
            process.terminate()


class Steps:
    """AdamW whose rate rises over the `warmup` share of all steps and then falls to nothing; gradients are cut at 1.

    Where `seconds` are given, they end the steps before `count` does, and the rate falls with the time that is left.
    """

    def __init__(
        self, net: nn.Module, count: int, settings: Mapping[str, Any], seconds: float = math.inf
    ) -> None:
        self.count, self.done = count, 0
        self._begun, self._seconds = time.monotonic(), max(seconds, 1e-3)
        self._rate, self._rising = settings["rate"], max(1.0, settings["warmup"] * count)
        self._weights = [weight for weight in net.parameters() if weight.requires_grad]
        self._optimiser = torch.optim.AdamW(
            self._weights,
            lr=self._rate,
            weight_decay=settings["decay"],
            betas=tuple(settings["betas"]),
            fused=DEVICE == "cuda",
        )

    @property
    def gone(self) -> float:
        """The share of the steps, or of the time, that is over: 1 or more at the end."""
        return max(self.done / self.count, (time.monotonic() - self._begun) / self._seconds)

    def take(self, loss: Tensor) -> None:
        """One step down."""
        share = min(1.0, (self.done + 1) / self._rising) * max(0.0, 1 - self.gone)
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate * share
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._weights, 1.0)
        self._optimiser.step()
        self.done += 1


def cast() -> AbstractContextManager[Any]:
    """Half precision where there is an accelerator."""
    return torch.autocast(DEVICE, dtype=torch.bfloat16) if DEVICE == "cuda" else nullcontext()


def cross_entropy(wanted: Tensor, logits: Tensor) -> Tensor:
    """A number a row, for shares instead of labels."""
    return -(wanted * logits.log_softmax(-1)).sum(-1)


@torch.no_grad()
def read_all(
    read: Callable[[Tensor, Tensor], Tensor], rows: Sequence[Encoded], pad: int = PAD
) -> NDArray[np.float32]:
    """What is said of each row, in the order given; rows of like length are read together."""
    order = sorted(range(len(rows)), key=lambda place: len(rows[place][0]))
    found: dict[int, NDArray[np.float32]] = {}
    for start in range(0, len(order), READ_AT_ONCE):
        places = order[start : start + READ_AT_ONCE]
        with cast():
            said = read(*on_device(padded([rows[place] for place in places], pad)))
        found.update(zip(places, said.float().cpu().numpy(), strict=True))
    return np.array([found[place] for place in range(len(rows))], dtype=np.float32)
