"""A challenge on a real corpus: the paper's tables, and a board of many runs at once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from lapsus.analysis.agreement import agree
from lapsus.challenge.paper_tables import describe
from lapsus.challenge.run_validation import CheckedRun
from lapsus.challenge.service import challenge_board, challenge_tracks, create, keep_run
from lapsus.measures.scores.breakdown_labels import strict_labels, vote_shares
from lapsus.store import open_store
from lapsus.store.challenge_records import ChallengePlan

pytestmark = pytest.mark.acceptance
ONLY = "*/revised/eval/*"
RUNS = 100


def test_a_board_of_a_hundred_runs_on_the_english_test_set(tmp_path: Path) -> None:
    path = Path(os.environ["LAPSUS_DATA"]) / "dbdc3-en.zip"
    with open_store(tmp_path / "store.sqlite") as store:
        challenge = create(store, ChallengePlan("en", runs=100), path, only=ONLY)
        (track,) = challenge_tracks(store, challenge).values()
        # The floors that were worked out for this set by the challenge's rules.
        floors = challenge_board(store, challenge).floors
        assert floors["prior"].values["jsd"].value == pytest.approx(0.053, abs=5e-4)
        assert floors["halves"].values["mse"].value == pytest.approx(0.026, abs=5e-4)
        said = agree(path, only=ONLY, measures=["fleiss"], bootstrap=None).data
        assert describe(track).kappa == pytest.approx(said["fleiss_kappa"])
        assert describe(track).kappa_merged == pytest.approx(said["fleiss_kappa_merged"])

        shares, generator = vote_shares(track.counts), np.random.default_rng(0)
        slowest = 0.0
        for _ in range(RUNS):
            known = generator.uniform(0.2, 0.8)
            mixed = known * shares + (1 - known) * generator.dirichlet(np.ones(3), len(shares))
            begun = time.perf_counter()
            keep_run(store, challenge, CheckedRun(track, strict_labels(mixed), mixed, 0))
            slowest = max(slowest, time.perf_counter() - begun)
        begun = time.perf_counter()
        board = challenge_board(store, challenge, by="f1_b")
        took = time.perf_counter() - begun
    assert len(board.rows) == RUNS
    print(f"slowest run {slowest:.2f} s, board of {RUNS} runs {took:.3f} s")
    assert took < 0.3
