"""How each kind of chart is drawn: a body of SVG elements and its size, laid out for a width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from lapsus.measures.score import shown as figure
from lapsus.reports.svg import (
    date_name,
    date_ticks,
    element,
    fitting,
    label,
    legend,
    linked,
    nice_ticks,
    width_of,
    words,
)

if TYPE_CHECKING:
    from lapsus.reports.charts import Chart

SERIES = 8
"""How many colours can be told apart."""


class Drawn(NamedTuple):
    """A body, and how much room it takes."""

    body: Markup
    width: float
    height: float


def bars(chart: Chart, width: float) -> Drawn:
    """Name and number: a bar each, the number behind it."""
    rows = [(str(name), _number(value) or 0.0, str(said)) for name, value, said, *_ in chart.rows]
    left, step = _label_room(chart, width), _step(chart, width)
    right = max((width_of(said) for _, _, said in rows), default=0) + 10
    # Shares stand before the whole, numbers before the largest.
    is_share = all(isinstance(row[1], float) for row in chart.rows)
    most = 1.0 if is_share else max((value for _, value, _ in rows), default=0) or 1
    parts = []
    for place, (name, value, said) in enumerate(rows):
        y = place * step
        long = max((width - left - right) * value / most, 1 if value else 0)
        bar = [
            element("rect", x=0, y=y, width=width, height=step - 2, class_="hit"),
            words(name, left - 10, y + step / 2 - 1, left - 12, anchor="end"),
            element("rect", x=left, y=y + 5, width=long, height=step - 12, rx=2, class_="s0"),
            label(said, left + long + 7, y + step / 2 + 3.5, anchor=None),
        ]
        parts.append(linked(Markup("").join(bar), chart.link(place), f"{name}: {said}"))
    return Drawn(Markup("").join(parts), width, step * len(rows))


def stacked(chart: Chart, width: float) -> Drawn:
    """Name and shares: a bar of parts each, under one legend."""
    answers = chart.columns[1:]
    if len(answers) > SERIES:
        return matrix(chart, width)
    left, step = _label_room(chart, width), max(_step(chart, width), 34)
    # Answers that have an order go from light to dark.
    shades = 9 / max(len(answers) - 1, 1)
    classes = [
        f"h{round(1 + shades * place)}" if chart.ordered else f"s{place}" for place in range(len(answers))
    ]
    key, top = legend(answers, classes, width)
    parts = [key]
    for place, row in enumerate(chart.rows):
        y, x = top + place * step, left
        parts.append(words(str(row[0]), left - 10, y + step / 2 - 1, left - 12, anchor="end"))
        for column, answer in enumerate(answers):
            share = _number(row[column + 1]) or 0.0
            long = (width - left) * share
            if share > 0:
                part = [element("rect", x=x, y=y + 3, width=long, height=step - 8, class_=classes[column])]
                if long > 36:
                    said = f"{100 * share:.0f}%"
                    class_ = f"in-{classes[column]} figure"
                    part.append(label(said, x + long / 2, y + step / 2 + 3.5, class_))
                title = f"{row[0]}, {answer}: {100 * share:.1f}%"
                parts.append(linked(Markup("").join(part), chart.link(place, column), title))
            x += long
    return Drawn(Markup("").join(parts), width, top + step * len(chart.rows))


def intervals(chart: Chart, width: float) -> Drawn:
    """Name, value and bounds: a point with its interval each, on one line of numbers; without a value no point."""
    rows = [(place, row) for place, row in enumerate(chart.rows) if row[1] is not None or row[2] is not None]
    left, step, right = _label_room(chart, width), _step(chart, width), 46.0
    bounds = [_number(cell) for _, row in rows for cell in row[1:4]]
    known = [value for value in bounds if value is not None]
    most = int((width - left - right) / 48)
    ticks = nice_ticks(min(0.0, *known, 0.0), max(1.0, *known, 1.0), min(max(most, 3), 7))
    across = _scale(ticks[0], ticks[-1], left, width - right)
    bottom = step * len(rows)
    parts = [element("path", d=f"M{across(tick):.1f} 0V{bottom:.1f}", class_="grid") for tick in ticks]
    parts += [label(f"{tick:g}", across(tick), bottom + 18) for tick in ticks]
    for line, (place, row) in enumerate(rows):
        name, value, low, high = str(row[0]), *(_number(cell) for cell in row[1:4])
        y = line * step + step / 2
        one = [
            element("rect", x=0, y=line * step, width=width, height=step, class_="hit"),
            words(name, left - 10, y, left - 12, anchor="end"),
        ]
        title = f"{name}:"
        if value is not None:
            one += [
                element("circle", cx=across(value), cy=y, r=5, class_="s0"),
                label(figure(value, 2), width, y + 4.5, "figure", "end"),
            ]
            title += f" {figure(value)}"
        if low is not None and high is not None:
            one.insert(2, element("path", d=f"M{across(low):.1f} {y:.1f}H{across(high):.1f}", class_="line"))
            title += f" [{figure(low)}, {figure(high)}]"
        parts.append(linked(Markup("").join(one), chart.link(place), title))
    return Drawn(Markup("").join(parts), width, bottom + 26)


def lines(chart: Chart, width: float) -> Drawn:
    """Day, value and bounds: a line with its intervals over time."""
    rows = [(place, row) for place, row in enumerate(chart.rows) if row[1] is not None]
    known = [value for _, row in rows for cell in row[1:4] if (value := _number(cell)) is not None]
    ticks = nice_ticks(min(0.0, *known, 0.0), max(1.0, *known, 1.0), 7)
    left, height = 44.0, 190.0
    up = _scale(ticks[0], ticks[-1], height, 8.0)
    days = [_day(row[0]) for _, row in rows]
    parts = _value_axis(ticks, up, left, width)
    along, axis = _time_axis(days, left + 14, width - 14, height, chart.language)
    parts.append(axis)
    points = [(along(day), up(_number(row[1]) or 0.0)) for day, (_, row) in zip(days, rows, strict=True)]
    if len(points) > 1:
        parts.append(element("path", d=_path(points), class_="line"))
    for (x, y), (place, row) in zip(points, rows, strict=True):
        low, high = _number(row[2]), _number(row[3])
        dot = [element("rect", x=x - 9, y=8, width=18, height=height - 8, class_="hit")]
        title = f"{row[0]}: {figure(_number(row[1]) or 0.0)}"
        if low is not None and high is not None:
            dot.append(element("path", d=f"M{x:.1f} {up(low):.1f}V{up(high):.1f}", class_="line thin"))
            title += f" [{figure(low)}, {figure(high)}]"
        dot.append(element("circle", cx=x, cy=y, r=4.5, class_="s0"))
        parts.append(linked(Markup("").join(dot), chart.link(place), title))
    return Drawn(Markup("").join(parts), width, height + 26)


def progress(chart: Chart, width: float) -> Drawn:
    """Day, judgments of it and all until then: bars below, the sum above, over the same days."""
    days = [_day(row[0]) for row in chart.rows]
    today = [_number(row[1]) or 0.0 for row in chart.rows]
    total = [_number(row[2]) or 0.0 for row in chart.rows]
    left, top, middle, bottom = 48.0, 22.0, 130.0, 232.0
    sums, counts = nice_ticks(0, max([*total, 1]), 4), nice_ticks(0, max([*today, 1]), 3)
    up, more = _scale(0, sums[-1], middle, top), _scale(0, counts[-1], bottom, middle + 38)
    parts = [element("text", chart.columns[2], x=0, y=11, class_="quiet")]
    parts += _value_axis(sums, up, left, width)
    parts.append(element("text", chart.columns[1], x=0, y=middle + 26, class_="quiet"))
    parts += _value_axis(counts, more, left, width)
    along, axis = _time_axis(days, left + 10, width - 10, bottom, chart.language)
    parts.append(axis)
    points = [(along(day), up(value)) for day, value in zip(days, total, strict=True)]
    if len(points) > 1:
        area = f"{_path(points)}V{middle:.1f}H{points[0][0]:.1f}Z"
        parts += [element("path", d=area, class_="area"), element("path", d=_path(points), class_="line")]
    wide = min(18.0, max(2.0, 0.7 * (width - left - 20) / max((days[-1] - days[0]).days + 1, 1)))
    for place, (day, value, sum_) in enumerate(zip(days, today, total, strict=True)):
        x = along(day)
        column = [
            element("rect", x=x - wide / 2, y=top, width=wide, height=bottom - top, class_="hit"),
            element(
                "rect", x=x - wide / 2, y=more(value), width=wide, height=bottom - more(value), class_="s0"
            ),
        ]
        if len(points) == 1:
            column.append(element("circle", cx=x, cy=up(sum_), r=4.5, class_="s0"))
        title = f"{chart.rows[place][0]}: {value:,.0f} ({chart.columns[2]}: {sum_:,.0f})"
        parts.append(linked(Markup("").join(column), chart.link(place), title))
    return Drawn(Markup("").join(parts), width, bottom + 26)


def matrix(chart: Chart, width: float) -> Drawn:
    """Name and a number for each other name: the larger, the darker; heads stand over their columns."""
    names = chart.columns[1:]
    is_share = chart.kind == "stacked"
    left = _label_room(chart, width)
    # Wide enough for its numbers: where there is less room, the page scrolls it.
    step = min(46.0, max(30.0, (width - left - 30) / max(len(names), 1)))
    longest = min(max((width_of(name, 12) for name in names), default=0), 130.0)
    top = longest * 0.87 + 14
    parts = []
    for column, name in enumerate(names):
        x = left + column * step + step / 2
        shown = fitting(name, 130, 12)
        turn = f"rotate(-60 {x:.1f} {top - 6:.1f})"
        parts.append(label(shown, x, top - 6, "head", None, transform=turn))
    high = max((_number(cell) or 0 for row in chart.rows for cell in row[1:]), default=1) if is_share else 1
    for place, row in enumerate(chart.rows):
        y = top + place * step
        parts.append(words(str(row[0]), left - 10, y + step / 2, left - 12, anchor="end"))
        for column, cell in enumerate(row[1:]):
            if (value := _number(cell)) is None:
                continue
            said = f"{100 * value:.0f}%" if is_share else figure(value, 2)
            depth = round(10 * min(max(value / (high or 1), 0.0), 1.0))
            x = left + column * step
            box = element("rect", x=x + 1, y=y + 1, width=step - 2, height=step - 2, rx=2, class_=f"h{depth}")
            box += label(said, x + step / 2, y + step / 2 + 4, f"in-h{depth} cell figure")
            title = f"{row[0]}, {names[column]}: {said}"
            parts.append(linked(box, chart.link(place, column), title))
    lean = longest * 0.5 + 10
    wide = max(width, left + step * len(names) + lean)
    return Drawn(Markup("").join(parts), wide, top + step * len(chart.rows) + 2)


def calibration(chart: Chart, width: float) -> Drawn:
    """Name, how sure, how often right, how many: a point each, the larger the more; on the diagonal both are equal."""
    left, top = 52.0, 24.0
    side = min(width - left - 14, 300.0)
    across, up = _scale(0, 1, left, left + side), _scale(0, 1, top + side, top)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    parts = _value_axis(ticks, up, left, left + side)
    parts += [label(f"{tick:g}", across(tick), top + side + 18) for tick in ticks]
    parts.append(
        element("path", d=f"M{across(0):.1f} {up(0):.1f}L{across(1):.1f} {up(1):.1f}", class_="grid")
    )
    parts.append(element("text", chart.columns[2], x=0, y=10, class_="quiet"))
    below = fitting(chart.columns[1], width)
    parts.append(label(below, left + side / 2, top + side + 38, "quiet"))
    points = [(_number(sure) or 0.0, _number(right) or 0.0) for _, sure, right, *_ in chart.rows]
    if len(points) > 1:
        parts.append(element("path", d=_path([(across(x), up(y)) for x, y in points]), class_="line thin"))
    most = max((_number(row[3]) or 0.0 for row in chart.rows), default=0.0) or 1.0
    for place, ((x, y), row) in enumerate(zip(points, chart.rows, strict=True)):
        size = 4 + 6 * ((_number(row[3]) or 0.0) / most) ** 0.5
        dot = element("circle", cx=across(x), cy=up(y), r=size, class_="s0")
        title = f"{row[0]}: {x:.2f} → {y:.2f} ({row[3]})"
        parts.append(linked(dot, chart.link(place), title))
    return Drawn(Markup("").join(parts), width, top + side + 44)


def _label_room(chart: Chart, width: float) -> float:
    """How much of the width names get: as much as the longest needs, but no more than a part of it."""
    longest = max((width_of(str(row[0])) for row in chart.rows), default=0)
    return min(longest + 14, width * 0.36)


def _step(chart: Chart, width: float) -> float:
    """How far rows are apart: further where a name takes two lines."""
    room = _label_room(chart, width) - 12
    return 40.0 if any(width_of(str(row[0])) > room for row in chart.rows) else 30.0


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def _value_axis(
    ticks: Sequence[float], up: Callable[[float], float], left: float, width: float
) -> list[Markup]:
    parts = []
    for tick in ticks:
        y = up(tick)
        said = f"{tick:,.0f}" if ticks[-1] >= 5 else f"{tick:g}"
        parts.append(element("path", d=f"M{left:.1f} {y:.1f}H{width:.1f}", class_="grid"))
        parts.append(label(said, left - 8, y + 4.5, anchor="end"))
    return parts


def _time_axis(
    days: Sequence[date], start: float, end: float, y: float, language: str
) -> tuple[Callable[[date], float], Markup]:
    """Where each day stands, and the dates below; no two touch."""
    first, last = (min(days), max(days)) if days else (date(1970, 1, 1), date(1970, 1, 1))
    span = (last - first).days
    if span == 0:
        start = end = (start + end) / 2
    across = _scale(first.toordinal(), last.toordinal(), start, end)
    spell = span > 300
    wide = width_of(date_name(last, language, with_year=spell)) + 24
    shown = date_ticks(first, last, int((end - start) / wide) + 1)
    parts = [
        label(date_name(day, language, with_year=spell), across(day.toordinal()), y + 19) for day in shown
    ]
    return (lambda day: across(day.toordinal())), Markup("").join(parts)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _day(cell: Any) -> date:
    return date.fromisoformat(str(cell))


def _number(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None


KINDS: dict[str, Callable[[Chart, float], Drawn]] = {
    "bars": bars,
    "stacked": stacked,
    "intervals": intervals,
    "lines": lines,
    "progress": progress,
    "matrix": matrix,
    "calibration": calibration,
}
