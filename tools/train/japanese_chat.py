"""The Japanese reader: teachers that learn from the votes, and students of theirs that know talk of any kind too.

    python tools/train/japanese_chat.py ENCODER WEIGHTS all     the reader that is shipped
    python tools/train/japanese_chat.py ENCODER UNSEEN FOLD     what a reader says of a fold it has not seen, 0 to 4
    python tools/train/japanese_chat.py ENCODER UNSEEN dev      of the test data, learned from the development data

ENCODER is the folder of the pre-trained encoder (`model.safetensors`, `tokenizer.json`). `readers.py ja` takes WEIGHTS
and, with all five folds in it, UNSEEN. LAPSUS_DATA names the folder with the corpora. Some minutes each on a large
accelerator.
"""

from __future__ import annotations

import argparse
import random
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from chat_training import (
    DEVICE,
    Arrays,
    Encoded,
    QuickChatTokens,
    Steps,
    batches,
    cast,
    cross_entropy,
    on_device,
    padded,
    read_all,
)
from japanese_data import read_dbdc2
from japanese_mixture import Mixture, read_mixture
from japanese_network import (
    GENERAL,
    HOME,
    WAY,
    Net,
    Weights,
    averaged,
    encoder_weights,
    new_head,
    size_of,
)
from numpy.typing import NDArray
from pool import CONFIG, LATER, RANDOM, REAL, REPEATED, wanted
from readers import FOLDS, SHOWN
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from lapsus.annotators.breakdown import ARGMAX, decision
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_tally

ALL, DEV = "all", "dev"
WAYS = {REAL: 0, RANDOM: 1, REPEATED: 2, LATER: 3}
NO_WAY = -100
"""For replies of no such way; the value that cross entropy leaves out."""
Shares = NDArray[np.float32]


class Turns(NamedTuple):
    """Turns as tokens, and the shares of O, T and X that are wanted of each."""

    rows: list[Encoded]
    shares: Shares

    def at(self, places: Sequence[int]) -> Turns:
        """Some of them."""
        return Turns([self.rows[place] for place in places], self.shares[list(places)])


def net_of(weights: Weights) -> Net:
    """A network with these weights. The heads that they lack are not used before they are given."""
    net = Net(size_of(weights)).to(DEVICE)
    net.load_state_dict(weights, strict=False)
    return net


def weights_of(net: Net) -> Weights:
    return {name: value.detach().cpu().clone() for name, value in net.state_dict().items()}


def teacher(start: Weights, judged: Turns, seed: int) -> Net:
    """One that has learned from the votes."""
    settings: dict[str, Any] = CONFIG["teachers"]
    torch.manual_seed(seed)
    net, order, rng = net_of(start).train(), list(range(len(judged.rows))), random.Random(seed)
    batch = settings["batch"]
    steps = Steps(net, len(order) // batch * settings["epochs"], settings["training"])
    for _ in range(settings["epochs"]):
        rng.shuffle(order)
        for first in range(0, len(order) - batch + 1, batch):
            some = judged.at(order[first : first + batch])
            ids, segments, shares = on_device((*padded(some.rows), some.shares))
            with cast():
                pooled = functional.dropout(net(ids, segments), settings["dropout"])
                said = net.logits(pooled, HOME)
            steps.take(cross_entropy(shares, said).mean())
    return net.eval()


def said_by(net: Net, rows: Sequence[Encoded], head: str) -> Shares:
    """The logarithms of the shares that a head gives."""
    return read_all(lambda ids, segments: net.logits(net(ids, segments), head).log_softmax(-1), rows)


def taught(start: Weights, judged: Turns, unjudged: list[Encoded]) -> tuple[Weights, Turns, Turns]:
    """The mean of the teachers, and what they make of turns: beside the votes, and where there are none."""
    several, shares = [], np.zeros((len(judged.rows) + len(unjudged), 3), dtype=np.float32)
    seeds, count = CONFIG["teachers"]["seeds"], CONFIG["students"]["votes_count"]
    for seed in range(seeds):
        net = teacher(start, judged, seed)
        several.append(weights_of(net))
        shares += np.exp(said_by(net, [*judged.rows, *unjudged], HOME)) / seeds
        sys.stdout.write(f"teacher {seed + 1} of {seeds}\n")
    known, others = shares[: len(judged.rows)], shares[len(judged.rows) :]
    aims = count * judged.shares + (1 - count) * known
    return averaged(several), judged._replace(shares=aims), Turns(unjudged, others)


class Lessons(NamedTuple):
    """What students learn from: turns with votes, turns that the teachers judged, and talk."""

    judged: Turns
    unjudged: Turns
    mixture: Mixture
    tokens: QuickChatTokens

    def make(self, rng: random.Random) -> Arrays:
        """A batch: judged turns, unjudged ones, talk; shares for all, and for talk the way each reply came there."""
        counts = CONFIG["students"]["turns"]
        parts = [
            turns.at([rng.randrange(len(turns.rows)) for _ in range(counts[name])])
            for name, turns in (("judged", self.judged), ("unjudged", self.unjudged))
        ]
        replies = [self.mixture.reply(rng) for _ in range(counts["talk"])]
        rows = [*parts[0].rows, *parts[1].rows, *(self.tokens.encode(reply.passage) for reply in replies)]
        general = [wanted(reply.way, None) for reply in replies]
        shares = np.vstack([parts[0].shares, parts[1].shares, np.array(general, dtype=np.float32)])
        ways = np.array([WAYS.get(reply.way, NO_WAY) for reply in replies])
        return (*padded(rows), shares, ways)


def student(start: Weights, lessons: Lessons, seed: int) -> Net:
    """One that has learned from votes and teachers, and in general from talk and from the judged turns."""
    settings: dict[str, Any] = CONFIG["students"]
    torch.manual_seed(seed)
    net = net_of({**start, **new_head(GENERAL, size_of(start))}).train()
    steps = Steps(net, settings["steps"], settings["training"])
    with batches(lessons.make, settings["makers"]) as given:
        while steps.done < steps.count:
            steps.take(student_loss(net, *next(given)))
    return net.eval()


def student_loss(net: Net, ids: Tensor, segments: Tensor, shares: Tensor, ways: Tensor) -> Tensor:
    """All heads at once."""
    settings: dict[str, Any] = CONFIG["students"]
    counts, judged = settings["counts"], settings["turns"]["judged"]
    talk = len(shares) - len(ways)
    with cast():
        pooled = functional.dropout(net(ids, segments), settings["dropout"])
        home = net.logits(pooled[:talk], HOME)
        general = net.logits(torch.cat([pooled[talk:], pooled[:judged]]), GENERAL)
        way = net.logits(pooled[talk:], WAY)
    aims = torch.cat([shares[talk:], shares[:judged]])
    return (
        counts["home"] * cross_entropy(shares[:talk], home).mean()
        + counts["general"] * cross_entropy(aims, general).mean()
        + counts["way"] * functional.cross_entropy(way, ways, ignore_index=NO_WAY)
    )


def reader(encoder: Path, tokens: QuickChatTokens, learned: NDArray[np.intp]) -> Weights:
    """The mean of students that began at the mean of their teachers; of the votes they saw only some."""
    judged = read_dbdc2()[0].at(learned)
    mixture, rng = read_mixture(), random.Random(7)
    turns = Turns([tokens.encode(passage) for passage in judged.passages], judged.shares.astype(np.float32))
    unjudged = [tokens.encode(passage) for passage in mixture.unjudged(judged, rng)]
    torch.manual_seed(0)
    # All teachers begin at the same head: only so is the mean of their weights as good as they are.
    start = encoder_weights(encoder)
    start |= new_head(HOME, size_of(start))
    mean, known, others = taught(start, turns, unjudged)
    lessons, several = Lessons(known, others, mixture, tokens), []
    for seed in range(CONFIG["students"]["seeds"]):
        several.append(weights_of(student(mean, lessons, seed)))
        sys.stdout.write(f"student {seed + 1} of {CONFIG['students']['seeds']}\n")
    return averaged(several)


def keep_unseen(folder: Path, part: str, encoder: Path, tokens: QuickChatTokens) -> None:
    """What a reader says that has learned without a part of the votes, and how good that is before calibration."""
    judged, test = read_dbdc2()
    fold = np.array([zlib.crc32(name.encode()) % FOLDS for name in judged.dialogues.tolist()])
    asked = np.flatnonzero(test if part == DEV else fold == int(part))
    learned = np.setdiff1d(np.arange(len(fold)), asked)
    net = net_of(reader(encoder / "model.safetensors", tokens, learned)).eval()
    rows = [tokens.encode(passage) for passage in judged.passages]
    home, general = (said_by(net, rows, head) for head in (HOME, GENERAL))
    np.savez(folder / f"ja-{part}.npz", te=asked, home=home, gen=general)
    shares = np.exp(home[asked]).astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    groups = np.zeros(len(asked), dtype=np.intp)
    tally = breakdown_tally(judged.counts[asked], decision(ARGMAX)(shares), shares, groups, t=0.0)
    values = dict(zip(BREAKDOWN_MEASURES, tally.values().ravel(), strict=True))
    sys.stdout.write(f"{part}: " + " ".join(f"{name} {values[name]:.4f}" for name in SHOWN) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", choices=(ALL, DEV, *map(str, range(FOLDS))))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    tokenizer = (asked.encoder / "tokenizer.json").read_bytes()
    tokens = QuickChatTokens(tokenizer)
    if asked.part != ALL:
        keep_unseen(asked.folder, asked.part, asked.encoder, tokens)
        return 0
    weights = reader(asked.encoder / "model.safetensors", tokens, np.arange(len(read_dbdc2()[0].passages)))
    kept = {name: value.half().contiguous() for name, value in weights.items()}
    save_file(kept, asked.folder / "ja.safetensors")
    (asked.folder / "ja-tokenizer.json").write_bytes(tokenizer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
