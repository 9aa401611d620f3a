"""`lapsus campaign rehearse`: invented people talk to a campaign's systems."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.output import progress, say


def rehearse_command(
    name: Annotated[str, typer.Argument(help="Name of the campaign.", metavar="NAME")],
    talks: Annotated[int, typer.Option("--talks", help="How many talks.", metavar="N", min=1)] = 3,
    db: DbOption = None,
) -> None:
    """Before people come: have our bot talk to a campaign's systems as invented people. The talks are kept."""
    from lapsus.collect.asking import rehearse

    done = turns = 0
    with open_database(db) as store, progress("documents", talks) as step:
        for talk in rehearse(store, name, talks):
            step()
            done, turns = done + 1, turns + len(talk.turns)
    say("talks-rehearsed", name=name, talks=done, turns=turns)
