"""A draft: its units, one of them as it would be judged, those with known answers, and its plan in words."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lapsus.errors import LapsusError
from lapsus.model import Document, Question, Scheme, Unit, in_language
from lapsus.model.unit import Screened
from lapsus.schemes import scheme_names
from lapsus.schemes.manual import GuidelineWords
from lapsus.store import KnownUnit, Plan
from lapsus.store.drafts import Draft
from lapsus.store.records import Chosen
from lapsus.web.addresses import at
from lapsus.web.page_words import say
from lapsus.web.pages.judging.campaign import excerpt, in_words
from lapsus.web.pages.judging.unit import scheme_link, segment_response, tokens_of
from lapsus.web.pages.setup import forms as wizard_forms
from lapsus.web.pages.setup import own_guideline, talks
from lapsus.web.pages.setup.known_units import BLOCKS
from lapsus.web.pages.setup.sample import SampleResponse, planned
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import SchemeLink, SegmentResponse


class SetupQuestionResponse(msgspec.Struct, frozen=True):
    """A question as a preview shows it."""

    name: str
    ask: str
    kind: str
    answers: list[str]
    rules: list[str]
    """When it is asked, and what of its answers goes together."""


class PreviewResponse(msgspec.Struct, frozen=True):
    """A real unit, with the questions that would be asked about it."""

    number: int
    total: int
    document: str
    language: str | None
    context: list[SegmentResponse]
    target: SegmentResponse | None
    questions: list[SetupQuestionResponse]
    tokens: Mapping[str, list[tuple[int, int]]]
    scheme: SchemeLink


class KnownResponse(msgspec.Struct, frozen=True):
    """A unit whose right answer is known."""

    document: str
    segment: str
    """Empty for a whole document."""
    text: str
    language: str | None
    said: list[list[str]]
    """The right answers in words: one list for each that is as good."""
    feedback: str


class BlockResponse(msgspec.Struct, frozen=True):
    """Known units of one kind."""

    name: str
    units: list[KnownResponse]


LOOKED_AT = 200
"""Units among which a preview chooses."""


def sound_scheme(tree: wizard_forms.Tree) -> Scheme | None:
    """The guideline of a draft; None where none is chosen, or one's own does not hold together just now."""
    try:
        return own_guideline.draft_scheme(tree)
    except LapsusError:
        return None


def draft_here(visit: RequestContext) -> Draft:
    """The draft that the address names, if it is one's own."""
    return visit.store.drafts.get(str(visit.request.path_params["draft"]), visit.me.id)


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
    return draft.screened(sound_scheme(draft.plan))


class DraftUnits:
    """The documents of a draft, and their units."""

    def __init__(
        self, visit: RequestContext, draft: Draft | None, scheme: Scheme | None, *, is_whole: bool = True
    ) -> None:
        """All of them are counted; else those a preview chooses among are looked at."""
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
                if not is_whole and len(self.seen) == LOOKED_AT:
                    break

    def sample(self) -> SampleResponse | None:
        """What the planner says."""
        return planned(self.units, self.plan) if self.scheme else None

    def targets(self) -> Chosen | None:
        """What the votes choose; None where the guideline has no such rule, or another campaign chooses."""
        if self.scheme is None or self.scheme.target is None or self.plan.get("chain"):
            return None
        return Chosen(self.judged, self.chosen, self.without)

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
        texts = str(self.plan.get("texts", "plain"))
        return PreviewResponse(
            number=place + 1,
            total=len(self.seen),
            document=unit.document,
            language=unit.language,
            context=[segment_response(s, texts) for s in unit.context if s is not unit.target],
            target=None if unit.target is None else segment_response(unit.target, texts),
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


def _question(scheme: Scheme, question: Question, language: str) -> SetupQuestionResponse:
    labels = [in_language(label.name, language) for label in scheme.labels_of(question)]
    levels = [f"{level.value} {in_language(level.meaning, language)}" for level in question.levels]
    return SetupQuestionResponse(
        in_language(question.name, language),
        in_language(question.ask, language),
        question.kind,
        labels or levels,
        GuidelineWords(scheme, language).rules(question),
    )


def words_of(visit: RequestContext, texts: Any) -> str:
    """A text of the plan in the reader's language; empty where there is none."""
    return in_language(texts, visit.language) if texts else ""


class SummaryResponse(msgspec.Struct, frozen=True):
    """A line of what was decided, and the step on which it can be changed."""

    step: str
    what: str
    said: str


def plan_summary(
    visit: RequestContext, plan: Plan, scheme: Scheme | None, documents: int, units: int
) -> list[SummaryResponse]:
    """What was decided, line by line, each with the step on which it can be changed."""

    def word(key: str, **values: object) -> str:
        return say(f"setup.review.{key}", visit.language, **values)

    def lines() -> Iterator[tuple[str, str, str]]:
        title = in_language(plan.titles, visit.language)
        yield "data", "called", plan.name if title == plan.name else f"{title} ({plan.name})"
        source = None if plan.chain is None else plan.chain.campaign
        if plan.collect is not None:
            yield "talks", "data", talks.summary(plan.collect, visit.language)
        elif source is not None:
            yield "data", "data", word("chained", campaign=source)
        else:
            yield "data", "data", word("amount", documents=f"{documents:,}", units=f"{units:,}")
        if scheme is not None:
            yield "guideline", "guideline", f"{in_language(scheme.title, visit.language)} ({scheme.version})"
        who = say(f"setup.people.{plan.who}", visit.language)
        yield "people", "who", f"{who}: {', '.join(plan.people)}" if plan.people else who
        if plan.collect is None:
            many = word("per-unit", count=plan.per_unit)
            total = "" if source is not None else f" {word('in-all', total=f'{plan.per_unit * units:,}')}"
            yield "people", "judgments", many + total
            yield "people", "order", say(f"setup.people.{plan.order}", visit.language)
        if plan.pilot is not None:
            yield (
                "people",
                "pilot",
                word("piloted", documents=plan.pilot.documents, count=plan.pilot_per_unit),
            )
        for name, texts in (("instructions", plan.instructions), ("consent", plan.consent)):
            yield "pages", name, word("written", languages=", ".join(texts)) if texts else word("none")
        if plan.completion is not None:
            yield "pages", "code", plan.completion.code
        for block, known in plan.known.items():
            yield (
                "checks",
                "known",
                f"{say(f'setup.checks.blocks.{block}', visit.language)}: {len(known.units)}",
            )

    return [SummaryResponse(step, word(what), said) for step, what, said in lines()]
