"""`--map`, `--system` and `--user`: how records of an unknown shape are read, on every command that reads data."""

from typing import Any

from typer.core import TyperOption

from lapsus.formats.entry_stream import MAP
from lapsus.formats.field_map import field_map

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
