"""What a person said: page by page, or those that have some words. Texts that may not be seen yet stay hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lapsus.campaign_stats.unit_search import folded
from lapsus.kinds import kinds_of
from lapsus.model import Scheme, Unit
from lapsus.store import StoredJudgment
from lapsus.web.judgment_summaries import excerpt, in_words
from lapsus.web.request_context import RequestContext
from lapsus.web.schemas import JudgmentResponse, JudgmentsResponse

PAGE = 50
CHUNK = 500
"""How many judgments are looked through at a time."""
LONGEST_SEARCH = 200


def own_judgments(
    visit: RequestContext, campaign: str, before: int | None = None, words: str = "", *, limit: int = PAGE
) -> JudgmentsResponse:
    """A page of what the person said, the last unit first; only what has all the words, where some are given.

    Words are looked for in the text that was judged, in the answers as the reader sees them, and in remarks.
    """
    wanted = folded(words[:LONGEST_SEARCH]).split()
    scheme = visit.store.campaigns.scheme(campaign)
    found: list[JudgmentResponse] = []
    for stored, is_hidden in _newest_first(visit, campaign, scheme, before, CHUNK if wanted else limit + 1):
        unit = visit.store.units.visible(campaign, stored.unit)
        response = _response(visit, scheme, stored, unit, is_hidden)
        if wanted:
            text = folded("\n".join(_said(scheme, stored, response, unit, is_hidden)))
            if not all(word in text for word in wanted):
                continue
        if len(found) == limit:
            return JudgmentsResponse(found, found[-1].unit)
        found.append(response)
    return JudgmentsResponse(found, None)


def _newest_first(
    visit: RequestContext, campaign: str, scheme: Scheme, before: int | None, chunk: int
) -> Iterator[tuple[StoredJudgment, bool]]:
    """The person's judgments, and whether the text of each is still hidden."""
    while some := visit.store.judgments.of_person(campaign, visit.me.id, limit=chunk, before=before):
        hidden = _still_hidden(visit, campaign, scheme, some)
        yield from ((stored, stored.unit in hidden) for stored in some)
        if len(some) < chunk:
            return
        before = some[-1].unit


def _still_hidden(
    visit: RequestContext, campaign: str, scheme: Scheme, found: Sequence[StoredJudgment]
) -> frozenset[int]:
    """Units whose text would show what comes after one of the same document that is still to be judged."""
    if scheme.unit.context != "before":
        return frozenset()
    return visit.store.judgments.after_unjudged(campaign, visit.me.id, [judgment.unit for judgment in found])


def _said(
    scheme: Scheme, stored: StoredJudgment, response: JudgmentResponse, unit: Unit, is_hidden: bool
) -> Iterator[str]:
    """All that is searched."""
    yield from response.said
    for id, kind in kinds_of(scheme).items():
        if not kind.is_countable and isinstance(remark := stored.answers.get(id), str):
            yield remark
    if not is_hidden:
        yield from ([unit.target.text] if unit.target else [segment.text for segment in unit.visible])


def _response(
    visit: RequestContext, scheme: Scheme, stored: StoredJudgment, unit: Unit, is_hidden: bool
) -> JudgmentResponse:
    """Without the time it took. What is hidden is shown without its text."""
    return JudgmentResponse(
        unit=stored.unit,
        document=stored.document,
        segment=stored.segment,
        revision=stored.revision,
        submitted=stored.submitted,
        answers=stored.answers,
        stored_at=stored.stored_at,
        text="" if is_hidden else excerpt(unit),
        language=unit.language,
        said=in_words(scheme, stored.answers, visit.language),
    )
