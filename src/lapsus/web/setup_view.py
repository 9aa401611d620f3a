"""What pages show on which campaigns are set up and run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from lapsus.errors import LapsusError
from lapsus.model import Document, Question, Scheme, Segment, Unit, in_language
from lapsus.model.targets import Screened
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Campaign, KnownUnit, Learn, Message, RefusedError, plan_yaml
from lapsus.store.drafts import Draft
from lapsus.translation import translated_error
from lapsus.web import own_guideline, wizard_forms
from lapsus.web.addresses import at
from lapsus.web.campaign_view import begun_drafts, title
from lapsus.web.judgment_summaries import excerpt, in_words
from lapsus.web.known_units import BLOCKS
from lapsus.web.plan_summary import plan_summary
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import SchemeLink, SegmentResponse
from lapsus.web.setup_schemas import (
    BlockResponse,
    ChoiceResponse,
    KnownResponse,
    LearnResponse,
    ManageResponse,
    MemberResponse,
    MessageResponse,
    PreviewResponse,
    SetupQuestionResponse,
    SummaryResponse,
    TargetsResponse,
    WizardResponse,
)
from lapsus.web.unit_view import scheme_link, tokens_of
from lapsus.web.wizard_sample import SampleResponse, planned

LOOKED_AT = 200
"""Units among which a preview chooses."""


def managing(visit: RequestContext) -> RequestContext:
    """Only managers set up and run campaigns."""
    if visit.me.role != "manager":
        raise RefusedError("managers-only", "only managers may do this")
    return visit


def wizard_page(
    visit: RequestContext,
    step: str,
    draft: Draft | None,
    *,
    fields: wizard_forms.Fields | None = None,
    error: LapsusError | None = None,
) -> WizardResponse:
    """A step of the wizard: what was filled in, and a real unit as it would be judged."""
    tree = draft.plan if draft else {}
    said = None if error is None else translated_error(error, visit.language)
    scheme = _scheme(tree)
    found = _Found(visit, draft, scheme)
    # One step may have several forms; what was not sent is as it was.
    shown = {**wizard_forms.fields_of(step, tree), **(fields or {})}
    return WizardResponse(
        step=step,
        steps=list(wizard_forms.STEPS),
        draft=draft.id if draft else "",
        drafts=[] if draft else begun_drafts(visit),
        fields=shown,
        choices=_choices(visit, step, tree),
        preview=found.preview(),
        documents=found.documents,
        units=found.units,
        targets=found.targets(),
        known=found.known(tree) if step == "checks" else [],
        plan=_plan(tree) if step == "review" and error is None else "",
        summary=_summary(visit, tree, found) if step == "review" else [],
        own=scheme.id if scheme is not None and "own" in tree and scheme.id not in scheme_names() else "",
        has_own="own" in tree,
        sample=found.sample() if step == "review" else None,
        error=UNSET if said is None else " · ".join(filter(None, (said.where, said.what))),
        hint=UNSET if said is None or said.hint is None else said.hint,
    )


def _summary(visit: RequestContext, tree: wizard_forms.Tree, found: _Found) -> list[SummaryResponse]:
    try:
        plan = wizard_forms.complete_plan(tree)
    except LapsusError:
        return []
    drawn = found.sample()
    units = found.units if drawn is None or drawn.drawn is None else drawn.drawn
    return plan_summary(visit, plan, found.scheme, found.documents, units)


def _plan(tree: wizard_forms.Tree) -> str:
    try:
        return wizard_forms.plan_text(tree)
    except LapsusError:
        return ""


def _scheme(tree: wizard_forms.Tree) -> Scheme | None:
    """The guideline of a draft; None where none is chosen, or one's own does not hold together just now."""
    try:
        return own_guideline.draft_scheme(tree)
    except LapsusError:
        return None


def _choices(visit: RequestContext, step: str, tree: wizard_forms.Tree) -> list[ChoiceResponse]:
    if step == "data":
        there = [campaign for campaign in visit.store.campaigns.all() if campaign.archived is None]
        return [ChoiceResponse(campaign.name, title(visit, campaign)) for campaign in there]
    if step != "guideline":
        return []
    own = _scheme({"own": tree["own"]}) if "own" in tree else None
    found = [_offered(visit, load_scheme(name)) for name in scheme_names()]
    return found if own is None else [*found, _offered(visit, own, f" ({own.id})")]


def _offered(visit: RequestContext, scheme: Scheme, behind: str = "") -> ChoiceResponse:
    title, summary = (in_language(words, visit.language) for words in (scheme.title, scheme.summary))
    return ChoiceResponse(scheme.id, title + behind, summary)


def draft_documents(visit: RequestContext, draft: Draft) -> Iterator[Document]:
    """The documents of a draft: its own, or those of the campaign that it will be chained to."""
    chain = draft.plan.get("chain")
    if not chain:
        yield from draft.documents()
        return
    store, name = visit.store, str(chain["campaign"])
    for document in store.units.document_names(name):
        yield store.units.document(name, document)


def _screened(visit: RequestContext, draft: Draft) -> Iterator[Screened]:
    if draft.plan.get("chain"):
        return (Screened(document) for document in draft_documents(visit, draft))
    return draft.screened(_scheme(draft.plan))


class _Found:
    """The documents of a draft, and their units."""

    def __init__(self, visit: RequestContext, draft: Draft | None, scheme: Scheme | None) -> None:
        self.visit, self.scheme, self.draft = visit, scheme, draft.id if draft else ""
        self.documents = self.units = 0
        self.judged = self.chosen = self.without = 0
        self.plan: wizard_forms.Tree = draft.plan if draft else {}
        self.seen: list[Unit] = []
        self.named: dict[tuple[str, str | None], Unit] = {}
        """The units whose answers are known."""
        known = [
            unit for name in BLOCKS if draft and draft.plan.get(name) for unit in draft.plan[name]["units"]
        ]
        self._wanted = {(unit["document"], unit.get("segment")) for unit in known}
        if draft is not None:
            for one in _screened(visit, draft):
                self._note(one)

    def sample(self) -> SampleResponse | None:
        """What the planner says."""
        return planned(self.units, self.plan) if self.scheme else None

    def targets(self) -> TargetsResponse | None:
        """What the votes choose; None where the guideline has no such rule, or another campaign chooses."""
        if self.scheme is None or self.scheme.target is None or self.plan.get("chain"):
            return None
        return TargetsResponse(self.judged, self.chosen, self.without)

    def _note(self, one: Screened) -> None:
        self.documents += 1
        if self.scheme is None:
            return
        if one.targets is None:
            self.without += 1
        else:
            self.judged += one.targets.judged
            self.chosen += len(one.targets.chosen)
        judged = Screened(one.document) if self.plan.get("all_turns") else one
        for unit in judged.units(self.scheme):
            self.units += 1
            if len(self.seen) < LOOKED_AT:
                self.seen.append(unit)
            if (key := (unit.document, unit.key.segment)) in self._wanted:
                self.named[key] = unit

    def preview(self) -> PreviewResponse | None:
        """The unit that was asked for, or one a little way in: the first turn shows the least."""
        if not self.seen or self.scheme is None:
            return None
        wanted = number_in(self.visit.request.query_params.get("unit", ""), 5)
        place = (max(3 if wanted is None else wanted, 1) - 1) % len(self.seen)
        unit, language = self.seen[place], self.visit.language
        return PreviewResponse(
            number=place + 1,
            total=len(self.seen),
            document=unit.document,
            language=unit.language,
            context=[_segment(s) for s in unit.context if s is not unit.target],
            target=None if unit.target is None else _segment(unit.target),
            questions=[_question(self.scheme, q, language) for q in self.scheme.questions],
            tokens=tokens_of(self.scheme, unit),
            scheme=scheme_link(self.scheme)
            if self.scheme.id in scheme_names()
            else SchemeLink(self.scheme.id, self.scheme.version, at(f"/new/{self.draft}/scheme.json")),
        )

    def known(self, plan: wizard_forms.Tree) -> list[BlockResponse]:
        """What is known so far, each unit with its text."""
        if self.scheme is None:
            return []
        blocks = [(name, plan[name]["units"]) for name in BLOCKS if plan.get(name)]
        return [BlockResponse(name, [self._known(unit) for unit in units]) for name, units in blocks]

    def _known(self, given: wizard_forms.Tree) -> KnownResponse:
        unit = msgspec.convert(given, KnownUnit)
        found, language = self.named.get((unit.document, unit.segment)), self.visit.language
        scheme: Any = self.scheme
        return KnownResponse(
            document=unit.document,
            segment=unit.segment or "",
            text="" if found is None else excerpt(found),
            language=None if found is None else found.language,
            said=[in_words(scheme, right, language) for right in unit.right],
            feedback=words_of(self.visit, unit.feedback),
        )


def _segment(segment: Segment) -> SegmentResponse:
    parts = UNSET if segment.parts is None else segment.parts
    return SegmentResponse(segment.id, segment.role, segment.text, parts)


def _question(scheme: Scheme, question: Question, language: str) -> SetupQuestionResponse:
    labels = [in_language(label.name, language) for label in scheme.labels_of(question)]
    levels = [f"{level.value} {in_language(level.meaning, language)}" for level in question.levels]
    return SetupQuestionResponse(
        in_language(question.name, language),
        in_language(question.ask, language),
        question.kind,
        labels or levels,
    )


def manage_page(visit: RequestContext, campaign: Campaign, **more: Any) -> ManageResponse:
    """A campaign for those who run it."""
    far = visit.store.progress.of_campaign(campaign.name)
    return ManageResponse(
        campaign=campaign.name,
        title=title(visit, campaign),
        scheme=campaign.scheme,
        version=campaign.version,
        state=campaign.state,
        stage=campaign.stage,
        who=campaign.plan.who,
        documents=far.documents,
        units=far.units,
        complete=far.complete,
        wanted=far.wanted,
        done=far.done,
        members=_members(visit, campaign.name),
        sent=[message_response(message) for message in visit.store.messages.of_campaign(campaign.name)],
        plan=plan_yaml(campaign.plan),
        titles=campaign.plan.title,
        per_unit=campaign.plan.per_unit,
        summary=plan_summary(
            visit, campaign.plan, visit.store.campaigns.scheme(campaign.name), far.documents, far.units
        ),
        archived=campaign.archived,
        learn=_learn(campaign.plan.learn),
        **more,
    )


def _learn(learn: Learn | None) -> LearnResponse:
    """What the switch says; what a plan would begin with where it is off."""
    shown = learn or Learn()
    return LearnResponse(
        learn is not None, shown.after, shown.every, round(100 * shown.without), shown.uncertain_first
    )


def _members(visit: RequestContext, campaign: str) -> list[MemberResponse]:
    return [
        MemberResponse(
            id=who.person,
            name=who.name,
            program=who.program,
            judged=who.submitted,
            held=who.held,
            passed=who.passed,
            failed=who.failed,
            begun=who.begun,
            stopped=who.stopped,
            last_at=who.last_at,
            origin=who.origin,
        )
        for who in visit.store.members.all(campaign)
    ]


def message_response(message: Message) -> MessageResponse:
    """A message as pages show it."""
    return MessageResponse(
        message.id, message.campaign, message.person, message.sender, message.text, message.at
    )


def words_of(visit: RequestContext, texts: Any) -> str:
    """A text of the plan in the reader's language; empty where there is none."""
    return in_language(texts, visit.language) if texts else ""
