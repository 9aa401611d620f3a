"""Probes and alignments of a campaign's judges, as `lapsus probe` and `lapsus align --campaign` noted them."""

from datetime import datetime
from typing import Any

import msgspec

from lapsus.analysis.estimate import Bounds
from lapsus.store import Store
from lapsus.store.audit import ALIGNED, PROBED


class ProbeRow(msgspec.Struct, frozen=True):
    """How often a judge gave the same answer though something was changed that should not matter."""

    judge: str
    at: datetime
    probe: str
    units: int
    same: Bounds
    moved: str
    """The most frequent change; empty where there is none."""


class AlignmentRow(msgspec.Struct, frozen=True):
    """What fitting a judge's prompt to people's answers was worth, on documents kept apart."""

    judge: str
    at: datetime
    units: int
    before: Bounds
    after: Bounds
    difference: Bounds


def probe_rows(store: Store, campaign: str, question: str) -> list[ProbeRow]:
    """The newest of each judge about one question, by name."""
    return [
        ProbeRow(
            judge,
            event.at,
            one["probe"],
            one["units"],
            Bounds(one["share"], one["low"], one["high"]),
            " → ".join(one["moved"][0][:2]) if one["moved"] else "",
        )
        for judge, event in _newest(store, campaign, PROBED)
        for one in event.details["probes"]
        if one["question"] == question
    ]


def alignment_rows(store: Store, campaign: str) -> list[AlignmentRow]:
    """The newest of each judge, by name."""
    return [
        AlignmentRow(
            judge,
            event.at,
            told["units"],
            *(Bounds(**told[name]) for name in ("before", "after", "difference")),
        )
        for judge, event in _newest(store, campaign, ALIGNED)
        for told in (event.details["told"],)
    ]


def _newest(store: Store, campaign: str, what: str) -> list[tuple[str, Any]]:
    """The newest event of each judge. Events come newest first."""
    found: dict[str, Any] = {}
    for event in store.audit.events(campaign, what=what):
        found.setdefault(str(event.details["judge"]), event)
    return sorted(found.items())
