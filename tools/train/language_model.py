"""A language model of the Qwen2 kind, read from a GGUF file, with small adapters that can be trained.

Of its vocabulary only the pieces are kept that are asked for: the rest would be most of the work and is never said.
The weights stay as they are; what is learned is kept in adapters of low rank, a set a task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from torch.nn import functional

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
KIND = torch.bfloat16
RANK, SCALE = 16, 2.0
LINEAR = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
"""How the model's vocabulary was made to split text; a fact about it."""

Adapters: TypeAlias = dict[str, torch.Tensor]
Cache: TypeAlias = list[tuple[torch.Tensor, torch.Tensor]]


class Words:
    """Turns text into the numbers of pieces, as the model's own vocabulary does."""

    def __init__(self, path: Path) -> None:
        fields = gguf.GGUFReader(path).fields
        self.pieces: list[str] = fields["tokenizer.ggml.tokens"].contents()
        merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"].contents()]
        vocabulary = {piece: number for number, piece in enumerate(self.pieces)}
        self._made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
        bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        split = pre_tokenizers.Split(Regex(_PATTERN), "isolated")
        self._made.pre_tokenizer = pre_tokenizers.Sequence([split, bytewise])

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text."""
        found: list[int] = self._made.encode(text, add_special_tokens=False).ids
        return found

    def bytes_of(self, number: int) -> bytes:
        """What a piece stands for; nothing where it is no text."""
        characters = _byte_of_character()
        piece = self.pieces[number]
        return bytes(characters[c] for c in piece) if all(c in characters for c in piece) else b""


@cache
def _byte_of_character() -> dict[str, int]:
    """Vocabularies of this kind write a byte that cannot be seen as a character that can."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


class Shape(NamedTuple):
    """How large the model is."""

    layers: int
    width: int
    heads: int
    key_heads: int
    base: float
    tiny: float

    @property
    def head(self) -> int:
        """The width of a head."""
        return self.width // self.heads


class LanguageModel:
    """Reads pieces, numbered among those that were kept; gives a vector each, or how likely each next one is."""

    def __init__(self, path: Path, kept: NDArray[np.int64]) -> None:
        reader = gguf.GGUFReader(path)
        field = {name: reader.fields[f"qwen2.{name}"].contents() for name in _SIZES}
        self.shape = Shape(*(field[name] for name in _SIZES))
        self.weights: dict[str, torch.Tensor] = {}
        for tensor in reader.tensors:
            if tensor.name.startswith("blk.") or tensor.name == "output_norm.weight":
                self.weights[tensor.name] = _tensor(tensor, tensor.data)
            elif tensor.name == "output.weight":
                self.pieces = _tensor(tensor, tensor.data[kept])

    def read(
        self, pieces: torch.Tensor, adapters: Adapters | None = None, drop: float = 0.0, cache: Cache | None = None,
        start: int = 0,
    ) -> torch.Tensor:  # fmt: skip
        """A vector for each piece, from it and those before it."""
        vectors = self.pieces[pieces]
        turn = self._turns(start, pieces.shape[1])
        for layer in range(self.shape.layers):
            held = None if cache is None else cache[layer]
            normed = self._normed(vectors, f"blk.{layer}.attn_norm.weight")
            vectors = vectors + self._attend(layer, normed, adapters, drop, turn, held, start)
            normed = self._normed(vectors, f"blk.{layer}.ffn_norm.weight")
            gate, up = (self._linear(layer, name, normed, adapters, drop) for name in ("ffn_gate", "ffn_up"))
            vectors = vectors + self._linear(layer, "ffn_down", functional.silu(gate) * up, adapters, drop)
        return self._normed(vectors, "output_norm.weight")

    def next_pieces(self, vectors: torch.Tensor) -> torch.Tensor:
        """Logits of the piece that follows."""
        return functional.linear(vectors, self.pieces).float()

    def with_adapters(self, adapters: Adapters) -> LanguageModel:
        """The model with what the adapters learned worked into its weights: quicker to run."""
        made = object.__new__(LanguageModel)
        made.shape, made.pieces, made.weights = self.shape, self.pieces, dict(self.weights)
        with torch.no_grad():
            for name in {key.rsplit(" ", 1)[0] for key in adapters}:
                change = SCALE * (adapters[f"{name} out"] @ adapters[f"{name} in"])
                made.weights[name] = (self.weights[name].float() + change).to(KIND)
        return made

    def new_adapters(self, seed: int) -> Adapters:
        """Adapters that change nothing yet."""
        drawn = torch.Generator().manual_seed(seed)
        made = {}
        for layer in range(self.shape.layers):
            for name in LINEAR:
                key = f"blk.{layer}.{name}.weight"
                out, width = self.weights[key].shape
                first = torch.randn(RANK, width, generator=drawn) / math.sqrt(width)
                made[f"{key} in"] = first.to(DEVICE).requires_grad_()
                made[f"{key} out"] = torch.zeros(out, RANK, device=DEVICE, requires_grad=True)
        return made

    @torch.no_grad()
    def sample(
        self, first: Sequence[int], texts: int, length: int, heat: float, share: float
    ) -> NDArray[np.int64]:
        """Texts that begin alike; pieces are drawn from the likeliest that make up a share."""
        size = (texts, self.shape.key_heads, length, self.shape.head)
        blank = [torch.zeros(size, device=DEVICE, dtype=KIND) for _ in range(2 * self.shape.layers)]
        cache = list(zip(blank[::2], blank[1::2], strict=True))
        said = torch.tensor(first, device=DEVICE)[None].repeat(texts, 1)
        latest = said
        while said.shape[1] < length:
            vectors = self.read(latest, cache=cache, start=said.shape[1] - latest.shape[1])
            chances = torch.softmax(self.next_pieces(vectors[:, -1]) / heat, dim=-1)
            ordered, places = torch.sort(chances, descending=True, dim=-1)
            ordered = ordered * (ordered.cumsum(dim=-1) - ordered < share)
            latest = places.gather(1, torch.multinomial(ordered, 1))
            said = torch.cat([said, latest], dim=1)
        drawn: NDArray[np.int64] = said.cpu().numpy()
        return drawn

    def _linear(
        self, layer: int, name: str, rows: torch.Tensor, adapters: Adapters | None, drop: float
    ) -> torch.Tensor:
        key = f"blk.{layer}.{name}.weight"
        bias = self.weights.get(f"blk.{layer}.{name}.bias")
        given = functional.linear(rows, self.weights[key], None if bias is None else bias.to(KIND))
        if adapters is None:
            return given
        seen = functional.dropout(rows, drop) if drop else rows
        narrow = functional.linear(seen, adapters[f"{key} in"].to(KIND))
        return given + functional.linear(narrow, adapters[f"{key} out"].to(KIND)) * SCALE

    def _attend(
        self, layer: int, rows: torch.Tensor, adapters: Adapters | None, drop: float,
        turn: tuple[torch.Tensor, torch.Tensor], held: tuple[torch.Tensor, torch.Tensor] | None, start: int,
    ) -> torch.Tensor:  # fmt: skip
        texts, pieces, width = rows.shape
        asked, key, value = (
            self._linear(layer, name, rows, adapters, drop)
            .view(texts, pieces, -1, self.shape.head)
            .transpose(1, 2)
            for name in ("attn_q", "attn_k", "attn_v")
        )
        asked, key = (each * turn[0] + _half_turned(each) * turn[1] for each in (asked, key))
        if held is not None:
            end = start + pieces
            held[0][:, :, start:end], held[1][:, :, start:end] = key, value
            key, value = held[0][:, :, :end], held[1][:, :, :end]
        found = functional.scaled_dot_product_attention(
            asked, key, value, is_causal=pieces > 1, enable_gqa=True
        )
        return self._linear(
            layer, "attn_output", found.transpose(1, 2).reshape(texts, pieces, width), adapters, drop
        )

    def _normed(self, vectors: torch.Tensor, name: str) -> torch.Tensor:
        wide = vectors.float()
        scaled = wide * torch.rsqrt((wide * wide).mean(dim=-1, keepdim=True) + self.shape.tiny)
        return (scaled * self.weights[name]).to(vectors.dtype)

    def _turns(self, start: int, pieces: int) -> tuple[torch.Tensor, torch.Tensor]:
        """By what angles vectors are turned to say where they stand."""
        speed = self.shape.base ** (
            -torch.arange(0, self.shape.head, 2, device=DEVICE).float() / self.shape.head
        )
        angle = torch.arange(start, start + pieces, device=DEVICE)[:, None].float() * speed
        both = torch.cat([angle, angle], dim=-1)
        return both.cos().to(KIND), both.sin().to(KIND)


_SIZES = (
    "block_count",
    "embedding_length",
    "attention.head_count",
    "attention.head_count_kv",
    "rope.freq_base",
    "attention.layer_norm_rms_epsilon",
)


def copied(adapters: Adapters) -> Adapters:
    """Adapters to train on from where these are."""
    return {name: part.detach().clone().requires_grad_() for name, part in adapters.items()}


def schedule(optimizer: torch.optim.Optimizer, steps: int) -> torch.optim.lr_scheduler.LambdaLR:
    """Up quickly, then down evenly."""
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / (0.1 * steps + 1)) * max(0.02, (steps - step) / steps)
    )


def batches(items: Sequence[Any], size: int, drawn: np.random.Generator) -> Iterable[list[Any]]:
    """The items in another order, some at a time."""
    order = drawn.permutation(len(items))
    return ([items[place] for place in order[start : start + size]] for start in range(0, len(items), size))


def _half_turned(vectors: torch.Tensor) -> torch.Tensor:
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def _tensor(tensor: Any, data: NDArray[Any]) -> torch.Tensor:
    plain = gguf.quants.dequantize(data, tensor.tensor_type)
    kind = torch.float32 if tensor.tensor_type == gguf.GGMLQuantizationType.F32 else KIND
    return torch.from_numpy(np.ascontiguousarray(plain)).to(DEVICE, kind)
