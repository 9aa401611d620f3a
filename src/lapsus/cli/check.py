"""`lapsus check`: likely breakdowns in chat logs, and texts that disagree with their data, the worst first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.convert import OnlyOption, tell_reading
from lapsus.cli.detect import ProfileOption, announce, tell_format
from lapsus.cli.engine_options import HERE, EngineOption, RayOption, engine_of
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    PREFIX,
    JudgesOption,
    LanguageModelOptions,
    asks_language_models,
    several,
)
from lapsus.cli.output import JsonOption, print_json, progress, reader_language, remark
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.formats.remote import location
from lapsus.formats.sink import check_place, put_in_place

if TYPE_CHECKING:
    from lapsus.log_check import GuidelineCheck, LogCheck, PairCheck


@asks_language_models(without=("reasons",))
def check_command(
    log: Annotated[
        Path,
        typer.Argument(
            help="Chat logs, or pairs of data and text: file, folder or zip.",
            metavar="CHATLOG",
            parser=location,
        ),
    ],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page to look at.", metavar="REPORT.html")
    ] = None,
    top: Annotated[
        int, typer.Option("--top", help="How many turns or pairs to show.", min=1, metavar="N")
    ] = 20,
    judges: JudgesOption = None,
    profile: ProfileOption = None,
    adapt: Annotated[
        Path | None,
        typer.Option(
            "--adapt",
            help="Turns of your system that people judged: judge as they did.",
            metavar="JUDGED",
            parser=location,
        ),
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option(
            "--judge",
            help="Write a page with twenty turns for you to judge; what it saves is for --adapt.",
            metavar="TURNS.html",
        ),
    ] = None,
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
    asking: LanguageModelOptions = NOTHING_SAID,
    engine: EngineOption = HERE,
    ray: RayOption = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is at REPORT.html or TURNS.html.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Find the turns of chat logs that are likely to break a dialogue, or texts that disagree with their data."""
    from lapsus.cli.check_language_model import check_by_models
    from lapsus.log_check import check

    shown_in = _language(words)
    for page in (html, judge):
        if page is not None:
            check_place(page, overwrite=overwrite, source=log)
    if html is not None and judge is not None and html.resolve() == judge.resolve():
        raise UsageError("--html and --judge name the same file", hint="give each page a file of its own")
    names = several(judges, asking)
    if len(names) > 1 or any(name.startswith(PREFIX) for name in names):
        if profile is not None and all(name.startswith(PREFIX) for name in names):
            raise UsageError("a language model has no profiles", hint="leave --profile out")
        if adapt is not None:
            what = "a language model" if len(names) == 1 else "a jury"
            raise UsageError(f"{what} is not adapted", hint="leave --adapt out")
        reading = read(log, only=only, language=lang)
        tell_format(reading, as_json)
        with engine_of(engine, ray) as where:
            found: LogCheck | PairCheck | GuidelineCheck = check_by_models(
                names, reading, asking, where, top, profile
            )
    else:
        with engine_of(engine, ray) as where, progress("documents") as step:
            found = check(
                log,
                model=names[0] if names else None,
                profile=profile,
                adapt=adapt,
                top=top,
                only=only,
                language=lang,
                engine=where,
                beside=html,
                tell=announce,
                announce=lambda reading: tell_format(reading, as_json),
                progress=step,
            )
    if found.reading is not None:
        tell_reading(found.reading)
    _report(found, html, shown_in, overwrite=overwrite, as_json=as_json)
    if judge is not None:
        _write_turns(found, judge, shown_in, overwrite=overwrite)
    if found.unjudged:
        raise typer.Exit(1)


def _write_turns(
    found: LogCheck | PairCheck | GuidelineCheck, path: Path, language: str, *, overwrite: bool
) -> None:
    from lapsus.log_check import GuidelineCheck, LogCheck

    if isinstance(found, GuidelineCheck):
        raise UsageError(
            f"a model under {found.scheme.id!r} is not adapted",
            hint="`lapsus train judge` learns from your judgments",
        )
    if not isinstance(found, LogCheck):
        raise UsageError(
            "pairs of data and text are not adapted to", hint="`lapsus train triples` learns from marks"
        )
    with put_in_place(path, overwrite=overwrite) as draft:
        draft.write_text(found.to_judge(language), encoding="utf-8", errors="replace")
    remark(f"→ {path}")


def _report(
    found: LogCheck | PairCheck | GuidelineCheck,
    html: Path | None,
    language: str,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    if html is not None:
        with put_in_place(html, overwrite=overwrite) as draft:
            draft.write_text(found.to_html(language), encoding="utf-8", errors="replace")
    if as_json:
        print_json({"by": found.by, **found.as_data(language)})
        return
    sys.stdout.write(found.to_text(language))
    if html is not None:
        remark(f"→ {html}")


def _language(words: str | None) -> str:
    from lapsus.word_files import LANGUAGES

    if words is not None and words not in LANGUAGES:
        raise UsageError(f"the report is not written in {words!r}", hint=f"languages: {', '.join(LANGUAGES)}")
    return words or reader_language()
