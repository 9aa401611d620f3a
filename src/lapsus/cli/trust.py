"""`lapsus trust`: may a judge stand in for a person?"""

from functools import partial
from pathlib import Path

import typer

from lapsus.cli.output import print_json, reader_language, say, warn
from lapsus.cli.result_tables import announce, announce_once, print_each_scheme
from lapsus.errors import UsageError


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
