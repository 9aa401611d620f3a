"""The three tables of the challenge's paper, for any corpus: what the data are, and how the runs did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from lapsus.challenge.board import FLOORS, ORGANISERS, Entrant
from lapsus.challenge.figures import Figures, Floors
from lapsus.challenge.paper import Cell, Line, PaperTable, Share
from lapsus.challenge.testset import Track
from lapsus.language import word_count
from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.scores import LOWER_IS_BETTER
from lapsus.measures.scores.tally import rater_range

CLASSIFICATION: Final = (
    "accuracy", "precision_b", "recall_b", "f1_b", "precision_pb_b", "recall_pb_b", "f1_pb_b",
)  # fmt: skip
DISTRIBUTION: Final = ("jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b")
_HEADS_2 = (
    ("", "Accuracy"), ("Precision", "(B)"), ("Recall", "(B)"), ("F", "(B)"),
    ("Precision", "(PB+B)"), ("Recall", "(PB+B)"), ("F", "(PB+B)"),
)  # fmt: skip
_HEADS_3 = (
    ("JS divergence", "(NB,PB,B)"), ("JS divergence", "(NB,PB+B)"), ("JS divergence", "(NB+PB,B)"),
    ("Mean squared error", "(NB,PB,B)"), ("Mean squared error", "(NB,PB+B)"), ("Mean squared error", "(NB+PB,B)"),
)  # fmt: skip


class Described(NamedTuple):
    """What Table 1 says of one corpus."""

    dialogues: int
    turns: Counter[str]
    words: Counter[str]
    raters: str
    shares: tuple[float, float, float]
    kappa: float | None
    kappa_merged: float | None


def describe(track: Track) -> Described:
    """Count a corpus."""
    turns: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for gold in track.documents:
        for segment in gold.document.segments:
            turns[segment.role] += 1
            words[segment.role] += word_count(segment.text, gold.document.language)
    counts = track.counts
    o, t, x = (float(share) for share in counts.sum(axis=0) / counts.sum())
    merged = np.stack([counts[:, 0], counts[:, 1] + counts[:, 2]], axis=1)
    return Described(
        dialogues=len(track.documents),
        turns=turns,
        words=words,
        raters=rater_range(counts.sum(axis=1)) or "",
        shares=(o, t, x),
        kappa=fleiss_kappa(counts, plan=None).value,
        kappa_merged=fleiss_kappa(merged, plan=None).value,
    )


def table_1(corpora: Mapping[str, Track]) -> PaperTable:
    """Statistics of the datasets, a column each."""
    found = [describe(track) for track in corpora.values()]
    rows: list[tuple[str, list[Cell]]] = [
        ("No. of dialogues", [one.dialogues for one in found]),
        ("No. of user utterances", [one.turns["user"] for one in found]),
        ("No. of system utterances", [one.turns["system"] for one in found]),
        ("No. of words (user)", [one.words["user"] for one in found]),
        ("No. of words (system)", [one.words["system"] for one in found]),
        ("No. of annotators", [one.raters for one in found]),
        ("NB (Not a breakdown)", [Share(one.shares[0]) for one in found]),
        ("PB (Possible breakdown)", [Share(one.shares[1]) for one in found]),
        ("B (Breakdown)", [Share(one.shares[2]) for one in found]),
        ("Fleiss' κ (NB, PB, B)", [one.kappa for one in found]),
        ("Fleiss' κ (NB, PB+B)", [one.kappa_merged for one in found]),
    ]
    heads = tuple(("", name) for name in corpora)
    return PaperTable(
        "Table 1: Statistics of the datasets.", heads, tuple(Line("", *row) for row in rows), places=2
    )


def table_2(entrants: Sequence[Entrant], floors: Floors, threshold: float) -> PaperTable:
    """Results by labels."""
    title = f"Table 2: Results of the runs by classification-related metrics (t = {threshold:g})."
    return _results(title, _HEADS_2, CLASSIFICATION, entrants, floors)


def table_3(entrants: Sequence[Entrant], floors: Floors) -> PaperTable:
    """Results by distributions."""
    title = "Table 3: Results of the runs by distribution-related metrics."
    return _results(title, _HEADS_3, DISTRIBUTION, entrants, floors)


def _results(
    title: str,
    heads: tuple[tuple[str, str], ...],
    measures: Sequence[str],
    entrants: Sequence[Entrant],
    floors: Floors,
) -> PaperTable:
    """Baselines first, then the teams in the order in which they came, then the floors, which compete with nobody."""
    teams = dict.fromkeys(entrant.team for entrant in sorted(entrants, key=_first_baselines))
    lines = [
        Line(team or ORGANISERS, entrant.name, _cells(entrant.figures.all, measures), is_run=True)
        for team in teams
        for entrant in entrants
        if entrant.team == team
    ]
    lines += [
        Line("", f"({FLOORS['prior']})", _cells(floors.prior, measures)),
        Line("", f"({FLOORS['halves']})", _cells(floors.halves, measures)),
    ]
    low = tuple(measure in LOWER_IS_BETTER for measure in measures)
    return PaperTable(title, heads, tuple(lines), low, floors.prior.signature)


def _first_baselines(entrant: Entrant) -> tuple[bool, int]:
    return entrant.team is not None, entrant.id


def _cells(figures: Figures, measures: Sequence[str]) -> list[Cell]:
    return [figures.values[measure].value for measure in measures]
