"""All units of a campaign: found, shown with everything that was said of them, and worked on many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.adjudication import SHARES, ManyDecisions, many_decisions
from lapsus.campaign_stats.unit_search import SORTS, UNSURE, Numbers, UnitSearch, Wanted
from lapsus.kinds import kind_of
from lapsus.store import RefusedError, StoredJudgment
from lapsus.store.stats_cache import UNKNOWN
from lapsus.web.explore_schemas import (
    ChoiceRecord,
    CommentRecord,
    DecideManyRecord,
    ExploreRecord,
    ShareRecord,
    UnitRecord,
)
from lapsus.web.flag_view import flag_responses
from lapsus.web.judgment_summaries import excerpt, in_words
from lapsus.web.page_words import say
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.stats_view import answer_names, base_of, taken, voters

PER_PAGE: Final = 50
MOST_DECIDED: Final = 500
"""How many units are decided on at a time."""
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "agreement": ("differ", "same"),
    "judged": ("none", "some", "open", "complete"),
    "decided": ("yes", "no"),
    "flag": ("open", "any"),
    "comment": ("yes",),
    "doubt": ("unsure",),
    "sort": SORTS,
}
_NUMBERS: Final = ("person", "other", "program")
_LONGEST: Final = 200


def wanted_of(query: Mapping[str, str]) -> Wanted:
    """What an address asks for. What makes no sense is as if it were not there."""
    found: dict[str, Any] = {}
    for name in Wanted.__struct_fields__:
        value = query.get(name, "")[:_LONGEST]
        if name in _NUMBERS:
            found[name] = number_in(value)
        elif name not in CHOICES or value in CHOICES[name]:
            found[name] = value
    return Wanted(
        **({"sort": "number"} | {key: value for key, value in found.items() if value not in ("", None)})
    )


def explore(visit: RequestContext, stats: CampaignStats, told: str | None = None) -> ExploreRecord:
    """A page of units."""
    search, wanted = UnitSearch(stats), wanted_of(visit.request.query_params)
    page = _page(visit)
    numbers, total = search.page(wanted, (page - 1) * PER_PAGE, PER_PAGE)
    rows = _rows(visit, stats, search, numbers)
    names = answer_names(stats, visit.language)
    answers = [ChoiceRecord(share.answer, names.get(share.answer, share.answer)) for share in stats.shares()]
    people = [ChoiceRecord(str(p.person), p.name) for p in stats.progress.people if p.submitted]
    programs = visit.store.browsing.programs(stats.name)
    unnamed = say("insight.answers.unknown-system", visit.language)
    return ExploreRecord(
        wanted=wanted,
        units=rows,
        total=total,
        page=page,
        pages=max(1, -(-total // PER_PAGE)),
        answers=answers,
        people=[one for one in people if int(one.id) not in programs],
        systems=[ChoiceRecord(name, unnamed if name == UNKNOWN else name) for name in search.systems()],
        programs=[ChoiceRecord(str(id), name) for id, name in programs.items()],
        formats=taken(stats),
        told=told,
        **base_of(visit, stats),
    )


def for_page(record: ExploreRecord, language: str) -> dict[str, Any]:
    """What the page shows besides: the lists to choose from, and whether something was chosen."""
    lists: dict[str, list[tuple[str, str]]] = {
        name: [(value, say(f"explore.{name}s.{value}", language)) for value in values]
        for name, values in CHOICES.items()
    }
    for name in ("answers", "people", "systems", "programs"):
        lists[name] = [(one.id, one.name) for one in getattr(record, name)]
    usual = Wanted(text=record.wanted.text, sort="number")
    return {"pairs": lists, "narrowed": record.wanted != usual, "unsure": UNSURE}


def _page(visit: RequestContext) -> int:
    value = visit.request.query_params.get("page", "")
    return max(1, number_in(value, 7) or 1)


def _rows(
    visit: RequestContext, stats: CampaignStats, search: UnitSearch, numbers: Sequence[int]
) -> list[UnitRecord]:
    store, name = visit.store, stats.name
    there, said = store.browsing.with_documents(name, numbers), store.judgments.of_units(name, numbers)
    flags, decisions = store.flags.of_units(name, numbers), store.decisions.standing(name, numbers)
    programs, apart = store.browsing.programs(name), _values(search.disagreement(), numbers)
    doubts = _values(search.doubts(), numbers) if programs else {}
    rows = []
    for number in numbers:
        unit, document = there[number]
        people = [judgment for judgment in said[number] if not judgment.by_program]
        others = [judgment for judgment in said[number] if judgment.by_program]
        decision = decisions.get(number)
        rows.append(
            UnitRecord(
                unit=number,
                document=unit.document,
                system=document.system,
                role=(unit.target or unit.visible[-1]).role,
                text=excerpt(unit),
                language=unit.language,
                answers=voters(stats, people, visit.language),
                programs=voters(stats, others, visit.language),
                judgments=len(people),
                disagreement=apart.get(number),
                doubt=doubts.get(number),
                decided=None
                if decision is None
                else in_words(stats.scheme, decision.answers, visit.language),
                decided_by=None if decision is None else decision.by,
                comments=_comments(stats, said[number]),
                flags=flag_responses(visit, flags.get(number, ())),
            )
        )
    return rows


def _values(known: tuple[Numbers, NDArray[np.float64]], numbers: Sequence[int]) -> dict[int, float]:
    """What is known of some units, such as how far people are apart, where it is known."""
    units, values = known
    places = zip(numbers, units.searchsorted(numbers).tolist(), strict=True)
    found = {number: float(values[p]) for number, p in places if p < len(units) and units[p] == number}
    return {number: value for number, value in found.items() if value == value}


def _comments(stats: CampaignStats, judgments: Iterable[StoredJudgment]) -> list[CommentRecord]:
    texts = [question.id for question in stats.scheme.questions if kind_of(question).packed_type is None]
    return [
        CommentRecord(judgment.annotator, str(written))
        for judgment in judgments
        for id in texts
        if (written := judgment.answers.get(id))
    ]


def ask_to_decide(stats: CampaignStats, units: Sequence[int], base: dict[str, Any]) -> DecideManyRecord:
    """What deciding on these units by their most frequent answers comes to, for each least share of people."""
    found = _many(stats, units)
    shares = [ShareRecord(str(place), len(found.with_share(least))) for place, least in enumerate(SHARES)]
    return DecideManyRecord(
        **base, units=list(units), decided=found.decided, split=found.split, shares=shares
    )


def decide_many(
    visit: RequestContext, stats: CampaignStats, units: Sequence[int], share: str
) -> tuple[int, str]:
    """Decide on the units whose most frequent answer has that share; on how many, and the key that undoes it."""
    place = number_in(share)
    if place is None or place >= len(SHARES):
        raise RefusedError("shape", "say which share of people an answer needs")
    chosen = _many(stats, units).with_share(SHARES[place])
    answers = {unit: (one.how, one.answers) for unit, one in chosen.items()}
    return len(chosen), visit.store.decisions.decide_many(stats.name, visit.me.id, answers)


def _many(stats: CampaignStats, units: Sequence[int]) -> ManyDecisions:
    if len(units) > MOST_DECIDED:
        raise RefusedError("too-many-units", f"at most {MOST_DECIDED} units are decided on at a time")
    return many_decisions(stats, units)


def query_of(wanted: Wanted, question: str) -> dict[str, str]:
    """What is looked for, as the parts of an address."""
    asked = {key: str(value) for key, value in msgspec.to_builtins(wanted).items() if value not in (None, "")}
    return {"q": question} | asked
