"""The command `lapsus`: its subcommands, and the options that stand before them."""

from functools import partial
from importlib import import_module
from typing import Annotated

import typer

from lapsus.cli.help_words import Group
from lapsus.cli.output import choose_words, remark
from lapsus.formats.in_utf8 import OTHER_ENCODING
from lapsus.version import __version__

_COMMANDS = (
    "convert", "look", "formats", "sample", "scheme", "score", "compare", "agree", "validate", "gold",
    "trust", "estimate", "plan", "cascade", "align", "probe", "stress", "train", "detect", "check",
    "watch", "serve", "guard", "demo", "user", "campaign", "challenge", "export", "push", "report",
    "dif", "rank", "pair", "verify", "backup", "restore", "doctor", "tour",
)  # fmt: skip
_IN = {
    **dict.fromkeys(("score", "compare", "agree", "dif", "rank", "estimate"), "results"),
    "restore": "backup",
    "verify": "report",
    "tour": "sample",
    "probe": "align",
    "stress": "watch",
    **dict.fromkeys(("cascade", "plan"), "trust"),
    **dict.fromkeys(("demo", "guard"), "serve"),
    "formats": "convert",
}
"""The module of a command that stands beside others; every other one has a module of its own name."""
_SERVERS = ("serve", "guard", "demo")
"""What they read was sent by others, who are told on their pages."""

app = Group(
    "lapsus",
    "Find, label and measure the errors of systems that talk.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lapsus {__version__}")
        raise typer.Exit


def _tell_encoding(told: set[str], name: str, shown: str) -> None:
    """Say which encoding a file was taken for, of the first one in it."""
    if shown not in told:
        told.add(shown)
        remark("is-in-encoding", name=name, shown=shown)


def _choose_language(language: str | None) -> str | None:
    choose_words(language)
    return language


@app.callback()
def lapsus(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_version, is_eager=True)
    ] = False,
    words: Annotated[
        str | None,
        typer.Option(
            "--words",
            help="Language of what is said (en, ja); that of your terminal by default.",
            metavar="LANG",
            callback=_choose_language,
            is_eager=True,  # so that --help behind it is in that language
        ),
    ] = None,
) -> None:
    """Find, label and measure the errors of systems that talk."""
    if ctx.invoked_subcommand not in _SERVERS:
        OTHER_ENCODING.set(partial(_tell_encoding, set()))


for _name in _COMMANDS:
    _module = import_module(f"lapsus.cli.{_IN.get(_name, _name)}")
    if hasattr(_module, "app"):
        app.add_typer(_module.app)
    else:
        app.command(_name)(getattr(_module, f"{_name}_command"))
