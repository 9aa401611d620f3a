"""`lapsus stress`: plant errors in good turns; which does a judge find?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.convert import DataLanguage, DocumentsArgument, OnlyOption
from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.detect import ProfileOption
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
)
from lapsus.cli.output import JsonOption, in_words, print_json, reader_language, remark, say, warn
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.annotators.detection import Waiting


def share_of(text: str) -> float:
    """80%, 80 or .8 as a share."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise UsageError("stress-no-share", text=text) from None
    share = number / 100 if text.strip().endswith("%") or number > 1 else number
    if not 0 <= share <= 1:
        raise UsageError("stress-no-share", text=text)
    return share


@asks_language_models("--prompt-words", without=("samples", "reasons"))
def stress_command(
    data: DocumentsArgument,
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge", help="A model's file, a shipped model or PROVIDER:MODEL. May be repeated.", metavar="J"
        ),
    ],
    scheme: Annotated[
        str, typer.Option("--scheme", help="The guideline: a name or a file.", metavar="S")
    ] = "breakdown",
    planter: Annotated[
        str | None,
        typer.Option("--planter", help="A language model that plants errors too.", metavar="PROVIDER:MODEL"),
    ] = None,
    each: Annotated[
        int, typer.Option("--each", help="Plant so many errors of each type.", min=1, metavar="N")
    ] = 30,
    good: Annotated[
        list[str] | None,
        typer.Option("--good", help="A label that is no error. May be repeated.", metavar="LABEL"),
    ] = None,
    jury: Annotated[bool, typer.Option("--jury", help="Also all judges together, as one.")] = False,
    draw: Annotated[int, typer.Option("--draw", help="Seed of what is planted where.", metavar="N")] = 0,
    least: Annotated[
        str | None,
        typer.Option("--least", help="Exit 1 if a type is found less often, e.g. 80%.", metavar="SHARE"),
    ] = None,
    most: Annotated[
        str | None,
        typer.Option("--most", help="Exit 1 at more false alarms, e.g. 10%.", metavar="SHARE"),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page with the misses.", metavar="OUT")
    ] = None,
    campaign: Annotated[
        str | None,
        typer.Option("--campaign", help="Show the result on this campaign's judges page.", metavar="NAME"),
    ] = None,
    db: DbOption = None,
    profile: ProfileOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    as_json: JsonOption = False,
) -> None:
    """Plant errors in good turns and tell which of them a judge finds, by type, with false alarms."""
    from lapsus.formats.sink import put_in_place
    from lapsus.mutation.stress import stress

    bounds = [None if one is None else share_of(one) for one in (least, most)]
    asked = [*judge, *([planter] if planter else [])]
    with Asking(asking, asked) as planting, Asking(asking, asked) as talk:

        def leave(waiting: list[Waiting]) -> None:
            planting.tell()
            talk.leave(waiting)

        found = stress(
            data,
            judge,
            scheme=scheme,
            planter=planter,
            each=each,
            good=good or (),
            jury=jury,
            draw=draw,
            only=only,
            language=lang,
            profile=profile,
            stop=talk.stop,
            leave=leave,
            leave_planter=planting.leave,
            progress=talk.step,
            **asking.how,
        )
    if campaign is not None:
        with open_database(db) as store:
            store.audit.stressed(campaign, found.notes())
    if html is not None:
        with put_in_place(html, overwrite=True) as draft:
            draft.write_text(found.report(reader_language()).to_html(), encoding="utf-8")
    if as_json:
        print_json(found)
    else:
        talk.tell()
        typer.echo(found.table(reader_language()).to_text())
        for one in found.judges:
            if one.unanswered:
                warn("stress-unanswered", judge=one.judge, count=one.unanswered)
        if html is not None:
            say("stress-page", to=html)
        elif any(one.misses for one in found.judges):
            remark("stress-look-at-misses")
    broken = found.below(bounds[0] or 0.0, bounds[1])
    for line in broken:
        warn(in_words(line))
    talk.finish()
    if broken:
        raise typer.Exit(1)
