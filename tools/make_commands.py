"""Writes the tables of docs/commands.md, and what it says of options, from the commands themselves."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from lapsus.cli.app import app
from lapsus.word_files import word_file

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = "| command | what it does | page |\n| --- | --- | --- |\n"
PAGES = Path(__file__).with_name("command_pages.txt")
"""A line for each command, or for a group of them: its name, a tab, and the page that explains it."""
MANY = 3
"""An option that so many commands have, with the same help, is explained once for all of them."""


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
    """For each command what it does and its own options; options of many commands are explained once, at the end."""
    known = sorted(commands(typer.main.get_command(app), "lapsus"))
    shared = shared_options(command for _, command in known)
    for name, command in known:
        said = " ".join(command.help.split())
        yield f"\n### {name}\n\n`{usage(name, command)}`\n\n{said}\n\n"
        own = [row(one) for one in given(command) if row(one) not in shared.values()]
        also = [max(one.opts, key=len) for one in given(command) if row(one) in shared.values()]
        if own:
            yield "| | |\n| --- | --- |\n" + "".join(own) + "\n"
        if also:
            yield f"[Also](#options-of-many-commands): {', '.join(f'`{option}`' for option in also)}.\n"
    yield "\n### Options of many commands\n\n| | |\n| --- | --- |\n" + "".join(shared.values()) + "\n"


def shared_options(every: Iterable[Any]) -> dict[str, str]:
    """The row of each option that many commands have, by its name; of several rows the most frequent one."""
    uses = Counter(
        (max(one.opts, key=len), row(one))
        for command in every
        for one in given(command)
        if one.param_type_name == "option"
    )
    rows = {name: text for (name, text), count in reversed(uses.most_common()) if count >= MANY}
    return dict(sorted(rows.items()))


def given(command: Any) -> list[Any]:
    """A command's parameters, without `--help`."""
    return [one for one in command.params if "--help" not in one.opts]


def row(parameter: Any) -> str:
    """A parameter's row in a table."""
    return f"| {called(parameter)} | {' '.join(parameter.help.split()).replace('|', chr(92) + '|')} |\n"


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
