"""What pages show on which campaigns are set up and run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from lapsus.errors import LapsusError
from lapsus.model import Document, Question, Scheme, Segment, Unit, in_language, units
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Campaign, KnownUnit, Message, RefusedError, plan_yaml
from lapsus.store.drafts import Draft
from lapsus.web import wizard
from lapsus.web.campaign_view import title
from lapsus.web.known_units import BLOCKS
from lapsus.web.saying import excerpt, in_words
from lapsus.web.setup_shapes import (
    BlockShape,
    ChoiceShape,
    KnownShape,
    ManageShape,
    MemberShape,
    MessageShape,
    PreviewShape,
    QuestionShape,
    WizardShape,
)
from lapsus.web.shapes import SegmentShape
from lapsus.web.unit_view import scheme_link, tokens_of
from lapsus.web.visit import Visit

LOOKED_AT = 200
"""Units among which a preview chooses."""


def managing(visit: Visit) -> Visit:
    """Only managers set up and run campaigns."""
    if visit.me.role != "manager":
        raise RefusedError("managers-only", "only managers may do this")
    return visit


def wizard_page(
    visit: Visit,
    step: str,
    draft: Draft | None,
    *,
    fields: wizard.Fields | None = None,
    error: LapsusError | None = None,
) -> WizardShape:
    """A step of the wizard: what was filled in, and a real unit as it would be judged."""
    tree = draft.plan if draft else {}
    scheme = _scheme(tree)
    found = _Found(visit, draft, scheme)
    # One step may have several forms; what was not sent is as it was.
    shown = {**wizard.fields_of(step, tree), **(fields or {})}
    return WizardShape(
        step=step,
        steps=list(wizard.STEPS),
        draft=draft.id if draft else "",
        fields=shown,
        choices=_choices(visit, step),
        preview=found.preview(),
        documents=found.documents,
        units=found.units,
        known=found.known(tree) if step == "checks" else [],
        plan=_plan(tree) if step == "review" and error is None else "",
        error=UNSET if error is None else " · ".join(filter(None, (error.where, error.what))),
        hint=UNSET if error is None or error.hint is None else error.hint,
    )


def _plan(tree: wizard.Tree) -> str:
    try:
        return wizard.plan_text(tree)
    except LapsusError:
        return ""


def _scheme(tree: wizard.Tree) -> Scheme | None:
    name = tree.get("scheme", "")
    return load_scheme(name) if name in scheme_names() else None


def _choices(visit: Visit, step: str) -> list[ChoiceShape]:
    if step == "data":
        found = [ChoiceShape(c.name, title(visit, c)) for c in visit.store.campaigns()]
        return [choice for choice in found if choice.value]
    if step != "guideline":
        return []
    schemes = [load_scheme(name) for name in scheme_names()]
    return [
        ChoiceShape(s.id, in_language(s.title, visit.language), in_language(s.summary, visit.language))
        for s in schemes
    ]


def draft_documents(visit: Visit, draft: Draft) -> Iterator[Document]:
    """The documents of a draft: its own, or those of the campaign that it will be chained to."""
    chain = draft.plan.get("chain")
    if not chain:
        yield from draft.documents()
        return
    store, name = visit.store, str(chain["campaign"])
    for document in store.document_names(name):
        yield store.document(name, document)


class _Found:
    """The documents of a draft, and their units."""

    def __init__(self, visit: Visit, draft: Draft | None, scheme: Scheme | None) -> None:
        self.visit, self.scheme = visit, scheme
        self.documents = self.units = 0
        self.seen: list[Unit] = []
        self.named: dict[tuple[str, str | None], Unit] = {}
        """The units whose answers are known."""
        known = [
            unit for name in BLOCKS if draft and draft.plan.get(name) for unit in draft.plan[name]["units"]
        ]
        self._wanted = {(unit["document"], unit.get("segment")) for unit in known}
        if draft is not None:
            for document in draft_documents(visit, draft):
                self._note(document)

    def _note(self, document: Document) -> None:
        self.documents += 1
        if self.scheme is None:
            return
        for unit in units(document, self.scheme.unit):
            self.units += 1
            if len(self.seen) < LOOKED_AT:
                self.seen.append(unit)
            if (key := (unit.document, unit.key.segment)) in self._wanted:
                self.named[key] = unit

    def preview(self) -> PreviewShape | None:
        """The unit that was asked for, or one a little way in: the first turn shows the least."""
        if not self.seen or self.scheme is None:
            return None
        wanted = self.visit.request.query_params.get("unit", "")
        number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 6 else 3
        place = (max(number, 1) - 1) % len(self.seen)
        unit, language = self.seen[place], self.visit.language
        return PreviewShape(
            number=place + 1,
            total=len(self.seen),
            document=unit.document,
            language=unit.language,
            context=[_segment(s) for s in unit.context if s is not unit.target],
            target=None if unit.target is None else _segment(unit.target),
            questions=[_question(self.scheme, q, language) for q in self.scheme.questions],
            tokens=tokens_of(self.scheme, unit),
            scheme=scheme_link(self.scheme),
        )

    def known(self, plan: wizard.Tree) -> list[BlockShape]:
        """What is known so far, each unit with its text."""
        if self.scheme is None:
            return []
        blocks = [(name, plan[name]["units"]) for name in BLOCKS if plan.get(name)]
        return [BlockShape(name, [self._known(unit) for unit in units]) for name, units in blocks]

    def _known(self, given: wizard.Tree) -> KnownShape:
        unit = msgspec.convert(given, KnownUnit)
        found, language = self.named.get((unit.document, unit.segment)), self.visit.language
        scheme: Any = self.scheme
        return KnownShape(
            document=unit.document,
            segment=unit.segment or "",
            text="" if found is None else excerpt(found),
            language=None if found is None else found.language,
            said=[in_words(scheme, right, language) for right in unit.right],
            feedback=words_of(self.visit, unit.feedback),
        )


def _segment(segment: Segment) -> SegmentShape:
    parts = UNSET if segment.parts is None else segment.parts
    return SegmentShape(segment.id, segment.role, segment.text, parts)


def _question(scheme: Scheme, question: Question, language: str) -> QuestionShape:
    labels = [in_language(label.name, language) for label in scheme.labels_of(question)]
    levels = [f"{level.value} {in_language(level.meaning, language)}" for level in question.levels]
    return QuestionShape(
        in_language(question.name, language),
        in_language(question.ask, language),
        question.kind,
        labels or levels,
    )


def manage_page(visit: Visit, campaign: Campaign, **more: Any) -> ManageShape:
    """A campaign for those who run it."""
    far = visit.store.progress(campaign.name)
    return ManageShape(
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
        sent=[message_shape(message) for message in visit.store.messages(campaign.name)],
        plan=plan_yaml(campaign.plan),
        **more,
    )


def _members(visit: Visit, campaign: str) -> list[MemberShape]:
    return [
        MemberShape(
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
        for who in visit.store.members(campaign)
    ]


def message_shape(message: Message) -> MessageShape:
    """A message as pages show it."""
    return MessageShape(
        message.id, message.campaign, message.person, message.sender, message.text, message.at
    )


def words_of(visit: Visit, texts: Any) -> str:
    """A text of the plan in the reader's language; empty where there is none."""
    return in_language(texts, visit.language) if texts else ""
