"""A campaign as those see it who answer for its data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lapsus.analysis.agreeing import Row
from lapsus.errors import UsageError
from lapsus.insight import Desk
from lapsus.measures.agreement.analysis import Dispute
from lapsus.measures.score import Score
from lapsus.model import Question, in_language
from lapsus.reports.charts import can_draw
from lapsus.store import RefusedError, StoredJudgment
from lapsus.web.insight_shapes import (
    AnnotatorShape,
    AnnotatorsShape,
    AnswerShape,
    AnswersShape,
    DayShape,
    DisputedShape,
    DisputeShape,
    ForecastShape,
    OverviewShape,
    PairsShape,
    PeriodShape,
    ProgressShape,
    QuestionShape,
    ScoreShape,
    SystemShape,
    TimeShape,
    VoterShape,
)
from lapsus.web.saying import excerpt, in_words
from lapsus.web.unit_view import find_campaign
from lapsus.web.visit import Visit

SECTIONS = ("disputed", "time", "answers", "annotators", "pairs")
MOST_DISPUTED = 10
TAKEN = ("jsonl", "csv", "parquet", "labelstudio", "brat", "dbdc")
"""The formats that keep who said what."""


def desk_of(visit: Visit, *, live: bool = True) -> Desk:
    """The campaign that is asked for, for those who may see everybody's work."""
    name = find_campaign(visit, str(visit.request.path_params["campaign"])).name
    if not visit.manages:
        raise RefusedError("not-yours-to-see", "only managers and adjudicators see everybody's work")
    try:
        return Desk(visit.store, name, visit.request.query_params.get("q"), live=live)
    except UsageError as error:
        raise RefusedError("not-found", error.what) from error


def taken(desk: Desk) -> list[str]:
    """The formats that have a place for what this guideline asks."""
    unfit = set() if desk.scheme.id == "breakdown" else {"dbdc"}
    if all(question.kind != "spans" for question in desk.scheme.questions):
        unfit.add("brat")
    return [format for format in TAKEN if format not in unfit]


def overview(visit: Visit) -> OverviewShape:
    """Progress, agreement, answers."""
    desk = desk_of(visit)
    return OverviewShape(
        progress=_progress(desk),
        forecast=_forecast(desk),
        days=[DayShape(day_name(row.day), row.judgments, row.total) for row in desk.days()],
        agreement=[score_shape(score, row) for row, score in desk.agreement().items()],
        answers=answers(visit, desk),
        sections=list(SECTIONS),
        formats=taken(desk),
        **_base(visit, desk),
    )


def answers(visit: Visit, desk: Desk) -> list[AnswerShape]:
    """How often each answer was given, and how far people agree on it."""
    names, scores = answer_names(desk, visit.language), desk.by_label()
    return [
        AnswerShape(
            share.answer,
            names.get(share.answer, share.answer),
            share.votes,
            share.share,
            score_shape(scores[share.answer]) if share.answer in scores else None,
        )
        for share in desk.shares()
    ]


def by_system(visit: Visit) -> AnswersShape:
    """The answers of each system."""
    desk = desk_of(visit)
    systems = [
        SystemShape(row.system, row.units, [share.share for share in row.shares], score_shape(row.score))
        for row in desk.systems()
    ]
    return AnswersShape(answers=answers(visit, desk), systems=systems, **_base(visit, desk))


def over_time(visit: Visit) -> TimeShape:
    """Agreement as it went."""
    desk = desk_of(visit)
    periods = [
        PeriodShape(f"{period.begin:%Y-%m-%d}", f"{period.end:%Y-%m-%d}", score_shape(period.score))
        for period in desk.over_time()
    ]
    return TimeShape(**_base(visit, desk), periods=periods)


def annotators(visit: Visit) -> AnnotatorsShape:
    """Everybody, with what can be told of each."""
    desk = desk_of(visit)
    table, checks = desk.annotators(), visit.store.check_counts(desk.name)
    rows = [
        AnnotatorShape(
            desk.names[row.person],
            row.units,
            row.median_seconds,
            row.agreement,
            row.kappa,
            row.reliability,
            *checks.get(row.person, (0, 0)),
            row.longest_run,
            row.is_straight,
        )
        for row in table.rows
    ]
    unnamed = not rows and bool(desk.figures.days)
    return AnnotatorsShape(
        **_base(visit, desk), annotators=rows, signatures=list(table.signatures), unnamed=unnamed
    )


def pairs(visit: Visit) -> PairsShape:
    """Agreement of every two annotators."""
    desk = desk_of(visit)
    found = desk.pairs()
    base = _base(visit, desk)
    measure = "alpha(jaccard)" if desk.question.kind == "labels" else "cohen"
    if found is None:
        return PairsShape(**base, measure=measure, names=[], rows=[], shared=[], everybody=0)
    values = [[None if math.isnan(value) else value for value in row] for row in found.values.tolist()]
    everybody = len({row.person for row in desk.figures.days})
    return PairsShape(
        **base,
        measure=measure,
        names=list(found.annotators),
        rows=values,
        shared=found.shared.tolist(),
        everybody=everybody,
    )


def disputed(visit: Visit) -> DisputedShape:
    """The units over which people differ most."""
    desk = desk_of(visit)
    found = desk.disputes()
    decided = visit.store.decided_units(desk.name)
    worst = [_dispute(visit, desk, dispute, decided) for dispute in found[:MOST_DISPUTED]]
    return DisputedShape(**_base(visit, desk), disputes=worst, total=len(found))


def _dispute(visit: Visit, desk: Desk, dispute: Dispute, decided: frozenset[int]) -> DisputeShape:
    number = int(dispute.unit.document)
    unit = visit.store.visible_unit(desk.name, number)
    judgments = visit.store.unit_judgments(desk.name, number)
    return DisputeShape(
        number,
        unit.document,
        excerpt(unit),
        unit.language,
        dispute.disagreement,
        _voters(visit, desk, judgments),
        number in decided,
    )


def _voters(visit: Visit, desk: Desk, judgments: Iterable[StoredJudgment]) -> list[VoterShape]:
    """Answers to the question in hand, the most frequent first, each with those who gave it."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for judgment in judgments:
        if (answer := judgment.answers.get(desk.question.id)) is not None:
            said = in_words(desk.scheme, {desk.question.id: answer}, visit.language)
            groups.setdefault(tuple(said), []).append(judgment.annotator)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [VoterShape(list(said), people) for said, people in ordered]


def answer_names(desk: Desk, language: str) -> dict[str, str]:
    """What each answer of the question is called."""
    return {label.id: in_language(label.name, language) for label in desk.scheme.labels_of(desk.question)}


def score_shape(score: Score, row: Row | None = None) -> ScoreShape:
    """A coefficient as a record."""
    low, high = score.interval or (None, None)
    name, merged = (score.measure, "") if row is None else (row.name, row.merged)
    return ScoreShape(name, merged, score.value, low, high, score.n, score.note, score.signature)


def question_shape(question: Question, language: str) -> QuestionShape:
    """A question as a record."""
    return QuestionShape(question.id, in_language(question.name, language), question.kind)


def day_name(day: int) -> str | None:
    """The date of a day, None for the one that is not known."""
    return None if day < 0 else f"{datetime.fromtimestamp(day * 86400, UTC):%Y-%m-%d}"


def _base(visit: Visit, desk: Desk) -> dict[str, Any]:
    """What every section knows. Asked for last: only then it is known of when the rest is."""
    return {
        "campaign": desk.name,
        "title": in_language(desk.campaign.plan.titles, visit.language),
        "scheme": desk.campaign.scheme,
        "version": desk.campaign.version,
        "state": desk.campaign.state,
        "question": question_shape(desk.question, visit.language),
        "questions": [question_shape(question, visit.language) for question in desk.questions],
        "figures": desk.shown,
        "as_of": desk.as_of,
        "pending": desk.pending,
        "trouble": desk.trouble,
        "charts": can_draw(),
    }


def _progress(desk: Desk) -> ProgressShape:
    found = desk.progress
    return ProgressShape(
        found.documents,
        found.units,
        found.complete,
        found.wanted,
        found.done,
        sum(person.submitted > 0 for person in found.people),
        len(desk.store.decided_units(desk.name)),
    )


def _forecast(desk: Desk) -> ForecastShape | None:
    found = desk.forecast()
    return None if found is None else ForecastShape(found.per_day, found.days_looked_at, found.done_on)
