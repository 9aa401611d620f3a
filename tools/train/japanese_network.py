"""The Japanese reader in PyTorch: a transformer that normalises what goes into its layers, and its heads."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import torch
from chat_training import PAD
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

PIECES, TOKENS, OF_A_HEAD = 10_000, 160, 64
DROPOUT = 0.1
SPREAD = 0.02
"""How far the weights of a new head are apart."""
HOME, GENERAL, WAY = "y", "gen", "nup"
"""Heads: O, T and X as the crowd voted; the same in general; real, random, repeated or later."""
LEFT_BEHIND = ("bias", "nli.", "acc.")
"""What pre-training alone needed."""

Weights: TypeAlias = dict[str, Tensor]


class Size(NamedTuple):
    """How large a network is."""

    width: int
    layers: int


SIZES: Final = {"small": Size(384, 6), "large": Size(512, 12)}


def size_of(weights: Weights) -> Size:
    """The size of the network that has these weights."""
    return Size(weights["e.weight"].shape[1], sum(name.endswith(".n1.weight") for name in weights))


class Layer(nn.Module):
    """One layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.o = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.f, self.g = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, rows: Tensor, seen: Tensor) -> Tensor:
        turns, tokens, width = rows.shape
        parts = self.qkv(self.n1(rows)).view(turns, tokens, 3, width // OF_A_HEAD, OF_A_HEAD)
        found = functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), attn_mask=seen)
        rows = rows + self.o(found.transpose(1, 2).reshape(turns, tokens, width))
        changed: Tensor = rows + self.g(functional.gelu(self.f(self.n2(rows)), approximate="tanh"))
        return changed


class Net(nn.Module):
    """The parts have the names that `reader_graphs.py` and the encoder's file give them."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.width
        self.e, self.p, self.t = (nn.Embedding(count, width) for count in (PIECES, TOKENS, 2))
        self.b = nn.ModuleList(Layer(width) for _ in range(size.layers))
        self.n = nn.LayerNorm(width)
        for name, numbers in ((WAY, 4), (HOME, 3), (GENERAL, 3)):
            self.add_module(name, nn.Linear(2 * width, numbers))

    def forward(self, ids: Tensor, segment: Tensor) -> Tensor:
        """The first token and the mean over the turn's own, side by side."""
        return self.pooled(self.rows(ids, segment), ids, segment)

    def rows(self, ids: Tensor, segment: Tensor) -> Tensor:
        """A row a token."""
        rows = self.e(ids) + self.p.weight[: ids.shape[1]] + self.t(segment)
        rows = functional.dropout(rows, DROPOUT, self.training)
        for layer in self.b:
            rows = layer(rows, (ids != PAD)[:, None, None, :])
        read: Tensor = self.n(rows)
        return read

    def pooled(self, rows: Tensor, ids: Tensor, segment: Tensor) -> Tensor:
        """The first token's row and the mean over the turn's own."""
        own = (segment * (ids != PAD)).unsqueeze(-1).to(rows.dtype)
        return torch.cat([rows[:, 0], (rows * own).sum(1) / own.sum(1).clamp(min=1)], -1)

    def logits(self, pooled: Tensor, head: str) -> Tensor:
        """What a head says."""
        said: Tensor = self.get_submodule(head)(pooled)
        return said.float()


def encoder_weights(path: Path) -> Weights:
    """The pre-trained encoder, without what only its pre-training needed."""
    return {
        name: value.float() for name, value in load_file(path).items() if not name.startswith(LEFT_BEHIND)
    }


def new_head(name: str, size: Size) -> Weights:
    """A head that has learned nothing."""
    numbers = 4 if name == WAY else 3
    weights = torch.normal(0.0, SPREAD, (numbers, 2 * size.width))
    return {f"{name}.weight": weights, f"{name}.bias": torch.zeros(numbers)}


def averaged(several: list[Weights]) -> Weights:
    """The mean of weights that began at the same place, which is about as good as all of them together."""
    return {name: torch.stack([weights[name] for weights in several]).mean(0) for name in several[0]}
