"""Who needs a look: annotators who are behind, too fast, always give the same answer, or fail checks."""

from datetime import timedelta
from statistics import median
from typing import Final

import msgspec

from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.campaign_stats.statistics import AnnotatorStats

SILENT = timedelta(days=2)
"""Whoever holds units and has saved nothing for so long is behind."""
FAST = 1 / 3
"""Whoever needs less than this share of the usual time is too fast..."""
LEAST_UNITS = 10
"""...over so many units at least..."""
LEAST_PEOPLE = 3
"""...where so many people say what is usual."""
FAILING = 0.25
"""The share of checks that may be failed."""

BEHIND, TOO_FAST, SAME, CHECKS = "behind", "fast", "same", "checks"
KINDS: Final = (CHECKS, TOO_FAST, SAME, BEHIND)
"""What spoils data first, then what only delays it."""


class Attention(msgspec.Struct, frozen=True):
    """One person and why to look."""

    kind: str
    """`checks`: fails them; `fast`: too fast; `same`: always the same answer; `behind`: holds units and is silent."""
    id: int
    name: str
    value: float
    """Units held, seconds a unit, answers in a row, or the share of checks that failed."""


def attention(stats: CampaignStats) -> list[Attention]:
    """Everybody who needs a look, by kind, the worst of each first. Whoever was stopped is looked after already."""
    members = {one.person: one for one in stats.store.members.all(stats.name) if not one.program}
    going = {id: one for id, one in members.items() if one.stopped is None}
    rows = [row for row in stats.annotators().rows if row.person in going]
    found = _too_fast(rows, stats)
    found += [
        Attention(SAME, row.person, stats.names[row.person], row.longest_run)
        for row in rows
        if row.is_straight
    ]
    now = stats.store.database.clock()
    for member in going.values():
        checks = member.passed + member.failed
        if checks and member.failed / checks > FAILING:
            found.append(Attention(CHECKS, member.person, member.name, member.failed / checks))
        since = member.last_at or member.joined
        if member.held and stats.campaign.state == "open" and now - since > SILENT:
            found.append(Attention(BEHIND, member.person, member.name, member.held))
    # Who needs the least time a unit is the worst; of everything else more is worse.
    return sorted(
        found,
        key=lambda one: (KINDS.index(one.kind), one.value if one.kind == TOO_FAST else -one.value, one.name),
    )


def _too_fast(rows: list[AnnotatorStats], stats: CampaignStats) -> list[Attention]:
    times = [(row, row.median_seconds) for row in rows if row.units >= LEAST_UNITS]
    timed = [(row, seconds) for row, seconds in times if seconds is not None]
    if len(timed) < LEAST_PEOPLE:
        return []
    usual = median(seconds for _, seconds in timed)
    return [
        Attention(TOO_FAST, row.person, stats.names[row.person], seconds)
        for row, seconds in timed
        if seconds < FAST * usual
    ]
