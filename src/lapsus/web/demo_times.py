"""When the invented annotators of the demonstration worked: over the last weeks, each at a pace of their own."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import msgspec

from lapsus.model import Entry, Judgment

PAUSE = timedelta(hours=2)
"""Nobody works up to the very moment in which the demonstration starts."""


def over_weeks(entries: Iterable[Entry], now: datetime, days: int) -> Iterator[Entry]:
    """The same judgments, given over the last days: earlier documents earlier, some people a little ahead."""
    documents = list(entries)
    many, place = sum(bool(entry.judgments) for entry in documents), -1
    for entry in documents:
        place += bool(entry.judgments)
        begun: dict[str, datetime] = {}
        judgments = []
        for judgment in entry.judgments:
            if judgment.annotator not in begun:
                begun[judgment.annotator] = _begin(judgment.annotator, place / many, now, days)
            at = begun[judgment.annotator] + timedelta(seconds=judgment.seconds or 10)
            begun[judgment.annotator] = at
            judgments.append(msgspec.structs.replace(judgment, at=at))
        yield Entry(entry.id, entry.document, tuple(judgments))


def at_last(judgments: Iterable[Judgment], now: datetime) -> tuple[Judgment, ...]:
    """The judgments of a program, which is asked once, when people are through."""
    return tuple(msgspec.structs.replace(judgment, at=now - PAUSE) for judgment in judgments)


def _begin(annotator: str, part: float, now: datetime, days: int) -> datetime:
    """When somebody begins with a document that is so far into the campaign."""
    dice = random.Random(f"{annotator}/{part:.4f}")
    pace = random.Random(annotator).uniform(0.75, 1.0)
    day = int(days * part * pace + dice.uniform(0, 2))
    morning = (now - timedelta(days=days)).replace(hour=9, minute=0, second=0, microsecond=0)
    return min(morning + timedelta(days=day, minutes=dice.uniform(0, 480)), now - PAUSE)
