"""Writes the tables of docs/commands.md, and what it says of options, from the commands themselves."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lapsus.cli.app import app
from lapsus.word_files import word_file

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = "| command | what it does | page |\n| --- | --- | --- |\n"
PAGES = Path(__file__).with_name("command_pages.txt")
"""A line for each command, or for a group of them: its name, a tab, and the page that explains it."""


def document() -> str:
    """The page with its tables and options made anew; what stands around them stays."""
    text = TARGET.read_text(encoding="utf-8")
    for name, lines in (("commands", tables()), ("options", sections())):
        begin, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, _, rest = text.partition(begin)
        text = before + begin + "".join(lines) + end + rest.partition(end)[2]
    return text


def tables() -> Iterator[str]:
    """A table for each job, in the order of the help."""
    pages = dict(line.split("\t") for line in PAGES.read_text(encoding="utf-8").splitlines())
    known = list(commands(typer.main.get_command(app), "lapsus"))
    for job in word_file("lapsus.cli", "jobs.yaml"):
        yield f"\n## {job['title']['en']}\n\n{HEAD}"
        for first in job["commands"]:
            for name, command in known:
                if name.split()[1] == first:
                    page = pages.get(name) or pages.get(name.rsplit(" ", 1)[0])
                    if page is None:
                        raise SystemExit(f"{PAGES.name} names no page for `{name}`")
                    at = name.replace(" ", "-")
                    yield f"| [`{usage(name, command)}`](#{at}) | {sentence(command)} | {page} |\n"
    yield "\n"


def sections() -> Iterator[str]:
    """For each command what it does, what it takes and its options, by name."""
    for name, command in sorted(commands(typer.main.get_command(app), "lapsus")):
        said = " ".join(command.help.split())
        yield f"\n### {name}\n\n`{usage(name, command)}`\n\n{said}\n\n"
        given = [one for one in command.params if "--help" not in one.opts]
        if given:
            yield "| | |\n| --- | --- |\n"
        for one in given:
            help_ = " ".join(one.help.split()).replace("|", "\\|")
            yield f"| {called(one)} | {help_} |\n"
    yield "\n"


def called(parameter: Any) -> str:
    """An argument's name, or an option with what it takes."""
    value = (parameter.metavar or "").strip("[]… ")
    if parameter.param_type_name == "argument":
        return f"`{value or parameter.name.upper()}`"
    return " ".join(f"`{name}`" for name in parameter.opts) + (f" {value}" if value else "")


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


def sentence(command: Any) -> str:
    """The first sentence of its help."""
    first = re.split(r"(?<=[.?])\s|\n\n", command.help.strip(), maxsplit=1)[0]
    return " ".join(first.split()).rstrip(".").replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
