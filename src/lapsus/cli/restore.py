"""`lapsus restore`: a database from a backup."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli.database_option import DbOption
from lapsus.cli.output import JsonOption, print_json, say


def restore_command(
    source: Annotated[
        str,
        typer.Argument(help="File that `lapsus backup` wrote; or its address (s3://…).", metavar="FILE"),
    ],
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill a new database from a backup; of either kind, whichever it came from. Nothing is overwritten."""
    from lapsus.store import restore
    from lapsus.store.backup_place import fetched

    with fetched(source) as file:
        done = restore(file, db)
    if as_json:
        print_json({"made": done.made, "rows": done.rows})
        return
    rows = done.rows
    say(
        "people-campaigns-judgments-utc",
        rows=rows["person"],
        rows2=rows["campaign"],
        rows3=rows["judgment"],
        made=done.made,
    )
