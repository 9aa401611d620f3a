"""`lapsus convert`: from any format to any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lapsus.cli.output import JsonOption, aside, print_json, progress, remark, say, warn
from lapsus.formats import Conversion, EntryStream, convert, read
from lapsus.formats.remote import location
from lapsus.formats.sink import check_place
from lapsus.notices import Notice, listed

_NAMED = 3
"""Files that are named of many."""

JudgedArgument = Annotated[
    Path, typer.Argument(help="Judged documents: file, folder or zip.", metavar="DATA", parser=location)
]
DocumentsArgument = Annotated[
    Path, typer.Argument(help="Documents: file, folder or zip.", metavar="DATA", parser=location)
]
FromOption = Annotated[
    str | None,
    typer.Option("--from", help="Format of the input, if it is not to be recognised.", metavar="FORMAT"),
]
OnlyOption = Annotated[
    str | None,
    typer.Option("--only", help="Read only files whose path matches, e.g. '*/eval/*'.", metavar="GLOB"),
]
DataLanguage = Annotated[
    str | None,
    typer.Option("--lang", help="Language of the documents, where the format does not say.", metavar="LANG"),
]


def convert_command(
    source: Annotated[
        Path,
        typer.Argument(
            help="File, folder or zip to read.",
            metavar="IN",
            parser=location,
        ),
    ],
    target: Annotated[Path, typer.Argument(help="File, folder or zip to write.", metavar="OUT")],
    from_format: FromOption = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", help="Format of the output, if its ending does not say.", metavar="FORMAT"),
    ] = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Go on where the output format cannot carry everything.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at OUT.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Convert documents and judgments from one format to another."""
    reading = read(source, from_format, only=only, language=lang)
    if reading.recognised and not as_json:
        remark("read", source=reading.source.shown, name=reading.format.name)
    check_place(target, overwrite=overwrite, source=source)
    with progress("documents") as step:
        done = convert(reading, target, to_format, lossy=lossy, overwrite=overwrite, progress=step)
    for loss, entries in done.losses.items():
        warn("does-not-carry-documents", name=done.to.name, reason=loss.what, count=entries)
    if as_json:
        print_json(_summary(reading, done, target))
        return
    tell_reading(reading)
    say(
        "documents-judged-units-judgments",
        documents=reading.documents,
        units=reading.units,
        judgments=reading.judgments,
        target=target,
        name=done.to.name,
    )
    if done.judgments < reading.judgments:
        say("judgments-written", judgments=done.judgments)


def tell_reading(reading: EntryStream) -> None:
    """Say which languages were told by script alone, what was put right, and which files were not read."""
    if told := reading.options.told_by_script:
        languages = ", ".join(f"{name}{aside(f'{count:,}')}" for name, count in told.most_common())
        remark("language-told-script-lang", languages=languages)
    if taken := {name: count for name, count in reading.options.taken.items() if name != "messages"}:
        kinds = listed(Notice("text", reason=what, count=count) for what, count in taken.items())
        remark("taken-as", kinds=kinds)
    if dropped := reading.options.dropped:
        counts = listed(Notice("text", reason=what, count=count) for what, count in dropped.most_common())
        remark("left-out", counts=counts)
    for what, count in reading.options.mended.items():
        remark("text", reason=what, count=count)
    if others := reading.source.left_out():
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        remark("not-read-being-no", name=reading.format.name, others=", ".join(others[:_NAMED]), more=more)


def _summary(reading: EntryStream, done: Conversion, target: Path) -> dict[str, Any]:
    return {
        "from": reading.format.name,
        "recognised": reading.recognised,
        "to": done.to.name,
        "out": str(target),
        "documents": reading.documents,
        "units": reading.units,
        "judgments": reading.judgments,
        "written": {"documents": done.documents, "judgments": done.judgments},
        "languages": dict(reading.languages),
        "taken": dict(reading.options.taken),
        "dropped": dict(reading.options.dropped),
        "losses": [
            {"what": loss.what, "severe": loss.severe, "documents": entries}
            for loss, entries in done.losses.items()
        ],
    }
