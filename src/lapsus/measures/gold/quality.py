"""What can be told of each annotator: how much, how fast, with whom, and whether they looked at all."""

from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.measures.agreement.answer_codes import ratio, require_names
from lapsus.measures.bootstrap import Floats
from lapsus.measures.score import signature
from lapsus.model.votes import (
    MISSING,
    LabelSetVotes,
    LabelVotes,
    ScaleVotes,
    SpanVotes,
    Votes,
    count_labels,
)
from lapsus.notices import Notice


class AnnotatorQuality(msgspec.Struct, frozen=True):
    """One annotator. None where there is nothing to tell from."""

    annotator: str
    units: int
    """How many units the annotator answered."""
    median_seconds: float | None
    """Half of the answers that were timed took longer."""
    agreement: float | None
    """The share of the others who gave the same answer, a mean over the units that others answered too."""
    with_majority: float | None
    """How often the answer was the one that most of the others gave; a tie of k answers counts as 1/k."""
    longest_run: int
    """How many times in a row the same answer was given, in the order of judging where it is known."""
    entropy: float | None
    """How varied the answers are, in bits: 0 where they are all the same."""


class Quality(msgspec.Struct, frozen=True):
    """A row for each annotator."""

    rows: tuple[AnnotatorQuality, ...]
    method: str
    signature: str


class Times(NamedTuple):
    """When annotators judged: a row a unit, a column an annotator, NaN where it is not known."""

    seconds: Floats
    """How long it took."""
    at: Floats
    """When it was done, in seconds since 1970."""


def annotator_quality(votes: Votes, times: Times | None = None) -> Quality:
    """A table of the annotators. Two answers are the same only if all of them is: the whole set, every span.

    Runs follow the moments of judging; without them, or where some are missing, the order of the units.
    """
    require_names(votes, Notice("measure-annotator-quality"), Notice("measures-of-agreement"))
    shape = len(votes.units), len(votes.annotators)
    if times is None:
        times = Times(np.full(shape, np.nan), np.full(shape, np.nan))
    if times.seconds.shape != shape or times.at.shape != shape:
        raise InvalidError(
            "times-shape-units-annotators", shape=times.seconds.shape, shape2=shape[0], shape3=shape[1]
        )
    codes = answer_codes(votes)
    counts = count_labels(codes, int(codes.max(initial=-1)) + 1)
    rows = tuple(
        _row(name, codes[:, place], counts, times.seconds[:, place], times.at[:, place])
        for place, name in enumerate(votes.annotators)
    )
    ordered = "moments" if not np.isnan(times.at[codes >= 0]).any() and codes.size else "units"
    return Quality(
        rows, "quality", signature(method="quality", rest="leave-one-out", ties="shared", order=ordered)
    )


def answer_codes(votes: Votes) -> NDArray[np.signedinteger[Any]]:
    """Answers of any kind as numbers, the same for the same answer; -1 where there is none."""
    match votes:
        case LabelVotes():
            return votes.codes
        case ScaleVotes():
            given = [[None if np.isnan(value) else value for value in row] for row in votes.values.tolist()]
        case LabelSetVotes():
            return _set_codes(votes)
        case SpanVotes():
            given = [[None if spans is None else frozenset(spans) for spans in row] for row in votes.spans]
    numbers: dict[object, int] = {}
    flat = [
        MISSING if answer is None else numbers.setdefault(answer, len(numbers))
        for row in given
        for answer in row
    ]
    return np.array(flat, dtype=np.int64).reshape(len(votes.units), len(votes.annotators))


def _set_codes(votes: LabelSetVotes) -> NDArray[np.int64]:
    """The same for sets of labels, numbered in the order in which they come; a million of them in one go."""
    chosen = votes.chosen[votes.answered]
    codes = np.zeros(len(chosen), dtype=np.int64)
    for begin in range(0, chosen.shape[1], 32):
        some = chosen[:, begin : begin + 32]
        bits = some @ (1 << np.arange(some.shape[1], dtype=np.int64))
        codes = np.unique(codes << 32 | bits, return_inverse=True)[1].reshape(-1)
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    found = np.full(votes.answered.shape, MISSING, dtype=np.int64)
    found[votes.answered] = np.argsort(np.argsort(first))[codes.reshape(-1)]
    return found


def _row(
    name: str, own: NDArray[np.signedinteger[Any]], counts: NDArray[np.int64], seconds: Floats, at: Floats
) -> AnnotatorQuality:
    there = own >= 0
    codes = own[there].astype(np.intp)
    rest = counts[there].copy()
    rest[np.arange(len(codes)), codes] -= 1
    same = rest[np.arange(len(codes)), codes]
    others = rest.sum(axis=1)
    most = rest.max(axis=1, initial=0)
    tied = (rest == most[:, None]).sum(axis=1)
    known = at[there]
    order = np.arange(len(codes)) if np.isnan(known).any() else np.argsort(known, kind="stable")
    return AnnotatorQuality(
        name,
        len(codes),
        _median(seconds[there]),
        _mean(ratio(same, others)),
        _mean(np.where(others > 0, ratio(same == most, tied), np.nan)),
        _longest_run(codes[order]),
        _entropy(codes),
    )


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def _median(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(np.median(defined)) if len(defined) else None


def _longest_run(codes: NDArray[np.intp]) -> int:
    if not len(codes):
        return 0
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    return int(np.diff(np.r_[starts, len(codes)]).max())


def _entropy(codes: NDArray[np.intp]) -> float | None:
    if not len(codes):
        return None
    counts = np.bincount(codes)
    shares = counts[counts > 0] / len(codes)
    return float(-(shares * np.log2(shares)).sum()) + 0.0
