"""In which language somebody reads."""

from __future__ import annotations

from collections.abc import Mapping

from lapsus.word_files import LANGUAGES


def choose_language(query: str | None, cookie: str | None, person: str | None, accept: str | None) -> str:
    """What was asked for just now or earlier, then what the person is known to read, then what the browser says."""
    for wanted in (query, cookie, person):
        if wanted in LANGUAGES:
            return wanted
    return _by_header(accept or "")


def _by_header(header: str) -> str:
    weights: Mapping[str, float] = dict(_weight(part) for part in reversed(header[:500].split(",")))
    known = {name: weights.get(name, 0.0) for name in LANGUAGES}
    return max(known, key=lambda name: known[name])


def _weight(part: str) -> tuple[str, float]:
    name, _, weight = part.partition(";q=")
    try:
        value = float(weight) if weight else 1.0
    except ValueError:
        value = 0.0
    return name.strip().lower().partition("-")[0], value
