"""The shipped breakdown models put together: graphs on bytes from trained weights, calibrations, and how good they are.

    python tools/train/readers.py en WEIGHTS BEFORE OUTPUT                    upper layers in general
    python tools/train/readers.py ja WEIGHTS BEFORE OUTPUT --unseen FOLDER    the whole reader

WEIGHTS is a folder that `english_chat.py` or `japanese_chat.py` left, BEFORE a model whose header is kept, and in
English the rest of it. LAPSUS_DATA names the folder with the corpora.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import reader_graphs
from chat_figures import tell_figures
from first_fit import first_weights, tune_cuts
from japanese_data import Judged, read_challenge, read_dbdc2
from numpy.typing import NDArray
from pool import CONFIG, RATED, REAL, TEST, VOTES, Row, cut, folder, part_of, replies, talks, wanted
from safetensors.numpy import load_file

from lapsus.annotators.breakdown import decision
from lapsus.annotators.encoder.calibration import (
    LOGITS,
    Seen,
    fit_weights,
    mean_before,
    rows_of,
    shares_of,
)
from lapsus.annotators.encoder.chat_reader import LANGUAGE, LOWER, OPENINGS, TOKENIZER, UPPER, ChatReader
from lapsus.annotators.encoder.reader import GENERAL, HOME, Passage, TurnWords, feature_rows
from lapsus.annotators.model_files import State, read_model, write_model
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_tally

Matrix = NDArray[np.float64]
FOLDS = 5
FIRMLY = 20.0
"""How hard calibrations are held to the reader's own word where there is much to fit and little to fit it to."""
OF_EACH = 240
"""Replies of each corpus that a calibration in general is fitted to and measured on, half of them real."""
SHOWN = ("accuracy", "f1_b", "f1_pb_b", "jsd", "mse")
RULE = "cuts(0.5,1)"
FRESH = "fresh"


def general_rows(language: str) -> list[Row]:
    """Replies of dialogues that the reader has not seen, and the challenges' votes."""
    drawn, rows = random.Random(0), []
    name = {"en": "english", "ja": "japanese"}[language]
    for corpus in CONFIG[name]:
        kept = [talk for talk in talks(corpus) if part_of(corpus, talk.id) == TEST]
        for reply in replies(kept, OF_EACH, drawn):
            if reply.passage.target and (reply.rating is None or reply.way == REAL):
                way = reply.way if reply.rating is None else RATED
                rows.append(
                    Row(cut(reply.passage), wanted(way, reply.rating), way, corpus, TEST, reply.dialogue)
                )
    if language == "ja":
        return rows + fresh_rows()
    for corpus, within, every in CONFIG["votes"][name]:
        judged = read_challenge(corpus, within)
        for place in range(0, len(judged.passages), 3 * every):
            shares, dialogue = tuple(judged.shares[place]), str(judged.dialogues[place])
            rows.append(Row(cut(judged.passages[place]), shares, VOTES, corpus, TEST, dialogue))
    return rows


def fresh_rows() -> list[Row]:
    """System turns before the broken one in the repair corpus: talk that no Japanese reader has learned from."""
    histories: dict[str, list[TurnWords]] = {}
    with zipfile.ZipFile(folder() / "dbrc-ja.zip") as archive:
        (name,) = archive.namelist()
        for line in archive.read(name).decode().splitlines():
            record = json.loads(line)
            histories[str(record["question_id"])] = [
                TurnWords(turn["role"] == "system", str(turn["text"]).strip())
                for turn in record["dialogue_history"]
            ]
    return [
        Row(Passage(tuple(turns[:place]), turn.text), wanted(REAL, None), FRESH, "dbrc-ja", TEST, id)
        for id, turns in histories.items()
        for place, turn in enumerate(turns[:-1])
        if place and turn.by_system
    ]


def unseen_votes(unseen: Path) -> tuple[list[Row], Matrix]:
    """The Japanese challenge's turns, and what readers say of them in general that had not learned from them."""
    judged, _ = read_dbdc2()
    said = np.zeros((len(judged.passages), LOGITS))
    for number in range(FOLDS):
        found = np.load(unseen / f"ja-{number}.npz")
        said[found["te"]] = found["gen"][found["te"]]
    parts = zip(judged.passages, judged.shares, judged.dialogues.tolist(), strict=True)
    rows = [Row(cut(p), tuple(shares), VOTES, "dbdc2-ja.zip", TEST, id) for p, shares, id in parts]
    return rows, said


def general_calibration(language: str, reader: ChatReader, unseen: Path | None = None) -> Matrix:
    """Fitted on all; the figures are of calibrations that had not seen the dialogue."""
    rows = general_rows(language)
    said = reader.logits([row.passage for row in rows], GENERAL)
    if unseen is not None:
        # What the reader has to say beside its logits it knows by heart of the chats that it learned from.
        votes, of_votes = unseen_votes(unseen)
        rows, logits = rows + votes, np.vstack([said[:, :LOGITS], of_votes])
        said = np.hstack([logits, np.zeros((len(rows), said.shape[1] - LOGITS))])
    passages = [row.passage for row in rows]
    columns = rows_of(Seen(said, np.zeros((len(rows), LOGITS)), feature_rows(passages)))
    aims = np.array([row.wanted for row in rows])
    fold = np.array([zlib.crc32(row.dialogue.encode()) % FOLDS for row in rows])
    mixture = CONFIG["mixture"][language]
    counts = {REAL: mixture["real"], VOTES: mixture["votes"], RATED: 0.0}
    drawn = np.random.default_rng(0)
    counts[FRESH] = mixture.get("fresh", 1)
    taken = np.array([drawn.random() < counts.get(row.way, mixture["wrong"]) for row in rows])
    times = np.array([max(1, int(counts.get(row.way, 1))) for row in rows])

    def fitted(some: NDArray[np.bool_]) -> Matrix:
        drawn_rows = np.repeat(np.flatnonzero(some), times[some])
        return fit_weights(columns[drawn_rows], aims[drawn_rows], first_weights(columns.shape[1]), FIRMLY)

    shares = np.zeros_like(aims)
    for number in range(FOLDS):
        shares[fold == number] = shares_of(columns[fold == number], fitted(taken & (fold != number)))
    tell_figures(rows, shares, np.arange(len(rows)))
    return fitted(taken)


def home_seen(judged: Judged, said: Matrix) -> Matrix:
    """What the calibration sees of judged turns: their logits, those of the earlier ones, plain features."""
    before, earlier = [], dict[str, list[Matrix]]()
    for passage, dialogue, row in zip(judged.passages, judged.dialogues.tolist(), said, strict=True):
        rows = earlier.setdefault(dialogue, [])
        before.append(mean_before(np.array(rows).reshape(-1, LOGITS)))
        if passage.context:
            rows.append(row)
    return rows_of(Seen(said, np.array(before), feature_rows(judged.passages)))


def home_calibration(judged: Judged, unseen: Path) -> tuple[Matrix, str]:
    """Calibration and rule, from what readers say of the folds that each had not learned from."""
    said, fold = np.zeros((len(judged.passages), LOGITS)), np.zeros(len(judged.passages), dtype=int)
    for number in range(FOLDS):
        found = np.load(unseen / f"ja-{number}.npz")
        asked = found["te"]
        fold[asked], said[asked] = number, found["home"][asked]
        opening = [place for place in asked if not judged.passages[place].context]
        said[opening] = found["gen"][opening]
    seen, shares = home_seen(judged, said), judged.shares
    given = np.zeros_like(shares)
    for number in range(FOLDS):
        others = fold != number
        weights = fit_weights(seen[others], shares[others], first_weights(seen.shape[1]), FIRMLY)
        given[~others] = shares_of(seen[~others], weights)
    labels = np.zeros(len(given), dtype=np.int8)
    for number in range(FOLDS):
        rule = tune_cuts(judged.counts[fold != number], given[fold != number])
        labels[fold == number] = decision(rule)(given[fold == number])
    for name, decided in (("its rule", labels), ("likeliest label", decision("argmax")(given))):
        tally = breakdown_tally(judged.counts, decided, given, np.zeros(len(given), dtype=np.intp), t=0.0)
        values = dict(zip(BREAKDOWN_MEASURES, tally.values().ravel(), strict=True))
        sys.stdout.write(f"five folds, {name:16}" + " ".join(f"{values[name]:.4f}" for name in SHOWN) + "\n")
    return fit_weights(seen, shares, first_weights(seen.shape[1]), FIRMLY), tune_cuts(judged.counts, given)


def english(weights: Path, before: Path, output: Path) -> None:
    """The model of before in two halves that other views and judges can share, with new upper layers in general."""
    header, state = read_model(before)
    lower, home = reader_graphs.halves(state.files["encoder.onnx"], weights / "positions.npy")
    tokenizer = state.files[TOKENIZER]
    general = reader_graphs.english_general(
        load_file(weights / "en3d.safetensors"), lower, tokenizer, read_challenge("dbdc5-en.zip", "dev")
    )
    files = {TOKENIZER: tokenizer, LOWER: lower, UPPER[HOME]: home, UPPER[GENERAL]: general}
    if "NOTICE.txt" in state.files:
        files["NOTICE.txt"] = state.files["NOTICE.txt"]
    arrays = {
        name.removeprefix("reader."): value
        for name, value in state.arrays.items()
        if name.startswith("reader.")
    }
    data: dict[str, Any] = {LANGUAGE: "en"}
    reader = ChatReader(State(data, arrays, files))
    kept = {name: value for name, value in state.arrays.items() if name != f"profile.{GENERAL}"}
    kept[f"profile.{GENERAL}"] = general_calibration("en", reader)
    learned = {
        "reader": ChatReader.name,
        "reader_data": data,
        "main": state.data["main"],
        "rules": {**state.data["rules"], GENERAL: RULE},
        "views": {GENERAL: GENERAL},
    }
    write_model(output, header, State(learned, kept, files))


def japanese(weights: Path, unseen: Path, before: Path, output: Path) -> None:
    """The whole reader anew."""
    parts: dict[str, NDArray[Any]] = {}
    for path in sorted(weights.glob("ja*.safetensors")):
        parts |= load_file(path)
    whole = {name: value.astype(np.float32) for name, value in parts.items()}
    tokenizer = (weights / "ja-tokenizer.json").read_bytes()
    judged, test = read_dbdc2()
    graphs = reader_graphs.japanese(whole, tokenizer, judged.at(np.flatnonzero(~test)))
    files = {TOKENIZER: tokenizer, LOWER: graphs[0], UPPER[HOME]: graphs[1], UPPER[GENERAL]: graphs[2]}
    data: dict[str, Any] = {LANGUAGE: "ja", OPENINGS: GENERAL}
    reader = ChatReader(State(data, {}, files))
    home, rule = home_calibration(judged, unseen)
    arrays = {"profile.dbdc2": home, f"profile.{GENERAL}": general_calibration("ja", reader, unseen)}
    learned = {
        "reader": ChatReader.name,
        "reader_data": data,
        "main": "dbdc2",
        "rules": {"dbdc2": rule, GENERAL: RULE},
        "views": {GENERAL: GENERAL},
    }
    header, _ = read_model(before)
    write_model(output, header, State(learned, arrays, files))
    sys.stdout.write(f"rule {rule}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("language", choices=("en", "ja"))
    parser.add_argument("weights", type=Path)
    parser.add_argument(
        "before", type=Path, help="the model of before: its header, in English its lower half"
    )
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--unseen", type=Path, help="Japanese: what readers say of the folds they had not seen"
    )
    asked = parser.parse_args()
    if asked.language == "en":
        english(asked.weights, asked.before, asked.output)
    else:
        japanese(asked.weights, asked.unseen, asked.before, asked.output)
    sys.stdout.write(f"{asked.output}: {asked.output.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
