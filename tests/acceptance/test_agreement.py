"""Agreement on real data: the figures known of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lapsus.formats import read
from lapsus.kinds.votes import collect_votes
from lapsus.measures.agreement import coefficient
from lapsus.schemes import load_scheme

pytestmark = pytest.mark.acceptance


def test_fleiss_kappa_of_the_third_challenge_in_english() -> None:
    assert "LAPSUS_DATA" in os.environ, "set LAPSUS_DATA to the folder with the real corpora"
    path = Path(os.environ["LAPSUS_DATA"]) / "dbdc3-en.zip"
    entries = read(path, "dbdc", only="*/revised/eval/*")
    judgments = [judgment for entry in entries for judgment in entry.judgments]
    votes = collect_votes(judgments, load_scheme("breakdown").questions[0])
    score = coefficient("fleiss", votes)
    assert round(float(score), 3) == 0.104
    assert score.n == 2000
    assert score.signature.startswith("raters:30|labels:O,T,X|boot:1000,seed=0,level=0.95|")
    assert score.interval is not None
    assert score.interval.low < 0.104 < score.interval.high
