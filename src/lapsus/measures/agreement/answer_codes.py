"""Answers of any kind as codes, votes with labels merged, and how far apart two answers are."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lapsus.errors import InvalidError, UsageError
from lapsus.measures.bootstrap import Floats
from lapsus.model import ANONYMOUS
from lapsus.model.votes import MISSING, LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, VoteTable
from lapsus.notices import Notice, notice
from lapsus.registry import did_you_mean

MANY = 1000
"""Up to how many different numbers a scale is taken as a list of answers."""
_BITS = 31
"""How many labels of a set are packed at a time: two such numbers fit into one of 64 bits."""

_NO_SETS = np.zeros((0, 0), dtype=np.bool_)

_KINDS: dict[type, tuple[str, str]] = {
    LabelVotes: (Notice("one-label-each-annotator"), "fleiss, alpha(nominal), ac1 or cohen"),
    LabelSetVotes: (
        Notice("several-labels-each-annotator"),
        "alpha(masi), alpha(jaccard) or weighted_fleiss",
    ),
    ScaleVotes: (Notice("number-each-annotator"), "alpha(interval), icc(2,1) or kendall_w"),
    SpanVotes: (Notice("spans-each-annotator"), "gamma, unitizing or span_f1"),
    np.ndarray: (Notice("counts-labels"), "fleiss, alpha(nominal) or ac1"),
}


class Coded(NamedTuple):
    """Votes as codes: a row a unit, a column an annotator, -1 where there is no answer."""

    codes: NDArray[np.signedinteger[Any]]
    names: tuple[str, ...]
    """The different answers, in their order."""
    numbers: Floats
    """Where each answer stands on a line: its own number, or its place where it is no number."""
    measured: bool = False
    """Whether the numbers are the answers' own."""
    members: NDArray[np.bool_] = _NO_SETS
    """For sets of labels, which labels each of the different sets holds."""


def coded(votes: object, measure: str, *kinds: type) -> Coded:
    """The votes as codes, if they are of one of the kinds that the measure is for."""
    require(votes, measure, *kinds)
    match votes:
        case LabelVotes():
            numbers = own_numbers(votes.labels)
            places = np.arange(len(votes.labels), dtype=np.float64)
            return Coded(
                votes.codes, votes.labels, places if numbers is None else numbers, numbers is not None
            )
        case ScaleVotes():
            return _coded_scale(votes, measure)
        case LabelSetVotes():
            return _coded_sets(votes)
        case _:
            raise unsuitable(votes, measure)


def require(votes: object, measure: str, *kinds: type) -> None:
    """See to it that a measure gets a kind of votes that it is for."""
    if not isinstance(votes, kinds):
        raise unsuitable(votes, measure)


def unsuitable(votes: object, measure: str) -> UsageError:
    """Say that a measure is not for this kind of votes, and which ones are."""
    what, better = _KINDS.get(type(votes), (f"a {type(votes).__name__}", "collect_votes to make votes"))
    return UsageError("not-made", hint="use", measure=measure, reason=what, better=better)


def require_names(votes: VoteTable, measure: str, better: str) -> None:
    """See to it that columns are persons: where data only numbers places, nothing can be said of each."""
    if any(annotator.startswith(ANONYMOUS) for annotator in votes.annotators):
        raise UsageError("tells-annotators-apart-but", hint="use", measure=measure, better=better)


def choose(what: str, given: str, choices: Sequence[str]) -> str:
    """One of a few words, or an error that lists them."""
    if given not in choices:
        kind = notice(what, {}) if what.startswith("kind-") else what
        raise UsageError("no-called", hint=did_you_mean(given, list(choices)), kind=kind, name=given)
    return given


def own_numbers(labels: Sequence[str]) -> Floats | None:
    """The numbers that labels such as "1" to "5" stand for; None where one is no number."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def scale_values(votes: ScaleVotes) -> Floats:
    """The numbers of a scale, checked: NaN is no answer, infinity is a mistake."""
    if np.isinf(votes.values).any():
        row = int(np.isinf(votes.values).any(axis=1).argmax())
        unit = votes.units[row]
        raise InvalidError(
            "answer-scale-must-finite",
            where=Notice("document-segment", document=unit.document, segment=unit.segment),
        )
    return votes.values


def compact(codes: NDArray[np.signedinteger[Any]]) -> NDArray[np.signedinteger[Any]]:
    """The answers of each unit in order, no matter whose, after as few missing ones as can be."""
    most = int((codes >= 0).sum(axis=1).max(initial=0))
    return np.sort(codes, axis=1)[:, codes.shape[1] - most :]


def _coded_scale(votes: ScaleVotes, measure: str) -> Coded:
    values = scale_values(votes)
    answered = ~np.isnan(values)
    # Steps that nobody chose count too where they are known: how far 4 and 5 are apart depends on the scale.
    levels = np.unique(np.concatenate([values[answered], np.asarray(votes.levels, dtype=np.float64)]))
    if len(levels) > MANY:
        raise UsageError(
            "scale-steps-different-numbers",
            hint="round-use-alpha-interval",
            measure=measure,
            count=len(levels),
        )
    codes = np.full(values.shape, MISSING, dtype=np.int16)
    codes[answered] = np.searchsorted(levels, values[answered])
    return Coded(codes, tuple(f"{level:g}" for level in levels), levels, measured=True)


def _coded_sets(votes: LabelSetVotes) -> Coded:
    chosen = votes.chosen[votes.answered]
    numbered, first = np.zeros(len(chosen), dtype=np.int64), np.zeros(0, dtype=np.intp)
    for start in range(0, max(len(votes.labels), 1), _BITS):
        masks = numbered << _BITS
        for place in range(start, min(start + _BITS, len(votes.labels))):
            masks |= chosen[:, place].astype(np.int64) << (place - start)
        _, first, numbered = np.unique(masks, return_index=True, return_inverse=True)
    members = chosen[first]
    codes = np.full(votes.answered.shape, MISSING, dtype=np.int32)
    codes[votes.answered] = numbered
    names = tuple("+".join(np.array(votes.labels)[row]) or "none" for row in members)
    return Coded(codes, names, np.arange(len(members), dtype=np.float64), members=members)


JOINT = "+"
"""Joins labels in the name of a merged one."""

Judged: TypeAlias = LabelVotes | LabelSetVotes | ScaleVotes
"""Votes in an array with a column for each annotator; those on spans are not."""


def merge_labels(votes: LabelVotes, merged: Sequence[str | Sequence[str]]) -> LabelVotes:
    """The same votes on merged labels: `["O", "T+X"]` or `[["O"], ["T", "X"]]`.

    Labels are named by id. Each must be in exactly one group, so that no vote is dropped or counted twice.
    """
    groups = [_group(group, votes.labels) for group in merged]
    places = {label: place for place, group in enumerate(groups) for label in group}
    named = [label for group in groups for label in group]
    if doubled := sorted({label for label in named if named.count(label) > 1}):
        raise UsageError("labels-two-groups", hint="put-each-label-one", doubled=", ".join(doubled))
    if forgotten := [label for label in votes.labels if label not in places]:
        raise UsageError("labels-no-group", hint="put-each-label-one", forgotten=", ".join(forgotten))
    # The last entry is the one that -1, no answer, points to.
    table = np.array([*(places[label] for label in votes.labels), -1], dtype=votes.codes.dtype)
    names = tuple(JOINT.join(group) for group in groups)
    return LabelVotes(votes.units, votes.annotators, names, table[votes.codes])


def one_against_rest(votes: LabelVotes | LabelSetVotes, label: str) -> LabelVotes:
    """Votes for one label against all others: `label` and `not label`."""
    place = votes.labels.index(_known(label, votes.labels))
    if isinstance(votes, LabelVotes):
        codes = np.where(votes.codes < 0, -1, votes.codes != place).astype(np.int8)
    else:
        codes = np.where(votes.answered, ~votes.chosen[:, :, place], -1).astype(np.int8)
    return LabelVotes(votes.units, votes.annotators, (label, f"not {label}"), codes)


def _group(group: str | Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    if isinstance(group, str):
        # A label's own name may hold the sign that joins.
        group = [group] if group in labels else [part.strip() for part in group.split(JOINT)]
    if not group:
        raise UsageError("group-labels-empty", hint="name-least-one-label")
    return tuple(_known(label, labels) for label in group)


def _known(label: str, labels: Sequence[str]) -> str:
    if label not in labels:
        raise UsageError("no-label-called", hint=did_you_mean(label, list(labels)), label=label)
    return label


_ROWS = 256


def nominal(answers: int) -> Floats:
    """1 between any two different answers."""
    return 1 - np.eye(answers)


def linear(numbers: Floats) -> Floats:
    """The absolute difference of two numbers."""
    return np.abs(numbers[:, None] - numbers)


def squared(numbers: Floats) -> Floats:
    """The squared difference of two numbers."""
    return (numbers[:, None] - numbers) ** 2


def relative(numbers: Floats) -> Floats:
    """The squared difference as a share of the sum: for numbers with a true zero."""
    if (numbers < 0).any():
        raise UsageError("ratio-scale-no-numbers", hint="use-alpha-interval")
    return np.nan_to_num(ratio(numbers[:, None] - numbers, numbers[:, None] + numbers)) ** 2


def steps(answers: int) -> Floats:
    """How many pairs there are among the answers from one to the other: n(n+1)/2 for n steps apart."""
    apart = linear(np.arange(answers, dtype=np.float64))
    return apart * (apart + 1) / 2


def jaccard(members: NDArray[np.bool_]) -> Floats:
    """1 less the share of labels that two sets have in common; two empty sets are the same."""
    return _between_sets(members, lambda overlap, both, smaller, larger: 1 - overlap)


def masi(members: NDArray[np.bool_]) -> Floats:
    """Like Jaccard, but one set within the other is nearer than sets that only overlap (Passonneau 2006)."""
    return _between_sets(
        members,
        lambda overlap, both, smaller, larger: (
            1 - overlap * np.where(both == larger, 1, np.where(both == smaller, 2 / 3, 1 / 3))
        ),
    )


def unlike(members: NDArray[np.bool_]) -> Floats:
    """1 between any two different sets."""
    return nominal(len(members))


SETS: dict[str, Callable[[NDArray[np.bool_]], Floats]] = {
    "nominal": unlike,
    "masi": masi,
    "jaccard": jaccard,
}
LINES: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda numbers: nominal(len(numbers)),
    "linear": linear,
    "quadratic": squared,
}


def within_rows(codes: NDArray[np.signedinteger[Any]], distance: Floats) -> Floats:
    """For each row of codes, the sum of the distances between any two of its answers."""
    total = np.zeros(len(codes))
    for right in range(1, codes.shape[1]):
        for left in range(right):
            one, other = codes[:, left], codes[:, right]
            total += np.where((one >= 0) & (other >= 0), distance[one, other], 0.0)
    return total


def _between_sets(
    members: NDArray[np.bool_], apart: Callable[[Floats, Floats, Floats, Floats], Floats]
) -> Floats:
    """A table from the overlap of two sets, the labels that both hold, and the smaller and larger size."""
    held = members.astype(np.float64)
    sizes = held.sum(axis=1)
    table = np.empty((len(held), len(held)))
    # In blocks, since thousands of different sets make a table of which only one copy should be in memory.
    for start in range(0, len(held), _ROWS):
        rows = slice(start, start + _ROWS)
        both = held[rows] @ held.T
        either = sizes[rows, None] + sizes - both
        overlap = np.where(either == 0, 1.0, np.nan_to_num(ratio(both, either)))
        table[rows] = apart(
            overlap, both, np.minimum(sizes[rows, None], sizes), np.maximum(sizes[rows, None], sizes)
        )
    return table


def ratio(part: ArrayLike, whole: ArrayLike) -> Floats:
    """`part / whole`, NaN where `whole` is 0, without a warning."""
    above, below = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    )
    result: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return result


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """How much of the agreement that chance leaves open was reached."""
    return ratio(observed - expected, 1 - expected)
