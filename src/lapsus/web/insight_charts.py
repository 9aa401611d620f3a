"""The charts of a campaign's page, in the reader's words."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

from lapsus.insight import Desk
from lapsus.measures.score import Score
from lapsus.reports.charts import FORMATS, Chart, Theme, draw
from lapsus.reports.table import Cell
from lapsus.web.insight_view import answer_names, day_name
from lapsus.web.words import say


def drawn(desk: Desk, name: str, format: str, theme: Theme, language: str) -> bytes | None:
    """A chart as a file; None where there is no such chart."""
    if name not in CHARTS or format not in FORMATS:
        return None
    return picture(CHARTS[name](desk, language), format, theme)


@lru_cache(maxsize=64)
def picture(chart: Chart, format: str, theme: Theme) -> bytes:
    """The same numbers give the same picture."""
    return draw(chart, format, theme)


def measure_name(measure: str, language: str) -> str:
    """What a coefficient is called."""
    key = f"insight.measures.{measure}"
    found = say(key, language)
    return measure if found == key else found


def _progress(desk: Desk, language: str) -> Chart:
    word = partial(_word, language)
    rows = tuple((day_name(row.day), row.judgments, row.total) for row in desk.days() if row.day >= 0)
    columns = (word("progress.day"), word("progress.judgments"), word("progress.total"))
    return Chart("progress", word("progress.chart"), columns, rows)


def _labels(desk: Desk, language: str) -> Chart:
    word, names = partial(_word, language), answer_names(desk, language)
    scores = desk.by_label()
    rows = tuple(_bounded(names.get(label, label), score) for label, score in scores.items())
    columns = (word("answers.answer"), word("agreement.kappa"), word("agreement.low"), word("agreement.high"))
    note = next((score.signature for score in scores.values()), "")
    return Chart("intervals", word("agreement.chart"), columns, rows, note)


def _time(desk: Desk, language: str) -> Chart:
    word = partial(_word, language)
    periods = desk.over_time()
    rows = tuple(_bounded(f"{period.end:%Y-%m-%d}", period.score) for period in periods)
    measure = periods[0].score.measure if periods else ""
    columns = (
        word("time.days"), measure_name(measure, language), word("agreement.low"), word("agreement.high"),
    )  # fmt: skip
    return Chart("lines", word("time.chart"), columns, rows, periods[0].score.signature if periods else "")


def _systems(desk: Desk, language: str) -> Chart:
    word, names = partial(_word, language), answer_names(desk, language)
    systems = desk.systems()
    shares = systems[0].shares if systems else []
    columns = (word("answers.system"), *(names.get(share.answer, share.answer) for share in shares))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (word("answers.unknown-system") if row.system == "?" else row.system, *(s.share for s in row.shares))
        for row in systems
    )
    return Chart("stacked", word("answers.chart"), columns, rows)


def _pairs(desk: Desk, language: str) -> Chart:
    word = partial(_word, language)
    found = desk.pairs()
    if found is None:
        return Chart("matrix", word("pairs.chart"), ("",), ())
    rows = tuple(
        (name, *(None if math.isnan(value) else value for value in values))
        for name, values in zip(found.annotators, found.values.tolist(), strict=True)
    )
    return Chart("matrix", word("pairs.chart"), ("", *found.annotators), rows)


def _bounded(name: str, score: Score) -> tuple[Cell, ...]:
    low, high = score.interval or (None, None)
    return name, score.value, low, high


def _word(language: str, key: str) -> str:
    return say(f"insight.{key}", language)


CHARTS: Final[dict[str, Callable[[Desk, str], Chart]]] = {
    "progress": _progress,
    "labels": _labels,
    "time": _time,
    "systems": _systems,
    "pairs": _pairs,
}
