"""`lapsus check`: likely breakdowns in chat logs, ranked and with evidence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.convert import OnlyOption, tell_reading
from lapsus.cli.detect import ProfileOption, WithOption, announce, nothing_to_judge
from lapsus.cli.output import JsonOption, print_json, progress, reader_language, remark
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.formats.sink import check_place, put_in_place
from lapsus.model import Entry


def check_command(
    log: Annotated[Path, typer.Argument(help="Chat logs: file, folder or zip.", metavar="CHATLOG")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page to look at.", metavar="REPORT.html")
    ] = None,
    top: Annotated[int, typer.Option("--top", help="How many turns to show.", min=1, metavar="N")] = 20,
    judge: WithOption = None,
    profile: ProfileOption = None,
    only: OnlyOption = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang", help="Language of the dialogues, if not to be told by script.", metavar="LANG"
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option("--words", help="Language of the report (en, ja); yours by default.", metavar="LANG"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at REPORT.html.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Find the turns of your own chat logs after which a dialogue is likely to break down, and say why."""
    from lapsus.annotators import Judges
    from lapsus.checking import check_entries, check_lines, check_page

    shown_in = _language(words)
    if html is not None:
        check_place(html, overwrite=overwrite, source=log)
    reading = read(log, only=only, language=lang)
    if reading.recognised and not as_json:
        remark(f"{log} is read as {reading.format.name}")
    judges = Judges(judge, profile=profile, tell=announce)
    documents = (entry.document for entry in reading if entry.document is not None)
    with progress("documents") as step:
        found = check_entries(_watched(judges.entries(documents), step), top)
    tell_reading(reading)
    if not found.turns:
        raise nothing_to_judge(reading)
    by = ", ".join(judges.called)
    if html is not None:
        with put_in_place(html, overwrite=overwrite) as draft:
            draft.write_text(check_page(found, by=by, language=shown_in), encoding="utf-8", errors="replace")
    if as_json:
        print_json({"by": by, **found.as_data(shown_in)})
        return
    sys.stdout.write("\n".join(check_lines(found, by=by, language=shown_in)) + "\n")
    if html is not None:
        remark(f"→ {html}")


def _language(words: str | None) -> str:
    from lapsus.checking import LANGUAGES

    if words is not None and words not in LANGUAGES:
        raise UsageError(f"the report is not written in {words!r}", hint=f"languages: {', '.join(LANGUAGES)}")
    return words or reader_language()


def _watched(entries: Iterable[Entry], step: Callable[[], None]) -> Iterator[Entry]:
    for entry in entries:
        step()
        yield entry
