"""`lapsus restore`: a database from a backup."""

from lapsus.cli.output import print_json, say


def restore_command(source: str, db: str | None = None, as_json: bool = False) -> None:
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
