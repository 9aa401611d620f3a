"""`lapsus validate`: do judgments keep their guideline?"""

from pathlib import Path

import typer

from lapsus.cli.output import colon, print_json, reader_language, remark, say, warn
from lapsus.cli.result_tables import announce

SHOWN = 50
"""How many problems are listed on a terminal; the JSON has all."""


def validate_command(
    data: list[Path],
    scheme: str | None = None,
    from_format: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    as_json: bool = False,
) -> None:
    """Hold every judgment against the rules of its guideline. Exit code 1 where one is broken."""
    from lapsus.analysis.validating import validate

    found = validate(data, scheme=scheme, format=from_format, only=only, language=lang, announce=announce)
    problems = found.problems(reader_language())
    if as_json:
        counts = {"judgments": found.judgments, "broken": len(found.broken), "left_open": found.left_open}
        print_json({**counts, "problems": problems})
    for what, count in found.mended.items():
        remark("text", reason=what, count=count)
    for name, count in found.unknown.items():
        warn("judgments-under-not-installed", count=count, name=name)
    if not as_json:
        for problem in problems[:SHOWN]:
            place = ", ".join(str(problem[key]) for key in ("file", "document", "unit") if problem[key])
            typer.echo(
                colon().join((place, problem["annotator"], problem["message"])) + f" [{problem['rule']}]"
            )
        if len(problems) > SHOWN:
            say("more-json-lists-all", count=len(problems) - SHOWN)
        if found.left_open:
            questions = ", ".join(f"{question} {count:,}" for question, count in found.left_open.items())
            say("questions-left-open-programs", questions=questions)
        say("judgments-break-their-guideline", judgments=found.judgments, count=len(found.broken))
    if found.broken:
        raise typer.Exit(1)
