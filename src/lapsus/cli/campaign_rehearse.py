"""`lapsus campaign rehearse`: invented people talk to a campaign's systems."""

from lapsus.cli.database_option import open_database
from lapsus.cli.output import progress, say


def rehearse_command(name: str, talks: int = 3, db: str | None = None) -> None:
    """Before people come: have our bot talk to a campaign's systems as invented people. The talks are kept."""
    from lapsus.collect.asking import rehearse

    done = turns = 0
    with open_database(db) as store, progress("documents", talks) as step:
        for talk in rehearse(store, name, talks):
            step()
            done, turns = done + 1, turns + len(talk.turns)
    say("talks-rehearsed", name=name, talks=done, turns=turns)
