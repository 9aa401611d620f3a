"""The probes of a campaign's judges, as `lapsus probe --campaign` noted them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from lapsus.analysis.estimate import Bounds
from lapsus.store import Store
from lapsus.store.audit import PROBED


class ProbeRow(msgspec.Struct, frozen=True):
    """How often a judge gave the same answer though something was changed that should not matter."""

    judge: str
    at: datetime
    probe: str
    units: int
    same: Bounds
    moved: str
    """The most frequent change; empty where there is none."""


def probe_rows(store: Store, campaign: str, question: str) -> list[ProbeRow]:
    """The newest of each judge about one question, by name."""
    found: dict[str, list[ProbeRow]] = {}
    for event in store.audit.events(campaign, what=PROBED):
        if (judge := str(event.details["judge"])) in found:
            continue
        found[judge] = [
            ProbeRow(
                judge,
                event.at,
                one["probe"],
                one["units"],
                Bounds(one["share"], one["low"], one["high"]),
                " → ".join(one["moved"][0][:2]) if one["moved"] else "",
            )
            for one in event.details["probes"]
            if one["question"] == question
        ]
    return [row for judge in sorted(found) for row in found[judge]]
