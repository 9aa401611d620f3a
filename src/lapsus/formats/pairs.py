"""Records of data and the text that was made from them: JSON Lines, JSON, CSV or Parquet with `data` and `text`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.facts import MOST, facts
from lapsus.formats.messages import json_text
from lapsus.formats.records import SUFFIXES, TEXTS, Record, first_record, records
from lapsus.formats.source import Source
from lapsus.model import Document, Entry, Segment
from lapsus.notices import Notice

_DATA: Final = ("data", "triples")
_TEXT: Final = "text"
NEEDS: Final = Notice("each-needs-data-triples", texts=", ".join(f"`{name}`" for name in TEXTS[1:]))
_LANGUAGES: Final = ("language", "lang")
_SYSTEMS: Final = ("system", "generator", "model")


class Pairs(Format):
    """Any data, read as triples, with its text; every record makes a document."""

    name = "pairs"
    title = Notice("data-text-records-data")
    writes = False

    def recognises(self, source: Source) -> bool:
        """By the first record."""
        record = first_record(source)
        return record is not None and _text_name(record.value) is not None and _data(record.value) is not None

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A record at a time."""
        used: Counter[str] = Counter()
        for member in source.members(*SUFFIXES):
            for number, record in enumerate(records(member), 1):
                source.place = record.where
                id = str(record.value.get("id") or f"{member.path.stem}-{number}")
                used[id] += 1
                name = id if used[id] == 1 else f"{id}#{used[id]}"
                try:
                    document = _document(record, name, options)
                except InvalidError as error:
                    raise InputError(error.what, where=record.where, hint=error.hint) from error
                except RecursionError:
                    raise InputError("nested-too-deeply", where=record.where) from None
                yield Entry(document.id, document)


def _data(value: Mapping[str, Any]) -> Any:
    """What the text was made from."""
    return next((json_text(value[key]) for key in _DATA if value.get(key) not in (None, "")), None)


def _text_name(value: Mapping[str, Any]) -> str | None:
    """The field that holds the text; none where several might and none is called `text`."""
    found = [name for name in TEXTS if isinstance(value.get(name), str)]
    return found[0] if len(found) == 1 or _TEXT in found else None


def has_data_alone(source: Source) -> bool:
    """Whether the first record has data, but no text that was made from it."""
    record = first_record(source)
    return record is not None and _data(record.value) is not None and _text_name(record.value) is None


def _document(record: Record, id: str, options: ReadOptions) -> Document:
    value = dict(record.value)
    name, data = _text_name(value), _data(value)
    if name is None or data is None:
        raise InputError("no-record-data-text", where=record.where, hint=NEEDS)
    text = value.pop(name)
    found, has_more = facts(data)
    if not found:
        raise InputError("no-data-no-fact", where=record.where, hint="leave-record-out-give")
    if has_more:
        options.dropped[Notice("facts-records-more", most=MOST)] += 1
    segments = (
        *(Segment.triple(f"t{place}", *fact) for place, fact in enumerate(found, 1)),
        Segment("text", "text", text),
    )
    said = next((str(value[key]) for key in _LANGUAGES if isinstance(value.get(key), str)), None)
    about = {key: one for key, one in value.items() if key not in (*_DATA, *_LANGUAGES, "id")}
    if system := next((value[key] for key in _SYSTEMS if isinstance(value.get(key), str)), None):
        about["system"] = system
    return Document(id, segments, said or options.language_of([segments[-1]]), about)
