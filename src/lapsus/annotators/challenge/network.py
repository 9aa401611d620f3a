"""What methods with a small network have in common: fitted with torch, several at once, judging in numpy."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress, part_of
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.cases import Example, shares
from lapsus.annotators.features.network_layers import Arrays, softmax
from lapsus.annotators.library import need_above_zero, need_at_least, need_share
from lapsus.annotators.model_files import State
from lapsus.annotators.optional_libraries import require
from lapsus.model import Unit

Inputs: TypeAlias = tuple[NDArray[Any], ...]
"""Arrays with a row a unit."""
BATCH = 32


@dataclass(kw_only=True, eq=False)
class NetworkAnnotator(BreakdownAnnotator):
    """A method whose last part is a network. It judges by the mean of several, each from a seed of its own."""

    adapts = True
    preparing: ClassVar[float] = 0.0
    """The share of the fitting that goes by before the network itself is fitted."""

    hidden: int = 48
    dropout: float = 0.4
    epochs: int = 8
    rate: float = 0.003
    decay: float = 0.01
    members: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        need_at_least(1, hidden=self.hidden, epochs=self.epochs, members=self.members)
        need_at_least(0, seed=self.seed)
        need_above_zero(rate=self.rate)
        need_share(dropout=self.dropout, rate=self.rate, decay=self.decay)

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        inputs = self._prepare(examples, part_of(progress, 0.0, self.preparing))
        rest = part_of(progress, self.preparing, 1.0)
        self.networks_: list[Arrays] = self._train(examples, inputs, [None] * self.members, rest)

    def _adapt(self, examples: Sequence[Example], progress: Progress) -> None:
        inputs = self._inputs([example.unit for example in examples])
        self.networks_ = self._train(examples, inputs, self.networks_, progress)

    def _train(
        self,
        examples: Sequence[Example],
        inputs: Inputs,
        starts: Sequence[Arrays | None],
        progress: Progress,
    ) -> list[Arrays]:
        trained: list[Arrays] = []
        for place, start in enumerate(starts):

            def tell(done: int, total: int, before: int = place) -> None:
                progress(before * total + done, len(starts) * total)

            trained.append(self._train_one(examples, inputs, start, self.seed + place, tell))
        return trained

    def _train_one(
        self,
        examples: Sequence[Example],
        inputs: Inputs,
        start: Arrays | None,
        seed: int,
        progress: Progress,
    ) -> Arrays:
        with torch_for(seed) as torch:
            network = self._build(torch, inputs)
            if start is not None:
                take_weights(torch, network, start)
            tensors = [torch.from_numpy(array) for array in inputs]
            gold = torch.from_numpy(shares(examples).astype(np.float32))

            def loss(chosen: NDArray[np.intp]) -> Any:
                rows = torch.from_numpy(chosen)
                answers = self._forward(torch, network, [tensor[rows] for tensor in tensors])
                return soft_loss(torch, answers, gold[rows])

            plan = FittingSchedule(self.epochs, self.rate, self.decay, seed)
            minimise(torch, network, loss, len(examples), plan, progress)
            return weights_of(network)

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        inputs = self._inputs(units)
        rows: NDArray[Any] = np.mean(
            [softmax(self._judge(arrays, inputs).astype(np.float64)) for arrays in self.networks_], axis=0
        )
        return rows

    @abstractmethod
    def _prepare(self, examples: Sequence[Example], progress: Progress) -> Inputs:
        """Learn what the network is fed with, and give it for the examples.

        What was learned from an example itself must not show in what it is fed as.
        """

    @abstractmethod
    def _inputs(self, units: Sequence[Unit]) -> Inputs:
        """What the network is fed with."""

    @abstractmethod
    def _build(self, torch: Any, inputs: Inputs) -> Any:
        """The network, as a torch module."""

    @abstractmethod
    def _forward(self, torch: Any, network: Any, inputs: Sequence[Any]) -> Any:
        """The network's answers before softmax, in torch."""

    @abstractmethod
    def _judge(self, arrays: Arrays, inputs: Inputs) -> NDArray[Any]:
        """The same in numpy."""

    def _network_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            f"net{place}.{name}": array
            for place, arrays in enumerate(self.networks_)
            for name, array in arrays.items()
        }

    def _take_network_arrays(self, state: State) -> None:
        self.networks_ = []
        for place in range(self.members):
            mark = f"net{place}."
            found = {k.removeprefix(mark): array for k, array in state.arrays.items() if k.startswith(mark)}
            if not found:
                raise ValueError(f"network {place} is missing")
            self.networks_.append(found)


class FittingSchedule(NamedTuple):
    """How a network is fitted."""

    epochs: int
    rate: float
    decay: float
    seed: int


@contextmanager
def torch_for(seed: int) -> Iterator[Any]:
    """Torch, seeded, on one thread: sums come out the same on every machine, and small networks are no slower."""
    torch = require("torch", "train", "purpose-network")
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


PAD, UNKNOWN = 0, 1
"""Numbers that stand for no word: the filling of short rows, and words that the model does not know."""
RESERVED = 2


class Vocabulary:
    """The words that a model knows, by number."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.numbers = {word: place for place, word in enumerate(self.words, RESERVED)}

    @classmethod
    def of(cls, utterances: Iterable[Sequence[str]], *, most: int, at_least: int = 1) -> Vocabulary:
        """The most frequent words; among equals the first in the alphabet, so that the order is always the same."""
        counts = Counter(word for utterance in utterances for word in utterance)
        kept = [item for item in counts.items() if item[1] >= at_least]
        kept.sort(key=lambda item: (-item[1], item[0]))
        return cls([word for word, _ in kept[:most]])

    def __len__(self) -> int:
        return len(self.words) + RESERVED

    def encode(self, words: Sequence[str]) -> list[int]:
        """The number of each word; words outside the vocabulary share one."""
        numbers = self.numbers
        return [numbers.get(word, UNKNOWN) for word in words]


def pad(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of numbers in one array, short ones filled up, and their lengths. No row is shorter than one."""
    lengths = np.array([max(len(row), 1) for row in rows], dtype=np.int64)
    filled = np.full((len(rows), int(lengths.max(initial=1))), PAD, dtype=np.int64)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return filled, lengths
