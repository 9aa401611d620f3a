"""`lapsus backup` and `lapsus restore`: everything in one file, and a database from it."""

from pathlib import Path

from lapsus.cli.output import print_json, say
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError


def backup_command(
    target: str,
    overwrite: bool = False,
    keep: int | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Write the whole database to one file. People may go on working meanwhile."""
    is_place = "://" in target or target.endswith("/") or Path(target).is_dir()
    if keep is not None and not is_place:
        raise UsageError("keep-dated-backups", where=target, hint="give-folder-end-name")
    with open_database(db) as store:
        if is_place:
            from lapsus.store.backup_place import BackupPlace

            name, done = BackupPlace(target).put(store, keep)
            target = f"{target.rstrip('/')}/{name}"
        else:
            done = store.backups.backup(Path(target), overwrite=overwrite)
    if as_json:
        print_json({"out": target, "rows": done.rows})
        return
    rows = done.rows
    say(
        "people-campaigns-judgments",
        rows=rows["person"],
        rows2=rows["campaign"],
        rows3=rows["judgment"],
        target=target,
    )


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
