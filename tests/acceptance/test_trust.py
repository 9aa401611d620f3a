"""A shipped detector among the crowd of a real corpus: the test is that of a plain loop, corrected shares hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.formats import convert, read
from lapsus.model import Entry
from tests.trust import plain

pytestmark = pytest.mark.acceptance
JUDGE = "breakdown-en"


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50 dialogues that 30 people each judged, and the detector."""
    assert "LAPSUS_DATA" in os.environ, "set LAPSUS_DATA to the folder with the real corpora"
    out = tmp_path_factory.mktemp("trust") / "judged.jsonl"
    source = Path(os.environ["LAPSUS_DATA"]) / "dbdc3-en.zip"
    run("detect", source, "--only", "*/revised/eval/CIC_50/*", "--with", JUDGE, "--keep", "-o", out)
    return out


def test_the_test_is_that_of_a_plain_loop(judged: Path) -> None:
    people: dict[str, dict[object, str]] = {}
    for entry in read(judged):
        for judgment in entry.judgments:
            people.setdefault(judgment.annotator, {})[judgment.unit] = str(judgment.answers["breakdown"])
    judge = people.pop(JUDGE)
    found = json.loads(run("trust", judged, "--judge", JUDGE, "--json"))
    assert [one["judge"] for one in found] == [JUDGE, "(constant)", "(random)"]
    assert found[0]["advantage"] > found[2]["advantage"]
    for told in found[0]["epsilons"]:
        rate, advantage = plain.alternative(people, judge, plain.equal, told["epsilon"])
        assert told["winning_rate"] == pytest.approx(rate, abs=1e-9)
        assert found[0]["advantage"] == pytest.approx(advantage, abs=1e-9)
        by_document = lambda unit: unit.document  # noqa: E731
        clustered, _ = plain.alternative(people, judge, plain.equal, told["epsilon"], document=by_document)
        assert told["clustered_winning_rate"] == pytest.approx(clustered, abs=1e-9)


def test_a_hundred_turns_and_the_judge_tell_what_the_crowd_said_of_all(judged: Path, tmp_path: Path) -> None:
    """People's share of each label over all turns lies in the corrected interval of a hundred, in most draws."""
    entries = list(read(judged))
    told = {one["label"]: one["people"]["value"] for one in json.loads(run("estimate", judged, "--json"))}
    units = sorted({j.unit for e in entries for j in e.judgments if j.annotator != JUDGE})
    held = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        kept = {units[place] for place in rng.choice(len(units), 100, replace=False)}
        part = [
            # The detector's answers on turns that nobody judged are no part of it.
            Entry(
                e.id,
                e.document,
                tuple(j for j in e.judgments if j.unit in (units if j.annotator == JUDGE else kept)),
            )
            for e in entries
        ]
        path = tmp_path / f"part-{seed}.jsonl"
        convert(iter(part), path, "jsonl")
        for one in json.loads(run("estimate", path, "--json")):
            held.append(one["corrected"]["low"] <= told[one["label"]] <= one["corrected"]["high"])
    assert np.mean(held) >= 0.85
