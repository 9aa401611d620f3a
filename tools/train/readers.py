"""The shipped breakdown models put together: graphs on bytes from trained weights, calibrations, and how good they are.

    python tools/train/readers.py en WEIGHTS BEFORE OUTPUT    upper layers in general
    python tools/train/readers.py ja WEIGHTS BEFORE OUTPUT    the whole reader

WEIGHTS is a folder that `english_chat.py` or `japanese_chat.py` left, BEFORE a model whose header is kept, and in
English the rest of it. LAPSUS_DATA names the folder with the corpora.
"""

from __future__ import annotations

import argparse
import random
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import brief
import numpy as np
import reader_graphs
from chat_figures import tell_figures
from first_fit import first_weights, tune_cuts
from japanese_data import Judged, read_challenge, read_dbdc2
from japanese_lessons import ASSISTANTS
from japanese_talk import REPAIR, WRITTEN, asked
from numpy.typing import NDArray
from pool import CONFIG, FAULTY, RATED, REAL, TEST, VOTES, Row, cut, part_of, replies, talks, wanted
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
from lapsus.annotators.encoder.chat_reader import (
    IN_GENERAL,
    LANGUAGE,
    LOWER,
    OPENINGS,
    TOKENIZER,
    UPPER,
    ChatReader,
)
from lapsus.annotators.encoder.reader import GENERAL, HOME, feature_rows
from lapsus.annotators.model_files import State, read_model, write_model
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_tally

Matrix = NDArray[np.float64]
FOLDS = 5
FIRMLY = 20.0
"""How hard calibrations are held to the reader's own word where there is much to fit and little to fit it to."""
OF_EACH = brief.least(240, 8)
"""Replies of each corpus that a calibration in general is fitted to and measured on, half of them real."""
SHOWN = ("accuracy", "f1_b", "f1_pb_b", "jsd", "mse")
RULE = "cuts(0.5,1)"
ELSEWHERE = (ASSISTANTS, REPAIR, WRITTEN)
"""Japanese beside the chats: told apart from them, and real replies of it count more."""


def english_rows() -> list[Row]:
    """Replies of dialogues that the reader has not seen, and the challenges' votes."""
    drawn, rows = random.Random(0), []
    for corpus in CONFIG["english"]:
        kept = [talk for talk in talks(corpus) if part_of(corpus, talk.id) == TEST]
        for reply in replies(kept, OF_EACH, drawn):
            if reply.passage.target and (reply.rating is None or reply.way == REAL):
                way = reply.way if reply.rating is None else RATED
                rows.append(
                    Row(cut(reply.passage), wanted(way, reply.rating), way, corpus, TEST, reply.dialogue)
                )
    for corpus, within, every in CONFIG["votes"]["english"]:
        judged = read_challenge(corpus, within)
        for place in range(0, len(judged.passages), 3 * every):
            shares, dialogue = tuple(judged.shares[place]), str(judged.dialogues[place])
            rows.append(Row(cut(judged.passages[place]), shares, VOTES, corpus, TEST, dialogue))
    return rows


def general_calibration(language: str, rows: Sequence[Row], said: Matrix) -> Matrix:
    """Fitted on all; the figures are of calibrations that had not seen the dialogue."""
    columns = rows_of(Seen(said, np.zeros((len(rows), LOGITS)), feature_rows([row.passage for row in rows])))
    aims = np.array([row.wanted for row in rows])
    fold = np.array([zlib.crc32(row.dialogue.encode()) % FOLDS for row in rows])
    counts = [count_of(row, CONFIG["mixture"][language]) for row in rows]
    drawn = np.random.default_rng(0)
    taken = np.array([drawn.random() < count for count in counts])
    times = np.array([max(1, int(count)) for count in counts])

    def fitted(some: NDArray[np.bool_]) -> Matrix:
        drawn_rows = np.repeat(np.flatnonzero(some), times[some])
        return fit_weights(columns[drawn_rows], aims[drawn_rows], first_weights(columns.shape[1]), FIRMLY)

    shares = np.zeros_like(aims)
    for number in range(FOLDS):
        shares[fold == number] = shares_of(columns[fold == number], fitted(taken & (fold != number)))
    apart = np.array([row.corpus in ELSEWHERE for row in rows])
    for some in filter(np.any, (~apart, apart)):
        tell_figures(rows, shares, np.flatnonzero(some))
    return fitted(taken)


def count_of(row: Row, mixture: Mapping[str, float]) -> float:
    """How often a turn counts in the mixture that a calibration is fitted on."""
    if row.way in (RATED, FAULTY) or row.corpus == WRITTEN:
        return 0.0
    if row.way == REAL and row.corpus in ELSEWHERE:
        return mixture["abroad"]
    return mixture.get(row.way, mixture["wrong"])


def home_seen(judged: Judged, said: Matrix) -> Matrix:
    """What the calibration sees of judged turns: their logits, those of the earlier ones, plain features."""
    before, earlier = [], dict[str, list[Matrix]]()
    for passage, dialogue, row in zip(judged.passages, judged.dialogues.tolist(), said, strict=True):
        rows = earlier.setdefault(dialogue, [])
        before.append(mean_before(np.array(rows).reshape(-1, LOGITS)))
        if passage.context:
            rows.append(row)
    return rows_of(Seen(said, np.array(before), feature_rows(judged.passages)))


def home_calibration(judged: Judged, said: Matrix, fold: NDArray[np.int8]) -> tuple[Matrix, str]:
    """Calibration and rule, from what readers say of the folds that each had not learned from."""
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
    rows = english_rows()
    said = reader.logits([row.passage for row in rows], GENERAL)
    kept[f"profile.{GENERAL}"] = general_calibration("en", rows, said)
    learned = {
        "reader": ChatReader.name,
        "reader_data": data,
        "main": state.data["main"],
        "rules": {**state.data["rules"], GENERAL: RULE},
        "views": {GENERAL: GENERAL},
    }
    write_model(output, header, State(learned, kept, files))


def japanese(weights: Path, before: Path, output: Path) -> None:
    """The whole reader anew."""
    parts: dict[str, NDArray[Any]] = {}
    for path in sorted(weights.glob("ja-*.safetensors")):
        parts |= load_file(path)
    whole = {name: value.astype(np.float32) for name, value in parts.items()}
    tokenizer = (weights / "ja-tokenizer.json").read_bytes()
    judged, test = read_dbdc2()
    graphs = reader_graphs.japanese(whole, tokenizer, judged.at(np.flatnonzero(~test)))
    files = {TOKENIZER: tokenizer, LOWER: graphs[0], UPPER[HOME]: graphs[1], UPPER[GENERAL]: graphs[2]}
    data: dict[str, Any] = {LANGUAGE: "ja", OPENINGS: GENERAL}
    # What it has to say beside its logits it knows by heart of the chats that it learned from: that weighs nothing.
    rows, unseen = asked(), np.load(weights / "unseen.npz")
    of_home, of_general, _ = np.split(unseen["said"].astype(np.float64), (LOGITS, 2 * LOGITS), axis=1)
    of_general = np.pad(of_general, ((0, 0), (0, IN_GENERAL - LOGITS)))
    openings = [place for place, passage in enumerate(judged.passages) if not passage.context]
    of_home[openings] = of_general[openings, :LOGITS]
    votes = slice(len(judged.passages))  # they come first
    home, rule = home_calibration(judged, of_home[votes], unseen["fold"][votes])
    arrays = {"profile.dbdc2": home, f"profile.{GENERAL}": general_calibration("ja", rows, of_general)}
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
    told = parser.parse_args()
    make = {"en": english, "ja": japanese}[told.language]
    make(told.weights, told.before, told.output)
    sys.stdout.write(f"{told.output}: {told.output.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
