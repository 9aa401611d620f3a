"""The planner of the wizard: how many units people must judge until shares are known to ± x, and drawing them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import numpy as np

from lapsus.errors import InputError
from lapsus.model import Scheme, UnitKey
from lapsus.model.unit import SAMPLE, WHOLE, Screened, sample_of, weight_of
from lapsus.store.drafts import Draft
from lapsus.trust.sampling import draw, strata, units_for_share
from lapsus.web.pages.setup.known_units import BLOCKS
from lapsus.web.request_context import number_in

KEY: Final = "sample"
"""Where a draft keeps what is to be drawn; it is no part of the plan: what was drawn stands in the documents."""
WIDTHS: Final = (10, 5, 3, 2)
"""Percentage points that the page works out."""
UNKNOWN: Final = "?"


class SampleSize(msgspec.Struct, frozen=True):
    """How many units it takes until an interval is ± so many percentage points, and judgments in all."""

    within: int
    units: int
    judgments: int


class SampleResponse(msgspec.Struct, frozen=True):
    """What the planner of the wizard shows."""

    population: int
    drawn: int | None
    """How many units are drawn; null where all are judged."""
    within: int | None
    sizes: list[SampleSize]


def with_sample(plan: Mapping[str, Any], within: str | None) -> dict[str, Any]:
    """A draft's plan after it was decided how many units are drawn: until ± so many points, or None for all."""
    changed = {key: value for key, value in plan.items() if key != KEY}
    if within is not None:
        points = number_in(within.strip())
        if points is None or not 1 <= points <= 50:
            raise InputError("interval-1-50-percentage", where=within.strip()[:20])
        changed[KEY] = {"within": points}
    return changed


def planned(population: int, plan: Mapping[str, Any]) -> SampleResponse | None:
    """What the page says; None where there is nothing to draw from, or another campaign chooses the units."""
    if not population or plan.get("chain"):
        return None
    within = plan.get(KEY, {}).get("within")
    people = plan.get("per_unit", 1)
    wanted = sorted({*WIDTHS, *([within] if within else ())}, reverse=True)
    sizes = [
        SampleSize(points, units, units * people)
        for points in wanted
        for units in [units_for_share(points / 100, population)]
    ]
    drawn = next((one.units for one in sizes if one.within == within), None)
    return SampleResponse(population, drawn, within, sizes)


def sampled(draft: Draft, documents: Iterator[Screened], scheme: Scheme | None) -> Iterator[Screened]:
    """The documents of a draft; where a sample is to be drawn, those with a drawn unit, and what each stands for.

    At random within strata: by system, and where a program's judgments came along by whether it doubts. Documents that
    are a sample already are drawn from by its strata too, and a unit stands for all that the first one stood for. The
    same draft gives the same sample.
    """
    within = draft.plan.get(KEY, {}).get("within")
    if within is None or scheme is None or draft.plan.get("chain"):
        yield from documents
        return
    kept, every = list(documents), bool(draft.plan.get("all_turns"))
    # Documents for practice and checks are everybody's, and no part of what is drawn from.
    known = {
        unit["document"] for name in BLOCKS if draft.plan.get(name) for unit in draft.plan[name]["units"]
    }
    found = [
        (one, unit.key)
        for one in kept
        if one.document.id not in known
        for unit in (Screened(one.document) if every else one).units(scheme)
    ]
    if not found:
        yield from kept
        return
    chosen = _drawn(found, scheme, draft.doubts(scheme.id), within / 100)
    for one in kept:
        if one.document.id in known:
            yield one
        elif (units := chosen.get(one.document.id)) is not None:
            sample = {SAMPLE: {"role": scheme.unit.role, "units": units}}
            metadata = {**one.document.metadata, **sample}
            yield Screened(msgspec.structs.replace(one.document, metadata=metadata), one.targets)


def _drawn(
    found: list[tuple[Screened, UnitKey]],
    scheme: Scheme,
    doubts: Mapping[UnitKey, float],
    half_width: float,
) -> dict[str, dict[str, dict[str, Any]]]:
    doubt = np.array([doubts.get(key, np.nan) for _, key in found])
    first = [_drawn_before(one, key, scheme) for one, key in found]
    groups = [
        f"{one.document.system or UNKNOWN}, {about.get('stratum', '')}"
        for (one, _), about in zip(found, first, strict=True)
    ]
    _, stratum = strata(groups, doubt)
    counts = np.bincount(stratum)
    # Every stratum gives two at least, so that something can be said of each.
    size = max(units_for_share(half_width, len(found)), int(np.minimum(counts, 2).sum()))
    before = np.array([weight_of(about) or 1.0 for about in first])
    rows, weights = draw(stratum, np.nan_to_num(doubt), size, before=before)
    chosen: dict[str, dict[str, dict[str, Any]]] = {}
    for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
        key = found[row][1]
        about = {"weight": weight, "stratum": int(stratum[row])}
        chosen.setdefault(key.document, {})[key.segment or WHOLE] = about
    return chosen


def _drawn_before(one: Screened, key: UnitKey, scheme: Scheme) -> Mapping[str, Any]:
    """What an earlier sample says of a unit; nothing where there was none, so that it stands for itself."""
    return (sample_of(one.document, scheme.unit) or {}).get(key.segment or WHOLE, {})
