"""`lapsus backup`: everything in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.output import JsonOption, print_json
from lapsus.cli.serve_store import DbOption, opened


def backup_command(
    target: Annotated[Path, typer.Argument(help="File to write, such as lapsus.zip.", metavar="OUT")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at OUT.")] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the whole database to one file. People may go on working meanwhile."""
    with opened(db) as store:
        done = store.backup(target, overwrite=overwrite)
    if as_json:
        print_json({"out": str(target), "rows": done.rows})
        return
    rows = done.rows
    typer.echo(
        f"{rows['person']:,} people, {rows['campaign']:,} campaigns, {rows['judgment']:,} judgments → {target}"
    )
