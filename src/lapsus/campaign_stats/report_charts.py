"""The charts of a campaign's report."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.measures.score import Score
from lapsus.model import in_language
from lapsus.reports.charts import Chart
from lapsus.reports.table import Cell

Say = Callable[[str], str]


def days_chart(stats: CampaignStats, say: Say, language: str) -> list[Chart]:
    """Judgments a day; nothing where days are not known."""
    rows = tuple(
        (f"{datetime.fromtimestamp(row.day * 86400, UTC):%Y-%m-%d}", row.judgments, row.total)
        for row in stats.days()
        if row.day >= 0
    )
    columns = (say("period"), say("a-day"), say("in-all"))
    return [Chart("progress", say("by-day"), columns, rows, language=language)] if rows else []


def agreement_chart(by_question: Sequence[CampaignStats], say: Say, language: str) -> list[Chart]:
    """Of one question with labels: agreement on each; of several by_question: the first coefficient of each."""
    if len(by_question) == 1:
        return _labels_chart(by_question[0], by_question[0].by_label(), say, language)
    rows = tuple(
        (in_language(stats.question.name, language), score.value, *(score.interval or (None, None)))
        for stats in by_question
        for score in list(stats.agreement().values())[:1]
        if score.value is not None
    )
    columns = (say("question"), say("value"), "low", "high")
    return [Chart("intervals", say("by-question"), columns, rows)] if rows else []


def _labels_chart(stats: CampaignStats, scores: Mapping[str, Score], say: Say, language: str) -> list[Chart]:
    names = _names(stats, language)
    rows = tuple(
        (names.get(label, label), score.value, *(score.interval or (None, None)))
        for label, score in scores.items()
        if score.value is not None
    )
    columns = (say("answer"), "fleiss", "low", "high")
    return [Chart("intervals", say("by-label"), columns, rows)] if rows else []


def systems_charts(by_question: Sequence[CampaignStats], say: Say, language: str) -> list[Chart]:
    """The answers of each system, a chart a question."""
    charts = []
    for stats in by_question:
        systems, names = stats.systems(), _names(stats, language)
        if systems:
            answers = [names.get(share.answer, share.answer) for share in systems[0].shares]
            rows: tuple[tuple[Cell, ...], ...] = tuple(
                (row.system, *(share.share for share in row.shares)) for row in systems
            )
            about = in_language(stats.question.name, language)
            title = (
                f"{say('answers-by-system')} ({about})" if len(by_question) > 1 else say("answers-by-system")
            )
            ordered = stats.kind.numbers is not None
            charts.append(Chart("stacked", title, (say("system"), *answers), rows, ordered=ordered))
    return charts


def _names(stats: CampaignStats, language: str) -> dict[str, str]:
    return {label.id: in_language(label.name, language) for label in stats.scheme.labels_of(stats.question)}
