"""Writes the table of docs/commands.md from the commands themselves."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lapsus.cli.app import app

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = "| command | what it does | page |\n| --- | --- | --- |\n"
PAGES = Path(__file__).with_name("command_pages.txt")
"""A line for each command, or for a group of them: its name, a tab, and the page that explains it."""


def document() -> str:
    """The page with its table made anew; what stands around the table stays."""
    text = TARGET.read_text(encoding="utf-8")
    before, _, rest = text.partition(HEAD)
    after = re.sub(r"\A(?:\|.*\n)*", "", rest)
    return before + HEAD + "".join(rows()) + after


def rows() -> Iterator[str]:
    """A row for each command, in the order of the help."""
    pages = dict(line.split("\t") for line in PAGES.read_text(encoding="utf-8").splitlines())
    for name, command in commands(typer.main.get_command(app), "lapsus"):
        page = pages.get(name) or pages.get(name.rsplit(" ", 1)[0])
        if page is None:
            raise SystemExit(f"{PAGES.name} names no page for `{name}`")
        yield f"| `{usage(name, command)}` | {what(command)} | {page} |\n"


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command with its full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def usage(name: str, command: Any) -> str:
    """The command with what it cannot do without."""
    parts = [name]
    for parameter in command.params:
        shown = (parameter.metavar or parameter.name.upper()).strip("[]… ")
        if parameter.param_type_name == "argument":
            several = " …" if parameter.nargs == -1 else ""
            parts.append(f"{shown}{several}" if parameter.required else f"[{shown}]{several}")
        elif parameter.required:
            parts.append(f"{parameter.opts[-1]} {shown}")
    return " ".join(parts)


def what(command: Any) -> str:
    """The first sentence of its help, and the options."""
    first = re.split(r"(?<=[.?])\s|\n\n", command.help.strip(), maxsplit=1)[0]
    said = " ".join(first.split()).rstrip(".").replace("|", "\\|")
    options = [
        " or ".join(f"`{name}`" for name in parameter.opts if name.startswith("--"))
        for parameter in command.params
        if parameter.param_type_name == "option" and "--help" not in parameter.opts
    ]
    return f"{said} ({', '.join(options)})" if options else said


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
