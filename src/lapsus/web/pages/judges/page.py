"""The programs of a campaign: beside people, with their charts; added, stopped and resumed from the page."""

import threading
from itertools import islice
from typing import Any, Final

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.analysis.estimate import Bounds
from lapsus.annotators import Annotator
from lapsus.annotators.language_model import LanguageModel
from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.charts import (
    CHARTS,
    Say,
    advantage_chart,
    cautions,
    estimate_name,
    estimates_of,
    standing_name,
)
from lapsus.campaign_stats.judge_figures import JudgeFigures, Judges, judges_of
from lapsus.campaign_stats.judge_tests import (
    AlignmentRow,
    ProbeRow,
    StressTest,
    alignment_rows,
    probe_rows,
    stress_tests,
)
from lapsus.errors import LapsusError, UsageError
from lapsus.notices import Notice, localized, unpacked
from lapsus.reports.charts import FORMATS, Chart, inline
from lapsus.store import RefusedError, StoreError
from lapsus.store.program_runs import ProgramRun
from lapsus.trust.ranking import Stand, Standing
from lapsus.web.forms import field, fields, number_of, posts, told
from lapsus.web.judge_sources import EndpointChoice, JudgeSpec, ModelChoice
from lapsus.web.page_routes import Page, campaign_here, filled, managing, signed_in, single, twins
from lapsus.web.page_words import say
from lapsus.web.pages.stats.charts import file_response, units_url
from lapsus.web.pages.stats.view import CampaignStatsResponse, base_of, stats_of
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in

NOBODY: Final = 0
"""No program has this number: all open units are left for it to judge."""
SOME: Final = 100
"""Units from which it is guessed what all of them take."""


class RunResponse(msgspec.Struct, frozen=True):
    """A program at work, or that was."""

    id: int
    name: str
    state: str
    """running, waiting (for a server that may do it), stopped, failed or done"""
    note: str
    judged: int
    total: int
    refused: int


class JudgeResponse(msgspec.Struct, frozen=True):
    """A judge beside people. What cannot be told is null."""

    name: str
    units: int
    id: int | None = None
    """Null for all judges as one, and for the floors."""
    compared: int | None = None
    agreement: float | None = None
    people_agreement: float | None = None
    advantage: float | None = None
    low: float | None = None
    high: float | None = None
    stands: list[Stand] = []
    """The test, from experts to crowd workers."""
    more_units: int | None = None
    tokens: int | None = None
    paid: float | None = None
    """Null where the price is not known."""
    currency: str | None = None
    seconds: float | None = None
    disagreements: int = 0
    disagreements_at: str = ""
    beats_constant: bool | None = None
    """Whether it is shown to agree with people better than always the same answer."""


class EstimateResponse(msgspec.Struct, frozen=True):
    """A share or a mean: the judge alone, people alone, corrected."""

    name: str
    judge: Bounds
    people: Bounds
    corrected: Bounds
    judged_units: int
    judge_units: int


class JudgesResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """The programs of a campaign: at work, beside people, and those that can be added."""

    runs: list[RunResponse]
    judges: list[JudgeResponse]
    stress: list[StressTest]
    """What each judge found of errors planted in good units, the newest test of each."""
    probes: list[ProbeRow]
    """How often each judge gave the same answer though something was changed, the newest of each."""
    alignments: list[AlignmentRow]
    """What fitting each judge's prompt to people's answers was worth, the newest of each."""
    cautions: list[str]
    """In words: where figures mean less than they look."""
    people: int
    unnamed: bool
    chosen: int | None
    """The judge that the estimates and charts are about."""
    chosen_name: str
    estimates: list[EstimateResponse]
    signatures: list[str]
    may_add: bool
    models: list[ModelChoice]
    endpoints: list[EndpointChoice]
    providers: list[str]
    """The interfaces that language models can be asked over."""
    keys: list[str]
    """Names of variables of the server's environment that hold a key."""
    has_folder: bool
    fields: dict[str, str]
    error: str | None = None
    hint: str | None = None
    needs_leave: bool = False
    """Whether the texts would go to another machine: the hint says what that takes, and leave is asked for."""


def words_for(language: str) -> Say:
    """The page's words, as charts ask for them."""
    return lambda key: say(f"judges.{key}", language)


def chosen_judge(visit: RequestContext, found: Judges) -> JudgeFigures | None:
    """The judge that the address asks for; else the first."""
    wanted = visit.request.query_params.get("judge", "")
    by_number = (one for one in found.judges if str(one.program) == wanted)
    return next(by_number, found.judges[0] if found.judges else None)


def models_of(visit: RequestContext, stats: CampaignStats) -> list[ModelChoice]:
    """The models of this server under the campaign's guideline, each with what it cannot read of the documents."""
    known: frozenset[str] = frozenset()
    there = stats.kept("languages", _languages, known, version=visit.store.browsing.last(stats.name))
    return visit.web.judges.models(stats.scheme, there)


def _languages(stats: CampaignStats) -> frozenset[str]:
    return stats.store.browsing.languages(stats.name)


def runs_of(visit: RequestContext) -> list[RunResponse]:
    """The campaign's programs at work. To be read before its figures: all that a run has done is in those then."""
    name = campaign_here(visit).name
    return [_run(visit, run) for run in visit.store.program_runs.of_campaign(name)]


def judges_page(
    visit: RequestContext,
    stats: CampaignStats,
    runs: list[RunResponse],
    **more: Any,
) -> JudgesResponse:
    """The whole page."""
    found, sources = judges_of(stats), visit.web.judges
    chosen, spoken = chosen_judge(visit, found), words_for(visit.language)
    may_add = visit.me.role == "manager"
    names = stats.kind.choice_names(visit.language)
    estimates = estimates_of(chosen) if chosen else []
    signatures = [one.signature for one in found.beside[:1]] + [one.signature for one in estimates[:1]]
    return JudgesResponse(
        runs=runs,
        judges=[
            *(_judge(stats, one) for one in found.judges),
            *(_beside(one, spoken) for one in found.beside),
        ],
        probes=probe_rows(visit.store, stats.name, stats.question.id),
        alignments=alignment_rows(visit.store, stats.name),
        stress=stress_tests(visit.store, stats.name, visit.language),
        cautions=cautions(found, spoken, visit.language),
        people=found.people,
        unnamed=found.unnamed,
        chosen=chosen.program if chosen else None,
        chosen_name=chosen.name if chosen else "",
        estimates=[
            filled(EstimateResponse, one, name=estimate_name(one, names, spoken)) for one in estimates
        ],
        signatures=signatures,
        may_add=may_add,
        models=models_of(visit, stats) if may_add else [],
        endpoints=sources.endpoint_choices() if may_add else [],
        providers=sources.providers() if may_add else [],
        keys=sources.keys() if may_add else [],
        has_folder=sources.folder is not None,
        **more,
        **base_of(visit, stats),
    )


def _run(visit: RequestContext, run: ProgramRun) -> RunResponse:
    waits = run.state == "running" and not run.is_held
    state = "waiting" if waits else run.state
    note = localized(unpacked(run.note), visit.language) if run.note else ""
    return filled(RunResponse, run, state=state, note=note, total=run.judged + run.left)


def _judge(stats: CampaignStats, one: JudgeFigures) -> JudgeResponse:
    far = units_url(stats.name, stats.question.id, program=one.program, sort="farthest")
    apart = {"disagreements": len(one.apart), "disagreements_at": far}
    return filled(JudgeResponse, one, one.cost, one.standing, id=one.program, **apart, **_told(one.standing))


def _beside(one: Standing, spoken: Say) -> JudgeResponse:
    return filled(JudgeResponse, one, name=standing_name(one.judge, spoken), **_told(one))


def _told(one: Standing | None) -> dict[str, Any]:
    """What a standing calls by another name than the page; nothing where there is none."""
    if one is None:
        return {}
    return {
        "compared": one.units,
        "agreement": one.judge_agreement,
        "low": one.advantage_low,
        "high": one.advantage_high,
        "stands": sorted(one.epsilons, key=lambda stand: -stand.epsilon),
    }


_PATH: Final = "/c/{campaign:slug}/judges"
_ADVANTAGE: Final = "advantage"


def show(visit: RequestContext) -> Page:
    """Programs beside people, and at work."""
    runs, stats = runs_of(visit), stats_of(visit)
    shape = judges_page(visit, stats, runs, fields={})
    return Page("judges/page.html", shape, more=_drawn(visit, stats))


def _drawn(visit: RequestContext, stats: CampaignStats) -> dict[str, object]:
    if visit.wants_json:
        return {}
    names = (_ADVANTAGE, *CHARTS)
    found = {name: _chart(visit, stats, name) for name in names}
    return {"charts": {name: inline(one, f"chart-{name}") if one else "" for name, one in found.items()}}


def _chart(visit: RequestContext, stats: CampaignStats, name: str) -> Chart | None:
    """A chart by name, about the chosen judge; None where there is nothing to draw."""
    found, spoken = judges_of(stats), words_for(visit.language)
    if name == _ADVANTAGE:
        return advantage_chart(found, spoken)
    judge = chosen_judge(visit, found)
    return None if judge is None or name not in CHARTS else CHARTS[name](stats, judge, spoken, visit.language)


def chart(visit: RequestContext) -> Response:
    """A chart as a picture or a table."""
    request, stats = visit.request, stats_of(visit, live=False)
    name, format = str(request.path_params["chart"]), str(request.path_params["format"])
    made = _chart(visit, stats, name) if format in FORMATS else None
    if made is None:
        raise RefusedError("not-found", "there is no such chart")
    return file_response(visit, made, format, f"{stats.name}-{name}")


def act(visit: RequestContext, form: FormData) -> Page | Response:
    """Do what a button of the page says."""
    runs, stats, wanted = runs_of(visit), stats_of(visit), field(form, "do")
    try:
        if wanted == "add":
            _add(visit, stats, form)
        elif wanted in ("stop", "go"):
            state = "stopped" if wanted == "stop" else "running"
            run = number_of(form, "run", Notice("no-run-named"))
            visit.store.program_runs.set_state(stats.name, run, state, by=visit.me.id)  # type: ignore[arg-type]
        else:
            raise UsageError("nothing-called-here", wanted=wanted[:40])
    except (StoreError, RefusedError):
        raise
    except LapsusError as error:
        said = told(error, visit.language)
        needs_leave = isinstance(error, _LeaveError)
        why = {"error": said["error"], "hint": said["hint"] or None, "needs_leave": needs_leave}
        shape = judges_page(visit, stats, runs, fields=fields(form), **why)
        return Page("judges/page.html", shape, 422, _drawn(visit, stats))
    visit.web.judge_work.look()
    return redirect(visit, f"/c/{stats.name}/judges?q={stats.question.id}")


def _add(visit: RequestContext, stats: CampaignStats, form: FormData) -> None:
    """Have a program judge. Whether it can is tried first, so that nothing is left behind where it cannot."""
    asked = _asked(form)
    # However long that takes: the page may not know yet what languages there are.
    models = visit.web.judges.models(stats.scheme, _languages(stats))
    chosen = next((one for one in models if (one.kind, one.model) == (asked.kind, asked.model)), None)
    if chosen is not None and chosen.unread:
        raise UsageError(
            "learned-documents-here",
            where=chosen.model,
            hint="choose-model-language",
            languages=", ".join(chosen.languages),
            unread=", ".join(chosen.unread),
        )
    judge = visit.web.judges.make(asked, stats.scheme, threading.Event())
    where = next((one for one in visit.web.judges.endpoint_choices() if one.url == asked.endpoint), None)
    if where is not None and not where.is_local and field(form, "leave") != "yes":
        raise _LeaveError("texts-would-go-another", where=where.host, hint=_expected(visit, stats, judge))
    program = visit.store.programs.add(field(form, "name").strip() or judge.name, by=visit.me.id)
    visit.store.program_runs.add(stats.name, program, dict(msgspec.to_builtins(asked)), by=visit.me.id)


class _LeaveError(UsageError):
    """Leave is needed first."""


def _expected(visit: RequestContext, stats: CampaignStats, judge: Annotator) -> Notice:
    """About what it takes to have a language model judge a campaign, in words."""
    programs = visit.store.programs
    units = programs.count_units(stats.name, NOBODY)
    some = list(islice(programs.units_for(stats.name, NOBODY), SOME))
    if not isinstance(judge, LanguageModel) or not some:
        return Notice("say-may-sent")
    expected, times = judge.expects(some), units / len(some)
    prompt, completion = round(expected.prompt * times), round(expected.completion * times)
    paid = Notice("price-not-known")
    if judge.price is not None:
        amount = judge.price.of(prompt, completion)
        paid = Notice("expected-cost", amount=amount, currency=judge.price.currency, date=judge.price.date)
    minutes = max(1, round(expected.seconds * times / 60))
    tokens = Notice("expected-tokens", prompt=prompt, completion=completion, minutes=minutes)
    return Notice("say-may-sent-expected", units=units, tokens=tokens, paid=paid)


def _asked(form: FormData) -> JudgeSpec:
    kind, _, model = field(form, "model").partition(":")
    if field(form, "kind") == "openai":
        samples = number_in(field(form, "samples") or "1", digits=3)
        if samples is None:
            raise UsageError("how-often-ask-whole")
        return JudgeSpec(
            "openai", _named(form), field(form, "endpoint"), field(form, "key"),
            samples, field(form, "reasons") == "yes",
        )  # fmt: skip
    if kind not in ("shipped", "file") or not model:
        raise UsageError("no-model-chosen", hint="choose-one-list")
    return JudgeSpec(kind, model)  # type: ignore[arg-type]


def _named(form: FormData) -> str:
    """The model, with its interface before it where that is not the usual one."""
    provider, model = field(form, "provider"), field(form, "language_model").strip()
    return model if provider in ("", "openai") else f"{provider}:{model}"


ROUTES = [
    *twins(_PATH, signed_in(show)),
    *posts(_PATH, act, who=managing),
    single(f"{_PATH}/charts/{{chart:slug}}.{{format:slug}}", chart),
]
