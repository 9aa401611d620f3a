"""The challenge's scores on its own data: as its program's loop has them, with the figures known of them."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

from lapsus.analysis.scores import score
from lapsus.cli.app import app
from lapsus.formats import read
from lapsus.kinds.votes import collect_votes
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.scores.breakdown import breakdown_scores, constant_floor, half_floor
from lapsus.measures.scores.breakdown_labels import (
    LABELS,
    breakdown_counts,
    lenient_labels,
    strict_labels,
    vote_shares,
)
from lapsus.measures.scores.runs import align_run
from lapsus.model import Judgment, UnitKey, units
from lapsus.model.votes import LabelVotes
from lapsus.schemes import load_scheme
from tests.measures.scores.official import official_scores

pytestmark = pytest.mark.acceptance

SETS = {
    "DBDC3 en eval, revised": [("dbdc3-en.zip", "*/revised/eval/*")],
    # Only CIC and YI were annotated again; the other two systems are the same in both.
    "DBDC3 en eval, original": [
        ("dbdc3-en.zip", "*/original/eval/*"),
        ("dbdc3-en.zip", "*/revised/eval/IRIS*"),
        ("dbdc3-en.zip", "*/revised/eval/TKTK*"),
    ],
    "DBDC2 ja ref": [("dbdc2-ja.zip", "*/ref/*")],
    "DBDC2 ja dev": [("dbdc2-ja.zip", "*/dev/*")],
}


def data(name: str) -> Path:
    assert "LAPSUS_DATA" in os.environ, "set LAPSUS_DATA to the folder with the real corpora"
    return Path(os.environ["LAPSUS_DATA"]) / name


@cache
def load(name: str) -> tuple[LabelVotes, tuple[UnitKey, ...]]:
    """The votes of a set, and all system turns of its dialogues."""
    scheme = load_scheme("breakdown")
    entries = [entry for file, only in SETS[name] for entry in read(data(file), "dbdc", only=only)]
    votes = collect_votes([j for entry in entries for j in entry.judgments], scheme.questions[0])
    assert isinstance(votes, LabelVotes)
    documents = [entry.document for entry in entries if entry.document]
    return votes, tuple(unit.key for document in documents for unit in units(document, scheme.unit))


def made_up_run(turns: tuple[UnitKey, ...], seed: int) -> list[Judgment]:
    """A detector that throws dice. One in ten distributions is all on one label."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet([0.7, 0.7, 0.7], len(turns))
    sure = generator.random(len(turns)) < 0.1
    shares[sure] = np.eye(3)[generator.integers(0, 3, int(sure.sum()))]
    labels = generator.integers(0, 3, len(turns))
    return [
        Judgment(
            *turn,
            "dice",
            "breakdown",
            "1.0",
            {"breakdown": LABELS[label]},
            {"breakdown": dict(zip(LABELS, row, strict=True))},
        )
        for turn, label, row in zip(turns, labels.tolist(), shares.tolist(), strict=True)
    ]


@pytest.mark.parametrize("t", [0.0, 0.5])
@pytest.mark.parametrize("name", SETS)
def test_as_the_official_loop(name: str, t: float) -> None:
    votes, turns = load(name)
    run = align_run(votes, made_up_run(turns, seed=1), known_units=turns)
    found = {field: score.value for field, score in run.scores(t=t, bootstrap=None).items()}
    expected = official_scores(run.gold.tolist(), run.labels.tolist(), run.distributions.tolist(), t)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "turns"),
    [("DBDC3 en eval, revised", 2000), ("DBDC3 en eval, original", 2000), ("DBDC2 ja ref", 1650)],
)
def test_as_many_turns_are_scored_as_have_annotations(name: str, turns: int) -> None:
    votes, known = load(name)
    run = align_run(votes, made_up_run(known, seed=1), known_units=known)
    assert len(run.units) == turns
    assert run.scores(bootstrap=Bootstrap(100))["jsd"].interval is not None
    assert "raters:30|" in run.scores(bootstrap=None)["jsd"].signature


def test_strict_and_lenient_labels_differ_on_1204_of_2000_turns() -> None:
    shares = vote_shares(breakdown_counts(load("DBDC3 en eval, original")[0]))
    differ = (strict_labels(shares, 0.5) > 0) != (lenient_labels(shares, 0.5) > 0)
    assert (int(differ.sum()), len(differ)) == (1204, 2000)


def test_floors_of_the_revised_english_set() -> None:
    votes, _ = load("DBDC3 en eval, revised")
    gold, groups = breakdown_counts(votes), votes.document_groups()
    constant = constant_floor(gold, groups, bootstrap=None)
    assert constant["jsd"].value == pytest.approx(0.053, abs=5e-4)
    assert constant["mse"].value == pytest.approx(0.030, abs=5e-4)
    # Known from single splits, which differ in the third decimal.
    halves = half_floor(gold, groups, bootstrap=None)
    assert halves["jsd"].value == pytest.approx(0.054, abs=1e-3)
    assert halves["mse"].value == pytest.approx(0.026, abs=1e-3)


def test_the_usual_answer_of_training_data_on_the_japanese_set() -> None:
    votes, _ = load("DBDC2 ja ref")
    gold = breakdown_counts(votes)
    usual = vote_shares(breakdown_counts(load("DBDC2 ja dev")[0])).mean(axis=0)
    labels, shares = np.full(len(gold), strict_labels(usual, 0.0)), np.broadcast_to(usual, (len(gold), 3))
    found = breakdown_scores(gold, labels, shares, votes.document_groups(), bootstrap=None)
    known = {"accuracy": 0.378, "f1_b": 0.0, "f1_pb_b": 0.0, "jsd": 0.139, "mse": 0.071}
    assert {name: found[name].value for name in known} == pytest.approx(known, abs=5e-4)


class Turn(NamedTuple):
    """A turn as the challenge's program sees it: votes and answers in the order of the files."""

    votes: list[int]
    label: str
    shares: list[float]


def pairs_by_position(gold: Path, run: Path, only: str) -> Iterator[Turn]:
    """Plainly, as the challenge's program pairs them: the nth turn with votes and the nth answer of the run."""
    with zipfile.ZipFile(gold) as logs, zipfile.ZipFile(run) as answers:
        said = {Path(name).name: json.loads(answers.read(name)) for name in answers.namelist()}
        for name in sorted(n for n in logs.namelist() if fnmatch(n, only) and n.endswith(".log.json")):
            dialogue = json.loads(logs.read(name))
            voted = [turn for turn in dialogue["turns"] if turn["annotations"]]
            mine = said[f"{dialogue['dialogue-id']}.labels.json"]["turns"]
            for turn, answer in zip(voted, mine, strict=True):
                votes = [sum(a["breakdown"] == label for a in turn["annotations"]) for label in LABELS]
                (label,) = answer["labels"]
                shares = [label[key] for key in ("prob-O", "prob-T", "prob-X")]
                yield Turn(votes, label["breakdown"], shares)


@pytest.mark.parametrize("t", [0.0, 0.5])
def test_a_run_straight_from_detect_scores_the_same_there_and_here(tmp_path: Path, t: float) -> None:
    gold, only, run = data("dbdc5-en.zip"), "*/dev/*", tmp_path / "run.zip"
    model = str(tmp_path / "rules.lapsus")
    for command in (
        ["train", "rules", str(gold), "-o", model],
        ["detect", str(gold), "--with", model, "-o", str(run)],
    ):
        assert CliRunner().invoke(app, [*command, "--only", only]).exit_code == 0
    turns = list(pairs_by_position(gold, run, only))
    labels = [LABELS.index(turn.label) for turn in turns]
    expected = official_scores([t.votes for t in turns], labels, [t.shares for t in turns], t)
    table = score(gold, run, only=only, threshold=t, bootstrap=None)
    found = table.data["runs"][0]["scores"]
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
