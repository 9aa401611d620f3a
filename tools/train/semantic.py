"""Semantic errors, step 1: the labeller learns from texts of WebNLG with errors put in by rule. Best on a GPU.

    python tools/train/semantic.py WORK [--seconds 430]

Starts from the student of breakdown-en (WORK/student.safetensors), whose embeddings and three lower layers stay as they
are, and writes WORK/semantic.safetensors: the three layers above and a head.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file, save_file
from semantic_data import Damage, Item, load_pairs
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from lapsus.annotators.features.subwords import Subwords
from lapsus.annotators.triples.pair import TOKENS, Pairs

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BATCH, SORTED = 96, 4
"""Pairs at a time, and how many batches are sorted by length together."""
RATE, DECAY, WARM = 3e-4, 0.02, 400
FROZEN = 3
"""Layers that are shared with the other English judges."""
NOTHING = -100
"""The target of what is not learned: [CLS] and [SEP]."""


class Example(NamedTuple):
    ids: list[int]
    segment: list[int]
    target: list[int]


class Net(nn.Module):
    """The student's transformer with a head on every token."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        config = BertConfig(
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            hidden_act="gelu_new",
        )
        self.enc = BertModel(config, add_pooling_layer=False)
        own = {
            name.removeprefix("enc."): one.float() for name, one in weights.items() if name.startswith("enc.")
        }
        self.enc.load_state_dict(own, strict=False)
        for frozen in (self.enc.embeddings, *self.enc.encoder.layer[:FROZEN]):
            frozen.requires_grad_(requires_grad=False)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(384, 5)

    def forward(self, ids: Tensor, segment: Tensor, mask: Tensor) -> Tensor:
        found = self.enc(input_ids=ids, token_type_ids=segment, attention_mask=mask).last_hidden_state
        return self.head(self.drop(found)).float()


def example(item: Item, pairs: Pairs, subwords: Subwords) -> Example | None:
    """A damaged pair as the labeller reads it, with what it is to say of each token; None where it is too long."""
    *data, text = item.document("pair").segments
    windows = list(pairs.windows(pairs.pair(data, [text], "en")))
    if len(windows) > 1 or len(windows[0].ids) > TOKENS:
        return None
    window = windows[0]
    target = [NOTHING] * len(window.ids)
    omitted = [mark for marks in item.omitted for mark in marks]
    for element, start, end in window.elements:
        target[start:end] = [int(omitted[element])] * (end - start)
    for n, piece in enumerate(subwords.pieces(item.text)):
        target[window.at + n] = 2 + max(item.letters[piece.start : piece.end])
    return Example(window.ids, window.segment, target)


def batches(damage: Damage, subwords: Subwords, rng: random.Random) -> Iterator[tuple[Tensor, ...]]:
    """Damaged pairs without end, those of about the same length together."""
    pairs = Pairs(subwords)
    while True:
        made: list[Example] = []
        while len(made) < BATCH * SORTED:
            one = example(damage.make(rng), pairs, subwords)
            if one is not None:
                made.append(one)
        made.sort(key=lambda one: len(one.ids))
        for start in rng.sample(range(0, len(made), BATCH), SORTED):
            yield packed(made[start : start + BATCH])


def packed(examples: list[Example]) -> tuple[Tensor, ...]:
    most = max(len(one.ids) for one in examples)
    filled = [torch.full((len(examples), most), fill) for fill in (0, 0, 0, NOTHING)]
    for row, one in enumerate(examples):
        parts = (one.ids, one.segment, [1] * len(one.ids), one.target)
        for tensor, part in zip(filled, parts, strict=True):
            tensor[row, : len(part)] = torch.tensor(part)
    return tuple(tensor.to(DEVICE) for tensor in filled)


def loss_of(logits: Tensor, target: Tensor) -> Tensor:
    """Of data and text apart: a token of the one cannot be what those of the other are."""
    data, text = (target >= 0) & (target < 2), target >= 2
    cross_entropy = nn.functional.cross_entropy
    return cross_entropy(logits[data][:, :2], target[data]) + cross_entropy(
        logits[text][:, 2:], target[text] - 2
    )


def train(net: Net, source: Iterator[tuple[Tensor, ...]], seconds: float) -> None:
    learned = [one for one in net.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=RATE, weight_decay=DECAY)
    begun, step = time.monotonic(), 0
    while (done := (time.monotonic() - begun) / seconds) < 1:
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (step + 4) / WARM) * max(0.005, 1 - done)
        *given, target = next(source)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = net(*given)
        loss = loss_of(logits, target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        step += 1
        if step % 500 == 0:
            sys.stdout.write(f"{step:,} steps, loss {loss.item():.4f}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=430)
    asked = parser.parse_args()
    torch.manual_seed(0)
    subwords = Subwords((asked.work / "student" / "tokenizer.json").read_bytes())
    net = Net(load_file(asked.work / "student.safetensors")).to(DEVICE).train()
    train(net, batches(Damage(load_pairs()), subwords, random.Random(0)), asked.seconds)
    kept = {
        name.removeprefix("enc."): one for name, one in net.state_dict().items() if "embeddings" not in name
    }
    save_file(
        {name: one.half().cpu().contiguous() for name, one in kept.items()},
        asked.work / "semantic.safetensors",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
