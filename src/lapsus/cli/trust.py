"""Judges beside people: `lapsus trust`, `plan` and `cascade`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.output import in_words, print_json, print_table, reader_language, remark, say, warn, word
from lapsus.cli.result_tables import announce, announce_once, print_each_scheme
from lapsus.errors import UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.analysis.cascade import Cascade
    from lapsus.analysis.plan import SamplingPlan, Wanted
    from lapsus.model import Document


def trust_command(
    data: list[Path] | None = None,
    judge: list[str] | None = None,
    jury: bool = False,
    scheme: str | None = None,
    question: list[str] | None = None,
    epsilon: float = 0.2,
    least_units: int = 30,
    freeze: Path | None = None,
    tolerance: float = 0.05,
    gate: Path | None = None,
    junit: Path | None = None,
    only: str | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
) -> None:
    """Test whether judges may stand in for people, or hold a judge against a gate."""
    if gate is not None:
        _check(gate, data or [], junit, as_json)
        return
    if junit is not None:
        raise UsageError("junit-gate")
    if not data:
        raise UsageError("data", hint="name-judged-documents-gate")
    if freeze is not None:
        _freeze(data, freeze, judge or [], scheme, question or [], epsilon, tolerance, overwrite)
        return
    from lapsus.analysis.trust import rank_judges

    make = partial(
        rank_judges,
        *data,
        judges=judge or (),
        questions=question or (),
        epsilon=epsilon,
        least_units=least_units,
        jury=jury,
        only=only,
        language=lang,
        announce=announce_once(),
    )
    print_each_scheme(lambda under: make(scheme=under), scheme, as_json=as_json, csv=csv, latex=latex)


def _check(gate: Path, runs: list[Path], junit: Path | None, as_json: bool) -> None:
    from lapsus.analysis.gate import check_gate
    from lapsus.formats.sink import put_in_place

    if len(runs) > 1:
        raise UsageError("gate-takes-one-run", hint="name-one-file")
    verdict = check_gate(gate, runs[0] if runs else None, announce)
    if junit is not None:
        # Reports of earlier builds are replaced, as every tool that writes them does.
        with put_in_place(junit, overwrite=True) as draft:
            draft.write_bytes(verdict.to_junit())
    for warning in verdict.warnings:
        warn(warning)
    if as_json:
        print_json(verdict)
    else:
        typer.echo(verdict.to_text(reader_language()))
    if not verdict.passes:
        raise typer.Exit(1)


def _freeze(
    data: list[Path],
    target: Path,
    judges: list[str],
    scheme: str | None,
    questions: list[str],
    epsilon: float,
    tolerance: float,
    overwrite: bool,
) -> None:
    from lapsus.analysis.gate import freeze, gate_yaml
    from lapsus.formats.sink import put_in_place

    if len(data) > 1 or len(judges) > 1:
        raise UsageError("gate-one-judge-one", hint="put-people-judge-into")
    made = freeze(
        data[0],
        target,
        judge=judges[0] if judges else None,
        scheme=scheme,
        questions=questions,
        epsilon=epsilon,
        tolerance=tolerance,
        announce=announce,
        tell=warn,
    )
    with put_in_place(target, overwrite=overwrite) as draft:
        draft.write_text(gate_yaml(made), encoding="utf-8")
    say("held-reached", to=target, judge=made.judge, bounds=", ".join(made.bounds))


def cascade_command(
    data: list[Path],
    judge: list[str],
    doubt: float = 0.3,
    out: Path | None = None,
    scheme: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Say how far a cascade of judges is and what it cost, and write what its next stage has to judge."""
    from lapsus.analysis.cascade import cascade
    from lapsus.formats import convert
    from lapsus.formats.sink import check_place

    if out is not None:
        if out.suffix.lower() != ".jsonl":
            raise UsageError("only-jsonl-holds-units", where=str(out), hint="name-file-jsonl")
        check_place(out, overwrite=overwrite)
    told, entries = cascade(
        *data, judges=judge, scheme=scheme, doubt=doubt, only=only, language=lang, announce=announce
    )
    if out is not None:
        convert(entries, out, "jsonl", overwrite=overwrite)
    if as_json:
        print_json(told)
        return
    columns = ("stage", "by", "units", "judged", "settled", "tokens", "seconds")
    rows = [
        (word(one.stage), ", ".join(one.by) or "-", f"{one.asked:,}", f"{one.judged:,}", f"{one.settled:,}",
         f"{one.tokens:,}", "–" if one.seconds is None else f"{one.seconds:,.1f}")
        for one in told.stages
    ]  # fmt: skip
    print_table(columns, rows, numbers=columns[2:])
    if any(one.seconds is None for one in told.stages):
        remark("not-measured-lapsus-detect")
    _tell_next(told, out)


def _tell_next(told: Cascade, out: Path | None) -> None:
    if told.waits_for is None:
        say("all-units-settled", to=out, units=told.units)
        return
    say("units-wait", to=out, waiting=told.waiting, whom=_WHOM[told.waits_for])
    if out is not None and told.waits_for == "second":
        remark(
            f"lapsus detect {out} --with openai:MODEL --scheme {told.scheme} --endpoint URL -o second.jsonl"
        )
    elif out is not None:
        remark(f"lapsus campaign create NAME --scheme {told.scheme} --data {out}")


_WHOM = {"second": Notice("second-judge"), "people": Notice("people")}


def plan_command(
    data: list[Path],
    judge: str | None = None,
    within: float | None = None,
    epsilon: float | None = None,
    people: int = 3,
    units: int | None = None,
    out: Path | None = None,
    scheme: str | None = None,
    question: list[str] | None = None,
    label: str | None = None,
    seed: int = 0,
    only: str | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Say how many units people should judge until an interval is narrow or a judge can pass, and draw them."""
    from lapsus.analysis.plan import plan_units
    from lapsus.formats.sink import check_place

    if out is not None:
        if out.suffix.lower() != ".jsonl":
            raise UsageError("only-jsonl-holds-each", where=str(out), hint="name-file-jsonl")
        check_place(out, overwrite=overwrite)
    plan, documents = plan_units(
        *data,
        judge=judge,
        scheme=scheme,
        questions=question or (),
        label=label,
        within=within,
        epsilon=epsilon,
        people=people,
        units=units,
        seed=seed,
        only=only,
        language=lang,
        announce=announce,
    )
    if out is not None:
        _write(documents, out, overwrite)
    if as_json:
        print_json(
            {**{name: getattr(plan, name) for name in plan.__struct_fields__}, "out": out and str(out)}
        )
        return
    _tell(plan)
    if out is not None:
        say("units-2", units=plan.units, out=out)
        remark(f"lapsus campaign create NAME --scheme {plan.scheme} --data {out} --per-unit {plan.people}")


def _write(documents: Iterable[Document], out: Path, overwrite: bool) -> None:
    from lapsus.formats import convert
    from lapsus.model import Entry

    convert((Entry(document.id, document) for document in documents), out, "jsonl", overwrite=overwrite)


def _tell(plan: SamplingPlan) -> None:
    columns = ("goal", "question", "units", "from")
    rows = [
        (
            _goal(one),
            one.question,
            word("will not do") if one.units is None else f"{one.units:,}",
            word("people" if one.from_people else "judge"),
        )
        for one in plan.goals
    ]
    print_table(columns, rows, numbers=("units",))
    for why in dict.fromkeys(one.why for one in plan.goals if one.why):
        warn("will-not-do", why=why)
    typer.echo("")
    drawn = [
        (_stratum(one.name), f"{one.units:,}", f"{one.drawn:,}", f"{one.weight:.2f}") for one in plan.strata
    ]
    print_table(
        ("stratum", "units", "drawn", "each stands for"), drawn, numbers=("units", "drawn", "each stands for")
    )
    say(
        "units-judged-people-each",
        units=plan.units,
        population=plan.population,
        judge=plan.judge,
        people=plan.people,
    )
    wanted = max((one.units for one in plan.goals if one.units is not None), default=0)
    if wanted > plan.population:
        warn("goals-take-units-judged", wanted=wanted, judge=plan.judge, population=plan.population)


def _stratum(name: str) -> str:
    system, comma, doubt = name.rpartition(", ")
    return f"{system}{comma}{word(doubt)}"


def _goal(one: Wanted) -> str:
    if one.goal == "test":
        return in_words("pass", epsilon=one.epsilon)
    return f"{one.label or word('mean')} ± {one.within or 0:g}"
