"""A unit with everybody's answers, to decide on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from lapsus.insight import Desk
from lapsus.insight.deciding import ORDERS, Group, grouped, most_said, order_of
from lapsus.model import Answer, Segment, Span, in_language
from lapsus.store import Decision, RefusedError
from lapsus.web.insight_shapes import (
    DecideBody,
    DecidedShape,
    DecideShape,
    DecisionShape,
    GroupShape,
    MarkShape,
    PieceShape,
)
from lapsus.web.insight_view import desk_of, question_shape
from lapsus.web.saying import in_words
from lapsus.web.shapes import SchemeLink, SegmentShape
from lapsus.web.unit_view import tokens_of
from lapsus.web.visit import Visit

MOST_KEYS = 9


def first_unit(visit: Visit) -> tuple[Desk, int | None]:
    """The unit to begin with: the most disputed one that is open, else the most disputed."""
    desk = desk_of(visit)
    for which in ("open", "disputed", "all"):
        if found := order_of(desk, which):
            return desk, found[0][0]
    return desk, None


def decide_view(visit: Visit, number: int) -> DecideShape:
    """One unit, with all that was said and decided."""
    desk = desk_of(visit)
    which = _which(visit)
    unit = visit.store.visible_unit(desk.name, number)
    judgments = visit.store.unit_judgments(desk.name, number)
    groups, most = grouped(judgments), most_said(desk, number, judgments)
    order = order_of(desk, which)
    place = next((n for n, (found, _) in enumerate(order) if found == number), None)
    scheme = desk.scheme
    return DecideShape(
        campaign=desk.name,
        title=in_language(desk.campaign.plan.titles, visit.language),
        number=number,
        document=unit.document,
        language=unit.language,
        scheme=SchemeLink(scheme.id, scheme.version, f"/schemes/{scheme.id}/{scheme.version}.json"),
        context=[_segment(s) for s in unit.context if s is not unit.target],
        target=None if unit.target is None else _segment(unit.target),
        tokens=tokens_of(scheme, unit),
        groups=[_group(visit, desk, group, n, most) for n, group in enumerate(groups)],
        majority=most,
        majority_said=[] if most is None else in_words(scheme, most, visit.language),
        marks=_marks(desk, groups),
        pieces=_pieces(unit.visible, groups, _label_names(desk, visit.language)),
        decisions=[_decision(visit, desk, one) for one in visit.store.decisions(desk.name, number)],
        disagreement=next((apart for found, apart in order_of(desk, "all") if found == number), 0.0),
        place=0 if place is None else place + 1,
        total=len(order),
        previous=order[place - 1][0] if place else None,
        next=_next(order, place),
        only=which,
        question=question_shape(desk.question, visit.language),
        questions=[question_shape(question, visit.language) for question in desk.questions],
    )


def decide(visit: Visit, number: int) -> DecidedShape:
    """Keep a decision, and say where to go on."""
    desk, body, which = desk_of(visit), visit.read(DecideBody), _which(visit)
    before = order_of(desk, which)
    place = next((n for n, (found, _) in enumerate(before) if found == number), None)
    answers: Mapping[str, Answer | None] = body.answers
    if body.how == "majority":
        found = most_said(desk, number, visit.store.unit_judgments(desk.name, number))
        if found is None:
            raise RefusedError("no-majority", "what most people said does not go together")
        answers = found
    visit.store.decide(
        f"{visit.me.id}:{body.key}", desk.name, number, visit.me.id, body.how,  # type: ignore[arg-type]
        answers, follows=body.follows, reason=body.reason,
    )  # fmt: skip
    return DecidedShape(body.key, _next(before, place))


def _which(visit: Visit) -> str:
    asked = visit.request.query_params.get("only", "disputed")
    return asked if asked in ORDERS else "disputed"


def _next(order: Sequence[tuple[int, float]], place: int | None) -> int | None:
    following = 0 if place is None else place + 1
    return order[following][0] if following < len(order) else None


def _segment(segment: Segment) -> SegmentShape:
    return SegmentShape(
        segment.id, segment.role, segment.text, msgspec.UNSET if segment.parts is None else segment.parts
    )


def _group(
    visit: Visit, desk: Desk, group: Group, place: int, most: Mapping[str, Answer] | None
) -> GroupShape:
    return GroupShape(
        group.answers,
        in_words(desk.scheme, group.answers, visit.language),
        [judgment.annotator for judgment in group.judgments],
        [judgment.person for judgment in group.judgments],
        str(place + 1) if place < MOST_KEYS else "",
        most is not None and all(group.answers.get(key) == answer for key, answer in most.items()),
    )


def _decision(visit: Visit, desk: Desk, made: Decision) -> DecisionShape:
    said = in_words(desk.scheme, made.answers, visit.language)
    return DecisionShape(made.answers, said, made.how, made.follows, made.by, made.reason, made.at)


def _spans(answers: Mapping[str, Answer]) -> list[tuple[str, Span]]:
    return [
        (question, span)
        for question, answer in answers.items()
        if isinstance(answer, tuple)
        for span in answer
        if isinstance(span, Span)
    ]


def _marks(desk: Desk, groups: Sequence[Group]) -> list[MarkShape]:
    """Every mark that somebody made, once, with how many made it."""
    found: dict[tuple[str, Span], list[str]] = {}
    for group in groups:
        for question, span in _spans(group.answers):
            bare = msgspec.structs.replace(span, tie=None)
            found.setdefault((question, bare), []).extend(j.annotator for j in group.judgments)
    ordered = sorted(found.items(), key=lambda item: (item[0][1].segment, item[0][1].start, item[0][1].end))
    return [MarkShape(question, span, people) for (question, span), people in ordered]


def _label_names(desk: Desk, language: str) -> dict[str, str]:
    return {
        label.id: in_language(label.name, language)
        for question in desk.questions
        for label in desk.scheme.labels_of(question)
    }


def _pieces(
    segments: Sequence[Segment], groups: Sequence[Group], names: Mapping[str, str]
) -> Mapping[str, list[list[PieceShape]]]:
    """For each segment with a mark, its text once for each group, cut where the group's marks begin and end."""
    found: dict[str, list[list[PieceShape]]] = {}
    for segment in segments:
        lanes = []
        for group in groups:
            mine = [span for _, span in _spans(group.answers) if span.segment == segment.id]
            lanes.append(_cut(segment.text, mine, names))
        if any(piece.labels for lane in lanes for piece in lane):
            found[segment.id] = lanes
    return found


def _cut(text: str, spans: Sequence[Span], names: Mapping[str, str]) -> list[PieceShape]:
    edges = sorted({0, len(text), *(e for span in spans for e in (span.start, span.end) if e <= len(text))})
    return [
        PieceShape(text[start:end], [span.label for span in spans if span.start <= start and end <= span.end])
        for start, end in pairwise(edges)
    ]
