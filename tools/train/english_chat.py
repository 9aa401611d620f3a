"""The upper layers of the English reader for talk of any kind, trained on top of lower ones that stay as they are.

    python tools/train/english_chat.py WORK WEIGHTS     minutes on a large accelerator

WORK is the folder of the other English steps, with the student that `english.py merge` left. WEIGHTS gets what
`readers.py en` takes. LAPSUS_DATA names the folder with the corpora. What it prints is said before any calibration.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import brief
import numpy as np
import torch
from bert_layers import WIDTH, Body
from chat_figures import area, called
from chat_training import (
    DEVICE,
    PAD,
    Arrays,
    Steps,
    batches,
    cast,
    cross_entropy,
    padded,
    read_all,
)
from english_data import STUDENT
from english_mixture import (
    EMOTIONS,
    NUMBERS,
    PLACES,
    Lesson,
    Mixture,
    candidates,
    contradictions,
    emotions,
    rated_replies,
    read_talks,
    votes,
)
from numpy.typing import NDArray
from pool import CONFIG, RANDOM, REAL, TEST, TRAIN, fed
from quick_tokens import QuickTokens
from reader_graphs import POSITIONS
from safetensors.torch import load_file, save_file
from scipy.stats import spearmanr
from torch import Tensor, nn
from torch.nn import functional

from lapsus.annotators.encoder.chat_reader import TOKENIZER
from lapsus.annotators.encoder.reader import Passage

SETTINGS: dict[str, Any] = CONFIG["upper_layers"]
SHARES = ("shares", "dbdc5", "dbdc3")
"""What is learned as shares; everything else is learned number by number."""
ADVERSARIAL = "adversarial"
MEASURED = ("resp_en_grade", "resp_en_gupta", "resp_en_holistic")
TOLD = 500


class Net(nn.Module):
    """The transformer; the mean over all tokens and over the turn's own; a small network, and emotions beside it."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.body = Body(weights, SETTINGS["dropout"])
        self.hid = nn.Linear(2 * WIDTH, SETTINGS["hidden"])
        self.out = nn.Linear(SETTINGS["hidden"], NUMBERS - EMOTIONS)
        self.emo = nn.Linear(2 * WIDTH, EMOTIONS)

    def forward(self, ids: Tensor, segment: Tensor) -> Tensor:
        rows = self.body(ids, segment)
        parts = ((ids != PAD).unsqueeze(-1).to(rows.dtype), segment.unsqueeze(-1).to(rows.dtype))
        pooled = torch.cat([(rows * part).sum(1) / part.sum(1) for part in parts], -1)
        pooled = functional.dropout(pooled, SETTINGS["dropout"], self.training)
        hidden = functional.gelu(self.hid(pooled), approximate="tanh")
        return torch.cat([self.out(hidden), self.emo(pooled)], -1).float()

    def kept(self) -> dict[str, Tensor]:
        """What was trained, in half precision, by the names that `reader_graphs.py` knows."""
        heads = {
            f"{name}.{kind}": weight
            for name in ("hid", "out", "emo")
            for kind, weight in getattr(self, name).named_parameters()
        }
        every = {**self.body.trained(), **heads}
        return {name: weight.detach().half().cpu().contiguous() for name, weight in every.items()}


def loss_of(said: Tensor, aims: Tensor) -> Tensor:
    """How far the network is from what the turns teach, a turn on the mean."""
    whole = said.new_zeros(())
    for name, place in PLACES.items():
        known = ~aims[:, place.start].isnan()
        own, wanted = said[known, place], aims[known, place]
        if name in SHARES:
            off = cross_entropy(wanted, own).sum()
        else:
            off = functional.binary_cross_entropy_with_logits(own, wanted, reduction="sum")
        whole = whole + SETTINGS["counts"][name] * off / len(said)
    return whole


def train(net: Net, tokens: QuickTokens) -> None:
    """Learn from the mixture."""
    plain, rated = read_talks(TRAIN)
    mixture = Mixture(plain)
    others = {
        "candidates": [one for _, one in candidates(TRAIN)],
        "votes": votes(),
        "rated": rated,
        "contradictions": contradictions(),
        "emotions": emotions(),
    }
    counts = SETTINGS["turns"]

    def make(rng: random.Random) -> Arrays:
        drawn: list[Lesson] = [mixture.talk(rng) for _ in range(counts["talk"])]
        for name, found in others.items():
            drawn += rng.choices(found, k=counts[name])
        ids, segments = padded([tokens.encode(one.passage) for one in drawn])
        return ids, segments, np.array([one.aim for one in drawn])

    steps = Steps(net, brief.steps(SETTINGS["steps"]), SETTINGS["training"])
    net.train()
    with batches(make, SETTINGS["makers"]) as given:
        while steps.done < steps.count:
            ids, segments, aims = next(given)
            with cast():
                said = net(ids, segments)
            loss = loss_of(said, aims)
            steps.take(loss)
            if steps.done % TOLD == 0:
                sys.stdout.write(f"{steps.done:6} {loss.item():.4f}\n")
    net.eval()


def tell(net: Net, tokens: QuickTokens) -> None:
    """How well replies that people wrote are told apart, and how alike the order is to that of people's ratings."""

    def risk(passages: Sequence[Passage]) -> NDArray[np.float64]:
        said = read_all(net, [tokens.encode(passage) for passage in passages])[:, PLACES["shares"]]
        shares = np.exp(said - said.max(axis=1, keepdims=True)).astype(np.float64)
        return np.asarray((shares[:, 2] + shares[:, 1] / 2) / shares.sum(axis=1))

    kept = candidates(TEST)
    ways, risks = np.array([way for way, _ in kept]), risk([one.passage for _, one in kept])
    real = risks[ways == REAL]
    told = [f"{way} {area(risks[ways == way], real):.3f}" for way in (RANDOM, ADVERSARIAL)]
    sys.stdout.write(f"DailyDialog++: called broken {called(real):.3f}; {'; '.join(told)}\n")
    for name in MEASURED:
        replies = rated_replies(name)
        alike = -spearmanr(risk([reply.passage for reply in replies]), [reply.rating for reply in replies])[0]
        sys.stdout.write(f"{name}: {len(replies)} rated; Spearman {alike:.3f}\n")
    rated = list(fed())
    risks = risk([passage for passage, _ in rated])
    for name in dict.fromkeys(name for _, means in rated for name in means):
        pairs = [(own, means[name]) for own, (_, means) in zip(risks, rated, strict=True) if name in means]
        sys.stdout.write(
            f"FED, {name}: {len(pairs)} rated; Spearman {-spearmanr(*zip(*pairs, strict=True))[0]:.3f}\n"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("weights", type=Path)
    asked = parser.parse_args()
    found = load_file(asked.work / STUDENT)
    weights = {name.removeprefix("enc."): value for name, value in found.items() if name.startswith("enc.")}
    tokens = QuickTokens((asked.work / "student" / TOKENIZER).read_bytes())
    torch.manual_seed(0)
    net = Net(weights).to(DEVICE)
    train(net, tokens)
    asked.weights.mkdir(parents=True, exist_ok=True)
    save_file(net.kept(), asked.weights / "en3d.safetensors")
    places = weights["embeddings.position_embeddings.weight"][:POSITIONS].float()
    np.save(asked.weights / "positions.npy", places.numpy())
    tell(net, tokens)
    return 0


if __name__ == "__main__":
    sys.exit(main())
