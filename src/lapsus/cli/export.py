"""`lapsus export`: a campaign's documents and judgments as a file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.output import JsonOption, print_json, progress, warn
from lapsus.cli.serve_store import DbOption, opened
from lapsus.formats import Conversion, convert


def export_command(
    campaign: Annotated[str, typer.Argument(help="Name of the campaign.", metavar="CAMPAIGN")],
    target: Annotated[Path, typer.Argument(help="File, folder or zip to write.", metavar="OUT")],
    to_format: Annotated[
        str | None,
        typer.Option("--to", help="Format of the output, if its ending does not say.", metavar="FORMAT"),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Write annotators' names instead of pseudonyms.")
    ] = False,
    revisions: Annotated[
        bool, typer.Option("--all-revisions", help="Write every submitted revision, not only the newest.")
    ] = False,
    extras: Annotated[
        bool,
        typer.Option("--extras", help="Also write judgments that came after their place went to others."),
    ] = False,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Go on where the output format cannot carry everything.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at OUT.")] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what was submitted in a campaign, in any format, as of this moment."""
    with opened(db) as store, progress("documents") as step:
        exported = store.export(
            campaign,
            names="names" if names else "pseudonyms",
            revisions="all" if revisions else "newest",
            extras=extras,
        )
        with closing(exported) as entries:
            done = convert(entries, target, to_format, lossy=lossy, overwrite=overwrite, progress=step)
    _report(done, target, as_json)


def _report(done: Conversion, target: Path, as_json: bool) -> None:
    for loss, count in done.losses.items():
        warn(f"{done.to.name} does not carry {loss.what} ({count:,} documents)")
    if as_json:
        result = {"out": str(target), "to": done.to.name}
        print_json({**result, "documents": done.documents, "judgments": done.judgments})
        return
    typer.echo(f"{done.documents:,} documents, {done.judgments:,} judgments → {target} ({done.to.name})")
