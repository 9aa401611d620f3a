"""`lapsus cascade`: a cheap judge for all, a dearer one for what it doubts, people for what the two dispute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption, print_json, print_table, remark, say, word
from lapsus.cli.result_tables import SchemeOption, announce
from lapsus.errors import UsageError
from lapsus.formats.remote import location
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.analysis.cascade import Cascade


def cascade_command(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="What was judged so far: files, folders or zips.",
            metavar="DATA…",
            parser=location,
        ),
    ],
    judge: Annotated[
        list[str], typer.Option("--judge", help="The first judge; given again, the second.", metavar="NAME")
    ],
    doubt: Annotated[
        float,
        typer.Option("--doubt", help="Ask on from this doubt: 1 less the greatest share.", min=0.0, max=1.0),
    ] = 0.3,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="What the next stage judges; in the end the judgments: OUT.jsonl.",
            metavar="OUT",
        ),
    ] = None,
    scheme: SchemeOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at OUT.")] = False,
    as_json: JsonOption = False,
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
    _next(told, out)


def _next(told: Cascade, out: Path | None) -> None:
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
