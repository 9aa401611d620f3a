"""`lapsus gold`: put votes together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lapsus.cli.convert import OnlyOption
from lapsus.cli.output import JsonOption, print_json, print_table, warn
from lapsus.cli.tables import QuestionOption, SchemeOption, announce


def gold_command(
    data: Annotated[Path, typer.Argument(help="Judged documents: file, folder or zip.", metavar="DATA")],
    target: Annotated[Path, typer.Argument(help="File, folder or zip to write.", metavar="OUT")],
    method: Annotated[
        str,
        typer.Option("--method", help="majority, distribution, dawid-skene or mace.", metavar="METHOD"),
    ] = "majority",
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", "-t", help="Share that a label needs (majority; several labels).", min=0.0, max=1.0
        ),
    ] = None,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    only: OnlyOption = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", help="Format of the output, if its ending does not say.", metavar="FORMAT"),
    ] = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Go on where the output format cannot carry everything.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at OUT.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Put the annotators' votes together and write the result as one more annotator's judgments."""
    from lapsus.analysis.golding import gold_entries
    from lapsus.formats import convert

    found, entries = gold_entries(
        data,
        method=method,
        threshold=threshold,
        scheme=scheme,
        questions=question or (),
        only=only,
        announce=announce,
    )
    done = convert(entries, target, to_format, lossy=lossy, overwrite=overwrite)
    for loss, count in done.losses.items():
        warn(f"{done.to.name} does not carry {loss.what} ({count:,} documents)")
    if as_json:
        print_json(
            {"out": str(target), "gold": {question: _summary(made) for question, made in found.items()}}
        )
        return
    for asked, made in found.items():
        typer.echo(f"{asked}: {len(made.units):,} units by {made.method} → {target}")
        if made.note:
            warn(made.note)
        typer.echo(f"  {made.signature}")
        if made.reliability:
            ordered = sorted(made.reliability.items(), key=lambda pair: pair[1])
            rows = [(who, f"{trust:.3f}") for who, trust in ordered]
            print_table(("annotator", "reliability"), rows, numbers=("reliability",))


def _summary(made: Any) -> dict[str, Any]:
    return {
        "method": made.method,
        "signature": made.signature,
        "units": len(made.units),
        "reliability": dict(made.reliability),
        "note": made.note,
    }
