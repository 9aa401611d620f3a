"""What several commands do with the same options: engine, field map, database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperOption

from lapsus.cli.output import remark
from lapsus.errors import UsageError
from lapsus.formats.entry_stream import MAP
from lapsus.formats.field_map import field_map
from lapsus.notices import Notice, listed

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine
    from lapsus.store import Store

HERE, RAY = "here", "ray"


@contextmanager
def engine_of(name: str, address: str | None) -> Iterator[Engine]:
    """The engine that is asked for, ready until the end."""
    from lapsus.annotators.bulk import Here

    if name not in (HERE, RAY):
        raise UsageError("no-engine-called", hint="known-2", name=name, here=HERE, ray=RAY)
    if name == HERE:
        if address is not None:
            raise UsageError("ray-cluster", hint="say-engine-too", ray=RAY)
        yield Here()
        return
    from lapsus.annotators.bulk.ray_engine import LOCAL, OnRay

    def tell(cluster: OnRay) -> None:
        where = "this machine" if cluster.address == LOCAL else f"the Ray cluster at {cluster.address}"
        remark("judged-cores", cores=cluster.cores, place=where)

    with OnRay(address, tell) as cluster:
        yield cluster


_READ = frozenset({"DATA", "DATA…", "IN…", "CHATLOG…", "LOG…"})
"""What arguments are called that stand for data; options are called `--data`."""
_OPTIONS = {
    "--map": (
        "Which field holds what, e.g. text=body,speaker=sender,dialogue=ticket, or a .yaml file.",
        "MAP",
    ),
    "--system": ("Names of the speakers whose turns are judged, e.g. agent,bot.", "NAMES"),
    "--user": ("Names of the speakers on the other side.", "NAMES"),
}


def add_map_options(command: Any) -> None:
    """Give a command that reads data the options, unless it has them."""
    reads = any(
        getattr(parameter, "metavar", None) in _READ or "--data" in parameter.opts
        for parameter in command.params
    )
    if not reads or any("--map" in parameter.opts for parameter in command.params):
        return
    for name, (help, metavar) in _OPTIONS.items():
        option = TyperOption(
            param_decls=[f"map_option_{name[2:]}", name],
            type=str,
            help=help,
            metavar=metavar,
            expose_value=False,
            callback=_taken,
        )
        command.params.append(option)


def _taken(ctx: Any, parameter: Any, value: str | None) -> None:
    if value:
        given = ctx.meta.setdefault("lapsus.map", {})
        given[parameter.opts[0][2:]] = value
        MAP.set(field_map(given.get("map"), given.get("system"), given.get("user")))


_ANOTHER: Final = Notice("db-names-another-database")


@contextmanager
def open_database(db: str | None, *, make: bool = False) -> Iterator[Store]:
    """The store, brought up to date. A file that is not there is made only with `make`.

    A name that it does not have is told with the place that was looked in: `--db` may have been forgotten.
    """
    # Loaded only now, so that other commands start quickly.
    from lapsus.store import UnknownNameError, open_store
    from lapsus.store.database import missing_file, shown_address

    if not make and (path := missing_file(db)) is not None:
        raise UsageError("no-database", where=str(path), hint=_ANOTHER)
    with open_store(db) as store:
        try:
            yield store
        except UnknownNameError as error:
            error.hint = listed(filter(None, (error.hint, _ANOTHER)), "then")
            raise error.at(shown_address(store.database.engine.url)) from None
