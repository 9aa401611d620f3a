"""A unit as its judge sees it: what may be seen, what was said, and the way on."""

from functools import lru_cache
from typing import Any

from msgspec import UNSET, UnsetType

from lapsus.kinds import kinds_of
from lapsus.language import tokens
from lapsus.model import Label, Scheme, Segment, Unit, in_language
from lapsus.store import Campaign, OwnPlace, OwnProgress, RefusedError
from lapsus.web.addresses import at
from lapsus.web.markdown import layout
from lapsus.web.page_routes import filled, find_campaign, title
from lapsus.web.pages.judging.campaign import visible_flags
from lapsus.web.request_context import RequestContext
from lapsus.web.schemas import FeedbackResponse, SchemeLink, SegmentResponse, SuggestionResponse, UnitResponse


class EarlierError(RefusedError):
    """A unit whose text would show what comes after an earlier one that is still to be judged."""

    def __init__(self, unit: int) -> None:
        super().__init__("earlier", f"unit {unit} comes first")
        self.unit = unit


def unit_view(visit: RequestContext, name: str, number: int) -> UnitResponse:
    """A unit for the person who asks: one's own, or any for those who look after the campaign."""
    campaign = find_campaign(visit, name)
    where = visit.store.progress.own(name, visit.me.id, number)
    own = next((own for own in where.places if own.unit == number), None)
    if own is None and not visit.manages:
        raise RefusedError("not-yours", f"unit {number} was not given to you")
    scheme = visit.store.campaigns.scheme(name)
    if own is not None and (earlier := _first_unjudged(scheme, where, number)) is not None:
        raise EarlierError(earlier)
    unit = visit.store.units.visible(name, number)
    marks = {own.segment: own for own in where.places}
    previous, following = _neighbours(scheme, where, number)
    return filled(
        UnitResponse,
        where,
        unit,
        campaign=name,
        title=title(visit, campaign),
        campaign_state=campaign.state,
        number=number,
        position=_position(where, number),
        scheme=scheme_link(scheme),
        context=[
            _segment(scheme, s, marks.get(s.id), campaign.plan.texts)
            for s in unit.context
            if s is not unit.target
        ],
        target=None if unit.target is None else segment_response(unit.target, campaign.plan.texts),
        answers=own.answers if own else {},
        revision=own.revision if own else 0,
        submitted=own is not None and 0 < own.revision == own.submitted,
        state=own.state if own else "view",
        previous=previous,
        next=following,
        tokens=tokens_of(scheme, unit),
        flags=visible_flags(visit, name, number),
        guideline=guideline_language(campaign, scheme, unit, visit.language),
        walk=campaign.plan.walk,
        steps=campaign.plan.steps,
        **_votes(visit, campaign, number),
        **_practice(visit, campaign, number),
    )


def may_see_ahead(visit: RequestContext, campaign: str) -> bool:
    """Whether units may be on somebody's device before their turn: where the guideline hides nothing of them."""
    return visit.store.campaigns.scheme(campaign).unit.context != "before"


def _position(where: OwnProgress, number: int) -> int:
    """Which of one's own units this is, from 1; 0 for practice and for what is not one's own."""
    mine = [own.unit for own in where.places if not own.practice]
    return where.before + mine.index(number) + 1 if number in mine else 0


def _votes(visit: RequestContext, campaign: Campaign, number: int) -> dict[str, Any]:
    """The votes that chose the unit, where the plan lets people see them. Their labels are another guideline's."""
    if not campaign.plan.show_votes:
        return {}
    chain, votes = campaign.plan.chain, visit.store.units.votes(campaign.name, number)
    if votes is None or chain is None or chain.rule is None:
        return {}
    kind = kinds_of(visit.store.campaigns.scheme(chain.campaign))[chain.rule.question]
    names = kind.choice_names(visit.language)
    ordered = {label: votes[label] for label in names if label in votes} | dict(votes)
    return {"votes": ordered, "vote_names": names}


def guideline_language(campaign: Campaign, scheme: Scheme, unit: Unit, reader: str) -> str:
    """The language in which a unit's judge reads the rules: the plan's, the document's, else the reader's own.

    Guidelines may differ between languages on purpose, so one document has one text, whoever judges it.
    """
    for wanted in (campaign.plan.guideline_language, unit.language, reader):
        if wanted and (found := wanted.partition("-")[0]) in scheme.languages:
            return found
    return scheme.languages[0]


def _practice(visit: RequestContext, campaign: Campaign, number: int) -> dict[str, Any]:
    """What comes with a unit where the plan has suggestions or a practice."""
    found: dict[str, Any] = {}
    store, plan = visit.store, campaign.plan
    if plan.suggests and plan.learn and (answers := store.learning.suggestion(campaign.name, number)):
        found["suggestion"] = SuggestionResponse(plan.suggests, answers)
    elif plan.suggest is not None and (told := store.programs.suggestion(campaign.name, number)):
        found["suggestion"] = SuggestionResponse(told.annotator, told.answers)
    if campaign.plan.training is not None and visit.store.units.part_of(campaign.name, number) == "training":
        found["part"] = "training"
        if (said := visit.store.members.feedback(campaign.name, number, visit.me.id)) is not None:
            words = in_language(said.text, visit.language) if said.text else ""
            found["feedback"] = FeedbackResponse(said.right, list(said.answers), words)
    return found


def _first_unjudged(scheme: Scheme, where: OwnProgress, number: int) -> int | None:
    """A unit of the document that has to be judged before this one may be seen, for its text would tell."""
    if scheme.unit.context != "before":
        return None
    # Units that went back count too: they can still be answered. A draft is no judgment.
    earlier = (own.unit for own in where.places if own.unit < number and not own.submitted)
    return next(earlier, None)


def _neighbours(scheme: Scheme, where: OwnProgress, number: int) -> tuple[int | None, int | None]:
    """The units of one's own before and after this one that may be looked at."""
    before = [own.unit for own in where.places if own.unit < number]
    after = [own.unit for own in where.places if own.unit > number]
    following = next((unit for unit in after if _first_unjudged(scheme, where, unit) is None), where.next)
    # The one before, in another document, may have to wait for its own earlier turns; its page then leads there.
    return (before[-1] if before else where.previous), following


def segment_response(segment: Segment, texts: str = "plain", **more: Any) -> SegmentResponse:
    """A turn, a triple or a text as pages get it."""
    if texts == "markdown" and segment.parts is None:
        more["layout"] = layout(segment.text)
    return filled(SegmentResponse, segment, parts=UNSET if segment.parts is None else segment.parts, **more)


def _segment(scheme: Scheme, segment: Segment, own: OwnPlace | None, texts: str) -> SegmentResponse:
    if own is None:
        return segment_response(segment, texts)
    asked, mark = (UNSET, UNSET) if own.submitted == 0 else _mark(scheme, own)
    return segment_response(segment, texts, unit=own.unit, mark=mark, asked=asked)


def _mark(scheme: Scheme, own: OwnPlace) -> tuple[str, str | list[str]] | tuple[UnsetType, UnsetType]:
    """The question that sums a unit up, which is the first one about labels, and one's own answer to it."""
    for id, kind in kinds_of(scheme).items():
        if id in own.answers and (mark := kind.mark(own.answers[id])) is not None:
            return id, mark
    return UNSET, UNSET


def mark_signs(scheme: Scheme, language: str) -> dict[str, tuple[str, dict[str, str]]]:
    """What stands beside a judged turn, as the script draws it, by question: its name, where several have labels, and
    for each label a sign, a number, or the name."""
    kinds = {id: kind for id, kind in kinds_of(scheme).items() if kind.labels}
    return {
        id: (
            in_language(kind.question.name, language) if len(kinds) > 1 else "",
            {label.id: _sign(label) or in_language(label.name, language) for label in kind.labels},
        )
        for id, kind in kinds.items()
    }


def _sign(label: Label) -> str:
    signs = (alias for alias in label.aliases if len(alias) == 1 and not alias.isalnum())
    return next(signs, "" if label.number is None else str(label.number))


def scheme_link(scheme: Scheme) -> SchemeLink:
    """Where a guideline is as data."""
    return SchemeLink(scheme.id, scheme.version, at(f"/schemes/{scheme.id}/{scheme.version}.json"))


def tokens_of(scheme: Scheme, unit: Unit) -> dict[str, list[tuple[int, int]]]:
    """Where the tokens of each segment stand, for guidelines that ask for spans."""
    if not any(kind.on_text for kind in kinds_of(scheme).values()):
        return {}
    return {segment.id: _tokens(segment, unit.language) for segment in unit.visible}


def _tokens(segment: Segment, language: str | None) -> list[tuple[int, int]]:
    """What is selected as a whole: the elements of a triple, the words of anything else."""
    if segment.parts is not None:
        return [(element.start, element.end) for element in segment.elements()]
    return list(_words(segment.text, language))


@lru_cache(maxsize=4096)
def _words(text: str, language: str | None) -> tuple[tuple[int, int], ...]:
    return tuple((token.start, token.end) for token in tokens(text, language))
