"""What is shown of a campaign and of the programs that judge in it: charts, and the judges' part of the report.

In all of them `say` gives the words for a key.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from lapsus.analysis.estimate import Bounds, Estimated
from lapsus.analysis.trust import learned_words
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.campaign_stats.judge_figures import Cost, JudgeFigures, Judges, judges_of
from lapsus.campaign_stats.judge_tests import SIGNATURE, stress_table, stress_tests
from lapsus.measures.score import Interval, Score
from lapsus.model import in_language
from lapsus.notices import localized
from lapsus.reports.charts import Chart
from lapsus.reports.report import ReportSection
from lapsus.reports.table import Cell, Table
from lapsus.store.stats_cache import UNKNOWN
from lapsus.trust.ranking import Standing

Say = Callable[[str], str]


def advantage_chart(found: Judges, say: Say) -> Chart:
    """The advantage probability, with its interval, of every judge, of the jury of all, and of the floors.

    That is how likely the judge is at least as close to the others as a person who was left out.
    """
    standings = [one.standing for one in found.judges if one.standing is not None] + list(found.beside)
    rows = tuple(
        (standing_name(one.judge, say), one.advantage, one.advantage_low, one.advantage_high)
        for one in standings
        if one.advantage is not None
    )
    columns = (say("name"), say("advantage"), say("low"), say("high"))
    return Chart(
        "intervals", say("advantage-chart"), columns, rows, standings[0].signature if standings else ""
    )


def standing_name(judge: str, say: Say) -> str:
    """What a row is called: judges by their names, the jury and the floors in words."""
    known = {"(jury)": "jury", "(constant)": "constant", "(random)": "random"}
    return say(known[judge]) if judge in known else judge


def shares_chart(stats: CampaignStats, judge: JudgeFigures, say: Say, language: str) -> Chart:
    """The shares of answers (or means) that a judge gave, corrected by what people said; by system if several."""
    names = stats.kind.choice_names(language)
    shown = [one for one in estimates_of(judge) if one.corrected.value is not None]
    rows = tuple(
        (
            estimate_name(one, names, say),
            one.corrected.value,
            one.corrected.low,
            one.corrected.high,
        )
        for one in shown
    )
    columns = (say("what"), say("corrected"), say("low"), say("high"))
    note = shown[0].signature if shown else ""
    return Chart("intervals", f"{say('shares-chart')} ({judge.name})", columns, rows, note)


def estimates_of(judge: JudgeFigures) -> list[Estimated]:
    """What is shown of a judge's estimates: by system where there are several, else of all units; no differences."""
    whole = [one for one in judge.estimates if one.minus is None]
    by_system = [one for one in whole if one.system is not None]
    several = len({one.system for one in by_system}) > 1
    return (
        sorted(by_system, key=lambda one: one.system or "")
        if several
        else [one for one in whole if one.system is None]
    )


def estimate_name(one: Estimated, names: Mapping[str, str], say: Say) -> str:
    """What an estimate is of: the answer, and whose."""
    answer = names.get(one.label, one.label) or say(one.measure)
    if one.system is None:
        return answer
    return f"{say('unknown-system') if one.system == UNKNOWN else one.system}: {answer}"


def confusion_chart(stats: CampaignStats, judge: JudgeFigures, say: Say, language: str) -> Chart:
    """The confusion matrix: a row for each answer of people, with the shares of the judge's answers to those units."""
    names = stats.kind.choice_names(language)
    columns = list(dict.fromkeys(one.judge for one in judge.confusion))
    by_row: dict[str, dict[str, float]] = {}
    for one in judge.confusion:
        by_row.setdefault(one.people, {})[one.judge] = one.units
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (names.get(label, label), *(said[column] / total for column in columns))
        for label, said in by_row.items()
        if (total := sum(said.values())) > 0
    )
    heads = (say("people-said"), *(names.get(column, column) for column in columns))
    return Chart("matrix", f"{say('confusion-chart')} ({judge.name})", heads, rows)


def calibration_chart(stats: CampaignStats, judge: JudgeFigures, say: Say, language: str) -> Chart:
    """A row a bin of the judge's confidence: its mean, how often people said the same, and how many answers it has."""
    rows = tuple(
        (f"{one.low:.1f}–{one.high:.1f}", one.sure, one.right, one.answers) for one in judge.calibration
    )
    columns = (say("sureness"), say("sure"), say("right"), say("answers"))
    return Chart("calibration", f"{say('calibration-chart')} ({judge.name})", columns, rows)


def cautions(found: Judges, say: Say, language: str) -> list[str]:
    """Limits of the figures, in words for the reader.

    Who passes where a floor does too, or is not shown to be better than one; who knew the documents.
    """
    told = []
    stands = [one.standing for one in found.judges if one.standing is not None]
    colon = "：" if language == "ja" else ": "
    for one in (*stands, *found.beside):
        if not one.floor and _is_doubtful(one):
            told.append(f"{standing_name(one.judge, say)}{colon}{localized(one.verdict, language)}")
    for judge in found.judges:
        if judge.learned is not None:
            told.append(localized(learned_words(judge.name, judge.learned), language))
    return told


def _is_doubtful(one: Standing) -> bool:
    passed = [stand for stand in one.epsilons if stand.passes]
    return bool(passed) and (not one.beats_constant or any(stand.floors for stand in passed))


CHARTS: Final[Mapping[str, Callable[[CampaignStats, JudgeFigures, Say, str], Chart]]] = {
    "shares": shares_chart,
    "confusion": confusion_chart,
    "calibration": calibration_chart,
}
"""The charts of one judge, by their names in addresses."""


def days_chart(stats: CampaignStats, say: Say, language: str) -> list[Chart]:
    """Judgments a day; nothing where days are not known."""
    rows = tuple((f"{row.day}", row.judgments, row.total) for row in stats.days() if row.day)
    columns = (say("period"), say("a-day"), say("in-all"))
    return [Chart("progress", say("by-day"), columns, rows, language=language)] if rows else []


def agreement_chart(by_question: Sequence[CampaignStats], say: Say, language: str) -> list[Chart]:
    """Of one question with labels: agreement on each; of several by_question: the first coefficient of each."""
    if len(by_question) == 1:
        return _labels_chart(by_question[0], by_question[0].by_label(), say, language)
    rows = tuple(
        (in_language(stats.question.name, language), *score.drawn)
        for stats in by_question
        for score in list(stats.agreement().values())[:1]
        if score.value is not None
    )
    columns = (say("question"), say("value"), "low", "high")
    return [Chart("intervals", say("by-question"), columns, rows)] if rows else []


def _labels_chart(stats: CampaignStats, scores: Mapping[str, Score], say: Say, language: str) -> list[Chart]:
    names = _names(stats, language)
    rows = tuple(
        (names.get(label, label), *score.drawn) for label, score in scores.items() if score.value is not None
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
        (estimate_name(one, names, say), *map(bounds_cell, (one.judge, one.people, one.corrected)))
        for one in estimates_of(judge)
    )


def bounds_cell(found: Bounds) -> Cell:
    """A value with its interval, as tables show it."""
    interval = None if found.low is None else Interval(found.low, found.high or 0.0)
    return Score("estimate", found.value, 0, interval)
