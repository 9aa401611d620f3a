"""`lapsus trust`: may a judge stand in for a person?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption, print_json, reader_language, say, warn
from lapsus.cli.result_tables import (
    CsvOption,
    LatexOption,
    QuestionOption,
    SchemeOption,
    announce,
    announce_once,
    print_each_scheme,
)
from lapsus.errors import UsageError
from lapsus.formats.remote import location

JudgesOption = Annotated[
    list[str] | None,
    typer.Option("--judge", help="An annotator to test; no person then. May be repeated.", metavar="NAME"),
]

JuryOption = Annotated[bool, typer.Option("--jury", help="Also all judges together, as one.")]


def trust_command(
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Judged documents: files, folders or zips. With --gate: the newest run.",
            metavar="DATA…",
            parser=location,
        ),
    ] = None,
    judge: JudgesOption = None,
    jury: JuryOption = False,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon",
            help="How much worse it may be: .1 crowd, .15 trained, .2 experts.",
            min=0.0,
            max=0.99,
        ),
    ] = 0.2,
    least_units: Annotated[
        int, typer.Option("--least-units", help="Test people with so many units or more.", min=2, metavar="N")
    ] = 30,
    freeze: Annotated[
        Path | None,
        typer.Option(
            "--freeze", help="Write a gate: bounds a little below how it stands now.", metavar="FILE"
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="With --freeze: how far figures may fall.", min=0.0, max=1.0)
    ] = 0.05,
    gate: Annotated[
        Path | None,
        typer.Option("--gate", help="Check a judge against a gate; exit 1 if it drifts.", metavar="FILE"),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option("--junit", help="With --gate: also write the checks as JUnit XML.", metavar="OUT"),
    ] = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at --freeze FILE.")] = False,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
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
