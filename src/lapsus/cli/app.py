"""The command `lapsus`: its subcommands, and the options that stand before them."""

from importlib import import_module
from typing import Annotated

import typer

from lapsus.cli.help_words import Group
from lapsus.cli.output import choose_words
from lapsus.version import __version__

_COMMANDS = (
    "convert", "look", "formats", "sample", "scheme", "score", "compare", "agree", "validate", "gold",
    "trust", "estimate", "plan", "cascade", "align", "probe", "stress", "train", "detect", "check",
    "watch", "serve", "guard", "demo", "user", "campaign", "challenge", "export", "push", "report",
    "dif", "rank", "pair", "verify", "backup", "restore", "doctor", "tour",
)  # fmt: skip

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


def _choose_language(language: str | None) -> str | None:
    choose_words(language)
    return language


@app.callback()
def lapsus(
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


for _name in _COMMANDS:
    _module = import_module(f"lapsus.cli.{_name}")
    if hasattr(_module, "app"):
        app.add_typer(_module.app)
    else:
        app.command(_name)(getattr(_module, f"{_name}_command"))
