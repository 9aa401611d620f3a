"""Invented data for the races, the same for both sides, as arrays in files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.analysis.corpus import load_corpus
from lapsus.measures.scores.breakdown_labels import breakdown_counts
from lapsus.model.votes import MISSING, count_labels
from lapsus.schemes import load_scheme

RATERS = 30
LABELS = 3
ANNOTATORS = 3
"""How many mark spans."""
_SEED = 20160501
_MISSING_SHARE = 0.2
_TURNS = 10
"""How many turns a dialogue has."""


class Sizes(NamedTuple):
    """How much of each kind."""

    units: int = 1_000_000
    modelled: int = 100_000
    """Units for models of annotators."""
    listed: int = 10_000
    """Units for a library that works on lists."""
    marks: int = 100
    """Spans that each annotator marks, more or less."""


QUICK = Sizes(100_000, 10_000, 1_000, 30)

INPUTS = {
    "alpha": ("codes",),
    "fleiss": ("counts",),
    "scores": ("counts", "labels", "distributions", "groups"),
}
"""The arrays that a task starts from."""


def make_data(folder: Path, sizes: Sizes, corpora: Path) -> None:
    """Write all arrays into the folder."""
    generator = np.random.default_rng(_SEED)
    votes = _votes(sizes.units, generator)
    _save(folder, counts=count_labels(votes, LABELS), **_run(sizes.units, generator))
    votes[generator.random(votes.shape, dtype=np.float32) < _MISSING_SHARE] = MISSING
    _save(folder, codes=votes, modelled_codes=votes[: sizes.modelled], listed_codes=votes[: sizes.listed])
    _save(folder, marks=_marks(sizes.marks, generator))
    _save(folder, **_challenge(corpora, generator))


def input_bytes(folder: Path, task: str) -> int:
    """How large the arrays are that a task starts from."""
    return sum(np.load(folder / f"{name}.npy", mmap_mode="r").nbytes for name in INPUTS[task])


def _save(folder: Path, **arrays: NDArray[np.generic]) -> None:
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def _votes(units: int, generator: np.random.Generator) -> NDArray[np.int8]:
    """Everybody's label of every unit: now the true one, more or less often, now any.

    Nobody is good at it, so that a model of annotators has something to find out for many iterations.
    """
    truth = generator.choice(LABELS, units, p=(0.5, 0.2, 0.3)).astype(np.int8)
    codes = np.empty((units, RATERS), dtype=np.int8)
    for rater, skill in enumerate(np.linspace(0.05, 0.45, RATERS)):
        guess = generator.integers(0, LABELS, units, dtype=np.int8)
        codes[:, rater] = np.where(generator.random(units) < skill, truth, guess)
    return codes


def _run(units: int, generator: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """What a detector might say of turns of dialogues."""
    distributions = generator.dirichlet((1.0, 1.0, 1.0), units)
    return {
        "distributions": distributions,
        "labels": distributions.argmax(axis=1).astype(np.int8),
        "groups": np.arange(units) // _TURNS,
    }


def _marks(things: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Who marked from where to where with which label: true spans missed, moved, mislabelled and made up."""
    ends = np.cumsum(generator.integers(12, 90, things))
    starts = ends - generator.integers(5, 40, things).clip(max=np.diff(ends, prepend=0) - 1)
    labels = generator.integers(0, 4, things)
    length = int(ends[-1]) + 20
    marks = set()
    for annotator in range(ANNOTATORS):
        found = np.flatnonzero(generator.random(things) < 0.9)
        moved = generator.integers(-6, 7, (2, len(found)))
        label = np.where(
            generator.random(len(found)) < 0.15, generator.integers(0, 4, len(found)), labels[found]
        )
        start = (starts[found] + moved[0]).clip(0, length - 2)
        end = np.maximum(start + 1, (ends[found] + moved[1]).clip(max=length))
        marks |= {
            (annotator, *mark) for mark in zip(start.tolist(), end.tolist(), label.tolist(), strict=True)
        }
        for start_at in generator.integers(0, length - 20, things // 10).tolist():
            marks.add(
                (
                    annotator,
                    start_at,
                    start_at + int(generator.integers(1, 20)),
                    int(generator.integers(0, 4)),
                )
            )
    return np.array(sorted(marks), dtype=np.int64)


def _challenge(corpora: Path, generator: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """The revised evaluation set of DBDC3 in English, with a run that knows nothing."""
    corpus = load_corpus(corpora / "dbdc3-en.zip", only="*/revised/eval/*")
    scheme = load_scheme("breakdown")
    votes = corpus.votes(scheme, scheme.questions[0])
    run = _run(len(votes.units), generator)
    return {
        "eval_counts": breakdown_counts(votes),
        "eval_groups": votes.document_groups(),
        "eval_labels": run["labels"],
        "eval_distributions": run["distributions"],
    }
