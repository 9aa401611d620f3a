"""The Japanese reader: teachers that learn from the votes, and students of theirs that know talk of any kind too.

    python tools/train/japanese_chat.py TALK WEIGHTS --seconds 400

TALK is the folder that `japanese_talk.py` left. WEIGHTS gets what `readers.py ja` takes: the reader that is shipped,
and what five others say of the turns that each of them had not learned from. All six learn side by side, on one
accelerator or on the processor. Needs PyTorch, numpy and safetensors, no Lapsus.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import brief
import numpy as np
import torch
from chat_training import DEVICE, Arrays, Steps, batches, cast, cross_entropy, on_device, padded, read_all
from japanese_lessons import ALWAYS, ASSISTANTS, FOLDS, NO_WAY, REAL, WAYS, Encoded, Talk, by_length
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
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

Shares = NDArray[np.float32]
FILES: Final = 3
"""The weights are kept in so many files of about one size."""
NUMBERS: Final = 10
"""What the three heads say."""
TOLD: Final = 500
READING: Final = 0.06
"""The share of the time that is left for reading and for what must be put away."""


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


def teacher(start: Weights, judged: Turns, seed: int, settings: Any, seconds: float, most: int) -> Net:
    """One that has learned from the votes."""
    torch.manual_seed(seed)
    net, order, rng = net_of(start).train(), list(range(len(judged.rows))), random.Random(seed)
    batch = min(settings["batch"], len(order))
    steps = Steps(net, min(most, len(order) // batch * settings["epochs"]), settings["training"], seconds)
    while steps.gone < 1:
        rng.shuffle(order)
        for first in range(0, len(order) - batch + 1, batch):
            some = judged.at(order[first : first + batch])
            ids, segments, shares = on_device((*padded(some.rows), some.shares))
            with cast():
                pooled = functional.dropout(net(ids, segments), settings["dropout"])
                said = net.logits(pooled, HOME)
            steps.take(cross_entropy(shares, said).mean())
            if steps.gone >= 1:
                break
    return net.eval()


def said_by(net: Net, rows: Sequence[Encoded], *heads: str) -> list[Shares]:
    """The logarithms of the shares that each head gives."""

    def read(ids: Tensor, segments: Tensor) -> Tensor:
        pooled = net(ids, segments)
        return torch.cat([net.logits(pooled, head).log_softmax(-1) for head in heads], -1)

    found, widths = read_all(read, rows), [net.get_submodule(head).out_features for head in heads]
    return np.split(found, np.cumsum(widths)[:-1], axis=1)  # type: ignore[arg-type]


class Lessons(NamedTuple):
    """What students learn from: turns with votes, turns that the teachers judged, and talk."""

    judged: Turns
    unjudged: Turns
    talk: Talk
    waiting: list[Arrays]

    def make(self, rng: random.Random) -> Arrays:
        """A batch of turns of about one length: judged, unjudged, talk; shares for all, and the ways of talk."""
        if not self.waiting:
            settings = self.talk.settings["students"]
            counts, parts = settings["turns"], settings["of_a_length"]
            drawn = []
            for name, turns in (("judged", self.judged), ("unjudged", self.unjudged)):
                places = [rng.randrange(len(turns.rows)) for _ in range(parts * counts[name])]
                some = [(turns.rows[place], turns.shares[place], NO_WAY) for place in places]
                drawn.append(by_length(some, parts))
            for name, corpus in (("talk", ""), ("assistants", ASSISTANTS)):
                replies = [self.talk.reply(rng, corpus) for _ in range(parts * counts[name])]
                aims = self.talk.settings["wanted"]
                some = [(row, np.float32(aims[way]), WAYS.get(way, NO_WAY)) for row, way in replies]
                drawn.append(by_length(some, parts))
            self.waiting.extend(
                _batch([*one, *two, *three, *four]) for one, two, three, four in zip(*drawn, strict=True)
            )
            rng.shuffle(self.waiting)
        return self.waiting.pop()


def _batch(some: Sequence[tuple[Encoded, Any, int]]) -> Arrays:
    shares = np.array([aim for _, aim, _ in some], dtype=np.float32)
    return (*padded([row for row, _, _ in some]), shares, np.array([way for _, _, way in some]))


def student(start: Weights, lessons: Lessons, seed: int, seconds: float, most: int, name: str) -> Net:
    """One that has learned from votes and teachers, and in general from talk and from the judged turns."""
    settings = lessons.talk.settings["students"]
    torch.manual_seed(seed)
    net = net_of({**start, **new_head(GENERAL, size_of(start))}).train()
    lessons.waiting.clear()
    begun = time.monotonic()
    with batches(lessons.make, settings["makers"], seed) as given:
        first = next(given)
        left = seconds - (time.monotonic() - begun)
        steps = Steps(net, min(most, settings["steps"]), settings["training"], left)
        while steps.gone < 1:
            loss = student_loss(net, settings, *(first if steps.done == 0 else next(given)))
            steps.take(loss)
            if steps.done % TOLD == 0:
                tell(f"{name}: student {seed}, {steps.done} steps, {steps.gone:.0%}, {loss.item():.4f}")
    tell(f"{name}: student {seed} took {steps.done} steps")
    return net.eval()


def student_loss(
    net: Net, settings: Any, ids: Tensor, segments: Tensor, shares: Tensor, ways: Tensor
) -> Tensor:
    """All heads at once."""
    counts, turns = settings["counts"], settings["turns"]
    judged, talk = turns["judged"], turns["judged"] + turns["unjudged"]
    with cast():
        pooled = functional.dropout(net(ids, segments), settings["dropout"])
        home = net.logits(pooled[:talk], HOME)
        general = net.logits(torch.cat([pooled[talk:], pooled[:judged]]), GENERAL)
        way = net.logits(pooled[talk:], WAY)
    aims = torch.cat([shares[talk:], shares[:judged]])
    return (
        counts["home"] * cross_entropy(shares[:talk], home).mean()
        + counts["general"] * cross_entropy(aims, general).mean()
        + counts["way"] * functional.cross_entropy(way, ways[talk:], ignore_index=NO_WAY)
    )


def reader(folder: Path, fold: int, ends: float, most: int) -> Weights:
    """The mean of students that began at the mean of their teachers, by a moment; a fold was kept from them."""
    name, kind = ("all", "all") if fold == ALWAYS else (f"fold {fold}", "fold")
    talk, began = Talk(folder, fold), time.time()
    settings, rng = talk.settings, random.Random(7)
    count, seeds = settings["students"]["votes_count"], settings["teachers"]["seeds"][kind]
    judged = Turns([talk.row(place) for place in talk.judged], talk.shares)
    unjudged = talk.unjudged(rng)
    tell(f"{name}: {len(judged.rows)} judged, {len(unjudged)} unjudged after {time.time() - began:.0f} s")
    torch.manual_seed(0)
    # All teachers begin at the same head: only so is the mean of their weights as good as they are.
    start = encoder_weights(folder / "encoder.safetensors")
    start |= new_head(HOME, size_of(start))
    several, shares = [], np.zeros((len(judged.rows) + len(unjudged), 3), dtype=np.float32)
    each = settings["teachers"]["time"] * (ends - time.time()) / seeds
    for seed in range(seeds):
        net = teacher(start, judged, seed, settings["teachers"], each, most)
        several.append(weights_of(net))
        shares += np.exp(said_by(net, [*judged.rows, *unjudged], HOME)[0]) / seeds
    tell(f"{name}: {seeds} teachers after {time.time() - began:.0f} s")
    known = judged._replace(shares=count * judged.shares + (1 - count) * shares[: len(judged.rows)])
    lessons = Lessons(known, Turns(unjudged, shares[len(judged.rows) :]), talk, [])
    mean, several, seeds = averaged(several), [], settings["students"]["seeds"][kind]
    for seed in range(seeds):
        seconds = (ends - time.time()) / (seeds - seed)
        several.append(weights_of(student(mean, lessons, seed, seconds, most, name)))
    return averaged(several)


def learn(folder: Path, weights: Path, said_in: Path, fold: int, ends: float, most: int) -> None:
    """A reader by a moment. The one that leaves nothing out is kept; of all, what they say of turns is."""
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    learned = reader(folder, fold, ends, most)
    if fold == ALWAYS:
        keep(learned, weights)
    found = np.load(folder / "talk.npz")
    ends_of, ids, own = found["asked.ends"].tolist(), found["asked"], found["asked.own"]
    rows = [(ids[begin:end], own[begin:end]) for begin, end in pairwise(ends_of)]
    np.save(said_in / f"{fold}.npy", np.hstack(said_by(net_of(learned).eval(), rows, HOME, GENERAL, WAY)))
    tell(f"fold {fold}: read {len(rows)}")


def keep(learned: Weights, folder: Path) -> None:
    """In half precision, in files small enough to be carried."""
    halves = {name: value.half().contiguous() for name, value in learned.items()}
    whole, parts, size = sum(value.numel() for value in halves.values()), [dict[str, Tensor]()], 0
    for name, value in halves.items():
        if size + value.numel() > whole / FILES and len(parts) < FILES:
            parts.append({})
            size = 0
        parts[-1][name] = value
        size += value.numel()
    for number, part in enumerate(parts):
        save_file(part, folder / f"ja-{number}.safetensors")


def figures(folder: Path, weights: Path, said_in: Path) -> None:
    """Keep what readers say, and how good they are on what each had not learned from, before any calibration."""
    found = np.load(folder / "talk.npz")
    fold, way, corpus = (found[f"asked.{name}"] for name in ("fold", "way", "corpus"))
    unseen = np.full((len(fold), NUMBERS), np.nan, dtype=np.float32)
    for path in sorted(said_in.glob("*.npy")):
        here = fold == int(path.stem)
        unseen[here] = np.load(path)[here]
    np.savez_compressed(weights / "unseen.npz", said=unseen, fold=fold)
    votes, home = found["asked.votes"], np.exp(unseen[:, :3])
    judged = np.flatnonzero((way == "votes") & ~np.isnan(home[:, 0]))
    right = (home[judged].argmax(1) == votes[judged].argmax(1)).mean()
    tell(
        f"at home, unseen: likeliest as voted {right:.4f}, JSD {divergence(home[judged], votes[judged]):.4f}"
    )
    general = np.exp(unseen[:, 3:6])
    risk = general[:, 2] + general[:, 1] / 2
    for one in dict.fromkeys(corpus.tolist()):
        here = (corpus == one) & ~np.isnan(risk)
        if len(real := risk[here & (way == REAL)]):
            line = f"{one:28} {len(real)} real, called broken {(real >= 0.5).mean():.3f}"
            for other in dict.fromkeys(way[here & (way != REAL)].tolist()):
                line += f"; {other} {area(risk[here & (way == other)], real):.3f}"
            tell(line)


def divergence(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The mean Jensen–Shannon divergence of rows, in bits."""
    middle = (one + other) / 2
    parts = [
        np.where(own > 0, own * np.log2(np.maximum(own, 1e-12) / middle), 0).sum(1) for own in (one, other)
    ]
    return float((parts[0] + parts[1]).mean() / 2)


def area(higher: NDArray[Any], lower: NDArray[Any]) -> float:
    """How often one of the first is above one of the second; halves for equals."""
    above = (higher[:, None] > lower).mean() + (higher[:, None] == lower).mean() / 2
    return float(above)


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("talk", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--seconds", type=float, default=brief.seconds(400.0), help="of training")
    parser.add_argument(
        "--steps", type=int, default=brief.steps(1_000_000), help="stop each network after so many"
    )
    parser.add_argument(
        "--beside", type=int, default=brief.least(FOLDS + 1, 2), help="readers that learn at a time"
    )
    asked = parser.parse_args()
    asked.weights.mkdir(parents=True, exist_ok=True)
    (asked.weights / "ja-tokenizer.json").write_bytes((asked.talk / "tokenizer.json").read_bytes())
    context = multiprocessing.get_context("spawn")
    rounds, folds = math.ceil((FOLDS + 1) / asked.beside), [ALWAYS, *range(FOLDS)]
    begun = time.time()
    with TemporaryDirectory() as said_in:
        for number in range(rounds):
            ends = begun + (1 - READING) * asked.seconds * (number + 1) / rounds
            some = folds[number * asked.beside : (number + 1) * asked.beside]
            given = [(asked.talk, asked.weights, Path(said_in), fold, ends, asked.steps) for fold in some]
            processes = [context.Process(target=learn, args=one) for one in given]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
        figures(asked.talk, asked.weights, Path(said_in))
    return 0


if __name__ == "__main__":
    sys.exit(main())
