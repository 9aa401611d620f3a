"""A campaign's plan in words, line by line."""

from collections.abc import Iterator

import msgspec

from lapsus.model import Scheme, in_language
from lapsus.store import Plan
from lapsus.web.page_words import say
from lapsus.web.pages.setup import talks
from lapsus.web.request_context import RequestContext


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
        yield "people", "who", _who(plan, visit.language)
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


def _who(plan: Plan, language: str) -> str:
    who = say(f"setup.people.{plan.who}", language)
    return f"{who}: {', '.join(plan.people)}" if plan.people else who
