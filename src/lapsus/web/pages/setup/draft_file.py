"""The file that came with a draft: kept until the campaign is made, and read again whenever its columns are mapped."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec
from starlette.datastructures import UploadFile

from lapsus.errors import LapsusError
from lapsus.formats import EntryStream, read
from lapsus.formats.chat import LOOKED_AT
from lapsus.formats.field_map import FieldMap, field_map, flattened
from lapsus.formats.records import SUFFIXES, records
from lapsus.formats.source import Source
from lapsus.model import Entry
from lapsus.store.drafts import Draft
from lapsus.web.request_context import RequestContext
from lapsus.web.uploads import given_name, on_disk

KEY: Final = "map"
"""Where a draft keeps which column holds what; it is no part of the plan."""


class Reading(NamedTuple):
    """What became of a file: its documents with their judgments, and the map that was used or told from it."""

    entries: list[Entry]
    map: FieldMap | None


def keep_upload(visit: RequestContext, draft: str, file: UploadFile) -> None:
    """Keep a file with a draft, before anything can be wrong with it."""
    visit.store.drafts.keep_file(draft, visit.me.id, given_name(file) or "file", file.file.read())


def map_of_draft(draft: Draft) -> FieldMap | None:
    """What the manager said of the columns."""
    found = draft.plan.get(KEY)
    return field_map(found) if found else None


def kept_map(known: FieldMap) -> dict[str, Any]:
    """A map as a draft keeps it."""
    kept: dict[str, Any] = msgspec.to_builtins(known)
    return kept


def read_file(visit: RequestContext, draft: str, known: FieldMap | None) -> Reading:
    """The documents in a draft's file; an error names the file as its owner does."""
    with _opened(visit, draft, is_table=known is not None) as path:
        stream: EntryStream = read(path, map=known)
        return Reading(list(stream), stream.options.map)


def first_rows(visit: RequestContext, draft: str) -> list[dict[str, Any]]:
    """The first records of a draft's file, what is nested in them by paths; none where it has no records."""
    if visit.store.drafts.file(draft) is None:
        return []
    try:
        with _opened(visit, draft, is_table=True) as path:
            member = Source.of([path]).first(*SUFFIXES)
            found = islice(records(member), LOOKED_AT) if member else ()
            return [flattened(record.value) for record in found]
    except (LapsusError, UnicodeDecodeError):
        return []


@contextmanager
def _opened(visit: RequestContext, draft: str, *, is_table: bool) -> Iterator[Any]:
    kept = visit.store.drafts.file(draft)
    file = None if kept is None else UploadFile(io.BytesIO(kept[1]), filename=_told_by(kept[0], is_table))
    with on_disk(file) as path:
        yield path


def _told_by(name: str, is_table: bool) -> str:
    """The name by which a file is read: what stands between commas or tabs is a table, whatever it is called."""
    plain = PurePosixPath(name)
    return str(plain.with_suffix(".csv")) if is_table and plain.suffix.lower() in (".tsv", ".txt") else name
