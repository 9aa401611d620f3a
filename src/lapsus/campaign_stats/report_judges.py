"""The part of a campaign's report about programs that judged beside people."""

from collections.abc import Callable, Sequence

from lapsus.analysis.estimate import Bounds
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.campaign_stats.charts import (
    CHARTS,
    Say,
    advantage_chart,
    cautions,
    estimate_name,
    estimates_of,
    standing_name,
)
from lapsus.campaign_stats.judge_figures import Cost, JudgeFigures, Judges, judges_of
from lapsus.campaign_stats.judge_tests import SIGNATURE, stress_table, stress_tests
from lapsus.measures.score import Interval, Score
from lapsus.model import in_language
from lapsus.reports.charts import Chart
from lapsus.reports.report import ReportSection
from lapsus.reports.table import Cell, Table
from lapsus.trust.ranking import Standing

NO_COST = Cost(0, None)


def judges_part(
    by_question: Sequence[CampaignStats], say: Callable[..., str], language: str
) -> list[ReportSection]:
    """Question by question: the test of each judge, its corrected shares, charts; nothing where no program judged."""

    def spoken(key: str) -> str:
        return say(f"judge-{key}")

    tables: list[Table] = []
    charts: list[Chart] = []
    signatures: dict[str, None] = {}
    told: dict[str, None] = {}
    for stats in by_question:
        found = judges_of(stats)
        if not found.judges:
            continue
        about = in_language(stats.question.name, language)
        tables.append(_standings(found, about, spoken))
        told |= dict.fromkeys(f"{about}: {caution}" for caution in cautions(found, spoken, language))
        drawn = [advantage_chart(found, spoken)]
        for judge in found.judges:
            if rows := _estimates(stats, judge, spoken, language):
                columns = tuple(map(spoken, ("what", "judge-alone", "people-alone", "corrected")))
                tables.append(Table(columns, rows, f"{about}: {judge.name}"))
            drawn += [make(stats, judge, spoken, language) for make in CHARTS.values()]
            signatures |= {one.signature: None for one in judge.estimates[:1]}
        signatures |= {one.signature: None for one in found.beside[:1]}
        charts += [chart for chart in drawn if chart.rows]
    if by_question and (tests := stress_tests(by_question[0].store, by_question[0].name, language)):
        tables.append(stress_table(tests, spoken("stress-title"), spoken))
        signatures |= {SIGNATURE: None}
    if not tables:
        return []
    return [
        ReportSection(
            "judges",
            spoken("title"),
            (spoken("hint"), *told),
            tuple(tables),
            tuple(charts),
            (),
            tuple(signatures),
        )
    ]


def _standings(found: Judges, about: str, say: Say) -> Table:
    rows = [_row(one.name, one.units, one.standing, one.cost) for one in found.judges]
    rows += [_row(standing_name(one.judge, say), one.units, one, NO_COST) for one in found.beside]
    names = ("name", "units", "agreement", "people-agreement", "advantage", "experts", "trained", "crowd")
    columns = tuple(map(say, (*names, "seconds", "tokens")))
    return Table(columns, tuple(rows), about)


def _row(name: str, units: int, one: Standing | None, cost: Cost) -> tuple[Cell, ...]:
    spent = (cost.seconds, cost.tokens or None)
    if one is None:
        return name, units, None, None, None, None, None, None, *spent
    interval = None if one.advantage_low is None else Interval(one.advantage_low, one.advantage_high or 0.0)
    rates = [stand.winning_rate for stand in sorted(one.epsilons, key=lambda stand: -stand.epsilon)]
    advantage = Score("advantage", one.advantage, one.units, interval, signature=one.signature)
    return name, units, one.judge_agreement, one.people_agreement, advantage, *rates, *spent


def _estimates(
    stats: CampaignStats, judge: JudgeFigures, say: Say, language: str
) -> tuple[tuple[Cell, ...], ...]:
    names = stats.kind.choice_names(language)
    return tuple(
        (estimate_name(one, names, say), *map(_cell, (one.judge, one.people, one.corrected)))
        for one in estimates_of(judge)
    )


def _cell(found: Bounds) -> Cell:
    interval = None if found.low is None else Interval(found.low, found.high or 0.0)
    return Score("estimate", found.value, 0, interval)
