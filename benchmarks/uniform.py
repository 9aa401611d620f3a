"""A run that always says one third each, scored on every corpus with breakdown labels: what zero knowledge is worth.

LAPSUS_DATA=… python benchmarks/uniform.py > docs/measures/corpora.md
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from lapsus.analysis.corpus import load_corpus
from lapsus.analysis.scores import SHOWN
from lapsus.measures.score import Score
from lapsus.measures.scores.breakdown import (
    BREAKDOWN_MEASURES,
    BreakdownScores,
    breakdown_scores,
    constant_floor,
    half_floor,
)
from lapsus.measures.scores.breakdown_labels import breakdown_counts
from lapsus.schemes import load_scheme

CORPORA = (
    ("DBDC2-ja dev", "dbdc2-ja.zip", "*/dev/*"),
    ("DBDC2-ja ref", "dbdc2-ja.zip", "*/ref/*"),
    ("DBDC3-en dev, revised", "dbdc3-en.zip", "*/revised/dev/*"),
    ("DBDC3-en eval, revised", "dbdc3-en.zip", "*/revised/eval/*"),
    ("DBDC3-en, original CIC and YI", "dbdc3-en.zip", "*/original/*"),
    ("DBDC5-en dev", "dbdc5-en.zip", None),
)
HEADER = """# Uniform runs on real corpora

What a run is worth that knows nothing and always says one third each (label O), beside the two floors, at t = 0.
Brackets hold 95% intervals over dialogues. Made by `benchmarks/uniform.py` on {date}.
"""


def cell(score: Score) -> str:
    low, high = score.interval or (float("nan"), float("nan"))
    return f"{score.value:.3f} [{low:.3f}, {high:.3f}]"


def rows(folder: Path) -> list[tuple[str, str, BreakdownScores]]:
    scheme = load_scheme("breakdown")
    found = []
    for name, file, only in CORPORA:
        votes = load_corpus(folder / file, only=only).votes(scheme, scheme.questions[0])
        gold, groups = breakdown_counts(votes), votes.document_groups()
        labels = np.zeros(len(gold), dtype=np.int8)
        thirds = np.full((len(gold), 3), 1 / 3)
        found.append((name, "uniform", breakdown_scores(gold, labels, thirds, groups)))
        found.append((name, "constant prior", constant_floor(gold, groups)))
        found.append((name, "half against half", half_floor(gold, groups)))
    return found


def main() -> int:
    data = os.environ.get("LAPSUS_DATA")
    if not data:
        print("set LAPSUS_DATA to the folder with the real corpora", file=sys.stderr)
        return 2
    print(HEADER.format(date=datetime.now(UTC).date()))
    shown = [name for name in SHOWN if not name.startswith(("precision", "recall"))]
    titles = [str(BREAKDOWN_MEASURES[name]) for name in shown]
    print(f"| corpus | run | n | {' | '.join(titles)} |")
    print(f"| --- | --- | ---: | {' | '.join('---:' for _ in shown)} |")
    signatures: dict[str, None] = {}
    for corpus, run, scores in rows(Path(data)):
        cells = " | ".join(cell(scores[name]) for name in shown)
        print(f"| {corpus} | {run} | {scores.n:,} | {cells} |")
        signatures[scores["accuracy"].signature] = None
    print("\nSignatures:\n\n```text")
    print("\n".join(signatures))
    print("```")
    return 0


if __name__ == "__main__":
    sys.exit(main())
