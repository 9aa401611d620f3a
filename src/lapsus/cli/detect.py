"""`lapsus detect`: let a program judge documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lapsus.cli.convert import DataLanguage, DocumentsArgument, OnlyOption, tell_reading
from lapsus.cli.detect_language_model import ask_about_data
from lapsus.cli.engine_options import HERE, EngineOption, RayOption, engine_of
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    PREFIX,
    JudgesOption,
    LanguageModelOptions,
    asks_language_models,
    several,
)
from lapsus.cli.output import JsonOption, colon, print_json, progress, remark, say
from lapsus.errors import UsageError
from lapsus.formats import Conversion, EntryStream, read

if TYPE_CHECKING:
    from lapsus.annotators import Annotator, Detection
    from lapsus.annotators.bulk import Engine

BREAKDOWN = "breakdown"
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile", help="Judge as another crowd would, e.g. dbdc3; see the model's page.", metavar="NAME"
    ),
]


@asks_language_models("--words")
def detect_command(
    data: DocumentsArgument,
    target: Annotated[
        Path, typer.Option("-o", "--out", help="The run: RUN.zip, a folder, or RUN.jsonl.", metavar="RUN")
    ],
    judges: JudgesOption = None,
    scheme: Annotated[
        str | None,
        typer.Option("--scheme", help="The guideline, if not the model's own or breakdown.", metavar="S"),
    ] = None,
    profile: ProfileOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    turns: Annotated[
        str | None,
        typer.Option(
            "--turns",
            help="judged: only turns with votes in DATA, as a RUN.zip does anyway; all: every turn.",
            metavar="WHICH",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Also write the judgments that DATA holds, to compare.")
    ] = False,
    asking: LanguageModelOptions = NOTHING_SAID,
    engine: EngineOption = HERE,
    ray: RayOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at RUN.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let a detector or a language model judge documents, and write the judgments as a run."""
    names = several(judges, asking)
    if profile is not None and names and all(name.startswith(PREFIX) for name in names):
        raise UsageError("a language model has no profiles", hint="leave --profile out")
    with engine_of(engine, ray) as where:
        how = Detecting(data, scheme, profile, only, lang, turns, keep, overwrite, as_json, asking, where)
        if len(names) > 1:
            from lapsus.cli.detect_jury import detect_by_jury

            detect_by_jury(names, how, target)
        elif names and names[0].startswith(PREFIX):
            how.ask(names[0], target)
        else:
            how.detect(names[0] if names else None, target)


class Detecting(NamedTuple):
    """How data is to be judged, whoever does."""

    data: Path
    scheme: str | None
    profile: str | None
    only: str | None
    language: str | None
    turns: str | None
    keep: bool
    overwrite: bool
    as_json: bool
    asking: LanguageModelOptions
    engine: Engine
    is_member: bool = False
    """Whether it is one judge of a jury: its file is gone in the end, and no result by itself."""

    def ask(self, name: str, target: Path) -> None:
        """By a language model."""
        from lapsus.annotators.detection import judged_only, run_format
        from lapsus.schemes import load_scheme

        reading = read(self.data, only=self.only, language=self.language)
        tell_format(reading, self.as_json)
        format = run_format(target)
        ask_about_data(
            name,
            reading,
            load_scheme(self.scheme or BREAKDOWN),
            self.asking,
            self.engine,
            target,
            format,
            keep=self.keep,
            overwrite=self.overwrite,
            as_json=self.as_json,
            judged_only=judged_only(self.turns, format),
            is_member=self.is_member,
        )

    def detect(self, name: str | None, target: Path) -> None:
        """By a detector, or the one that is shipped for the language."""
        from lapsus.annotators import detect

        found = detect(
            self.data,
            model=name,
            scheme=self.scheme,
            profile=self.profile,
            only=self.only,
            language=self.language,
            keep=self.keep,
            turns=self.turns,
            engine=self.engine,
            tell=announce,
            announce=lambda reading: tell_format(reading, self.as_json),
        )
        _tell_kept(target, self.as_json)
        with progress("documents") as step:
            done = found.write(target, overwrite=self.overwrite, progress=step)
        tell_reading(found.reading)
        if found.left_out and not self.as_json:
            remark(
                f"only turns with votes are answered, {found.left_out:,} others are not; --turns all has all"
            )
        if (others := found.reading.documents - done.documents) and not self.as_json:
            remark(f"documents without a turn to judge, left out: {others:,}")
        if self.is_member:
            _report_member(found, done)
        else:
            _report(found, done, target, self.as_json)


def tell_format(reading: EntryStream, as_json: bool) -> None:
    """Say which format a source was recognised as."""
    if reading.recognised and not as_json:
        remark(f"{reading.source.shown} is read as {reading.format.name}")


def _tell_kept(target: Path, as_json: bool) -> None:
    """Say that another go was begun, where one was."""
    from lapsus.annotators.bulk import KeptChunks

    kept = KeptChunks.beside(target)
    if len(kept) and not as_json:
        remark(
            f"{kept.folder} holds {len(kept):,} chunks of a run that was not finished; they are used where they fit"
        )


def _report_member(found: Detection, done: Conversion) -> None:
    remark(f"{', '.join(found.judges.names)}: {done.documents:,} documents, {found.units:,} units")
    for question, answers in _answers(found).items():
        remark(f"  {question}: {_counts(answers)}")


def _answers(found: Detection) -> dict[str, dict[str, int]]:
    return {question: dict(sorted(answers.items())) for question, answers in found.answers.items() if answers}


def _report(found: Detection, done: Conversion, target: Path, as_json: bool) -> None:
    counts = _answers(found)
    only = next(iter(counts.values())) if len(counts) == 1 else None
    if as_json:
        facts = {"documents": done.documents, "turns": found.units, "answers": counts}
        labels = {} if only is None else {"labels": only}
        print_json({"by": ", ".join(found.judges.names), "out": str(target), **facts, **labels})
        return
    told = f" ({_counts(only)})" if only else ""
    if found.whole:
        say(f"{done.documents:,} documents{told} → {target} ({done.to.name})")
    else:
        say(f"{done.documents:,} documents, {found.units:,} turns{told} → {target} ({done.to.name})")
    for question, answers in counts.items() if only is None else ():
        typer.echo(f"  {question}{colon()}{_counts(answers)}")


def _counts(answers: Mapping[str, int]) -> str:
    return ", ".join(f"{answer} {count:,}" for answer, count in answers.items())


def announce(annotator: Annotator) -> None:
    """Say who judges."""
    name, method = annotator.name, annotator.method
    if origin := annotator.origin_:
        languages = ", ".join(origin.languages)
        if annotator.scheme.unit.role == "document":
            remark(f"judged by {name} ({method}, learned from {origin.units:,} documents ({languages}))")
        else:
            remark(f"judged by {name} ({method}, learned from {origin.units:,} turns ({languages}))")
    else:
        remark(f"judged by {name} ({method})")
    for line in annotator.summary():
        remark(f"  {line}")
