"""`lapsus validate`: do judgments keep their guideline?"""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli.convert import DataLanguage, FromOption, JudgedArgument, OnlyOption
from lapsus.cli.output import JsonOption, colon, print_json, reader_language, remark, say, warn
from lapsus.cli.result_tables import announce

SHOWN = 50
"""How many problems are listed on a terminal; the JSON has all."""


def validate_command(
    data: JudgedArgument,
    scheme: Annotated[
        str | None,
        typer.Option("--scheme", help="Only judgments under this scheme: a name or a file.", metavar="S"),
    ] = None,
    from_format: FromOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    as_json: JsonOption = False,
) -> None:
    """Hold every judgment against the rules of its guideline. Exit code 1 where one is broken."""
    from lapsus.analysis.validating import validate

    found = validate(data, scheme=scheme, format=from_format, only=only, language=lang, announce=announce)
    problems = found.problems(reader_language())
    if as_json:
        counts = {"judgments": found.judgments, "broken": len(found.broken), "left_open": found.left_open}
        print_json({**counts, "problems": problems})
    for what, count in found.mended.items():
        remark(f"{what} ({count:,})")
    for name, count in found.unknown.items():
        warn(f"{count:,} judgments under {name!r}, which is not installed, were not checked")
    if not as_json:
        for problem in problems[:SHOWN]:
            place = ", ".join(str(problem[key]) for key in ("file", "document", "unit") if problem[key])
            typer.echo(
                colon().join((place, problem["annotator"], problem["message"])) + f" [{problem['rule']}]"
            )
        if len(problems) > SHOWN:
            say(f"and {len(problems) - SHOWN:,} more; --json lists all")
        if found.left_open:
            questions = ", ".join(f"{question} {count:,}" for question, count in found.left_open.items())
            say(f"questions left open by programs: {questions}")
        say(f"{found.judgments:,} judgments, {len(found.broken):,} of them break their guideline")
    if found.broken:
        raise typer.Exit(1)
