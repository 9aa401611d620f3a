"""`lapsus report`: what a paper's annotation section, or the sign-off of a release, needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.output import JsonOption, LangOption, print_json, reader_language
from lapsus.cli.serve_store import DbOption, opened
from lapsus.errors import UsageError


def report_command(
    campaign: Annotated[str, typer.Argument(help="Name of the campaign.", metavar="CAMPAIGN")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="File to write: .html, .tex (tables) or .csv.", metavar="FILE"),
    ],
    gold: Annotated[
        str,
        typer.Option("--gold", help="How votes are put together: majority, dawid-skene …", metavar="METHOD"),
    ] = "majority",
    names: Annotated[
        bool, typer.Option("--names", help="Write annotators' names instead of pseudonyms.")
    ] = False,
    lang: LangOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at FILE.")] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report of a campaign: data, guideline, annotators, agreement, gold, disputes, methods, data card."""
    from lapsus.formats.sink import put_in_place
    from lapsus.insight.reporting import campaign_report
    from lapsus.reports.document import KINDS

    kind = out.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise UsageError(f"cannot write {out.name!r}", hint=f"end it in {', '.join(f'.{k}' for k in KINDS)}")
    language = lang or reader_language()
    if language not in ("en", "ja"):
        raise UsageError(f"no words in {language!r}", hint="known: en, ja")
    with opened(db) as store:
        report = campaign_report(store, campaign, language, method=gold, names=names)
    text = report.render(kind)
    with put_in_place(out, overwrite=overwrite) as draft:
        draft.write_text(text, encoding="utf-8")
    if as_json:
        print_json(
            {"out": str(out), "campaign": campaign, "kind": kind, "parts": [part.id for part in report.parts]}
        )
        return
    typer.echo(f"{campaign} → {out}")
