"""A run's scores as they are kept: worked out once, with the sums by dialogue from which all else follows."""

from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.challenge.run_validation import CheckedRun
from lapsus.challenge.testset import Track
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.scores.breakdown import (
    BREAKDOWN_MEASURES,
    BreakdownScores,
    breakdown_tally,
    breakdown_values,
    constant_floor,
    half_floor,
    scores_of,
)
from lapsus.measures.scores.breakdown_labels import LABELS, Rule
from lapsus.measures.scores.tally import Tally


class ScoreValue(NamedTuple):
    """A score and where it would lie in most other samples. None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None


class ScoreValues(msgspec.Struct, frozen=True):
    """All measures of one run on some dialogues."""

    n: int
    values: dict[str, ScoreValue]
    signature: str


class RunScores(msgspec.Struct, frozen=True):
    """All measures of one run: on everything, and by system."""

    all: ScoreValues
    systems: dict[str, ScoreValues]
    one_hot: int = 0
    out_of_place: int = 0
    """Dialogues whose turns are answered about out of order."""


class Answers(msgspec.Struct, frozen=True):
    """What a run said of each scored turn, in their order."""

    labels: str
    shares: list[tuple[float, float, float]]


class Floors(msgspec.Struct, frozen=True):
    """What costs nothing, and what people reach."""

    prior: ScoreValues
    halves: ScoreValues


class ScoredRun(NamedTuple):
    """A run with its scores, as it is kept."""

    answers: Answers
    sums: Floats
    figures: RunScores


def score_run(
    run: CheckedRun, threshold: float, bootstrap: Bootstrap = USUAL, *, rule: Rule = "program"
) -> ScoredRun:
    """The scores of a run, on everything and by system."""
    everything = np.ones(len(run.labels), dtype=np.bool_)
    tally = _tally(run, everything, threshold, rule)
    systems = {
        system: figures(scores_of(_tally(run, wanted, threshold, rule), bootstrap))
        for system, wanted in run.track.systems.items()
    }
    found = RunScores(figures(scores_of(tally, bootstrap)), systems, run.one_hot, len(run.out_of_place))
    shares = [(o, t, x) for o, t, x in run.distributions.tolist()]
    answers = Answers("".join(LABELS[code] for code in run.labels.tolist()), shares)
    return ScoredRun(answers, tally.sums, found)


def floors(track: Track, threshold: float, bootstrap: Bootstrap = USUAL, *, rule: Rule = "program") -> Floors:
    """The floors of a test set."""
    return Floors(
        figures(constant_floor(track.counts, track.groups, t=threshold, rule=rule, bootstrap=bootstrap)),
        figures(half_floor(track.counts, track.groups, t=threshold, rule=rule, bootstrap=bootstrap)),
    )


def figures(scores: BreakdownScores) -> ScoreValues:
    """Scores in the form in which they are kept."""
    values = {
        name: ScoreValue(score.value, *(score.interval or (None, None))) for name, score in scores.items()
    }
    return ScoreValues(scores["accuracy"].n, values, scores["accuracy"].signature)


def kept_tally(sums: Floats) -> Tally:
    """The tally of a run whose sums were kept; enough to compare it with others on the same test set."""
    names = tuple(str(measure) for measure in BREAKDOWN_MEASURES.values())
    return Tally(names, sums, breakdown_values, len(sums))


def _tally(run: CheckedRun, wanted: NDArray[np.bool_], threshold: float, rule: Rule) -> Tally:
    groups = np.unique(run.track.groups[wanted], return_inverse=True)[1].astype(np.intp)
    own = {"onehot": run.one_hot} if run.one_hot else {}
    return breakdown_tally(
        run.track.counts[wanted],
        run.labels[wanted],
        run.distributions[wanted],
        groups,
        t=threshold,
        rule=rule,
        own=own,
    )
