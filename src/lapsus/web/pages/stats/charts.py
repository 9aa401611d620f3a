"""The charts of a campaign's page, in the reader's words; their marks lead to the units behind them."""

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.unit_search import program_figures
from lapsus.measures.score import Score
from lapsus.reports.charts import FORMATS, Chart, Theme, draw, inline
from lapsus.reports.table import Cell
from lapsus.web.addresses import at
from lapsus.web.page_words import say
from lapsus.web.pages.stats.learning import curve
from lapsus.web.pages.stats.view import answer_names
from lapsus.web.request_context import RequestContext

MOST_PEOPLE = 30
"""How many people a chart shows: those with the most judgments."""


def shown(stats: CampaignStats, language: str, *names: str) -> dict[str, Markup]:
    """Charts for a page; empty where there is nothing to draw."""
    return {name: _inline(CHARTS[name](stats, language), f"chart-{name}") for name in names}


@lru_cache(maxsize=64)
def _inline(chart: Chart, id: str) -> Markup:
    """Drawn once for the same numbers: a picture of all pairs has thousands of parts."""
    return inline(chart, id)


def file_response(visit: RequestContext, chart: Chart, format: str, name: str | None) -> Response:
    """A chart as a file, under a name where it is to be saved."""
    theme: Theme = "dark" if visit.request.query_params.get("theme") == "dark" else "light"
    headers = {} if name is None else {"Content-Disposition": f'attachment; filename="{name}.{format}"'}
    return Response(picture(chart, format, theme), headers=headers, media_type=FORMATS[format])


@lru_cache(maxsize=64)
def picture(chart: Chart, format: str, theme: Theme) -> bytes:
    """The same numbers give the same picture."""
    return draw(chart, format, theme)


def measure_name(measure: str, language: str) -> str:
    """What a coefficient is called."""
    key = f"insight.measures.{measure}"
    found = say(key, language)
    return measure if found == key else found


def _progress(stats: CampaignStats, language: str) -> Chart:
    word, units = partial(_word, language), _units(stats)
    days = [row for row in stats.days() if row.day]
    rows = tuple((f"{row.day}", row.judgments, row.total) for row in days)
    columns = (word("progress.day"), word("progress.judgments"), word("progress.total"))
    links = tuple((units(day=row.day),) for row in days)
    return Chart("progress", word("progress.chart"), columns, rows, links=links, language=language)


def _labels(stats: CampaignStats, language: str) -> Chart:
    word, names, units = partial(_word, language), answer_names(stats, language), _units(stats)
    scores = stats.by_label()
    rows = tuple(_bounded(names.get(label, label), score) for label, score in scores.items())
    columns = (word("answers.answer"), word("agreement.kappa"), word("agreement.low"), word("agreement.high"))
    note = next((score.signature for score in scores.values()), "")
    links = tuple((units(answer=label),) for label in scores)
    return Chart("intervals", word("agreement.chart"), columns, rows, note, links)


def _time(stats: CampaignStats, language: str) -> Chart:
    word, units = partial(_word, language), _units(stats)
    periods = stats.over_time()
    rows = tuple(_bounded(f"{period.end:%Y-%m-%d}", period.score) for period in periods)
    measure = periods[0].score.measure if periods else ""
    columns = (
        word("time.days"), measure_name(measure, language), word("agreement.low"), word("agreement.high"),
    )  # fmt: skip
    links = tuple((units(day=f"{p.begin:%Y-%m-%d}", until=f"{p.end:%Y-%m-%d}"),) for p in periods)
    note = periods[0].score.signature if periods else ""
    return Chart("lines", word("time.chart"), columns, rows, note, links, language)


def _systems(stats: CampaignStats, language: str) -> Chart:
    """Answers by system; where they are not counted by system, of all together."""
    word, names, units = partial(_word, language), answer_names(stats, language), _units(stats)
    systems = stats.systems()
    if not systems:
        return _answers(stats, language)
    answers = [share.answer for share in systems[0].shares]
    columns = (word("answers.system"), *(names.get(answer, answer) for answer in answers))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (word("answers.unknown-system") if row.system == "?" else row.system, *(s.share for s in row.shares))
        for row in systems
    )
    links = tuple(tuple(units(answer=answer, system=row.system) for answer in answers) for row in systems)
    ordered = stats.kind.numbers is not None
    return Chart("stacked", word("answers.chart"), columns, rows, links=links, ordered=ordered)


def _answers(stats: CampaignStats, language: str) -> Chart:
    word, names, units = partial(_word, language), answer_names(stats, language), _units(stats)
    shares = [share for share in stats.shares() if share.votes]
    rows = tuple(
        (names.get(one.answer, one.answer), one.votes, f"{one.votes:,} ({100 * one.share:.0f}%)")
        for one in shares
    )
    columns = (word("answers.answer"), word("answers.votes"), word("answers.share"))
    links = tuple((units(answer=one.answer),) for one in shares)
    return Chart("bars", word("answers.title"), columns, rows, links=links)


def _judged(stats: CampaignStats, language: str, *, title: str, who: str) -> Chart:
    """How much people, or programs, have judged; those with the most first.

    Each by themselves: among people a program would be taken for one.
    """
    word, units, programs = partial(_word, language), _units(stats), stats.store.browsing.programs(stats.name)
    wanted = (
        one
        for one in stats.progress.people
        if one.submitted and (one.person in programs) == (who == "program")
    )
    found = sorted(wanted, key=lambda one: -one.submitted)[:MOST_PEOPLE]
    rows = tuple((one.name, one.submitted, f"{one.submitted:,}") for one in found)
    links = tuple((units(**{who: one.person}),) for one in found)
    columns = (word("annotators.name"), word("progress.judgments"), word("progress.judgments"))
    return Chart("bars", word(title), columns, rows, links=links)


def _programs(stats: CampaignStats, language: str) -> Chart:
    word, units = partial(_word, language), _units(stats)
    found = [row for row in program_figures(stats) if row.compared]
    rows = tuple(
        (row.name, row.same / row.compared, f"{100 * row.same / row.compared:.0f}% ({row.compared:,})")
        for row in found
    )
    links = tuple((units(program=row.program),) for row in found)
    columns = (word("programs.name"), word("programs.same"), word("programs.compared"))
    return Chart("bars", word("programs.chart"), columns, rows, links=links)


def _pairs(stats: CampaignStats, language: str) -> Chart:
    word, units = partial(_word, language), _units(stats)
    found = stats.pairs()
    if found is None:
        return Chart("matrix", word("pairs.chart"), ("",), ())
    ids = {name: person for person, name in stats.names.items()}
    rows = tuple(
        (name, *(None if math.isnan(value) else value for value in values))
        for name, values in zip(found.annotators, found.values.tolist(), strict=True)
    )
    links = tuple(
        tuple(units(person=ids.get(one), other=ids.get(other)) for other in found.annotators)
        for one in found.annotators
    )
    return Chart("matrix", word("pairs.chart"), ("", *found.annotators), rows, links=links)


def _units(stats: CampaignStats) -> Callable[..., str]:
    return partial(units_url, stats.name, stats.question.id)


def _bounded(name: str, score: Score) -> tuple[Cell, ...]:
    return name, *score.drawn


def _word(language: str, key: str) -> str:
    return say(f"insight.{key}", language)


CHARTS: Final[dict[str, Callable[[CampaignStats, str], Chart]]] = {
    "progress": _progress,
    "labels": _labels,
    "time": _time,
    "systems": _systems,
    "people": partial(_judged, title="annotators.chart", who="person"),
    "program-counts": partial(_judged, title="annotators.program-chart", who="program"),
    "pairs": _pairs,
    "programs": _programs,
    "learning": curve,
}


def units_url(campaign: str, question: str, **filters: object) -> str:
    """Where the units are listed that a mark of a chart, or a number, stands for."""
    asked = {"q": question} | {key: value for key, value in filters.items() if value not in (None, "")}
    return at(f"/c/{campaign}/units?{urlencode(asked)}")
