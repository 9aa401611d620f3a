"""How the Japanese reader's networks learn: from turns that people judged, and from made ones that a teacher judged."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from lapsus.annotators.encoder.japanese_kernel import Matrix, Scale, Scene
from lapsus.annotators.encoder.japanese_nets import VECTOR_SCALE

Arrays: TypeAlias = dict[str, NDArray[Any]]

WIDTH, DROP, RATE, DECAY, BATCH, ROUNDS = 256, 0.3, 1e-3, 0.02, 128, 12
MADE_WEIGHT = 0.5
"""What a made turn counts, where a real one counts 1."""
_WARM_UP = 200
_LEAST_RATE = 0.01


class Turns(NamedTuple):
    """Turns to learn from, a row each."""

    known: Matrix
    scene: Scene
    shares: NDArray[np.float64]

    def at(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Turns:
        """Some of them."""
        return Turns(self.known[rows], Scene(*(part[rows] for part in self.scene)), self.shares[rows])


class Net(nn.Module):
    """The network, as it learns; `Nets` of the package is the same in numpy."""

    def __init__(self, columns: int, vector: int) -> None:
        super().__init__()
        self.known = nn.Linear(columns, WIDTH)
        self.turn = nn.Linear(vector, WIDTH)
        self.pair = nn.Linear(2 * vector, WIDTH)
        self.join = nn.Linear(5 * WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, 3)

    def forward(self, known: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """Logits of O, T and X, from what is known and the vectors of three turns."""
        target, last = vectors[:, 0], vectors[:, 1]
        pair = torch.cat([target * last, (target - last).abs()], dim=1)
        scale = float(VECTOR_SCALE)
        seen = self.turn(self._dropped(vectors) * scale).flatten(1)
        parts = [self.known(self._dropped(known)), seen, self.pair(self._dropped(pair) * scale)]
        joined = self.join(self._dropped(_bent(torch.cat(parts, dim=1))))
        logits: torch.Tensor = self.out(self._dropped(_bent(joined)))
        return logits

    def _dropped(self, rows: torch.Tensor) -> torch.Tensor:
        return functional.dropout(rows, DROP, self.training)


def learn(real: Turns, made: Turns | None, nets: int, seed: int = 0) -> Arrays:
    """Networks that differ only in what chance did, as they are kept."""
    scale = Scale.of(real.known if made is None else np.vstack([real.known, made.known]))
    parts = [_tensors(turns, scale) for turns in (real, made) if turns is not None]
    known, vectors, shares = (torch.cat(columns) for columns in zip(*parts, strict=True))
    weights = torch.full((len(shares),), MADE_WEIGHT)
    weights[: len(real.shares)] = 1
    learned = [_learned(known, vectors, shares, weights, seed + number) for number in range(nets)]
    arrays: Arrays = {"middle": scale.middle.astype(np.float32), "spread": scale.spread.astype(np.float32)}
    for name in ("known", "turn", "pair", "join", "out"):
        layers = [getattr(net, name) for net in learned]
        arrays[f"{name}.weight"] = np.stack([layer.weight.detach().numpy().T for layer in layers]).astype(
            np.float16
        )
        arrays[f"{name}.bias"] = np.stack([layer.bias.detach().numpy() for layer in layers]).astype(
            np.float16
        )
    return arrays


def _learned(
    known: torch.Tensor, vectors: torch.Tensor, shares: torch.Tensor, weights: torch.Tensor, seed: int
) -> Net:
    torch.manual_seed(seed)
    net = Net(known.shape[1], vectors.shape[2])
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=DECAY)
    steps = ROUNDS * -(-len(known) // BATCH)
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / _WARM_UP) * max(_LEAST_RATE, 1 - step / steps)
    )
    net.train()
    for _ in range(ROUNDS):
        for rows in torch.randperm(len(known)).split(BATCH):
            said = functional.log_softmax(net(known[rows], vectors[rows].float()), dim=1)
            loss = -(weights[rows, None] * shares[rows] * said).sum() / weights[rows].sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            plan.step()
    return net.eval()


def _tensors(turns: Turns, scale: Scale) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    vectors = np.stack(turns.scene[:3], axis=1).astype(np.float16)
    known = scale(turns.known).astype(np.float32)
    return torch.from_numpy(known), torch.from_numpy(vectors), torch.from_numpy(turns.shares).float()


def _bent(rows: torch.Tensor) -> torch.Tensor:
    return functional.gelu(rows, approximate="tanh")
