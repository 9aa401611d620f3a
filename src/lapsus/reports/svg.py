"""The parts that charts are drawn from: elements, text that fits, ticks of an axis.

Nothing here has a colour. Elements carry classes, and a style sheet (`templates/chart.css`) says what these look
like on a light and on a dark page.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from markupsafe import Markup, escape

from lapsus.reports.table import cells

SIZE = 13
"""Of letters, in pixels."""
_WIDTH = 0.58
"""Of a Latin letter, as a part of its height: a little more than most are, so that nothing touches."""
_DAYS = (1, 2, 3, 7, 14, 28, 56, 91, 182, 365, 730, 1826)
"""Between two dates on an axis."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def element(name: str, /, *inside: str, **attributes: object) -> Markup:
    """An element; `class_` stands for `class`, `_` in other names for `-`. Text inside is escaped."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not inside:
        return Markup(f"<{name}{shown}/>")  # noqa: S704  names are our own words, values are escaped
    content = "".join(escape(part) for part in inside)
    return Markup(f"<{name}{shown}>{content}</{name}>")  # noqa: S704  all that is inside is escaped


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def linked(content: Markup, href: str | None, title: str) -> Markup:
    """Something that leads somewhere, or only says what it is."""
    said = element("title", title)
    return element("a", said, content, href=href, aria_label=title) if href else element("g", said, content)


def width_of(text: str, size: float = SIZE) -> float:
    """About how wide a text is."""
    wide = cells(text) - len(text)
    return size * (_WIDTH * (len(text) - wide) + wide)


def fitting(text: str, room: float, size: float = SIZE) -> str:
    """A text, or as much of its beginning as there is room for."""
    if width_of(text, size) <= room:
        return text
    while text and width_of(text + "…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def two_lines(text: str, room: float) -> list[str]:
    """A text on one line or two, broken between words where it has any."""
    if width_of(text) <= room:
        return [text]
    for place in _breaks(text):
        if width_of(text[:place].rstrip()) <= room:
            return [text[:place].rstrip(), fitting(text[place:].lstrip(), room)]
    return [fitting(text, room)]


def _breaks(text: str) -> Iterator[int]:
    """Where a line may end, the last first: after spaces and `_`, and beside Japanese signs."""
    for place in range(len(text) - 1, 0, -1):
        before, after = text[place - 1], text[place]
        if before in " _-/" or after == " " or (cells(before) == 2 and cells(after) == 2):
            yield place


def words(text: str, x: float, y: float, room: float, class_: str = "", anchor: str | None = None) -> Markup:
    """A text on at most two lines around a height; the whole of it where one points at it."""
    lines = two_lines(text, room)
    if len(lines) == 1:
        inside = [escape(lines[0])]
        top = y
    else:
        inside = [
            element("tspan", line, x=x, dy=None if place == 0 else 15) for place, line in enumerate(lines)
        ]
        top = y - 7
    if lines != [text]:
        inside.insert(0, element("title", text))
    return element("text", *inside, x=x, y=top + 4.5, class_=class_ or None, text_anchor=anchor)


def label(
    text: str, x: float, y: float, class_: str = "quiet figure", anchor: str | None = "middle", **more: object
) -> Markup:
    """A short text at a place, on one line."""
    return element("text", text, x=x, y=y, text_anchor=anchor, class_=class_, **more)


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from below the lowest to above the highest value."""
    span = max(high - low, 1e-9)
    rough = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def date_ticks(first: date, last: date, most: int) -> list[date]:
    """Dates at even distances, no more than there is room for."""
    days = (last - first).days
    room = max(most, 1)
    step = next((step for step in _DAYS if days // step + 1 <= room), days // room + 1)
    return [first + timedelta(days=place) for place in range(0, days + 1, step)]


def date_name(day: date, language: str, *, with_year: bool) -> str:
    """A date as short as it may be."""
    if language == "ja":
        return f"{day.year}/{day.month}/{day.day}" if with_year else f"{day.month}/{day.day}"
    return f"{day.day} {_MONTHS[day.month - 1]}" + (f" {day.year}" if with_year else "")


def legend(names: Sequence[str], classes: Sequence[str], width: float) -> tuple[Markup, float]:
    """What each colour stands for, on as many lines as it takes; and how high that is."""
    x, y, parts = 0.0, 0.0, []
    for name, class_ in zip(names, classes, strict=True):
        shown = fitting(name, width - 24)
        wide = 18 + width_of(shown) + 18
        if x and x + wide - 18 > width:
            x, y = 0.0, y + 22
        parts.append(element("rect", x=x, y=y + 3, width=12, height=12, rx=2, class_=class_))
        parts.append(element("text", shown, x=x + 18, y=y + 13.5))
        x += wide
    return Markup("").join(parts), y + 28
