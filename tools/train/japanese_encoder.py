"""Pre-trains an encoder of Japanese talk from nothing: masked words, wrong replies, what follows, what sentences mean.

    python tools/train/japanese_encoder.py TOKENIZER OUTPUT --minutes 16

TOKENIZER is `tokenizer.json` of the Japanese reader; OUTPUT becomes the folder that `japanese_chat.py` takes as
ENCODER. Only dialogues that are not kept back for measuring are read. What a sentence means is taught by the
multilingual sentence encoder that judges stand on. LAPSUS_DATA names the folder with the corpora.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import brief
import numpy as np
import torch
from chat_training import DEVICE, PAD, Arrays, Encoded, batches, cast, padded
from japanese_data import read_dbdc2
from japanese_network import SIZES, Net, Size
from numpy.typing import NDArray
from pool import CONFIG, LATER, RANDOM, REAL, REPEATED, TRAIN, Talk, cut, part_of, records, reply_at, talks
from quick_tokens import QuickChatTokens
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from lapsus.annotators.encoder.reader import Passage, TurnWords
from lapsus.annotators.judge.sentence_vectors import sentence_vectors

SETTINGS: Final[dict[str, Any]] = CONFIG["encoder"]
WAYS: Final = {REAL: 0, RANDOM: 1, REPEATED: 2, LATER: 3}
SPECIAL: Final = 6
"""The tokens up to this one stand for no words and are never masked."""
MASK: Final = 4
FOLLOWS: Final = {"entailment": 0, "neutral": 1, "unrelated": 1, "contradiction": 2, "not_entailment": 3}
"""The last one is one of the two before it: people did not say which."""
MEANING: Final = 512


Drawn: TypeAlias = list[tuple[Encoded, int, str, str]]
"""Replies as tokens, how each came there, its text, and that of the turn before it."""


class Sentences(NamedTuple):
    """Pairs of sentences with what is known of the second: whether it follows, and whether it is good Japanese."""

    rows: list[Encoded]
    known: NDArray[np.int64]


class Material:
    """Draws batches of replies in talk, and of sentences."""

    def __init__(self, tokens: QuickChatTokens, beside: int) -> None:
        self.tokens = tokens
        found = [talk for corpus in CONFIG["japanese"] for talk in talks(corpus)]
        self.talks = [one for one in found if part_of(one.corpus, one.id) == TRAIN and len(one.turns) > 1]
        self.talks += _challenge()
        self.said = [turn.text for talk in self.talks for turn in talk.turns if turn.text]
        texts = sorted(set(self.said))
        random.Random(0).shuffle(texts)
        self.meanings = _meanings(texts[: SETTINGS["meanings"]], beside)
        self.follows, self.good = _follows(tokens), _good(tokens)
        self._waiting: list[Drawn] = []

    def make(self, rng: random.Random) -> Arrays:
        """Replies of about one length, how each came there, and what it and the turn before it mean."""
        size = SETTINGS["batch"]
        if not self._waiting:
            drawn = sorted(
                (self._reply(rng) for _ in range(size * SETTINGS["of_a_length"])),
                key=lambda one: len(one[0][0]),
            )
            self._waiting = [drawn[at : at + size] for at in range(0, len(drawn), size)]
            rng.shuffle(self._waiting)
        some = self._waiting.pop()
        ids, segments = padded([row for row, _, _, _ in some])
        ways = np.array([way for _, way, _, _ in some])
        meant = np.array([[self._meaning(own), self._meaning(before)] for _, _, own, before in some])
        return (
            ids,
            segments,
            ways,
            meant,
            *self._sentences(rng, self.follows),
            *self._sentences(rng, self.good),
        )

    def _reply(self, rng: random.Random) -> tuple[Encoded, int, str, str]:
        while True:
            talk = rng.choice(self.talks)
            place = rng.randrange(1, len(talk.turns))
            wrong = SETTINGS["wrong"] if rng.random() < 0.5 else None
            reply = reply_at(talk, place, self.said, rng, wrong)
            if reply.passage.target:
                before = reply.passage.context[-1].text if reply.passage.context else ""
                row = self.tokens.encode(cut(reply.passage))
                return row, WAYS[reply.way], reply.passage.target, before

    def _meaning(self, text: str) -> NDArray[np.int8]:
        return self.meanings.get(text, np.zeros(MEANING, dtype=np.int8))

    def _sentences(self, rng: random.Random, given: Sentences) -> Arrays:
        places = [rng.randrange(len(given.rows)) for _ in range(SETTINGS["sentences"])]
        return *padded([given.rows[place] for place in places]), given.known[places]


def _challenge() -> list[Talk]:
    """The talk of the challenge without its votes."""
    found: dict[str, Passage] = {}
    judged, _ = read_dbdc2()
    for passage, dialogue in zip(judged.passages, judged.dialogues.tolist(), strict=True):
        found[dialogue] = passage
    return [
        Talk("dbdc2-ja", id, (*passage.context, TurnWords(True, passage.target)))
        for id, passage in found.items()
    ]


def _meanings(texts: list[str], beside: int) -> dict[str, NDArray[np.int8]]:
    """Unit vectors times 127, made by processes beside each other."""
    parts = [texts[at : at + 512] for at in range(0, len(texts), 512)]
    with ProcessPoolExecutor(beside, get_context("fork")) as pool:
        rows = [row for part in pool.map(_vectors, parts) for row in part]
    return dict(zip(texts, rows, strict=True))


def _vectors(texts: list[str]) -> NDArray[np.int8]:
    found = sentence_vectors().of(texts)
    sentence_vectors().forget()
    return np.rint(found * 127).clip(-127, 127).astype(np.int8)


def _pair(tokens: QuickChatTokens, before: str, text: str) -> Encoded:
    return tokens.encode(Passage((TurnWords(True, before),) if before else (), text))


def _follows(tokens: QuickChatTokens) -> Sentences:
    names = ("nli_ja_asdc_scud", "nli_ja_fcsnli", "nli_ja_jnli_and_neg", "nli_ja_jsick")
    found = [one for name in names for one in records(name) if one["label"] in FOLLOWS]
    rows = [_pair(tokens, one["premise"], one["hypothesis"]) for one in found]
    return Sentences(rows, np.array([FOLLOWS[one["label"]] for one in found]))


def _good(tokens: QuickChatTokens) -> Sentences:
    found = list(records("accept_ja_jcola"))
    rows = [_pair(tokens, "", one["text"]) for one in found]
    return Sentences(rows, np.array([int(one["label"] == "acceptable") for one in found]))


class Learner(nn.Module):
    """The network and what only its pre-training needs."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.net = Net(size)
        self.bias = nn.Parameter(torch.zeros(self.net.e.weight.shape[0]))
        self.follows, self.good = nn.Linear(2 * size.width, 3), nn.Linear(2 * size.width, 1)
        self.meant, self.before = nn.Linear(2 * size.width, MEANING), nn.Linear(size.width, MEANING)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=SETTINGS["spread"])

    def loss(self, given: list[Tensor], count: int) -> tuple[Tensor, dict[str, float]]:
        """Of a batch, and its parts. Sentences are learned from every so many steps."""
        ids, segments, ways, meant, *sentences = given
        masked = (torch.rand(ids.shape, device=ids.device) < SETTINGS["masked"]) & (ids > SPECIAL)
        hidden = masked & (torch.rand(ids.shape, device=ids.device) < 0.9)
        rows = self.net.rows(torch.where(hidden, torch.full_like(ids, MASK), ids), segments)
        pooled = self.net.pooled(rows, ids, segments)
        words = functional.linear(rows[masked], self.net.e.weight, self.bias)
        said = self.net.logits(pooled, "nup")
        context = ((ids != PAD) & (segments == 0)).unsqueeze(-1).to(rows.dtype)
        before = (rows * context).sum(1) / context.sum(1).clamp(min=1)
        parts = {
            "words": functional.cross_entropy(words.float(), ids[masked]),
            "ways": functional.cross_entropy(said, ways),
            "meant": _apart(self.meant(pooled), meant[:, 0]) + _apart(self.before(before), meant[:, 1]),
        }
        if count % SETTINGS["sentences_every"] == 0:
            parts |= self._of_sentences(sentences)
        total = torch.stack([SETTINGS["counts"][name] * value for name, value in parts.items()]).sum()
        right = ((said.argmax(1) > 0) == (ways > 0)).float().mean()
        return total, {"right": right.item(), **{name: value.item() for name, value in parts.items()}}

    def _of_sentences(self, given: list[Tensor]) -> dict[str, Tensor]:
        ids, segments, known, good_ids, good_segments, is_good = given
        said = self.follows(self.net(ids, segments)).float().log_softmax(-1)
        one = said.gather(1, known.clamp(max=2)[:, None])[:, 0]
        follows = -torch.where(known < 3, one, said[:, 1:].logsumexp(1)).mean()
        good = self.good(self.net(good_ids, good_segments)).float()[:, 0]
        return {
            "follows": follows,
            "good": functional.binary_cross_entropy_with_logits(good, is_good.float()),
        }


def _apart(said: Tensor, meant: Tensor) -> Tensor:
    """One less the cosine; texts without a meaning do not count."""
    wanted = meant.float()
    known = wanted.abs().sum(1) > 0
    away = 1 - functional.cosine_similarity(said.float(), wanted, dim=1)
    return (away * known).sum() / known.sum().clamp(min=1)


def train(material: Material, size: Size, seconds: float, most: int) -> Learner:
    """As many steps as there is time for, the rate falling with the time that is left."""
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    learner = Learner(size).to(DEVICE).train()
    settings = SETTINGS["training"]
    optimiser = torch.optim.AdamW(
        learner.parameters(),
        lr=settings["rate"],
        weight_decay=settings["decay"],
        betas=tuple(settings["betas"]),
        fused=DEVICE == "cuda",
    )
    begun, done, seen = time.monotonic(), 0, dict[str, list[float]]()
    with batches(material.make, SETTINGS["makers"]) as given:
        while (gone := (time.monotonic() - begun) / seconds) < 1 and done < most:
            for group in optimiser.param_groups:
                group["lr"] = (
                    settings["rate"] * min(1.0, (done + 1) / settings["warmup"]) * max(0.02, 1 - gone)
                )
            with cast():
                loss, parts = learner.loss(next(given), done)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
            optimiser.step()
            done += 1
            for name, value in parts.items():
                seen.setdefault(name, []).append(value)
            if done % SETTINGS["told_every"] == 0:
                told = " ".join(f"{name} {np.mean(values):.3f}" for name, values in seen.items())
                sys.stdout.write(f"{done} steps, {gone:.0%}: {told}\n")
                sys.stdout.flush()
                seen.clear()
    return learner.eval()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=brief.seconds(16.0))
    parser.add_argument("--steps", type=int, default=brief.steps(1_000_000), help="stop after so many")
    parser.add_argument("--size", choices=sorted(SIZES), default="large")
    parser.add_argument(
        "--beside", type=int, default=brief.least(16, 2), help="processes that ask the sentence encoder"
    )
    asked = parser.parse_args()
    content = asked.tokenizer.read_bytes()
    begun = time.monotonic()
    material = Material(QuickChatTokens(content), asked.beside)
    sys.stdout.write(f"{len(material.said):,} turns ready after {time.monotonic() - begun:.0f} s\n")
    sys.stdout.flush()
    learner = train(material, SIZES[asked.size], 60 * asked.minutes, asked.steps)
    asked.output.mkdir(parents=True, exist_ok=True)
    weights = {
        name: value.detach().half().cpu().contiguous() for name, value in learner.net.state_dict().items()
    }
    save_file(weights, asked.output / "model.safetensors")
    (asked.output / "tokenizer.json").write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
