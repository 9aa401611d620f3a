"""Trains the large English reader: a transformer that knows sentences, all of it, on turns of many kinds.

    python tools/train/large_training.py BASE WEIGHTS SAID     eight minutes on a large accelerator

BASE is the folder of all-mpnet-base-v2 that `prepare.py` unpacked. WEIGHTS and SAID get what `large.py` takes: the
weights as bytes, and what the network says of turns that were kept back. LAPSUS_DATA names the folder with the corpora.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import brief
import numpy as np
import torch
from chat_training import DEVICE, Arrays, Steps, batches, cast, cross_entropy, padded, read_all
from english_mixture import (
    PLACES,
    Lesson,
    Mixture,
    candidates,
    contradictions,
    rated_replies,
    read_talks,
    votes,
)
from numpy.typing import NDArray
from pool import CONFIG, RANDOM, REAL, TEST, TRAIN, Row, cut, fed, records, wanted
from quick_tokens import QuickLargeTokens
from readers import english_rows
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModel

from lapsus.annotators.encoder.large_reader import NAMES, NUMBERS
from lapsus.annotators.encoder.reader import Passage, TurnWords

SETTINGS: Final[dict[str, Any]] = CONFIG["large"]
PAD: Final = 1
"""The token that fills up shorter turns."""
SHARES: Final = {"shares": 0, "dbdc5": 3, "dbdc3": 6}
"""Where the network says O, T and X: in general, and as two crowds voted."""
OTHERS: Final = {"fits": "fits", "rating": "rating", "contradiction": "contradicts"}
"""Single numbers of the mixture, by the name that the reader gives them."""
COHERENT: Final = NAMES.index("coherent")
RATED_BY: Final = ("resp_en_grade", "resp_en_gupta", "resp_en_holistic")
FED: Final = (
    ("Interesting", 2), ("Engaging", 2), ("Specific", 2), ("Relevant", 2), ("Correct", 2),
    ("Semantically appropriate", 2), ("Understandable", 1), ("Fluent", 2), ("Overall", 4),
)  # fmt: skip
"""FED's questions in the order of the reader's last numbers, and the highest answer to each."""
LOGS: Final = "logs_en_mtbench101"
TOLD: Final = 500
Aims = NDArray[np.float32]
Turn = tuple[Passage, Aims]


class Net(nn.Module):
    """The transformer; the mean over all tokens and over the turn's own; two layers. Named as `large.py` knows them."""

    def __init__(self, body: nn.Module, width: int) -> None:
        super().__init__()
        self.b, self.h = body, nn.Linear(2 * width, SETTINGS["hidden"])
        self.o = nn.Linear(SETTINGS["hidden"], NUMBERS)

    def forward(self, ids: Tensor, segment: Tensor) -> Tensor:
        seen = (ids != PAD).long()
        rows = self.b(input_ids=ids, attention_mask=seen).last_hidden_state
        parts = (seen.unsqueeze(-1).to(rows.dtype), segment.unsqueeze(-1).to(rows.dtype))
        pooled = torch.cat([(rows * part).sum(1) / part.sum(1) for part in parts], -1)
        pooled = functional.dropout(pooled, SETTINGS["dropout"], self.training)
        said: Tensor = self.o(functional.gelu(self.h(pooled))).float()
        return said


def turn_of(lesson: Lesson) -> Turn:
    """A lesson of the mixture with its numbers where the reader says them."""
    aims = np.full(NUMBERS, np.nan, dtype=np.float32)
    for name, start in SHARES.items():
        aims[start : start + 3] = lesson.aim[PLACES[name]]
    for name, own in OTHERS.items():
        aims[NAMES.index(own)] = lesson.aim[PLACES[name]][0]
    return lesson.passage, aims


def coherent() -> Iterator[Turn]:
    """Replies that people rated from one to five by how well they go on."""
    for name in RATED_BY:
        for reply in rated_replies(name):
            aims = np.full(NUMBERS, np.nan, dtype=np.float32)
            aims[COHERENT] = ((reply.rating or 1.0) - 1) / 4
            yield reply.passage, aims


def of_fed() -> Iterator[Turn]:
    """FED's replies, question by question."""
    for passage, means in fed():
        aims = np.full(NUMBERS, np.nan, dtype=np.float32)
        for place, (name, most) in enumerate(FED, COHERENT + 1):
            if name in means:
                aims[place] = min(1.0, max(0.0, means[name] / most))
        yield passage, aims


def makers() -> dict[str, Callable[[random.Random], Turn]]:
    """What draws a turn of each kind."""
    plain, rated = read_talks(TRAIN)
    mixture = Mixture(plain)
    found: dict[str, Sequence[Turn]] = {
        "candidates": [turn_of(one) for _, one in candidates(TRAIN)],
        "votes": [turn_of(one) for one in votes()],
        "rated": [turn_of(one) for one in rated],
        "contradictions": [turn_of(one) for one in contradictions()],
        "coherent": list(coherent()),
        "fed": list(of_fed()),
    }
    several = {name: lambda rng, some=some: rng.choice(some) for name, some in found.items()}
    return {"talk": lambda rng: turn_of(mixture.talk(rng)), **several}


def loss_of(said: Tensor, aims: Tensor) -> Tensor:
    """How far the network is from what the turns teach, a turn on the mean."""
    whole = said.new_zeros(())
    for start in SHARES.values():
        known = ~aims[:, start].isnan()
        whole = whole + cross_entropy(aims[known, start : start + 3], said[known, start : start + 3]).sum()
    single = slice(len(SHARES) * 3, None)
    known = ~aims[:, single].isnan()
    counts = torch.ones(NUMBERS, device=said.device)
    counts[COHERENT + 1 :] = SETTINGS["fed_count"]
    off = functional.binary_cross_entropy_with_logits(
        said[:, single], aims[:, single].nan_to_num(), reduction="none"
    )
    return (whole + (off * known * counts[single]).sum()) / len(said)


def train(net: Net, tokens: QuickLargeTokens, count: int) -> None:
    """Learn from the mixture."""
    draw, turns = makers(), SETTINGS["turns"]

    def make(rng: random.Random) -> Arrays:
        drawn = [draw[name](rng) for name, times in turns.items() for _ in range(times)]
        return (
            *padded([tokens.encode(passage) for passage, _ in drawn], PAD),
            np.array([aims for _, aims in drawn]),
        )

    steps = Steps(net.train(), count, SETTINGS["training"])
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


def kept(net: Net) -> dict[str, NDArray[Any]]:
    """Matrices as bytes with a scale a row, the rest in half precision."""
    found: dict[str, NDArray[Any]] = {}
    for name, value in net.state_dict().items():
        weight = value.detach().cpu().float().numpy()
        if weight.ndim == 2 and min(weight.shape) > NUMBERS:
            scale = np.maximum(np.abs(weight).max(axis=1, keepdims=True), 1e-8) / 127
            found[f"{name}|q"] = np.rint(weight / scale).astype(np.int8)
            found[f"{name}|s"] = scale.astype(np.float32)
        elif value.is_floating_point():
            found[name] = weight.astype(np.float16)
    return found


def of_assistants() -> Iterator[Row]:
    """Answers of an assistant, as they were given and in the place of others: nothing is learned from them."""
    rng, logs = random.Random(0), []
    for record in records(LOGS):
        logs.append([TurnWords(one["role"] == "assistant", one["content"]) for one in record["messages"]])
    said = [turn.text for log in logs for turn in log if turn.by_system]
    for number, log in enumerate(logs):
        places = [place for place, turn in enumerate(log) if turn.by_system and place]
        if places:
            place = rng.choice(places)
            for way, text in ((REAL, log[place].text), (RANDOM, rng.choice(said))):
                passage = cut(Passage(tuple(log[:place]), text))
                yield Row(passage, wanted(way, None), way, LOGS, TEST, str(number))


def keep_said(net: Net, tokens: QuickLargeTokens, folder: Path) -> None:
    """What the network says of turns that it has not learned from, for the calibration; votes it has."""
    rows = [*english_rows(), *of_assistants()]
    encoded = [tokens.encode(row.passage) for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "said.npz", said=read_all(net, encoded, PAD))
    told = []
    for row in rows:
        before = [["S" if turn.by_system else "U", turn.text] for turn in row.passage.context]
        told.append([row.way, row.corpus, row.dialogue, before, row.passage.target, list(row.wanted)])
    with gzip.open(folder / "rows.json.gz", "wt", encoding="utf-8") as file:
        json.dump(told, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("said", type=Path)
    parser.add_argument("--steps", type=int, default=brief.steps(SETTINGS["steps"]))
    asked = parser.parse_args()
    content = (asked.base / "tokenizer.json").read_bytes()
    torch.manual_seed(0)
    body = AutoModel.from_pretrained(asked.base, dtype=torch.float32)
    net = Net(body, body.config.hidden_size).to(DEVICE)
    tokens = QuickLargeTokens(content)
    train(net, tokens, asked.steps)
    asked.weights.mkdir(parents=True, exist_ok=True)
    (asked.weights / "tokenizer.json").write_bytes(content)
    np.savez(asked.weights / "teacher.npz", **kept(net))
    keep_said(net, tokens, asked.said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
