"""`lapsus detect`: let a program judge documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.asking import (
    PREFIX,
    Asking,
    EndpointOption,
    ExamplesOption,
    KeyEnvOption,
    MaxTokensOption,
    ParallelOption,
    PlainHttpOption,
    SamplesOption,
    SamplingSeed,
    TemperatureOption,
    TimeoutOption,
    YesOption,
)
from lapsus.cli.convert import DataLanguage, OnlyOption, tell_reading
from lapsus.cli.detect_asking import ask_about_data
from lapsus.cli.output import JsonOption, print_json, progress, remark
from lapsus.errors import InputError, UsageError
from lapsus.formats import FORMATS, Conversion, Format, Reading, format_for_output, read
from lapsus.formats.convert import carried
from lapsus.formats.sink import check_place, put_in_place
from lapsus.model import Document, Entry, Judgment

if TYPE_CHECKING:
    from lapsus.annotators import Annotator

BREAKDOWN = "breakdown"
WithOption = Annotated[
    str | None,
    typer.Option(
        "--with", help="A model's file or a method; else the model shipped for the language.", metavar="MODEL"
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile", help="Judge as another crowd would, e.g. dbdc3; see the model's page.", metavar="NAME"
    ),
]


def detect_command(
    data: Annotated[Path, typer.Argument(help="Documents: file, folder or zip.", metavar="DATA")],
    target: Annotated[
        Path, typer.Option("-o", "--out", help="The run: RUN.zip, a folder, or RUN.jsonl.", metavar="RUN")
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="A model's file, a method or openai:MODEL; else the model shipped for the language.",
            metavar="MODEL",
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option("--scheme", help="Language models: the guideline, if not breakdown.", metavar="S"),
    ] = None,
    profile: ProfileOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Also write the judgments that DATA holds, to compare.")
    ] = False,
    endpoint: EndpointOption = None,
    words: Annotated[
        str | None,
        typer.Option("--words", help="Language of the prompt; the document's by default.", metavar="LANG"),
    ] = None,
    key_env: KeyEnvOption = None,
    examples: ExamplesOption = None,
    samples: SamplesOption = None,
    temperature: TemperatureOption = None,
    seed: SamplingSeed = None,
    max_tokens: MaxTokensOption = None,
    parallel: ParallelOption = None,
    timeout: TimeoutOption = None,
    yes: YesOption = False,
    plain_http: PlainHttpOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at RUN.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let a detector or a language model judge documents, and write the judgments as a run."""
    reading = read(data, only=only, language=lang)
    if reading.recognised and not as_json:
        remark(f"{data} is read as {reading.format.name}")
    format = _format(target)
    asking = Asking(
        endpoint, words, key_env, examples, samples, temperature, seed, max_tokens, parallel, timeout, yes, plain_http
    )  # fmt: skip
    if judge is not None and judge.startswith(PREFIX):
        from lapsus.schemes import load_scheme

        if profile is not None:
            raise UsageError("a language model has no profiles", hint="leave --profile out")
        guideline = load_scheme(scheme or BREAKDOWN)
        how = {"keep": keep, "overwrite": overwrite, "as_json": as_json}
        ask_about_data(judge, reading, guideline, asking, target, format, **how)
        return
    asking.refuse_any()
    if scheme not in (None, BREAKDOWN):
        raise UsageError(
            f"detectors judge under {BREAKDOWN!r}", hint="other schemes need --with openai:MODEL"
        )
    _detect(reading, judge, profile, target, format, keep=keep, overwrite=overwrite, as_json=as_json)


def _detect(
    reading: Reading,
    judge: str | None,
    profile: str | None,
    target: Path,
    format: Format,
    *,
    keep: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    from lapsus.annotators import Judges

    if keep and format.name == "dbdc-run":
        raise UsageError("a run for the challenge holds one detector", hint="with --keep name a RUN.jsonl")
    check_place(target, overwrite=overwrite, source=reading.source.path)
    judges = Judges(judge, profile=profile, tell=announce)
    labels: Counter[str] = Counter()
    kept: dict[str, tuple[Judgment, ...]] = {}

    def documents() -> Iterator[Document]:
        for entry in reading:
            if entry.document is not None:
                kept[entry.id] = entry.judgments if keep else ()
                yield entry.document

    with put_in_place(target, overwrite=overwrite) as draft, progress("documents") as step:
        watched = _watched(judges.entries(documents()), labels, step)
        whole = (_beside(kept.pop(entry.id), entry) for entry in watched)
        done = Conversion(format)
        format.write(carried(whole, done), draft)
        if not labels:
            raise nothing_to_judge(reading)
    tell_reading(reading)
    if (others := reading.documents - done.documents) and not as_json:
        remark(f"documents without a turn to judge, left out: {others:,}")
    _report(judges.called, done.documents, target, format, labels, as_json)


def nothing_to_judge(reading: Reading) -> InputError:
    """What to say where there is no system turn: to say nothing would look as if all were well."""
    where = str(reading.source.path)
    if not reading.documents:
        hint = "give the dialogues that they are about"
        return InputError("holds judgments and no dialogues", where=where, hint=hint)
    hint = "turns of the system have a role such as 'assistant' or 'bot'; 'system' is read as a prompt"
    return InputError("no dialogue in it has a turn of the system to judge", where=where, hint=hint)


def _beside(others: tuple[Judgment, ...], entry: Entry) -> Entry:
    """What others said together with what a detector says; its own answers of before give way."""
    by = {(judgment.annotator, judgment.scheme) for judgment in entry.judgments}
    theirs = tuple(judgment for judgment in others if (judgment.annotator, judgment.scheme) not in by)
    return Entry(entry.id, entry.document, (*theirs, *entry.judgments))


def _report(
    judges: list[str],
    documents: int,
    target: Path,
    format: Format,
    labels: Counter[str],
    as_json: bool,
) -> None:
    total = sum(labels.values())
    if as_json:
        counts = {"documents": documents, "turns": total, "labels": dict(sorted(labels.items()))}
        print_json({"by": ", ".join(judges), "out": str(target), **counts})
        return
    found = ", ".join(f"{label} {count:,}" for label, count in sorted(labels.items()))
    typer.echo(f"{documents:,} documents, {total:,} turns ({found}) → {target} ({format.name})")


def _format(target: Path) -> Format:
    """The challenge's format for zips and folders; any other by its ending."""
    if target.suffix.lower() in ("", ".zip"):
        return FORMATS.get("dbdc-run")()
    return format_for_output(target)


def announce(annotator: Annotator) -> None:
    """Say who judges."""
    origin = annotator.origin_
    learned = f", learned from {origin.units:,} turns ({', '.join(origin.languages)})" if origin else ""
    remark(f"judged by {annotator.called} ({annotator.name}{learned})")


def _watched(entries: Iterable[Entry], labels: Counter[str], step: Callable[[], None]) -> Iterator[Entry]:
    for entry in entries:
        labels.update(str(judgment.answers["breakdown"]) for judgment in entry.judgments)
        step()
        if entry.judgments:
            yield entry
