"""Krippendorff's alpha for unitizing: agreement on where spans are, label by label.

This is the coefficient of Krippendorff (1995) as given in *Content Analysis* (2nd edition, 2004, section
11.6) and in "Measuring the reliability of qualitative text analysis data" (2004), not one of the family of
2016. For each label, each annotator's spans cut the continuum into units and the gaps between them. Two units
that overlap differ by the squares of the distances between their begins and between their ends; a unit that
lies in a gap of another annotator differs by the square of its length; everything else counts nothing. What
is expected is the mean over all places that these units and gaps could take on the continuum.
"""

import numpy as np

from lapsus.measures.agreement.answer_codes import ratio, require
from lapsus.measures.agreement.gamma_candidates import Continuum, Ints, Lengths, continua
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats, bootstrap_interval
from lapsus.measures.score import Score, signature, spread
from lapsus.model.votes import SpanVotes
from lapsus.notices import Notice

NOTHING = Notice("nobody-marked-anything")


def unitizing_alpha(
    votes: SpanVotes, *, lengths: Lengths | None = None, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """Alpha for unitizing over all labels; `details["labels"]` has it for each.

    Each unit of the votes is one continuum (see `continua`; `lengths` are those of the texts). Spans of one
    annotator that have the same label and overlap are taken as one. Over labels and continua, differences
    observed and expected are added up before they are compared, so that each counts as far as there is
    something to differ in. The interval resamples continua.
    """
    require(votes, "unitizing", SpanVotes)
    read = [one for one in continua(votes, lengths) if one.annotators >= 2]
    line = signature(
        alpha="unitizing-2004",
        labels=",".join(votes.labels),
        lengths="texts" if lengths is not None else "marks",
        raters=spread(np.array([one.annotators for one in read])),
        boot=bootstrap,
    )
    sums = np.array([difference_sums(one, len(votes.labels)) for one in read])
    sums = sums.reshape(len(read), 2 * len(votes.labels))
    if not sums.any():
        return Score("unitizing", None, len(read), note=NOTHING if read else ALONE, signature=line)
    by_label = label_values(sums.sum(axis=0)).tolist()
    return Score(
        "unitizing",
        float(unitizing_value(sums.sum(axis=0))),
        len(read),
        bootstrap_interval(sums, unitizing_value, bootstrap),
        signature=line,
        details={
            "labels": {
                label: None if np.isnan(value) else value
                for label, value in zip(votes.labels, by_label, strict=True)
            }
        },
    )


def label_values(totals: Floats) -> Floats:
    """Alpha of each label, from totals of `difference_sums`; NaN for labels that nobody used."""
    values: Floats = 1 - ratio(totals[..., 0::2], totals[..., 1::2])
    return values


def unitizing_value(totals: Floats) -> Floats:
    """Alpha over all labels, from totals of `difference_sums`."""
    value: Floats = 1 - ratio(totals[..., 0::2].sum(axis=-1), totals[..., 1::2].sum(axis=-1))
    return value


def difference_sums(continuum: Continuum, labels: int) -> Floats:
    """For each label, the difference observed and the difference expected, both times the squared length."""
    sums = np.zeros(2 * labels)
    for label in np.unique(continuum.label).tolist():
        here = continuum.label == label
        units = _merged(continuum.annotator[here], continuum.start[here], continuum.end[here])
        sums[2 * label] = _observed(*units, continuum.annotators)
        sums[2 * label + 1] = _expected(*units, continuum.annotators, continuum.length)
    return sums


def _merged(annotator: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """The same with each annotator's overlapping spans taken as one, in order."""
    order = np.lexsort((start, annotator))
    rows: list[list[int]] = []
    for who, begin, stop in zip(*(column[order].tolist() for column in (annotator, start, end)), strict=True):
        if rows and rows[-1][0] == who and begin < rows[-1][2]:
            rows[-1][2] = max(rows[-1][2], stop)
        else:
            rows.append([who, begin, stop])
    columns = np.array(rows, dtype=np.int64).T
    return columns[0], columns[1], columns[2]


def _observed(annotator: Ints, start: Ints, end: Ints, annotators: int) -> float:
    """The mean over ordered pairs of annotators of the differences between their sections."""
    other = annotator[:, None] != annotator
    overlaps = other & (start[:, None] < end) & (start < end[:, None])
    apart = (start[:, None] - start) ** 2 + (end[:, None] - end) ** 2
    met = np.zeros((len(start), annotators), dtype=np.bool_)
    met[np.arange(len(start)), annotator] = True
    rows, columns = np.nonzero(overlaps)
    met[rows, annotator[columns]] = True
    # A unit that meets none of another annotator's lies in a gap; the gap differs from the unit as well.
    in_gaps = 2 * ((end - start) ** 2 * (annotators - met.sum(axis=1))).sum()
    return float(apart[overlaps].sum() + in_gaps) / (annotators * (annotators - 1))


def _expected(annotator: Ints, start: Ints, end: Ints, annotators: int, length: int) -> float:
    """The mean difference over all places, times the squared length of the continuum."""
    sizes = (end - start).astype(np.float64)
    # Two units of sizes l and m, in all the places where they overlap, differ by f(l) + f(m) altogether.
    overlapping = (len(sizes) - 1) / 3 * (2 * sizes**3 - 3 * sizes**2 + sizes)
    gaps = _gaps(annotator, start, end, annotators, length)
    in_gaps = sizes**2 * np.maximum(gaps - sizes[:, None] + 1, 0).sum(axis=1)
    places = annotators * length * (annotators * length - 1) - (sizes * (sizes - 1)).sum()
    return float(2 * length * (overlapping + in_gaps).sum() / places) if places > 0 else 0.0


def _gaps(annotator: Ints, start: Ints, end: Ints, annotators: int, length: int) -> Floats:
    """The lengths of all gaps between units, and before and after them, on all annotators' continua."""
    gaps: list[int] = []
    for number in range(annotators):
        own = annotator == number
        begins, ends = [*start[own].tolist(), length], [0, *end[own].tolist()]
        gaps += [begin - stop for begin, stop in zip(begins, ends, strict=True) if begin > stop]
    return np.array(gaps, dtype=np.float64)
