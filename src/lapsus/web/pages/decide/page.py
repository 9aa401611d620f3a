"""Deciding where people differ: one unit at a time with everybody's answers, the most disputed first."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.adjudication import (
    ORDERS,
    AnswerGroup,
    FrequentAnswer,
    adjudication_order,
    group_by_answer,
    most_frequent,
    same_answers,
)
from lapsus.model import Answer, Segment, Span, in_language
from lapsus.store import Decision, RefusedError
from lapsus.web.page_routes import Page, signed_in, title, twins
from lapsus.web.pages.judging.campaign import in_words
from lapsus.web.pages.judging.unit import scheme_link, segment_response, tokens_of
from lapsus.web.pages.stats.view import StatsQuestionResponse, question_response, stats_of
from lapsus.web.rendering import json_response, redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.schemas import Key, SchemeLink, SegmentResponse


class GroupResponse(msgspec.Struct, frozen=True):
    """People, or programs, who gave the very same answers."""

    answers: Mapping[str, Answer]
    said: list[str]
    people: list[str]
    ids: list[int]
    key: str
    """The key that accepts it."""
    is_majority: bool


class MarkResponse(msgspec.Struct, frozen=True):
    """A mark on the text, and the people who made it: nobody, where only a program did."""

    question: str
    span: Span
    people: list[str]


class PieceResponse(msgspec.Struct, frozen=True):
    """A piece of a text, with the labels of the marks on it by their names in the reader's language."""

    text: str
    labels: list[str]


class DecisionResponse(msgspec.Struct, frozen=True):
    """What was decided, by whom and why."""

    answers: Mapping[str, Answer]
    said: list[str]
    how: str
    follows: str | None
    by: str
    reason: str
    at: datetime


class DecideResponse(msgspec.Struct, frozen=True):
    """A unit with everybody's answers, to decide on."""

    campaign: str
    title: str
    number: int
    document: str
    language: str | None
    scheme: SchemeLink
    context: list[SegmentResponse]
    target: SegmentResponse | None
    tokens: Mapping[str, list[tuple[int, int]]]
    groups: list[GroupResponse]
    """What people said."""
    programs: list[GroupResponse]
    """What programs said, which is no vote."""
    majority: Mapping[str, Answer] | None
    """The most frequent answer, question by question, if one comes first and keeps the rules; null otherwise."""
    majority_how: Literal["majority", "plurality"] | None
    """Whether more than half of the people gave it, or fewer."""
    majority_count: int
    """How many people gave it..."""
    majority_total: int
    """...of how many people who judged the unit."""
    majority_said: list[str]
    marks: list[MarkResponse]
    """Every mark that a person or a program made, each once."""
    pieces: Mapping[str, list[list[PieceResponse]]]
    """For each segment with a mark, its text once for each group, first of people, then of programs."""
    decisions: list[DecisionResponse]
    """The newest first; it counts."""
    disagreement: float
    place: int
    """Its place among the units in this order, from 1."""
    total: int
    previous: int | None
    next: int | None
    only: str
    """Which units: all, or only those that are open."""
    question: StatsQuestionResponse
    questions: list[StatsQuestionResponse]


class DecideBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision on a unit. Sent again with the same key, it is kept once."""

    key: Key
    how: str
    answers: Mapping[str, Answer | None] = {}
    """One's own, where `how` is own."""
    follows: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """Whose answers are taken, where `how` is person."""
    reason: Annotated[str, Meta(max_length=10_000)] = ""


class DecidedResponse(msgspec.Struct, frozen=True):
    """The decision is on disk."""

    key: str
    next: int | None


MOST_KEYS = 9


def first_unit(visit: RequestContext) -> tuple[CampaignStats, int | None, str]:
    """The unit to begin with, and among which it comes first: the most disputed one that is open, else of any."""
    stats = stats_of(visit)
    for which in ("open", "disputed", "all"):
        if found := adjudication_order(stats, which):
            return stats, found[0][0], which
    return stats, None, "disputed"


def decide_view(visit: RequestContext) -> DecideResponse:
    """One unit, with all that was said and decided."""
    stats, number = stats_of(visit), int(visit.request.path_params["number"])
    which = _which(visit)
    unit = visit.store.units.visible(stats.name, number)
    judgments = visit.store.judgments.of_unit(stats.name, number)
    people = [judgment for judgment in judgments if not judgment.by_program]
    groups = group_by_answer(stats.scheme, people)
    programs = group_by_answer(stats.scheme, [one for one in judgments if one.by_program])
    most = most_frequent(stats, number, people)
    order = adjudication_order(stats, which)
    place = next((n for n, (found, _) in enumerate(order) if found == number), None)
    scheme, texts = stats.scheme, stats.campaign.plan.texts
    return DecideResponse(
        campaign=stats.name,
        title=title(visit, stats.campaign),
        number=number,
        document=unit.document,
        language=unit.language,
        scheme=scheme_link(scheme),
        context=[segment_response(s, texts) for s in unit.context if s is not unit.target],
        target=None if unit.target is None else segment_response(unit.target, texts),
        tokens=tokens_of(scheme, unit),
        groups=[_group(visit, stats, group, n, most) for n, group in enumerate(groups)],
        programs=[_group(visit, stats, group, n, most) for n, group in enumerate(programs, len(groups))],
        majority=None if most is None else most.answers,
        majority_how=None if most is None else most.how,
        majority_count=0 if most is None else most.agreed,
        majority_total=len(people),
        majority_said=[] if most is None else in_words(scheme, most.answers, visit.language),
        marks=_marks([*groups, *programs]),
        pieces=_pieces(unit.visible, [*groups, *programs], _label_names(stats, visit.language)),
        decisions=[_decision(visit, stats, one) for one in visit.store.decisions.all(stats.name, number)],
        disagreement=next(
            (apart for found, apart in adjudication_order(stats, "all") if found == number), 0.0
        ),
        place=0 if place is None else place + 1,
        total=len(order),
        previous=order[place - 1][0] if place else None,
        next=_next(order, place),
        only=which,
        question=question_response(stats.question, visit.language),
        questions=[question_response(question, visit.language) for question in stats.questions],
    )


def decide(visit: RequestContext, number: int) -> DecidedResponse:
    """Keep a decision, and say where to go on."""
    stats, body, which = stats_of(visit), visit.read(DecideBody), _which(visit)
    before = adjudication_order(stats, which)
    place = next((n for n, (found, _) in enumerate(before) if found == number), None)
    answers: Mapping[str, Answer | None] = body.answers
    how = body.how
    if body.how == "majority":
        found = most_frequent(stats, number, visit.store.judgments.of_unit(stats.name, number))
        if found is None:
            raise RefusedError("no-majority", "what most people said does not go together")
        answers, how = found.answers, found.how
    visit.store.decisions.decide(
        f"{visit.me.id}:{body.key}", stats.name, number, visit.me.id, how,  # type: ignore[arg-type]
        answers, follows=body.follows, reason=body.reason,
    )  # fmt: skip
    return DecidedResponse(body.key, _next(before, place))


def _which(visit: RequestContext) -> str:
    asked = visit.request.query_params.get("only", "disputed")
    return asked if asked in ORDERS else "disputed"


def _next(order: Sequence[tuple[int, float]], place: int | None) -> int | None:
    following = 0 if place is None else place + 1
    return order[following][0] if following < len(order) else None


def _group(
    visit: RequestContext,
    stats: CampaignStats,
    group: AnswerGroup,
    place: int,
    most: FrequentAnswer | None,
) -> GroupResponse:
    return GroupResponse(
        group.answers,
        in_words(stats.scheme, group.answers, visit.language),
        [judgment.annotator for judgment in group.judgments],
        [judgment.person for judgment in group.judgments],
        str(place + 1) if place < MOST_KEYS else "",
        most is not None
        and same_answers(stats.scheme, most.answers) <= same_answers(stats.scheme, group.answers),
    )


def _decision(visit: RequestContext, stats: CampaignStats, made: Decision) -> DecisionResponse:
    said = in_words(stats.scheme, made.answers, visit.language)
    return DecisionResponse(made.answers, said, made.how, made.follows, made.by, made.reason, made.at)


def _spans(answers: Mapping[str, Answer]) -> list[tuple[str, Span]]:
    return [
        (question, span)
        for question, answer in answers.items()
        if isinstance(answer, tuple)
        for span in answer
        if isinstance(span, Span)
    ]


def _marks(groups: Sequence[AnswerGroup]) -> list[MarkResponse]:
    """Every mark that a person or a program made, once, with the people who made it."""
    found: dict[tuple[str, Span], list[str]] = {}
    for group in groups:
        for question, span in _spans(group.answers):
            bare = msgspec.structs.replace(span, tie=None)
            people = [judgment.annotator for judgment in group.judgments if not judgment.by_program]
            found.setdefault((question, bare), []).extend(people)
    ordered = sorted(found.items(), key=lambda item: (item[0][1].segment, item[0][1].start, item[0][1].end))
    return [MarkResponse(question, span, people) for (question, span), people in ordered]


def _label_names(stats: CampaignStats, language: str) -> dict[str, str]:
    return {
        label.id: in_language(label.name, language)
        for question in stats.questions
        for label in stats.scheme.labels_of(question)
    }


def _pieces(
    segments: Sequence[Segment], groups: Sequence[AnswerGroup], names: Mapping[str, str]
) -> Mapping[str, list[list[PieceResponse]]]:
    """For each segment with a mark, its text once for each group, cut where the group's marks begin and end."""
    found: dict[str, list[list[PieceResponse]]] = {}
    for segment in segments:
        lanes = []
        for group in groups:
            mine = [span for _, span in _spans(group.answers) if span.segment == segment.id]
            lanes.append(_cut(segment.text, mine, names))
        if any(piece.labels for lane in lanes for piece in lane):
            found[segment.id] = lanes
    return found


def _cut(text: str, spans: Sequence[Span], names: Mapping[str, str]) -> list[PieceResponse]:
    edges = sorted({0, len(text), *(e for span in spans for e in (span.start, span.end) if e <= len(text))})
    return [
        PieceResponse(
            text[start:end],
            [names.get(span.label, span.label) for span in spans if span.start <= start and end <= span.end],
        )
        for start, end in pairwise(edges)
    ]


_ROOT = "/c/{campaign:slug}/decide"


def begin(visit: RequestContext) -> Page | Response:
    """On to the first unit; back to the figures where there is nothing to decide on."""
    stats, number, among = first_unit(visit)
    asked = {key: value for key, value in visit.request.query_params.items() if key in ("q", "only")}
    if among == "all":
        asked["only"] = among
    query = f"?{urlencode(asked)}" if asked else ""
    if stats.pending:
        # Which unit comes first is being worked out: this page says so, and shows the units when it is known.
        return redirect(visit, f"/c/{stats.name}/insight/disputed{query}")
    if number is None:
        return redirect(visit, f"/c/{stats.name}/insight{query}")
    return redirect(visit, f"/c/{stats.name}/decide/{number}{query}")


async def keep(request: Request) -> Response:
    """Keep a decision; answered once it is on disk."""
    visit = RequestContext(request, await request.body())

    def work() -> Response:
        visit.check_csrf()
        visit.me  # noqa: B018  raises for strangers
        stats_of(visit)
        return json_response(decide(visit, int(request.path_params["number"])), 201)

    return await run_in_threadpool(work)


ROUTES = [
    *twins(_ROOT, signed_in(begin)),
    Route(f"{_ROOT}/{{number:number}}.json", keep, methods=["POST"]),
    *twins(f"{_ROOT}/{{number:number}}", signed_in(decide_view), "decide/page.html"),
]
