"""Step 5: fit the calibration, say how good it is, and pack the model.

    python tools/train/calibrate.py WORK MODEL.lapsus [--runs FOLDER]

Reads WORK/encoder.onnx and WORK/unseen.npz (what students said of DBDC5 dialogues that they had not seen), and the
corpora in LAPSUS_DATA. Figures are cross-validated by dialogue: calibration, words and decision rule of a fold are
fitted without it. FOLDER gets what the first of these rounds said of each turn, for benchmarks/breakdown.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import brief
import numpy as np
from english_data import CONFIG, ERRORS, FOLDS, UNSEEN
from first_fit import first_weights, fit_words, word_matrix
from home_reader import MODEL, HomeReader
from numpy.typing import NDArray
from runs import write_run

from lapsus.annotators import State, training_data
from lapsus.annotators.breakdown import ARGMAX, decision
from lapsus.annotators.cases import Example, Origin, digest, folds, shares, voted_examples
from lapsus.annotators.encoder.calibration import (
    HELD,
    Matrix,
    Seen,
    fit_weights,
    mean_before,
    rows_of,
    shares_of,
)
from lapsus.annotators.encoder.chat_reader import TOKENIZER, WORDS_COUNT
from lapsus.annotators.encoder.encoder import BY_PROFILE, Encoder, Profile
from lapsus.annotators.encoder.reader import Memory, feature_rows, passages_of
from lapsus.annotators.features.word_forms import Words
from lapsus.formats import read
from lapsus.measures.bootstrap import USUAL
from lapsus.measures.scores.breakdown import breakdown_scores, jensen_shannon_terms
from lapsus.model import EMPTY, units
from lapsus.schemes import load_scheme

SETTINGS = CONFIG["calibration"]
SHOWN = {"accuracy": "Acc", "f1_b": "F(B)", "f1_pb_b": "F(PB+B)", "jsd": "JSD", "mse": "MSE"}
MATCHINGS = 30
AIMS = ("accuracy", "f1_b", "f1_pb_b")
Folds = NDArray[np.intp]


class Judged(NamedTuple):
    """Judged turns, and what is known of each but for the words."""

    examples: list[Example]
    seen: Seen
    likeness: Matrix
    """How alike the words of two turns are."""

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.array([example.counts for example in self.examples])

    @property
    def groups(self) -> Folds:
        names = [example.unit.document for example in self.examples]
        return np.unique(names, return_inverse=True)[1].astype(np.intp)


def judged(name: str, only: str) -> list[Example]:
    """The judged turns of a corpus."""
    path = Path(os.environ["LAPSUS_DATA"], name)
    documents, votes = training_data(brief.few(read(path, "dbdc", only=only, language="en")))
    rule = load_scheme("breakdown").unit
    return list(voted_examples((unit for one in documents for unit in units(one, rule)), votes))


def unseen(work: Path, examples: list[Example]) -> Judged:
    """DBDC5 with the logits of students that had not seen the dialogue."""
    kept = np.load(work / UNSEEN)
    said = dict(zip(zip(kept["dialogues"], kept["turns"], strict=True), kept["logits"], strict=True))
    return with_logits(examples, np.array([said[example.unit.key] for example in examples]))


def with_logits(examples: list[Example], logits: Matrix) -> Judged:
    """Judged turns with what readers say of them."""
    passages = [passages_of(example.unit) for example in examples]
    own = [passage for passage, _ in passages]
    seen = Seen(
        logits, before(examples, logits, [len(earlier) for _, earlier in passages]), feature_rows(own)
    )
    words = word_matrix(own)
    return Judged(examples, seen, (words @ words.T).astype(np.float64))


def before(examples: Sequence[Example], logits: Matrix, expected: Sequence[int]) -> Matrix:
    """What was said of each dialogue's earlier turns. All that count must have been judged."""
    found, start = [], 0
    for place, example in enumerate(examples):
        if example.unit.document != examples[start].unit.document:
            start = place
        if place - start != expected[place]:
            raise SystemExit(
                f"{example.unit.key}: {place - start} of {expected[place]} earlier turns are judged"
            )
        found.append(mean_before(logits[start:place]))
    return np.array(found)


def words_unseen(data: Judged, rows: Folds, seed: int) -> Matrix:
    """What words give away of some turns, each from the words of other dialogues among them."""
    fold = folds([data.examples[row] for row in rows], FOLDS, seed)
    found = np.zeros((len(rows), 3))
    for place in range(FOLDS):
        found[fold == place] = words_from(data, rows[fold != place], rows[fold == place])
    return found


def words_from(data: Judged, learned: Folds, asked: Folds) -> Matrix:
    """What the words of some turns give away of others."""
    wanted = shares(data.examples)[learned]
    usual = wanted.mean(axis=0)
    own = data.likeness[np.ix_(learned, learned)] + SETTINGS["words"] * np.eye(len(learned))
    given: Matrix = usual + data.likeness[np.ix_(asked, learned)] @ np.linalg.solve(own, wanted - usual)
    return given


def rows_with(data: Judged, rows: Folds, words: Matrix) -> Matrix:
    """The calibration's columns for some turns."""
    readings = np.hstack([data.seen.readings[rows], WORDS_COUNT * words])
    return rows_of(Seen(readings, data.seen.before[rows], data.seen.features[rows]))


def cross_validated(data: Judged, fold: Folds, errors: Matrix) -> tuple[Matrix, Matrix]:
    """Distributions by calibrations that were fitted without the fold, exactly and with the errors of the bytes."""
    given, rounded = np.zeros((2, len(fold), 3))
    off = data._replace(seen=data.seen._replace(readings=data.seen.readings + errors))
    for place in np.unique(fold):
        learn, ask = np.flatnonzero(fold != place), np.flatnonzero(fold == place)
        rows = rows_with(data, learn, words_unseen(data, learn, seed=0))
        weights = fit_weights(rows, shares(data.examples)[learn], first_weights(rows.shape[1]))
        words = words_from(data, learn, ask)
        given[ask] = shares_of(rows_with(data, ask, words), weights)
        rounded[ask] = shares_of(rows_with(off, ask, words), weights)
    return given, rounded


def tune(counts: NDArray[np.int64], given: Matrix) -> str:
    """From which share of O on it is said; else the likelier of T and X. Best is the sum of Acc, F(B) and F(PB+B)."""
    groups = np.zeros(len(given), dtype=np.intp)
    rules = [f"cuts({percent / 100:g},1)" for percent in range(30, 61, 2)]

    def worth(rule: str) -> float:
        found = breakdown_scores(counts, decision(rule)(given), given, groups, bootstrap=None)
        return sum(float(found[name]) for name in AIMS)

    return max(rules, key=worth)


def nested_labels(counts: NDArray[np.int64], given: Matrix, fold: Folds) -> NDArray[np.int8]:
    """Labels by rules that were tuned without the fold."""
    labels = np.zeros(len(given), dtype=np.int8)
    for place in np.unique(fold):
        rule = decision(tune(counts[fold != place], given[fold != place]))
        labels[fold == place] = rule(given[fold == place])
    return labels


def tell(
    what: str, counts: NDArray[np.int64], labels: NDArray[np.int8], given: Matrix, groups: Folds
) -> None:
    found = breakdown_scores(counts, labels, given, groups, bootstrap=USUAL)
    cells = []
    for name, title in SHOWN.items():
        value, interval = found[name].value, found[name].interval
        between = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        cells.append(f"{title} {value:.4f}{between}")
    sys.stdout.write(f"{what:34s} {'  '.join(cells)}\n")
    sys.stdout.flush()


def figures(data: Judged, errors: Matrix) -> Iterator[Matrix]:
    """Tell how good the model is; yields the distributions that the rule is tuned on."""
    counts, groups = data.counts, data.groups
    plain = shares_of(data.seen.readings, np.eye(3))
    tell("the student alone", counts, decision(ARGMAX)(plain), plain, groups)
    for seed in range(SETTINGS["rounds"]):
        fold = folds(data.examples, SETTINGS["folds"], seed)
        drawn = errors[np.random.default_rng(seed).integers(len(errors), size=len(fold))]
        given, rounded = cross_validated(data, fold, drawn)
        tell(f"calibrated, likeliest label, {seed}", counts, decision(ARGMAX)(given), given, groups)
        tell(f"calibrated, nested rule, {seed}", counts, nested_labels(counts, given, fold), given, groups)
        tell(
            f"  with the bytes' errors, {seed}", counts, nested_labels(counts, rounded, fold), rounded, groups
        )
        yield given


def keep_run(data: Judged, errors: Matrix, folder: Path) -> None:
    """What calibrated readers say of dialogues that they had not seen, with the errors of the bytes."""
    fold = folds(data.examples, SETTINGS["folds"], 0)
    drawn = errors[np.random.default_rng(0).integers(len(errors), size=len(fold))]
    _, given = cross_validated(data, fold, drawn)
    units = [example.unit.key for example in data.examples]
    write_run(folder, "dbdc5-en", units, nested_labels(data.counts, given, fold), given)


def other_profile(encoder: Encoder, examples: list[Example], known: list[Example]) -> Profile:
    """The profile of another corpus that the reader knows from its training: the same map, flatter, with another bias.

    A reader is surer of dialogues that it knows. By how much is found where both are at hand: on `known`, for which the
    map was fitted to what readers say that do not know them.
    """
    start = encoder.profiles_[encoder.main_].weights
    overrated, _ = flattened(rows_of(encoder.seen([example.unit for example in known])), shares(known), start)
    rows, wanted = rows_of(encoder.seen([example.unit for example in examples])), shares(examples)
    found, _ = flattened(rows, wanted, start)
    scale, weights = flattened(rows, wanted, start, [found / overrated])
    counts = np.array([example.counts for example in examples])
    groups = np.unique([example.unit.document for example in examples], return_inverse=True)[1].astype(
        np.intp
    )
    given = shares_of(rows, weights)
    rule = tune(counts, given)
    sys.stdout.write(f"DBDC3: scale {found:.2f}, less {overrated:.2f} for what is known: {scale:.2f}\n")
    tell("DBDC3, known to the reader", counts, decision(rule)(given), given, groups)
    return Profile(weights, rule)


def flattened(
    rows: Matrix, wanted: Matrix, start: Matrix, scales: Sequence[float] = tuple(np.arange(0.1, 2.01, 0.05))
) -> tuple[float, Matrix]:
    """The map times a number, with a bias that gives the mean shares wanted; the number under which it is best."""
    best, chosen = np.inf, (1.0, start)
    for scale in scales:
        weights = scale * start
        for _ in range(MATCHINGS):
            given = shares_of(rows, weights)
            weights[-1] += np.log(wanted.mean(axis=0) / given.mean(axis=0))
        apart = float(jensen_shannon_terms(given, wanted).sum(axis=1).mean())
        if apart < best:
            best, chosen = apart, (float(scale), weights)
    return chosen


def packed(work: Path, data: Judged, profile: Profile) -> Encoder:
    """The model with its main profile."""
    matrix = word_matrix([passages_of(example.unit)[0] for example in data.examples])
    table, usual = fit_words(matrix, shares(data.examples), SETTINGS["words"])
    arrays = {"words": table.astype(np.float16), "usual": usual}
    kept = {
        MODEL: (work / MODEL).read_bytes(),
        TOKENIZER: (work / "student" / TOKENIZER).read_bytes(),
        "NOTICE.txt": (files("lapsus.annotators") / "models" / "breakdown-en.NOTICE").read_bytes(),
    }
    encoder = Encoder(decide=BY_PROFILE)
    encoder.name = "breakdown-en"
    encoder.memory_ = Memory(HomeReader(State(EMPTY, arrays, kept)))
    encoder.main_ = "dbdc5"
    encoder.profiles_ = {encoder.main_: profile}
    encoder.origin_ = Origin(
        version=load_scheme("breakdown").version,
        documents=len(np.unique(data.groups)),
        units=len(data.examples),
        votes=int(data.counts.sum()),
        digest=digest(data.examples),
        languages=("en",),
        words=Words.here(["en"]).ways,
    )
    return encoder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--runs", type=Path, help="also keep what was said of turns not seen")
    asked = parser.parse_args()
    if not os.environ.get("LAPSUS_DATA"):
        sys.stderr.write("set LAPSUS_DATA to the folder with the corpora\n")
        return 2
    data = unseen(asked.work, judged(*CONFIG["corpora"]["dbdc5"]))
    errors = np.load(asked.work / ERRORS)
    given = list(figures(data, errors))
    if asked.runs:
        keep_run(data, errors, asked.runs)
    rule = tune(np.vstack([data.counts] * len(given)), np.vstack(given))
    everything = np.arange(len(data.examples))
    rows = rows_with(data, everything, words_unseen(data, everything, seed=0))
    weights = fit_weights(rows, shares(data.examples), first_weights(rows.shape[1]), HELD)
    encoder = packed(asked.work, data, Profile(weights, rule))
    third = [example for name, only in CONFIG["corpora"]["dbdc3"][:2] for example in judged(name, only)]
    encoder.profiles_["dbdc3"] = other_profile(encoder, third, data.examples)
    encoder.save(asked.model)
    rules = ", ".join(f"{name} {profile.rule}" for name, profile in encoder.profiles_.items())
    sys.stdout.write(f"{rules}\n{asked.model}: {asked.model.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
