"""All units of a campaign: found, shown with everything that was said of them, and worked on many at a time."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
import numpy as np
from numpy.typing import NDArray
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.adjudication import SHARES, ManyDecisions, many_decisions
from lapsus.campaign_stats.unit_search import (
    SORTS,
    UNSURE,
    Numbers,
    UnitSearch,
    Wanted,
    disagreement,
    doubts,
)
from lapsus.errors import UsageError
from lapsus.kinds import kind_of
from lapsus.model import Entry, UnitKey
from lapsus.store import RefusedError, StoredJudgment
from lapsus.store.stats_cache import UNKNOWN
from lapsus.web.addresses import at
from lapsus.web.forms import field, posts
from lapsus.web.page_routes import Page, managing, signed_in, twins
from lapsus.web.page_words import say
from lapsus.web.pages.judging.campaign import excerpt, flag_responses, in_words
from lapsus.web.pages.stats.export import download, judgments_of, noted
from lapsus.web.pages.stats.view import (
    CampaignStatsResponse,
    VoterResponse,
    answer_names,
    base_of,
    stats_of,
    taken,
    voters,
)
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import FlagResponse


class ChoiceRecord(msgspec.Struct, frozen=True):
    """Something to choose from a list."""

    id: str
    name: str


class CommentRecord(msgspec.Struct, frozen=True):
    """What somebody wrote with a judgment."""

    name: str
    text: str


class UnitRecord(msgspec.Struct, frozen=True):
    """A unit with all that is known of it."""

    unit: int
    document: str
    system: str | None
    role: str
    text: str
    language: str | None
    answers: list[VoterResponse]
    """Answers to the question in hand, the most frequent first, each with the people who gave it."""
    programs: list[VoterResponse]
    """The same of programs."""
    judgments: int
    disagreement: float | None
    """The share of every two people who answered differently; null with fewer than two."""
    doubt: float | None
    """How unsure the least sure program was, from 0; null where none said."""
    decided: list[str] | None
    """What was decided, in words."""
    decided_by: str | None
    comments: list[CommentRecord]
    flags: list[FlagResponse]


class ExploreRecord(CampaignStatsResponse, frozen=True, kw_only=True):
    """A page of the units that were looked for."""

    wanted: Wanted
    units: list[UnitRecord]
    total: int
    page: int
    pages: int
    answers: list[ChoiceRecord]
    people: list[ChoiceRecord]
    systems: list[ChoiceRecord]
    programs: list[ChoiceRecord]
    formats: list[str]
    told: str | None
    """What was just done with some units."""


class ShareRecord(msgspec.Struct, frozen=True):
    """A least share of people to decide by, and on how many units an answer has it."""

    share: str
    """Its place in the list of shares, as it is sent back."""
    units: int


class DecideManyRecord(CampaignStatsResponse, frozen=True, kw_only=True):
    """Before many units are decided on: what that comes to."""

    units: list[int]
    decided: int
    """Units that somebody has decided on already: they stay as they are."""
    split: int
    """Units on which no answer comes first, or the one that does breaks a rule."""
    shares: list[ShareRecord]


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
    rows = _rows(visit, stats, numbers)
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


def _rows(visit: RequestContext, stats: CampaignStats, numbers: Sequence[int]) -> list[UnitRecord]:
    store, name = visit.store, stats.name
    there, said = store.browsing.with_documents(name, numbers), store.judgments.of_units(name, numbers)
    flags, decisions = store.flags.of_units(name, numbers), store.decisions.standing(name, numbers)
    programs, apart = store.browsing.programs(name), _values(disagreement(stats), numbers)
    doubt = _values(doubts(stats), numbers) if programs else {}
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
                doubt=doubt.get(number),
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


_PATH: Final = "/c/{campaign:slug}/units"


def units(visit: RequestContext) -> Page:
    """The units that were looked for."""
    stats = stats_of(visit)
    record = explore(visit, stats, _told(visit, stats.name))
    batch = visit.request.query_params.get("batch", "")
    undo = batch if visit.request.query_params.get("told", "").startswith("decide.") else ""
    more = {"address": at(_address(visit, stats)), "undo": undo, **for_page(record, visit.language)}
    return Page("units/page.html", record, more=more)


def act(visit: RequestContext, form: FormData) -> Page | Response:
    """Do something with the units that were chosen, and tell of how many it was done."""
    stats, wanted = stats_of(visit, live=False), field(form, "do")
    if wanted not in _ACTIONS:
        raise UsageError("nothing-called-here", wanted=wanted[:40])
    done = _ACTIONS[wanted](visit, stats, form)
    return (
        done
        if not isinstance(done, int)
        else redirect(visit, _address(visit, stats, told=f"{wanted}.{done}"))
    )


def _address(visit: RequestContext, stats: CampaignStats, **more: str) -> str:
    """The same units again."""
    wanted = msgspec.to_builtins(wanted_of(visit.request.query_params))
    asked = {key: value for key, value in wanted.items() if value not in (None, "")}
    return f"/c/{stats.name}/units?{urlencode({'q': stats.question.id} | asked | more)}"


def _told(visit: RequestContext, name: str) -> str | None:
    what, _, many = visit.request.query_params.get("told", "").partition(".")
    count = number_in(many)
    if what == "flag" and count is not None and (flag := visit.store.flags.get(name, count)) is not None:
        key = "open" if flag.settled is None else "settled"
        return say(f"explore.told.{key}", visit.language, unit=flag.unit)
    if what not in _ACTIONS or count is None:
        return None
    return say(f"explore.told.{what}", visit.language, count=f"{count:,}")


def _chosen(visit: RequestContext, stats: CampaignStats, form: FormData) -> list[int]:
    """The units that were ticked, or all that were found."""
    if field(form, "all") == "yes":
        found: list[int] = UnitSearch(stats).find(wanted_of(visit.request.query_params)).tolist()
        return found
    ticked = {number_in(str(value)) for value in form.getlist("unit")}
    numbers = sorted(one for one in ticked if one is not None)
    known = visit.store.browsing.with_documents(stats.name, numbers)
    if not numbers or len(known) < len(numbers):
        raise RefusedError("no-units", "no unit was chosen")
    return numbers


def _again(visit: RequestContext, stats: CampaignStats, form: FormData) -> int:
    managing(visit)
    return visit.store.browsing.ask_again(stats.name, _chosen(visit, stats, form), by=visit.me.id)


def _decide(visit: RequestContext, stats: CampaignStats, form: FormData) -> Page | Response:
    """First what it comes to; once a share was chosen, the decisions."""
    units = _chosen(visit, stats, form)
    if not (share := field(form, "share")):
        record = ask_to_decide(stats, units, base_of(visit, stats))
        return Page("units/decide_many.html", record, more={"address": at(_address(visit, stats))})
    count, batch = decide_many(visit, stats, units, share)
    return redirect(visit, _address(visit, stats, told=f"decide.{count}", batch=batch))


def _export(visit: RequestContext, stats: CampaignStats, form: FormData) -> Response:
    places = visit.store.units.places(stats.name)
    chosen = set(_chosen(visit, stats, form))
    keys = {UnitKey(row.document, row.segment) for row in places if row.number in chosen}
    entries = _only(judgments_of(visit, stats.name, names=field(form, "what") == "names"), keys)
    made = download(entries, stats.scheme, f"{stats.name}-units", field(form, "to"))
    noted(visit, stats.name, form, units=len(chosen))
    return made


def _only(entries: Generator[Entry, None, None], keys: set[UnitKey]) -> Generator[Entry, None, None]:
    """Documents with a unit that was chosen, and what was said of these units."""
    documents = {key.document for key in keys}
    try:
        for entry in entries:
            if entry.id in documents:
                kept = tuple(judgment for judgment in entry.judgments if judgment.unit in keys)
                yield msgspec.structs.replace(entry, judgments=kept)
    finally:
        entries.close()


_ACTIONS: Final[Mapping[str, Callable[[RequestContext, CampaignStats, FormData], int | Page | Response]]] = {
    "again": _again,
    "decide": _decide,
    "undo": lambda visit, stats, form: visit.store.decisions.withdraw(
        stats.name, visit.me.id, field(form, "batch")
    ),
    "export": _export,
}


ROUTES = [
    *twins(_PATH, signed_in(units)),
    *posts(_PATH, act, who=stats_of, fields=MOST_DECIDED + 20),
]
