"""The stress tests of a campaign's judges, as `lapsus stress --campaign` noted them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from lapsus.analysis.estimate import Bounds
from lapsus.measures.score import Interval, Score
from lapsus.reports.table import Cell, Table
from lapsus.store import Store
from lapsus.store.audit import STRESSED

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
