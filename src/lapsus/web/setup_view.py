"""What pages show on which campaigns are set up and run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from lapsus.errors import LapsusError
from lapsus.model import Document, Question, Scheme, Segment, Unit, in_language, units
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Campaign, Message, RefusedError, plan_yaml
from lapsus.store.drafts import Draft
from lapsus.web import wizard
from lapsus.web.campaign_view import title
from lapsus.web.setup_shapes import (
    ChoiceShape,
    ManageShape,
    MemberShape,
    MessageShape,
    PreviewShape,
    QuestionShape,
    WizardShape,
)
from lapsus.web.shapes import SegmentShape
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
    shown = dict(fields) if fields is not None else wizard.fields_of(step, tree)
    if step == "checks" and not shown.get("known") and scheme is not None:
        shown["example"] = found.example()
    return WizardShape(
        step=step,
        steps=list(wizard.STEPS),
        draft=draft.id if draft else "",
        fields=shown,
        choices=_choices(visit, step),
        preview=found.preview(),
        documents=found.documents,
        units=found.units,
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
        )

    def example(self) -> str:
        """What could stand under checks, made of a real unit."""
        if not self.seen or self.scheme is None:
            return ""
        unit = self.seen[min(2, len(self.seen) - 1)]
        other = next((one for one in self.seen if one.document != unit.document), None)
        answers: dict[str, Any] = {}
        for question in self.scheme.questions:
            labels = self.scheme.labels_of(question)
            if question.kind == "label" and labels:
                answers[question.id] = labels[0].id
            elif question.kind == "labels" and labels:
                answers[question.id] = [labels[0].id]
            elif question.kind == "scale" and question.levels:
                answers[question.id] = question.levels[0].value
            if answers:
                break
        if not answers:
            return ""
        return wizard.example_checks(unit.key, None if other is None else other.key, answers)


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
