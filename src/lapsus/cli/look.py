"""`lapsus look`: what a file is, as Lapsus understands it, and what can be done with it."""

import shlex
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from lapsus.cli.convert import tell_reading
from lapsus.cli.output import print_json, remark, say
from lapsus.formats import EntryStream, read
from lapsus.formats.field_map import keep_map
from lapsus.kinds import kind_of
from lapsus.model import Document, Entry, Scheme
from lapsus.schemes import load_scheme, scheme_names

SHOWN, TURNS, WIDTH = 3, 6, 100
"""Documents, segments of each and characters of a segment that are shown."""
LOOKED_AT = 200
"""Documents that are read to say what is in a file."""


def look_command(
    data: list[Path],
    from_format: str | None = None,
    only: str | None = None,
    save: Path | None = None,
    as_json: bool = False,
) -> None:
    """Show what data are taken for: format, keys, documents as they were understood, and the next command."""
    reading = read(data, from_format, only=only)
    entries = list(islice(reading, LOOKED_AT))
    documents = [entry.document for entry in entries if entry.document is not None]
    if save is not None and reading.options.map is not None:
        keep_map(reading.options.map, save)
    if as_json:
        print_json(_summary(reading, entries, documents))
        return
    more = " or more" if len(entries) == LOOKED_AT else ""
    say("documents-2", source=reading.source.shown, name=reading.format.name, count=len(documents), more=more)
    if reading.options.map is not None:
        say("read-with", map=reading.options.map)
    say(
        "roles",
        most_common=", ".join((f"{role} ({count:,})" for role, count in _roles(documents).most_common())),
    )
    if keys := _keys(documents):
        say("metadata", keys=", ".join(keys))
    tell_reading(reading)
    for document in documents[:SHOWN]:
        _show(document)
    if fitting := _schemes(documents):
        say("guidelines-fit", fitting=", ".join(fitting))
        known = reading.options.map
        given = [*map(shlex.quote, map(str, data)), *([str(known)] if known else [])]
        remark("next-lapsus-check", map=" ".join(given))


def _show(document: Document) -> None:
    say("document-in-language", id=document.id, language=document.language or "-")
    for segment in document.segments[:TURNS]:
        words = " ".join(segment.text.split())
        say(f"  {segment.role:<8} {words[:WIDTH]}{'…' if len(words) > WIDTH else ''}")
    if (rest := len(document.segments) - TURNS) > 0:
        say("more-2", rest=rest)


def _roles(documents: list[Document]) -> Counter[str]:
    return Counter(segment.role for document in documents for segment in document.segments)


def _keys(documents: list[Document]) -> list[str]:
    found = Counter(key for document in documents for key in document.metadata)
    found += Counter(
        key for document in documents for segment in document.segments for key in segment.metadata
    )
    return [key for key, _ in found.most_common(12)]


def _schemes(documents: list[Document]) -> list[str]:
    """The guidelines whose units are in the documents."""
    schemes = [load_scheme(name) for name in scheme_names()]
    return [scheme.id for scheme in schemes if any(_fits(scheme, document) for document in documents)]


def _fits(scheme: Scheme, document: Document) -> bool:
    """Whether there is something to judge, and something to say of it."""
    roles = {segment.role for segment in document.segments}
    if scheme.unit.role != "document":
        return scheme.unit.role in roles
    kind = kind_of(scheme.questions[0], scheme)
    places = {label.on for label in kind.labels if label.on is not None}
    return bool(places & roles) if places else not kind.label_ids or kind.allows(kind.label_ids[0], document)


def _summary(reading: EntryStream, entries: list[Entry], documents: list[Document]) -> dict[str, Any]:
    return {
        "format": reading.format.name,
        "taken": dict(reading.options.taken),
        "map": None if reading.options.map is None else str(reading.options.map),
        "documents": len(documents),
        "judgments": sum(len(entry.judgments) for entry in entries),
        "roles": dict(_roles(documents)),
        "metadata": _keys(documents),
        "schemes": _schemes(documents),
        "shown": documents[:SHOWN],
    }
