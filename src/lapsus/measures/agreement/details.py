"""Where agreement comes from and where it breaks: by label, by annotator, by pair, by unit.

Where a label is rare, most agreement is on its absence: coefficients that take chance out by how common labels are
(kappa, alpha) and those that do not (percent, AC1) then tell very different stories. These figures say why.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.answer_codes import (
    Coded,
    Judged,
    coded,
    compact,
    jaccard,
    nominal,
    one_against_rest,
    ratio,
    require,
    require_names,
    scale_values,
    squared,
    within_rows,
)
from lapsus.measures.agreement.fleiss import unit_agreement
from lapsus.measures.agreement.pairs import PairMatrix, cohen_matrix, scott_matrix
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.bootstrap import Bootstrap, Floats, bootstrap_interval
from lapsus.measures.score import SAME, Score, parse_measure, signature, spread
from lapsus.model import Span, UnitKey
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes, count_labels
from lapsus.notices import Notice

KINDS = (LabelVotes, LabelSetVotes, ScaleVotes)
NOBODY_ELSE = Notice("nobody-else-judged-same")
_NAMELESS = "a measure of all annotators together, such as fleiss or alpha"
_MATRICES: dict[str, Callable[..., PairMatrix]] = {"cohen": cohen_matrix, "scott": scott_matrix}
"""What can be worked out for all pairs at once."""


class Dispute(NamedTuple):
    """A unit over which annotators differ."""

    unit: UnitKey
    disagreement: float
    answers: Mapping[str, int]
    """How many annotators gave each answer, the most frequent first."""


def by_label(
    votes: LabelVotes | LabelSetVotes, measure: str = "fleiss", bootstrap: Bootstrap | None = None
) -> dict[str, Score]:
    """Agreement on each label by itself: one label against the rest."""
    require(votes, Notice("measure-by-label"), LabelVotes, LabelSetVotes)
    return {label: coefficient(measure, one_against_rest(votes, label), bootstrap) for label in votes.labels}


def leave_one_out(votes: Judged, measure: str, bootstrap: Bootstrap | None = None) -> dict[str, Score]:
    """What agreement would be without each annotator. It rises where it leaves out one who differs."""
    require(votes, Notice("measure-without-one"), *KINDS)
    require_names(votes, Notice("measure-without-one"), _NAMELESS)
    everybody = np.arange(len(votes.annotators))
    return {
        annotator: coefficient(measure, votes.of(np.delete(everybody, place)), bootstrap)
        for place, annotator in enumerate(votes.annotators)
    }


def pairwise(votes: Judged, measure: str = "cohen") -> PairMatrix:
    """Any measure for every two annotators who judged a unit in common."""
    require(votes, Notice("measure-by-pair"), *KINDS)
    require_names(votes, Notice("measure-by-pair"), _NAMELESS)
    declared = parse_measure(measure)
    if declared.name in _MATRICES and isinstance(votes, LabelVotes | ScaleVotes):
        return _MATRICES[declared.name](votes, *declared.arguments, **dict(declared.parameters))
    answered = votes.answered.astype(np.float64)
    shared = (answered.T @ answered).astype(np.int64)
    np.fill_diagonal(shared, 0)
    values = np.full(shared.shape, np.nan)
    for one, other in np.argwhere(np.triu(shared)):
        found = coefficient(measure, votes.of([one, other]), None)
        values[one, other] = values[other, one] = float(found)
    return PairMatrix(votes.annotators, values, shared)


def with_the_rest(votes: Judged, bootstrap: Bootstrap | None = None) -> dict[str, Score]:
    """How far each annotator agrees, beyond chance, with whoever else judged the same units.

    1 less the mean distance between the annotator's answers and the others' on the same unit, over the same
    across all units. The distance is 0 or 1 for labels, Jaccard's for sets, squared difference for numbers.
    `details` gives the mean distance itself.
    """
    answers = coded(votes, Notice("measure-with-rest"), *KINDS)
    require_names(votes, Notice("measure-with-rest"), _NAMELESS)
    distance = _distance(votes, answers)
    counts = count_labels(answers.codes, len(answers.names))
    return {
        annotator: _with_the_rest(answers.codes[:, place], counts, distance, bootstrap)
        for place, annotator in enumerate(votes.annotators)
    }


def disputed(votes: Votes, most: int = 20) -> list[Dispute]:
    """The units over which annotators differ most, the worst first; units with one answer are left out.

    By the mean distance between two answers: 0 or 1 for labels, Jaccard's for sets, difference for numbers. Two
    answers of spans are as far apart as the F1 of the one against the other falls short of 1, where place and label
    must be the same.
    """
    apart = np.where(votes.answered.sum(axis=1) >= 2, _mean_distance(votes), 0.0)
    worst = np.argsort(-apart, kind="stable")[: max(most, 0)]
    return [
        Dispute(votes.units[row], float(apart[row]), _answers(votes, row)) for row in worst if apart[row] > 0
    ]


def _span_distance(answers: list[tuple[Span, ...]]) -> float:
    marks = [frozenset((s.segment, s.start, s.end, s.label) for s in spans) for spans in answers]
    pairs = list(combinations(marks, 2))
    # Nobody who marked nothing is apart from another who did not either.
    far = sum(1 - 2 * len(one & other) / (len(one) + len(other)) for one, other in pairs if one or other)
    return far / max(len(pairs), 1)


def _with_the_rest(
    own: NDArray[np.signedinteger], counts: NDArray[np.int64], distance: Floats, bootstrap: Bootstrap | None
) -> Score:
    rows = (own >= 0) & (counts.sum(axis=1) >= 2)
    mine = np.eye(counts.shape[1])[own[rows]]
    rest = counts[rows] - mine
    if not rows.any():
        return Score("with_the_rest", None, 0, note=NOBODY_ELSE, signature=signature())
    shares = rest / rest.sum(axis=1, keepdims=True)
    apart = (distance[own[rows]] * shares).sum(axis=1)
    labels = counts.shape[1]

    def value(totals: Floats) -> Floats:
        me, others = totals[..., 2 : 2 + labels], totals[..., 2 + labels :]
        expected = (me @ distance * others).sum(axis=-1)
        return 1 - ratio(totals[..., 1] * totals[..., 0], expected)

    sums = np.concatenate([np.ones((len(mine), 1)), apart[:, None], mine, shares], axis=1)
    found = float(value(sums.sum(axis=0)))
    note = SAME if math.isnan(found) else None
    around = None if note else bootstrap_interval(sums, value, bootstrap)
    line = signature(raters=spread(rest.sum(axis=1) + 1), boot=bootstrap if around else None)
    details = {"distance": float(apart.mean())}
    return Score("with_the_rest", found, len(mine), around, note, line, details)


def _distance(votes: Judged, answers: Coded) -> Floats:
    if isinstance(votes, LabelSetVotes):
        return jaccard(answers.members)
    if isinstance(votes, ScaleVotes):
        return squared(answers.numbers)
    return nominal(len(answers.names))


def _mean_distance(votes: Votes) -> Floats:
    """For each unit, the mean distance between two of its answers."""
    if isinstance(votes, SpanVotes):
        return np.array([_span_distance([one for one in row if one is not None]) for row in votes.spans])
    if isinstance(votes, LabelVotes):
        return 1 - unit_agreement(votes.counts().astype(np.float64))
    if isinstance(votes, ScaleVotes):
        return _mean_difference(scale_values(votes))
    answers = coded(votes, Notice("measure-by-unit"), LabelSetVotes)
    raters = votes.answered.sum(axis=1)
    total = within_rows(compact(answers.codes), jaccard(answers.members))
    return np.nan_to_num(ratio(total, raters * (raters - 1) / 2))


def _mean_difference(values: Floats) -> Floats:
    """The mean difference between two numbers of a row: the nth of m in order counts 2n - m - 1 times."""
    ordered = np.sort(values, axis=1)
    # From the least on, so that equal numbers are exactly no distance apart.
    ordered = ordered - ordered[:, :1]
    raters = (~np.isnan(ordered)).sum(axis=1, keepdims=True)
    times = 2 * np.arange(1, values.shape[1] + 1) - raters - 1
    total = np.where(np.isnan(ordered), 0.0, ordered * times).sum(axis=1)
    pairs = (raters * (raters - 1) / 2)[:, 0]
    return np.nan_to_num(ratio(total, pairs))


def _answers(votes: Votes, row: int) -> dict[str, int]:
    if isinstance(votes, SpanVotes):
        marked = [spans for spans in votes.spans[row] if spans is not None]
        given = ["+".join(sorted(span.label for span in spans)) or "none" for spans in marked]
    elif isinstance(votes, LabelVotes):
        given = [votes.labels[code] for code in votes.codes[row] if code >= 0]
    elif isinstance(votes, ScaleVotes):
        given = [f"{value:g}" for value in votes.values[row] if not math.isnan(value)]
    else:
        names = np.array(votes.labels)
        chosen = votes.chosen[row][votes.answered[row]]
        given = ["+".join(names[one]) or "none" for one in chosen]
    return dict(Counter(given).most_common())


APART = 0.3
"""From which difference on AC1 and alpha call for an explanation."""


class LabelUse(NamedTuple):
    """One label against the rest, over the units that two or more annotators answered; None where undefined."""

    label: str
    given: int
    """How many answers have the label."""
    answers: int
    positive: float | None
    """Given that one annotator gave the label, how likely another did (specific agreement, Cicchetti and Feinstein)."""
    negative: float | None
    """The same of not giving it."""
    expected: float | None
    """How often two answers would agree by chance, by how common the label is."""


def label_use(votes: Votes | Patterns, labels: tuple[str, ...]) -> list[LabelUse]:
    """How each label was used. Units with one answer count for how often it was given, not for agreement."""
    if isinstance(votes, Patterns):
        counts, raters, times = votes.counts, votes.raters, votes.times
    else:
        require(votes, Notice("measure-label-use"), LabelVotes, LabelSetVotes)
        counts = votes.counts().astype(np.float64)  # type: ignore[union-attr]
        raters = votes.answered.sum(axis=1).astype(np.float64)
        times = np.ones(len(raters), dtype=np.int64)
    return [_use(label, counts[:, place], raters, times) for place, label in enumerate(labels)]


def _use(label: str, yes: Floats, there: Floats, times: NDArray[np.int64]) -> LabelUse:
    given, answers = int(times @ yes), int(times @ there)
    pairable = there >= 2
    y, n, many = yes[pairable], there[pairable], times[pairable]
    # Each unit weighs as much as it has answers: a pair of its answers counts 1 / (answers - 1).
    both, neither = many @ (y * (y - 1) / (n - 1)), many @ ((n - y) * (n - y - 1) / (n - 1))
    share = ratio(many @ y, many @ n)
    return LabelUse(
        label,
        given,
        answers,
        _defined(ratio(both, many @ y)),
        _defined(ratio(neither, many @ (n - y))),
        _defined(share**2 + (1 - share) ** 2),
    )


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


def why_apart(alpha: float | None, ac1: float | None, use: list[LabelUse]) -> str | None:
    """One line where alpha and AC1 are far apart: which label is rare, and what each of the two looks at."""
    if alpha is None or ac1 is None or ac1 - alpha < APART:
        return None
    common = max(use, key=lambda one: one.given)
    if not common.answers:
        return None
    rare = [one for one in use if one.label != common.label and one.given and one.positive is not None]
    found = ", ".join(f"{one.label} {one.positive:.2f}" for one in rare[:3])
    share = common.given / common.answers
    return Notice(
        "ac1-alpha-answers-annotators",
        ac1=ac1,
        alpha=alpha,
        share=share,
        label=common.label,
        found=found or "none",
    )
