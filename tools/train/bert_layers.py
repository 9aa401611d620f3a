"""The layers of the English reader in PyTorch: the lower ones as they are, the upper ones to be trained."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from chat_training import PAD
from reader_graphs import LAYERS, SHARED
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, EPSILON = 384, 12, 1e-12
_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "gathered": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "last_norm": "output.LayerNorm",
}
"""The parts of a layer, and what BERT calls them."""


class Layer(nn.Module):
    """One layer, which normalises what comes out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.gathered = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm, self.last_norm = (nn.LayerNorm(WIDTH, eps=EPSILON) for _ in range(2))

    def forward(self, rows: Tensor, seen: Tensor, dropout: float) -> Tensor:
        turns, tokens, _ = rows.shape

        def heads(part: nn.Module) -> Tensor:
            split: Tensor = part(rows).view(turns, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
            return split

        found = functional.scaled_dot_product_attention(
            heads(self.query), heads(self.key), heads(self.value), attn_mask=seen, dropout_p=dropout
        )
        found = self.gathered(found.transpose(1, 2).reshape(turns, tokens, WIDTH))
        rows = self.norm(rows + functional.dropout(found, dropout))
        wide = functional.gelu(self.wide(rows), approximate="tanh")
        normal: Tensor = self.last_norm(rows + functional.dropout(self.narrow(wide), dropout))
        return normal


class Body(nn.Module):
    """`ids` and `segment` (turns, tokens) to rows (turns, tokens, 384). Only the layers from SHARED on are trained.

    `weights` are those of a model of BERT's kind, by its names.
    """

    def __init__(self, weights: Mapping[str, Tensor], dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.words, self.places, self.segments = (
            nn.Embedding.from_pretrained(weights[f"embeddings.{name}_embeddings.weight"].float())
            for name in ("word", "position", "token_type")
        )
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        _load(self.norm, weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for number, layer in enumerate(self.layers):
            for own, name in _NAMES.items():
                _load(getattr(layer, own), weights, f"encoder.layer.{number}.{name}")
        for part in (self.norm, *self.layers[:SHARED]):
            part.requires_grad_(False)

    def forward(self, ids: Tensor, segment: Tensor) -> Tensor:
        seen = (ids != PAD)[:, None, None, :]
        with torch.no_grad():
            place = self.places.weight[: ids.shape[1]]
            rows: Tensor = self.norm(self.words(ids) + self.segments(segment) + place)
            for layer in self.layers[:SHARED]:
                rows = layer(rows, seen, 0.0)
        for layer in self.layers[SHARED:]:
            rows = layer(rows, seen, self.dropout if self.training else 0.0)
        return rows

    def trained(self) -> dict[str, Tensor]:
        """The weights of the layers that were trained, by BERT's names."""
        return {
            f"encoder.layer.{number}.{name}.{part}": getattr(getattr(self.layers[number], own), part)
            for number in range(SHARED, LAYERS)
            for own, name in _NAMES.items()
            for part in ("weight", "bias")
        }


def _load(part: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    part.load_state_dict({kind: weights[f"{name}.{kind}"].float() for kind in ("weight", "bias")})
