"""What models said of turns that they had not learned from, kept as runs in the challenge's own format.

The models that are shipped have seen every corpus there is, so their own scores on them mean nothing. These runs are
what `benchmarks/breakdown.py --runs FOLDER` scores instead. They hold ids, labels and distributions, and no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.breakdown import QUESTION, SCHEME
from lapsus.formats import FORMATS
from lapsus.formats.sink import put_in_place
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import Entry, Judgment, UnitKey
from lapsus.schemes import load_scheme

NAME = "encoder"


def run_file(folder: Path, corpus: str) -> Path:
    """Where the run on a corpus lies."""
    return folder / f"{NAME}-{corpus}.zip"


def write_run(
    folder: Path,
    corpus: str,
    units: Sequence[UnitKey],
    labels: NDArray[np.integer[Any]],
    shares: NDArray[np.floating[Any]],
) -> None:
    """Keep what was said of some turns: a label's place in O, T, X and a row of shares each."""
    version = load_scheme(SCHEME).version
    judgments: dict[str, list[Judgment]] = {}
    for unit, label, row in zip(units, labels.tolist(), shares.tolist(), strict=True):
        answers, distribution = {QUESTION: LABELS[label]}, {QUESTION: dict(zip(LABELS, row, strict=True))}
        judgment = Judgment(unit.document, unit.segment, NAME, SCHEME, version, answers, distribution)
        judgments.setdefault(unit.document, []).append(judgment)
    folder.mkdir(parents=True, exist_ok=True)
    entries = [Entry(document, None, tuple(said)) for document, said in judgments.items()]
    with put_in_place(run_file(folder, corpus), overwrite=True) as draft:
        FORMATS.get("dbdc-run")().write(entries, draft)
