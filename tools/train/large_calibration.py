"""Calibration of the large reader beside the small one, from what it said of turns, and how good both are together."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from chat_figures import area, called, interval
from first_fit import first_map
from numpy.typing import NDArray
from pool import CONFIG, RANDOM, REAL

from lapsus.annotators.encoder.calibration import Matrix, fit_weights, rows_of, shares_of
from lapsus.annotators.encoder.encoder import Encoder
from lapsus.annotators.encoder.large_reader import columns
from lapsus.annotators.encoder.reader import GENERAL
from lapsus.annotators.library import default_model, load_model
from lapsus.model import Segment, Unit

HELD = 60.0
"""How hard the map is held to the mean of both: the network has seen most of these corpora, and knows some by heart."""
LOGS = "logs_"
LOGS_COUNT = 4
"""How often turns of assistants' logs count, which neither reader has learned from."""
NEVER = 2.0
"""Above any risk."""
SHARE = 0.15
"""Of good turns, so many are read again."""


def calibrated(folder: Path) -> dict[str, Any]:
    """The map and the doubt of each profile, for the manifest; figures are printed."""
    with gzip.open(folder / "rows.json.gz", "rt", encoding="utf-8") as file:
        rows: list[Any] = json.load(file)
    said = np.load(folder / "said.npz")["said"].astype(np.float64)
    small = load_model(default_model("en"))
    if not isinstance(small, Encoder):
        raise TypeError("the shipped English model is no encoder")
    units = [_unit(row) for row in rows]
    fold = np.array([hash_of(row[2]) % 5 for row in rows])
    aims = np.array([row[5] for row in rows])
    general = _shares(small.under(GENERAL), units)
    seen = columns(said, general, GENERAL)
    # Few turns of real logs are wrong: they count as they do for the small reader.
    mixture, drawn = CONFIG["mixture"]["en"], np.random.default_rng(0)
    counts = {REAL: mixture["real"], "votes": mixture["votes"]}
    taken = np.array([drawn.random() < counts.get(row[0], mixture["wrong"]) for row in rows])
    times = np.array([LOGS_COUNT if str(row[1]).startswith(LOGS) else 1 for row in rows])

    def fitted(some: NDArray[np.bool_]) -> Matrix:
        places = np.repeat(np.flatnonzero(some & taken), times[some & taken])
        return fit_weights(seen[places], aims[places], first_map(), HELD)

    both = np.zeros_like(aims)
    for number in range(5):
        both[fold == number] = shares_of(seen[fold == number], fitted(fold != number))
    tell(rows, {"small": general, "both": both})
    good = [place for place, row in enumerate(rows) if row[0] == REAL]
    doubt = float(np.quantile(_risk(general)[good], 1 - SHARE))
    sys.stdout.write(
        f"read again from a risk of {doubt:.3f} on: {(_risk(general) >= doubt).mean():.3f} of all\n"
    )
    weights = fitted(np.ones(len(rows), dtype=bool)).round(5).tolist()
    plain = first_map().tolist()
    return {
        # No judged turn of the challenges is new to it: there it is asked only by name.
        "doubt": {"": round(doubt, 4), "dbdc5": NEVER, "dbdc3": NEVER},
        "weights": {"": weights, "dbdc5": plain, "dbdc3": plain},
    }


def hash_of(name: str) -> int:
    return sum(map(ord, name))


def _risk(shares: Matrix) -> NDArray[np.float64]:
    risk: NDArray[np.float64] = shares[:, 2] + shares[:, 1] / 2
    return risk


def _shares(model: Encoder, units: list[Unit]) -> Matrix:
    blocks = [units[start : start + 256] for start in range(0, len(units), 256)]
    weights = model.profiles_[model.profile].weights
    return np.vstack([shares_of(rows_of(model.seen(block)), weights) for block in blocks])


def _unit(row: list[Any]) -> Unit:
    roles = {"S": "system", "U": "user"}
    before = tuple(Segment(str(n), roles[who], text) for n, (who, text) in enumerate(row[3]))  # type: ignore[arg-type]
    return Unit(
        document=str(row[2]), target=Segment("t", "system", str(row[4])), context=before, language="en"
    )


def tell(rows: list[Any], found: dict[str, Matrix]) -> None:
    """By corpus: real replies called broken, and how well random ones are told from them."""
    for corpus in (*dict.fromkeys(str(row[1]) for row in rows), "all"):
        for name, shares in found.items():
            risk = _risk(shares)
            by = {
                way: risk[[n for n, row in enumerate(rows) if row[0] == way and corpus in (row[1], "all")]]
                for way in (REAL, RANDOM)
            }
            line = f"{corpus:28} {name:6}"
            if len(by[REAL]):
                line += f" {len(by[REAL])} real, called broken {interval([by[REAL]], called)}"
            if len(by[RANDOM]) and len(by[REAL]):
                line += f"; random {interval([by[RANDOM], by[REAL]], area)}"
            sys.stdout.write(line + "\n")
