"""`lapsus stress`: plant errors in good turns; which does a judge find?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.language_model_options import NOTHING_SAID, Asking, LanguageModelOptions, asks_language_models
from lapsus.cli.output import in_words, print_json, reader_language, remark, say, warn
from lapsus.cli.shared_options import open_database
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


@asks_language_models("samples", "reasons")
def stress_command(
    data: list[Path],
    judge: list[str],
    scheme: str = "breakdown",
    planter: str | None = None,
    each: int = 30,
    good: list[str] | None = None,
    jury: bool = False,
    draw: int = 0,
    least: str | None = None,
    most: str | None = None,
    html: Path | None = None,
    campaign: str | None = None,
    db: str | None = None,
    profile: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    as_json: bool = False,
) -> None:
    """Plant errors in good turns and tell which of them a judge finds, by type, with false alarms."""
    from lapsus.formats.sink import put_in_place
    from lapsus.mutation.stress import stress
    from lapsus.store.audit import STRESSED

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
            store.audit.add(campaign, STRESSED, *found.notes())
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
