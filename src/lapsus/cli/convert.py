"""`lapsus convert`: from any format to any other; `lapsus formats`: which there are."""

from pathlib import Path
from typing import Any

from lapsus.cli.output import aside, in_words, print_json, print_table, progress, remark, say, warn, word
from lapsus.formats import FORMATS, Conversion, EntryStream, convert, read
from lapsus.formats.sink import check_place
from lapsus.notices import Notice, listed

_NAMED = 3
"""Files that are named of many."""


def convert_command(
    sources: list[Path],
    target: Path,
    from_format: str | None = None,
    to_format: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    lossy: bool = False,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Convert documents and judgments from one format to another."""
    reading = read(sources, from_format, only=only, language=lang)
    if reading.recognised and not as_json:
        remark("read", source=reading.source.shown, name=reading.format.name)
    check_place(target, overwrite=overwrite, sources=sources)
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


def formats_command(as_json: bool = False) -> None:
    """List the formats that can be read and written."""
    kinds = list(FORMATS)
    if as_json:
        print_json([{"name": k.name, "title": k.title, "reads": k.reads, "writes": k.writes} for k in kinds])
        return
    rows = [(k.name, _yes(k.reads), _yes(k.writes), in_words(k.title)) for k in kinds]
    print_table(("format", "read", "write", "what it is"), rows)


def _yes(can: bool) -> str:
    return word("yes") if can else "-"
