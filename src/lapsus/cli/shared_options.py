"""What several commands do with the same options: engine, field map, database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from typer.core import TyperOption

from lapsus.cli.output import remark
from lapsus.errors import UsageError
from lapsus.formats.entry_stream import MAP
from lapsus.formats.field_map import field_map

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine

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


_READ = frozenset({"DATA", "DATA…", "IN…", "CHATLOG…"})
"""What arguments are called that stand for data."""
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
    reads = any(getattr(parameter, "metavar", None) in _READ for parameter in command.params)
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
