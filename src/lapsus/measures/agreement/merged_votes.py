"""Votes with labels merged (`NB` against `PB+B`), one label against the rest, or only some annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes
from lapsus.registry import did_you_mean

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


def of_annotators(votes: Judged, places: Sequence[int] | NDArray[np.intp]) -> Judged:
    """The votes of the annotators at these places of `votes.annotators` only."""
    annotators = tuple(votes.annotators[place] for place in places)
    columns = np.asarray(places, dtype=np.intp)
    if isinstance(votes, LabelVotes):
        return LabelVotes(votes.units, annotators, votes.labels, votes.codes[:, columns])
    if isinstance(votes, LabelSetVotes):
        chosen, answered = votes.chosen[:, columns], votes.answered[:, columns]
        return LabelSetVotes(votes.units, annotators, votes.labels, chosen, answered)
    return ScaleVotes(votes.units, annotators, votes.values[:, columns])


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
