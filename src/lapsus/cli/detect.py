"""`lapsus detect`: judge the system turns of dialogues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption, print_json, progress, remark
from lapsus.formats import FORMATS, Format, Reading, format_for_output, read
from lapsus.formats.sink import put_in_place
from lapsus.model import Entry

if TYPE_CHECKING:
    from lapsus.annotators import Annotator


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
    data: Annotated[Path, typer.Argument(help="Dialogues: file, folder or zip.", metavar="DATA")],
    target: Annotated[
        Path, typer.Option("-o", "--out", help="The run: RUN.zip, a folder, or RUN.jsonl.", metavar="RUN")
    ],
    judge: WithOption = None,
    profile: ProfileOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at RUN.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge every system turn of dialogues, and write the judgments as a run."""
    from lapsus.annotators import Judges

    reading = read(data, only=only, language=lang)
    if reading.recognised and not as_json:
        remark(f"{data} is read as {reading.format.name}")
    format = _format(target)
    documents = (entry.document for entry in reading if entry.document is not None)
    judges = Judges(judge, profile=profile, tell=announce)
    labels: Counter[str] = Counter()
    with put_in_place(target, overwrite=overwrite) as draft, progress("documents") as step:
        format.write(_watched(judges.entries(documents), labels, step), draft)
    tell_language(reading)
    _report(judges.called, reading, target, format, labels, as_json)


def _report(
    judges: list[str],
    reading: Reading,
    target: Path,
    format: Format,
    labels: Counter[str],
    as_json: bool,
) -> None:
    total = sum(labels.values())
    if as_json:
        counts = {"documents": reading.documents, "turns": total, "labels": dict(sorted(labels.items()))}
        print_json({"by": ", ".join(judges), "out": str(target), **counts})
        return
    found = ", ".join(f"{label} {count:,}" for label, count in sorted(labels.items())) or "none to judge"
    typer.echo(f"{reading.documents:,} documents, {total:,} turns ({found}) → {target} ({format.name})")


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


def tell_language(reading: Reading) -> None:
    """Say which languages were told by script alone."""
    if told := reading.options.told_by_script:
        languages = ", ".join(f"{name} ({count:,})" for name, count in told.most_common())
        remark(f"language told by script: {languages}; --lang sets it")
