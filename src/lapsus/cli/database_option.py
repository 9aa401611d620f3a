"""What commands that work on campaigns share: which database, and opening it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lapsus.store import Store

DbOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        envvar="LAPSUS_DB",
        help="Database: an SQLite file or a postgresql:// address; by default the one in your data folder.",
        metavar="URL",
        show_envvar=False,
    ),
]


def open_database(db: str | None) -> Store:
    """The store, brought up to date. Loaded only now, so that other commands start quickly."""
    from lapsus.store import open_store

    return open_store(db)
