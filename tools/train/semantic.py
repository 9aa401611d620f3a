"""Semantic errors, step 1: the labeller learns from texts with errors put in by rule, and from marks of people.

    python tools/train/semantic.py WORK [--seconds 230] [--without FOLD]

Starts from the lower layers of breakdown-en, which stay as they are, and from the labeller that is shipped, and writes
WORK/semantic.safetensors: the three layers above, a head on every token and one on the whole. Texts of WebNLG get
errors by rule; of texts made from records people marked the words; texts of WebNLG 2020 people rated. With FOLD, the
data of that fold is left out, and the file's name has its number: what it says of it is for `semantic_fit.py`.
Best on a GPU with many cores beside it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import brief
import numpy as np
import torch
from byte_weights import embedding_weights, layer_weights
from chat_training import DEVICE, Arrays, batches
from safetensors.torch import save_file
from semantic_data import Damage, Item, load_pairs
from semantic_ratings import Rated, load_rated
from semantic_records import Marked, Stretch, load_marked, stretches, swapped
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.model_files import SHIPPED, read_model
from lapsus.annotators.triples.labeller import GRAPH
from lapsus.annotators.triples.pair import TOKENS, WINDOWS, Pairs

BATCH, SORTED = brief.least(96, 8), 4
"""Pairs at a time, and how many batches are sorted by length together."""
STRETCHES, SWAPPED = brief.least(12, 4), 0.5
"""Stretches of texts made from records beside each batch, and how many of them have values swapped."""
RATED = brief.least(24, 4)
"""Texts with ratings beside each batch."""
RATE, DECAY, WARM = 3e-4, 0.02, 100
RATINGS_COUNT = 0.3
POOLED = 128
FROZEN = 3
"""Layers that are shared with the other English judges."""
NOTHING = -100
"""The target of what is not learned: [CLS] and [SEP]."""
MAKERS = brief.least(3, 1)
LOWER, OWN = (SHIPPED / f"{name}.lapsus" for name in ("breakdown-en", "semantic-errors-en"))


class Example(NamedTuple):
    ids: list[int]
    segment: list[int]
    target: list[int]


class Net(nn.Module):
    """A transformer with a head on every token."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        config = BertConfig(
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            hidden_act="gelu_new",
            max_position_embeddings=TOKENS,
        )
        self.enc = BertModel(config, add_pooling_layer=False)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(384, 5)
        self.pooled = nn.Linear(3 * 384, POOLED)
        self.short = nn.Linear(POOLED, 2)
        self.enc.load_state_dict(
            {name: one for name, one in weights.items() if not name.startswith("head.")}, strict=False
        )
        self.head.load_state_dict({name: weights[f"head.{name}"] for name in ("weight", "bias")})
        for frozen in (self.enc.embeddings, *self.enc.encoder.layer[:FROZEN]):
            frozen.requires_grad_(requires_grad=False)

    def forward(self, ids: Tensor, segment: Tensor, mask: Tensor) -> Tensor:
        """Five logits for each token."""
        return self.head(self.drop(self._rows(ids, segment, mask))).float()

    def shortfalls(self, ids: Tensor, segment: Tensor, mask: Tensor) -> Tensor:
        """How far coverage and relevance fall short, as `shortfalls_of` has it."""
        rows = self._rows(ids, segment, mask)
        sides = (segment * mask, (1 - segment) * mask)
        means = [rows[:, 0], *((rows * one[..., None]).sum(1) / one.sum(1, keepdim=True) for one in sides)]
        wide = nn.functional.dropout(torch.cat(means, -1), 0.2, self.training)
        hidden = nn.functional.gelu(self.pooled(wide), approximate="tanh")
        return self.short(nn.functional.dropout(hidden, 0.2, self.training)).float()

    def _rows(self, ids: Tensor, segment: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.enc(input_ids=ids, token_type_ids=segment, attention_mask=mask).last_hidden_state
        return found


def shipped_weights() -> tuple[Subwords, dict[str, Tensor]]:
    """The tokenizer, and the weights that training goes on from."""
    lower, own = (read_model(path)[1].files for path in (LOWER, OWN))
    weights = {
        **embedding_weights(lower["lower.onnx"]),
        **layer_weights(lower["lower.onnx"], 0),
        **layer_weights(own[GRAPH], FROZEN),
    }
    return Subwords(lower["tokenizer.json"]), {name: torch.tensor(one) for name, one in weights.items()}


def weights_file(without: int | None) -> str:
    """The name of what was learned, without a fold or from all."""
    return "semantic.safetensors" if without is None else f"semantic-{without}.safetensors"


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


class Lessons:
    """Makes batches: damaged pairs of about the same length, and stretches of texts made from records."""

    def __init__(
        self, subwords: Subwords, damage: Damage, marked: Sequence[Marked], rated: Sequence[Rated]
    ) -> None:
        self._subwords, self._pairs = subwords, Pairs(subwords)
        self._damage, self._marked, self._rated = damage, marked, rated
        self._made: list[list[Example]] = []
        self._stretches: list[Stretch] = []

    def make(self, rng: random.Random) -> Arrays:
        """Ids, segment, mask and target of pairs; the first three of stretches, their places and what is wanted; the
        first three of rated texts, and how far they fall short."""
        rated = rng.sample(self._rated, RATED)
        whole = packed([Example(one.window.ids, one.window.segment, []) for one in rated])[:3]
        short = np.array([one.short for one in rated], dtype=np.float32)
        stretches = side_by_side(self._some_stretches(rng))
        return (*packed(self._some_pairs(rng)), *stretches, *whole, short)

    def _some_pairs(self, rng: random.Random) -> list[Example]:
        if not self._made:
            made: list[Example] = []
            while len(made) < BATCH * SORTED:
                if (one := example(self._damage.make(rng), self._pairs, self._subwords)) is not None:
                    made.append(one)
            made.sort(key=lambda one: len(one.ids))
            self._made = [made[start : start + BATCH] for start in range(0, len(made), BATCH)]
            rng.shuffle(self._made)
        return self._made.pop()

    def _some_stretches(self, rng: random.Random) -> list[Stretch]:
        while len(self._stretches) < STRETCHES:
            one = rng.choice(self._marked)
            one = swapped(one, rng) if rng.random() < SWAPPED else one
            self._stretches += stretches(one, self._pairs, self._subwords)
        some, self._stretches = self._stretches[:STRETCHES], self._stretches[STRETCHES:]
        return some


def packed(examples: Sequence[Example]) -> Arrays:
    most = max(len(one.ids) for one in examples)
    filled = [np.full((len(examples), most), fill, dtype=np.int64) for fill in (0, 0, 0, NOTHING)]
    for row, one in enumerate(examples):
        parts = (one.ids, one.segment, [1] * len(one.ids), one.target)
        for array, part in zip(filled, parts, strict=True):
            array[row, : len(part)] = part
    return tuple(filled)


def side_by_side(some: Sequence[Stretch]) -> Arrays:
    """All windows of some stretches, which windows are of which and where its text begins, and what is wanted."""
    windows = [window for one in some for window in one.windows]
    ids, segment, mask, _ = packed([Example(one.ids, one.segment, []) for one in windows])
    places = np.full((2, len(some), WINDOWS), -1, dtype=np.int64)
    wanted = np.zeros((len(some), max(len(one.wanted) for one in some), 3), dtype=np.float32)
    row = 0
    for n, one in enumerate(some):
        for m, window in enumerate(one.windows):
            places[:, n, m] = row, window.at
            row += 1
        wanted[n, : len(one.wanted)] = one.wanted
    return ids, segment, mask, places, wanted


def loss_of(logits: Tensor, target: Tensor) -> Tensor:
    """Of data and text apart: a token of the one cannot be what those of the other are."""
    data, text = (target >= 0) & (target < 2), target >= 2
    cross_entropy = nn.functional.cross_entropy
    return cross_entropy(logits[data][:, :2], target[data]) + cross_entropy(
        logits[text][:, 2:], target[text] - 2
    )


def least_added(logits: Tensor, places: Tensor, pieces: int) -> Tensor:
    """Logarithms of the shares of said, added and repeated: for each piece of each stretch by the window that takes
    it for added least, as the labeller does."""
    rows, at = places
    steps = torch.arange(pieces, device=logits.device)
    tokens = (at[..., None] + steps).clamp(0, logits.shape[1] - 1)
    said = logits[..., 2:].log_softmax(-1)[rows.clamp(min=0)[..., None], tokens]
    added = said[..., 1].masked_fill((rows < 0)[..., None], torch.inf)
    least = added.argmin(dim=1, keepdim=True)[..., None].expand(-1, -1, -1, 3)
    return said.gather(1, least)[:, 0]


def record_loss(logits: Tensor, places: Tensor, wanted: Tensor) -> Tensor:
    said = least_added(logits, places, wanted.shape[1])
    return -(wanted * said).sum() / wanted.sum()


def train(net: Net, source: Iterator[list[Tensor]], seconds: float, rate: float = RATE) -> None:
    learned = [one for one in net.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=rate, weight_decay=DECAY)
    begun, step, most = time.monotonic(), 0, brief.steps(sys.maxsize)
    while (done := (time.monotonic() - begun) / seconds) < 1 and step < most:
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (step + 4) / WARM) * max(0.005, 1 - done)
        given = next(source)
        pairs, target, records, places, wanted, rated, short = (
            given[:3], given[3], given[4:7], given[7], given[8], given[9:12], given[12]
        )  # fmt: skip
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits, of_records, of_rated = net(*pairs), net(*records), net.shortfalls(*rated)
        one, other = loss_of(logits, target), record_loss(of_records, places, wanted)
        third = nn.functional.mse_loss(of_rated, short)
        optimiser.zero_grad()
        (one + other + RATINGS_COUNT * third).backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        step += 1
        if step % 250 == 0:
            sys.stdout.write(
                f"{step:,} steps, loss {one:.4f}, of records {other:.4f}, of ratings {third:.4f}\n"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=brief.seconds(230))
    parser.add_argument("--without", type=int, metavar="FOLD")
    asked = parser.parse_args()
    torch.manual_seed(0)
    subwords, weights = shipped_weights()
    net = Net(weights).to(DEVICE).train()
    marked, rated = (
        [one for one in some if one.fold != asked.without]
        for some in (load_marked(), load_rated(Pairs(subwords)))
    )
    lessons = Lessons(subwords, Damage(load_pairs()), marked, rated)
    with batches(lessons.make, MAKERS) as source:
        train(net, source, asked.seconds)
    kept = {
        name.removeprefix("enc."): one.half().cpu().contiguous()
        for name, one in net.state_dict().items()
        if not name.startswith(("enc.embeddings", *(f"enc.encoder.layer.{n}." for n in range(FROZEN))))
    }
    save_file(kept, asked.work / weights_file(asked.without))
    return 0


if __name__ == "__main__":
    sys.exit(main())
