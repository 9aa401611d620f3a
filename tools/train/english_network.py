"""The network behind the English reader, and how it is trained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import brief
import numpy as np
import torch
from english_data import CONFIG, Example
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from lapsus.annotators.encoder.reader import NAMES, feature_rows

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
READ_AT_ONCE = 512 if DEVICE == "cuda" else 32


class Net(nn.Module):
    """A transformer; the mean of all its outputs, the mean of the turn's own, and the features; a small head.

    `pair` tells human replies from broken ones in the first stage. It is thrown away after it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        dropout = CONFIG["training"]["dropout"]
        self.enc = AutoModel.from_pretrained(folder, dtype=torch.float32)
        width = 2 * self.enc.config.hidden_size
        self.f = nn.Sequential(nn.Linear(len(NAMES), 64), nn.GELU(), nn.Linear(64, 64))
        self.drop = nn.Dropout(dropout)
        self.head = nn.Sequential(
            nn.Linear(width + 64, 256), nn.GELU(), nn.Dropout(dropout), nn.Linear(256, 3)
        )
        self.pair = nn.Linear(width, 1)

    def forward(self, ids: Tensor, mask: Tensor, own: Tensor, features: Tensor, pair: bool) -> Tensor:
        types = {"token_type_ids": own} if self.enc.config.model_type == "bert" else {}
        outputs = self.enc(input_ids=ids, attention_mask=mask, **types).last_hidden_state.float()
        pooled = self.drop(torch.cat([_mean(outputs, mask), _mean(outputs, own)], -1))
        if pair:
            return self.pair(pooled)[:, 0]
        return self.head(torch.cat([pooled, self.f(features)], -1))


def _mean(outputs: Tensor, chosen: Tensor) -> Tensor:
    weights = chosen[..., None].float()
    return (outputs * weights).sum(1) / weights.sum(1).clamp(min=1)


class Batch(NamedTuple):
    """Turns as the network takes them: tokens, which are there, which are the turn's own, and the features."""

    ids: Tensor
    mask: Tensor
    own: Tensor
    features: Tensor

    def at(self, rows: Tensor | slice) -> Batch:
        """Some of the turns, cut to the longest of them."""
        ids, mask, own, features = (part[rows] for part in self)
        most = int(mask.sum(1).max())
        return Batch(ids[:, :most], mask[:, :most], own[:, :most], features)

    @classmethod
    def joined(cls, *parts: Batch) -> Self:
        return cls(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


class Tokens:
    """[CLS] the talk before [SEP] the turn [SEP]: as `encoder/english.py` does it."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)

    def batch(self, examples: Sequence[Example]) -> Batch:
        turns, tokens = CONFIG["reading"]["turns"], CONFIG["reading"]["tokens"]
        talks = [
            " ".join(f"{'S' if by_system else 'U'}: {text}" for by_system, text in e.passage.context[-turns:])
            for e in examples
        ]
        targets = [f"S: {example.passage.target}" for example in examples]
        before, own = (
            self.tokenizer(texts, add_special_tokens=False)["input_ids"] for texts in (talks, targets)
        )
        cls, sep = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        ids = np.full((len(examples), tokens), self.tokenizer.pad_token_id)
        mask, segment = np.zeros((2, *ids.shape), dtype=np.int64)
        for row, (talk, target) in enumerate(zip(before, own, strict=True)):
            target = target[: tokens // 2]
            talk = talk[-(tokens - 3 - len(target)) :]
            line = [cls, *talk, sep, *target, sep]
            ids[row, : len(line)] = line
            mask[row, : len(line)] = 1
            segment[row, len(talk) + 2 : len(line)] = 1
        features = feature_rows([example.passage for example in examples]).astype(np.float32)
        return Batch(*(torch.tensor(part, device=DEVICE) for part in (ids, mask, segment, features)))


class Stage(NamedTuple):
    """Once through one kind of data."""

    epochs: int
    rate: float
    seed: int
    pair: bool = False


def train(net: Net, data: Batch, wanted: Tensor, stage: Stage) -> None:
    """Cross-entropy to the shares of the votes; the rate rises, then falls to nothing."""
    settings = CONFIG["training"]
    size = settings["batch"]
    steps = brief.steps(math.ceil(len(wanted) / size) * stage.epochs)
    torch.manual_seed(stage.seed)
    order = torch.Generator().manual_seed(stage.seed)
    optimizer = torch.optim.AdamW(_groups(net, stage.rate), weight_decay=settings["decay"])
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _share(step, steps, settings["warmup"])
    )
    net.train()
    orders = (torch.randperm(len(wanted), generator=order).to(DEVICE) for _ in range(stage.epochs))
    for rows in islice((rows for some in orders for rows in some.split(size)), steps):
        given, aim = _run(net, data.at(rows), stage.pair), wanted[rows]
        if stage.pair:
            loss = nn.functional.binary_cross_entropy_with_logits(given, aim)
        else:
            loss = -(aim * torch.log_softmax(given, -1)).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), settings["clip"])
        optimizer.step()
        schedule.step()


def _share(step: int, steps: int, warmup: float) -> float:
    return min(1.0, (step + 1) / (warmup * steps + 1)) * max(0.0, (steps - step) / steps)


def _groups(net: Net, rate: float) -> list[dict[str, Any]]:
    """The encoder learns slowly, what is new learns fast."""
    settings = CONFIG["training"]
    known = [weights for name, weights in net.named_parameters() if name.startswith("enc.")]
    new = [weights for name, weights in net.named_parameters() if not name.startswith("enc.")]
    fast = max(rate * settings["head_rate"], settings["head_rate_least"])
    return [{"params": known, "lr": rate}, {"params": new, "lr": fast}]


def _run(net: Net, data: Batch, pair: bool) -> Tensor:
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        given: Tensor = net(*data, pair)
    return given.float()


@torch.no_grad()
def logits(net: Net, data: Batch) -> np.ndarray[Any, Any]:
    """What the network says."""
    net.eval()
    starts = range(0, len(data.ids), READ_AT_ONCE)
    found = [_run(net, data.at(slice(start, start + READ_AT_ONCE)), False) for start in starts]
    return torch.cat(found).cpu().numpy()
