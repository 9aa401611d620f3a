"""What the page of a campaign's judges shows, as records."""

from __future__ import annotations

from functools import partial

import msgspec

from lapsus.analysis.estimate import Bounds, Estimated
from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.judge_charts import Say, cautions, estimate_name, estimates_of, standing_name
from lapsus.campaign_stats.judge_figures import JudgeFigures, Judges, judges_of
from lapsus.store.program_runs import ProgramRun
from lapsus.translation import translated
from lapsus.trust.ranking import Stand, Standing
from lapsus.web.judge_sources import EndpointChoice, ModelChoice
from lapsus.web.page_words import say
from lapsus.web.request_context import RequestContext
from lapsus.web.stats_schemas import CampaignStatsResponse
from lapsus.web.stats_view import base_of
from lapsus.web.unit_links import units_url
from lapsus.web.unit_view import campaign_here


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

    id: int | None
    """Null for all judges as one, and for the floors."""
    name: str
    units: int
    compared: int | None
    agreement: float | None
    people_agreement: float | None
    advantage: float | None
    low: float | None
    high: float | None
    stands: list[Stand]
    """The test, from experts to crowd workers."""
    more_units: int | None
    tokens: int | None
    seconds: float | None
    disagreements: int
    disagreements_at: str
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
    keys: list[str]
    """Names of variables of the server's environment that hold a key."""
    has_folder: bool
    fields: dict[str, str]
    error: str | None = None
    hint: str | None = None


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


def models_that_read(visit: RequestContext, stats: CampaignStats) -> list[ModelChoice]:
    """The same, worked out now however long that takes: before a judge is started."""
    return visit.web.judges.models(stats.scheme, _languages(stats))


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
    *,
    fields: dict[str, str] | None = None,
    error: str | None = None,
    hint: str | None = None,
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
        cautions=cautions(found, spoken, visit.language),
        people=found.people,
        unnamed=found.unnamed,
        chosen=chosen.program if chosen else None,
        chosen_name=chosen.name if chosen else "",
        estimates=[_estimate(one, partial(estimate_name, names=names, say=spoken)) for one in estimates],
        signatures=signatures,
        may_add=may_add,
        models=models_of(visit, stats) if may_add else [],
        endpoints=sources.endpoint_choices() if may_add else [],
        keys=sources.keys() if may_add else [],
        has_folder=sources.folder is not None,
        fields=fields or {},
        error=error,
        hint=hint,
        **base_of(visit, stats),
    )


def _run(visit: RequestContext, run: ProgramRun) -> RunResponse:
    waits = run.state == "running" and not run.is_held
    state = "waiting" if waits else run.state
    note = " ".join(translated(part, visit.language) for part in run.note.split("\n"))
    return RunResponse(run.id, run.name, state, note, run.judged, run.judged + run.left, run.refused)


def _judge(stats: CampaignStats, one: JudgeFigures) -> JudgeResponse:
    far = units_url(stats.name, stats.question.id, program=one.program, sort="farthest")
    return _row(
        one.program, one.name, one.units, one.standing, one.cost.tokens, one.cost.seconds, len(one.apart), far
    )


def _beside(one: Standing, spoken: Say) -> JudgeResponse:
    return _row(None, standing_name(one.judge, spoken), one.units, one, None, None, 0, "")


def _row(
    id: int | None,
    name: str,
    units: int,
    one: Standing | None,
    tokens: int | None,
    seconds: float | None,
    apart: int,
    far: str,
) -> JudgeResponse:
    if one is None:
        return JudgeResponse(
            id, name, units, None, None, None, None, None, None, [], None, tokens, seconds, apart, far
        )
    stands = sorted(one.epsilons, key=lambda stand: -stand.epsilon)
    return JudgeResponse(
        id, name, units, one.units, one.judge_agreement, one.people_agreement, one.advantage, one.advantage_low,
        one.advantage_high, stands, one.more_units, tokens, seconds, apart, far,
        one.beats_constant,
    )  # fmt: skip


def _estimate(one: Estimated, name: partial[str]) -> EstimateResponse:
    return EstimateResponse(
        name(one), one.judge, one.people, one.corrected, one.judged_units, one.judge_units
    )
