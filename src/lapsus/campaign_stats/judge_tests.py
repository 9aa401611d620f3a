"""What planted errors and probes tell of the judges of a campaign."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from lapsus.analysis.estimate import Bounds
from lapsus.measures.score import Interval, Score
from lapsus.reports.table import Cell, Table
from lapsus.store import Store
from lapsus.store.audit import ALIGNED, PROBED, STRESSED

SIGNATURE = "planted errors found,clopper-pearson,level=0.95,clusters=documents"


class StressedType(msgspec.Struct, frozen=True):
    """What a judge found of one type of planted error, or of all."""

    name: str
    planted: int
    found: Bounds
    alarms: Bounds
    """The same answer to units that were left as they were."""


class StressTest(msgspec.Struct, frozen=True):
    """The newest stress test of a judge."""

    judge: str
    at: datetime
    total: StressedType
    types: tuple[StressedType, ...]
    """The weakest first."""


def stress_tests(store: Store, campaign: str, language: str) -> list[StressTest]:
    """The newest of each judge, by name."""
    found: dict[str, StressTest] = {}
    for event in store.audit.events(campaign, what=STRESSED):
        told = event.details
        if (judge := str(told["judge"])) not in found:
            types = tuple(_type(one, language) for one in told["types"])
            found[judge] = StressTest(judge, event.at, _type(told["total"], language), types)
    return [found[judge] for judge in sorted(found)]


def _type(told: Mapping[str, Any], language: str) -> StressedType:
    names = told["name"]
    name = str(names.get(language) or next(iter(names.values())))
    return StressedType(name, told["planted"], Bounds(*told["found"]), Bounds(*told["alarms"]))


def stress_table(tests: list[StressTest], title: str, say: Callable[[str], str]) -> Table:
    """A row for each judge and type."""
    rows = tuple(
        (test.judge, one.name, one.planted, _score(one.found, one.planted), _score(one.alarms, one.planted))
        for test in tests
        for one in (*test.types, test.total)
    )
    columns = tuple(map(say, ("name", "stress-type", "stress-planted", "stress-found", "stress-alarms")))
    return Table(columns, rows, title)


def _score(one: Bounds, n: int) -> Cell:
    interval = None if one.low is None or one.high is None else Interval(one.low, one.high)
    return Score("found", one.value, n, interval, signature=SIGNATURE)


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
