"""All that the Japanese reader learns from, as tokens in one folder: the training then runs where Lapsus is not.

    python tools/train/japanese_talk.py ENCODER FOLDER

ENCODER is the folder that `japanese_encoder.py` left. FOLDER gets `talk.npz`, `settings.json`, the encoder and its
tokenizer, some 45 MB that `japanese_chat.py` takes. LAPSUS_DATA names the folder with the corpora.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import brief
import numpy as np
from guideline_data import invented
from japanese_data import read_dbdc2
from japanese_lessons import ALWAYS, ASSISTANTS, CHALLENGE, FOLDS
from numpy.typing import NDArray
from pool import (
    CONFIG,
    FAULTY,
    RANDOM,
    REAL,
    REPEATED,
    TEST,
    TRAIN,
    VOTES,
    Row,
    Talk,
    broken,
    cut,
    folder,
    part_of,
    records,
    replies,
    rude,
    talks,
    wanted,
)
from quick_tokens import QuickChatTokens

from lapsus.annotators.encoder.reader import LONGEST, Passage, TurnWords, passages_of

REPAIR, WRITTEN = "dbrc-ja", "written"
OF_EACH: Final = brief.least(240, 8)
"""Replies of each chat corpus that are read to measure, half of them real."""
MADE: Final = 2000
"""Replies without sense, and rude ones, that are made to draw from."""


def fold_of(name: str) -> int:
    """The fold that a dialogue, a question or a topic is kept back in."""
    return zlib.crc32(name.encode()) % FOLDS


def assistants() -> list[tuple[str, Talk]]:
    """Answers of today's assistants, each with the number of its question: several answer the same one."""
    found = []
    for record in records(ASSISTANTS):
        turns = tuple(TurnWords(one["role"] == "assistant", one["content"]) for one in record["messages"])
        found.append((f"question {record['id'].rpartition('-')[2]}", Talk(ASSISTANTS, record["id"], turns)))
    return found


def in_brief(talk: Talk) -> Talk:
    """The same with the first sentence of each answer alone, so that length tells nothing."""
    short = (TurnWords(by, _first(text) if by else text) for by, text in talk.turns)
    return talk._replace(turns=tuple(short))


def _first(text: str) -> str:
    line = text.strip().partition("\n")[0]
    sentence, stop, _ = line.partition("。")
    return sentence + stop


def asked() -> list[Row]:
    """Turns that readers are measured by and calibrated with, the same in the same order every time."""
    drawn, rows = random.Random(0), list(_votes())
    for corpus in CONFIG["japanese"]:
        kept = [talk for talk in talks(corpus) if part_of(corpus, talk.id) == TEST]
        rows += [
            _row(one.passage, one.way, corpus, one.dialogue)
            for one in replies(kept, OF_EACH, drawn)
            if one.passage.target
        ]
    return [*rows, *_repaired(), *_of_assistants(drawn), *_written(drawn)]


def _row(passage: Passage, way: str, corpus: str, dialogue: str) -> Row:
    return Row(cut(passage), wanted(way, None), way, corpus, TEST, dialogue)


def _votes() -> Iterator[Row]:
    judged, _ = read_dbdc2()
    for passage, shares, id in zip(judged.passages, judged.shares, judged.dialogues.tolist(), strict=True):
        yield Row(cut(passage), tuple(shares), VOTES, CHALLENGE, TEST, id)


def _repaired() -> Iterator[Row]:
    """The repair corpus, which no reader learns from: each dialogue's last turn is broken, those before it are not."""
    histories: dict[str, list[TurnWords]] = {}
    with zipfile.ZipFile(folder() / "dbrc-ja.zip") as archive:
        (name,) = archive.namelist()
        for line in archive.read(name).decode().splitlines():
            record = json.loads(line)
            histories[str(record["question_id"])] = [
                TurnWords(turn["role"] == "system", str(turn["text"]).strip())
                for turn in record["dialogue_history"]
            ]
    for id, turns in brief.few(histories.items()):
        for place, turn in enumerate(turns):
            if place and turn.by_system:
                way = FAULTY if place + 1 == len(turns) else REAL
                yield _row(Passage(tuple(turns[:place]), turn.text), way, REPAIR, id)


def _of_assistants(rng: random.Random) -> Iterator[Row]:
    found = assistants()
    said = [turn.text for _, talk in found for turn in talk.turns if turn.by_system]
    for question, talk in found:
        for place, turn in enumerate(talk.turns):
            if turn.by_system:
                before = talk.turns[:place]
                yield _row(Passage(before, turn.text), REAL, ASSISTANTS, question)
                yield _row(Passage(before, rng.choice(said)), RANDOM, ASSISTANTS, question)
                if place > 1:
                    yield _row(Passage(before, before[1].text), REPEATED, ASSISTANTS, question)


def _written(rng: random.Random) -> Iterator[Row]:
    """Dialogues written for the guideline of error types, which no reader learns from: near misses are fine."""
    found = list(brief.few(one for one in invented() if one.unit.language == "ja"))
    said = [one.unit.target.text for one in found if one.unit.target and one.beside]
    for one in found:
        passage = passages_of(one.unit)[0]
        yield _row(passage, REAL if one.beside else FAULTY, WRITTEN, one.group)
        if one.beside:
            yield _row(passage._replace(target=rng.choice(said)), RANDOM, WRITTEN, one.group)


class Tokens:
    """Texts as tokens in one row of numbers, and where each begins."""

    def __init__(self, tokens: QuickChatTokens) -> None:
        self._of = tokens
        self._said: list[int] = []
        self._ends = [0]

    def add(self, text: str) -> int:
        """Add a text; its number."""
        self._said += self._of.pieces(text)
        self._ends.append(len(self._said))
        return len(self._ends) - 2

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The row and the ends."""
        return {name: np.array(self._said, dtype=np.int16), f"{name}.ends": np.array(self._ends)}


def told(tokens: QuickChatTokens) -> dict[str, NDArray[Any]]:
    """Every dialogue: its corpus, its fold, its turns and who says them; and the challenge's votes."""
    names = [*CONFIG["japanese"], ASSISTANTS, CHALLENGE]
    kept, said = [], Tokens(tokens)
    for corpus in CONFIG["japanese"]:
        kept += [(talk, ALWAYS) for talk in talks(corpus) if part_of(corpus, talk.id) == TRAIN]
    for question, talk in assistants():
        kept += [(talk, fold_of(question)), (in_brief(talk), fold_of(question))]
    judged, _ = read_dbdc2()
    longest = dict(zip(judged.dialogues.tolist(), judged.passages, strict=True))
    place_of, votes = {}, []
    for id, passage in longest.items():
        place_of[id] = len(kept)
        turns = (*passage.context, TurnWords(True, passage.target))
        kept.append((Talk(CHALLENGE, id, turns), fold_of(id)))
    for passage, id in zip(judged.passages, judged.dialogues.tolist(), strict=True):
        votes.append((place_of[id], len(passage.context)))
    ends, by_system = [0], list[bool]()
    for talk, _ in kept:
        for turn in talk.turns:
            said.add(turn.text[:LONGEST])
            by_system.append(turn.by_system)
        ends.append(len(by_system))
    return {
        **said.arrays("turns"),
        "by_system": np.array(by_system),
        "talks.ends": np.array(ends),
        "corpora": np.array(names),
        "corpus": np.array([names.index(talk.corpus) for talk, _ in kept]),
        "fold": np.array([fold for _, fold in kept], dtype=np.int8),
        "votes": np.array(votes),
        "shares": judged.shares.astype(np.float32),
    }


def made(tokens: QuickChatTokens, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Replies without sense, and rude ones."""
    rng, arrays = random.Random(0), dict[str, NDArray[Any]]()
    for name, make in (("broken", broken), ("rude", rude)):
        found = Tokens(tokens)
        for _ in range(MADE):
            found.add(make(rng.choice(texts), rng))
        arrays |= found.arrays(name)
    return arrays


def measured(tokens: QuickChatTokens, rows: Iterable[Row]) -> dict[str, NDArray[Any]]:
    """The turns that are asked for, laid out, with the folds that they are kept back in."""
    ids, own, ends, folds, ways, corpora = [], [], [0], [], [], []
    for row in rows:
        laid, is_own = tokens.encode(row.passage)
        ids += laid
        own += is_own
        ends.append(len(ids))
        folds.append(fold_of(row.dialogue) if row.corpus in (CHALLENGE, ASSISTANTS) else ALWAYS)
        ways.append(row.way)
        corpora.append(row.corpus)
    return {
        "asked": np.array(ids, dtype=np.int16),
        "asked.own": np.array(own, dtype=np.int8),
        "asked.ends": np.array(ends),
        "asked.fold": np.array(folds, dtype=np.int8),
        "asked.way": np.array(ways),
        "asked.corpus": np.array(corpora),
        "asked.votes": np.array([row.wanted for row in rows], dtype=np.float32),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("folder", type=Path)
    asked_for = parser.parse_args()
    content = (asked_for.encoder / "tokenizer.json").read_bytes()
    tokens, rows = QuickChatTokens(content), asked()
    arrays = told(tokens) | measured(tokens, rows)
    texts = [row.passage.target for row in rows if row.way == REAL and row.corpus in CONFIG["japanese"]]
    arrays |= made(tokens, texts)
    asked_for.folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(asked_for.folder / "talk.npz", **arrays)
    settings = {name: CONFIG[name] for name in ("teachers", "students", "unjudged", "swapped_in", "wanted")}
    settings |= {"openings": CONFIG["openings"]["ja"], "wrong": CONFIG["wrong"]["ja"]}
    (asked_for.folder / "settings.json").write_text(json.dumps(settings))
    (asked_for.folder / "tokenizer.json").write_bytes(content)
    weights = (asked_for.encoder / "model.safetensors").read_bytes()
    (asked_for.folder / "encoder.safetensors").write_bytes(weights)
    sys.stdout.write(f"{len(arrays['by_system']):,} turns, {len(rows):,} asked for\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
