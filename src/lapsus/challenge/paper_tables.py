"""The three tables of the challenge's paper, for any corpus: what the data are, and how the runs did."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lapsus.challenge.leaderboard import FLOORS, ORGANISERS, Entrant
from lapsus.challenge.paper_layout import Cell, Estimate, PaperLine, PaperTable, Share
from lapsus.challenge.published import (
    CLASSIFICATION,
    DISTRIBUTION,
    OF_PAPER,
    PAPER_CORPORA,
    PAPER_DATA,
    PUBLISHED_THRESHOLD,
    Described,
    PublishedRun,
    published,
    published_data,
)
from lapsus.challenge.run_scores import Floors, ScoreValues
from lapsus.challenge.testset import Track
from lapsus.language import word_count
from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.scores import LOWER_IS_BETTER
from lapsus.measures.scores.breakdown_labels import RULES, Rule
from lapsus.measures.scores.tally import rater_range

_HEADS_2 = (
    ("", "Accuracy"), ("Precision", "(B)"), ("Recall", "(B)"), ("F", "(B)"),
    ("Precision", "(PB+B)"), ("Recall", "(PB+B)"), ("F", "(PB+B)"),
)  # fmt: skip
_HEADS_3 = (
    ("JS divergence", "(NB,PB,B)"), ("JS divergence", "(NB,PB+B)"), ("JS divergence", "(NB+PB,B)"),
    ("Mean squared error", "(NB,PB,B)"), ("Mean squared error", "(NB,PB+B)"), ("Mean squared error", "(NB+PB,B)"),
)  # fmt: skip


class Scored(NamedTuple):
    """Runs and floors as they score at one threshold."""

    threshold: float
    entrants: Sequence[Entrant]
    floors: Floors
    rule: Rule = "program"


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
        kappa=fleiss_kappa(counts, bootstrap=None).value,
        kappa_merged=fleiss_kappa(merged, bootstrap=None).value,
    )


def table_1(corpora: Mapping[str, Track]) -> PaperTable:
    """Statistics of the datasets, a column each; then what the paper says of its own."""
    paper = published_data()
    found = [*(describe(track) for track in corpora.values()), *paper.values()]
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
    heads = tuple(("", name) for name in (*corpora, *(f"{OF_PAPER} {name}" for name in paper)))
    lines = tuple(PaperLine("", *row) for row in rows)
    return PaperTable("Table 1: Statistics of the datasets.", heads, lines, about=PAPER_CORPORA, places=2)


def results(scored: Sequence[Scored]) -> list[PaperTable]:
    """Tables 2 and 3 of the paper: by labels once for each threshold, by distributions once.

    The paper's own figures stand below the runs, as lines of their own: they are of other data.
    """
    by_labels = [table_2(one) for one in scored]
    everybody = {(run.team, run.name): run for one in scored for run in one.entrants}
    return [*by_labels, table_3(list(everybody.values()), scored[0].floors)]


def table_2(scored: Scored) -> PaperTable:
    """Results by labels."""
    how = f"t = {scored.threshold:g}, a gold label needs {RULES[scored.rule]}"
    title = f"Table 2: Results of the runs by classification-related metrics ({how})."
    # The paper has no figures for another threshold.
    shown = published() if scored.threshold == PUBLISHED_THRESHOLD else ()
    return _results(title, _HEADS_2, CLASSIFICATION, scored.entrants, scored.floors, shown)


def table_3(entrants: Sequence[Entrant], floors: Floors) -> PaperTable:
    """Results by distributions."""
    title = "Table 3: Results of the runs by distribution-related metrics."
    return _results(title, _HEADS_3, DISTRIBUTION, entrants, floors, published())


def _results(
    title: str,
    heads: tuple[tuple[str, str], ...],
    measures: Sequence[str],
    entrants: Sequence[Entrant],
    floors: Floors,
    paper: Sequence[PublishedRun],
) -> PaperTable:
    """Baselines first, then the teams in the order in which they came, then the floors and what the paper has,
    which compete with nobody.
    """
    teams = dict.fromkeys(entrant.team for entrant in sorted(entrants, key=_first_baselines))
    lines = [
        PaperLine(team or ORGANISERS, entrant.name, _cells(entrant.figures.all, measures), is_run=True)
        for team in teams
        for entrant in entrants
        if entrant.team == team
    ]
    lines += [
        PaperLine("", f"({FLOORS['prior']})", _cells(floors.prior, measures)),
        PaperLine("", f"({FLOORS['halves']})", _cells(floors.halves, measures)),
    ]
    lines += [
        PaperLine(f"{OF_PAPER} {run.team}", run.name, [Estimate(run.values[name]) for name in measures])
        for run in paper
    ]
    low = tuple(measure in LOWER_IS_BETTER for measure in measures)
    about = PAPER_DATA if paper else ""
    signature = entrants[0].figures.all.signature if entrants else floors.prior.signature
    return PaperTable(title, heads, tuple(lines), low, signature, about)


def _first_baselines(entrant: Entrant) -> tuple[bool, int]:
    return entrant.team is not None, entrant.id


def _cells(figures: ScoreValues, measures: Sequence[str]) -> list[Cell]:
    found = (figures.values[measure] for measure in measures)
    return [None if score.value is None else Estimate(score.value, score.low, score.high) for score in found]
