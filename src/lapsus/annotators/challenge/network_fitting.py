"""Fitting small networks with torch: the same seed gives the same weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.optional_libraries import require
from lapsus.annotators.progress import Progress

BATCH = 32


class FittingSchedule(NamedTuple):
    """How a network is fitted."""

    epochs: int
    rate: float
    decay: float
    seed: int


@contextmanager
def torch_for(seed: int) -> Iterator[Any]:
    """Torch, seeded, on one thread: sums come out the same on every machine, and small networks are no slower."""
    torch = require("torch", "train", "fitting this method")
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    try:
        yield torch
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(state)


def minimise(
    torch: Any,
    network: Any,
    loss: Callable[[NDArray[np.intp]], Any],
    size: int,
    plan: FittingSchedule,
    progress: Progress,
) -> None:
    """Go through all examples some times in random batches, with a learning rate that falls to nothing.

    `loss` is given the places of the examples of a batch.
    """
    steps = plan.epochs * -(-size // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), lr=plan.rate, weight_decay=plan.decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / max(steps, 1)))
    generator = np.random.default_rng(plan.seed)
    network.train()
    done = 0
    for _ in range(plan.epochs):
        order = generator.permutation(size)
        for start in range(0, size, BATCH):
            optimizer.zero_grad()
            loss(order[start : start + BATCH]).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            progress(done, steps)
    network.eval()


def soft_loss(torch: Any, logits: Any, shares: Any) -> Any:
    """Cross-entropy to the distribution of votes, not to one label."""
    return -(shares * torch.log_softmax(logits, dim=-1)).sum(dim=-1).mean()


def weights_of(network: Any) -> dict[str, NDArray[np.float32]]:
    """The weights as numpy arrays, named as torch names them."""
    return {name: tensor.detach().numpy().copy() for name, tensor in network.state_dict().items()}


def take_weights(torch: Any, network: Any, arrays: Any) -> None:
    """Put weights into a network."""
    network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
