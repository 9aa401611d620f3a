"""Records of any file that tools export: JSON Lines, JSON, CSV, Parquet and Arrow, one at a time."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from lapsus.errors import InputError
from lapsus.formats.encoding import decoded_json, rows
from lapsus.formats.field_map import guessed_map
from lapsus.formats.json_stream import raw_items
from lapsus.formats.shapes import is_message, list_of, shape_of
from lapsus.formats.source import LINED, Member, Source, lines
from lapsus.notices import Notice

CELLS = (".csv", ".tsv")
TABLES = (".parquet", ".arrow")
SUFFIXES = (*LINED, ".json", *CELLS, *TABLES)
MAX_OBJECT = 256 << 20
"""How large a `.json` file that is one object may be. Lists and files of lines may be of any size."""
MAX_START = 4 << 20
"""How much of a file is looked at to recognise it."""
TEXTS = ("text", "output", "generated", "generated_text", "prediction", "response")
"""What a text is called that was made from data; `text` wherever it is there."""
_PAGES = ("data", "runs")
_TALKS = (
    "conversations",
    "chats",
    "dialogues",
    "dialogs",
    "sessions",
    "threads",
    "items",
    "results",
    "records",
)
"""Keys of lists that are pages, too, where each record in them has a list of its own: its messages."""
_CALL = frozenset({"request", "response", "body", "choices", "candidates", "output"})
"""Keys of a call of a model, whose lists are no talks."""
_DEEPEST = 4
"""Objects within objects that are looked into for the list of talks."""
_NAMES = Notice("file-object-line-must")


class Record(NamedTuple):
    """A JSON object or table row, and where it stands."""

    where: str
    value: dict[str, Any]
    number: int = 1
    """Its line, or its place in the file from 1."""


def records(member: Member) -> Iterator[Record]:
    """The records of a file. Nested values that a cell holds as JSON text are left to the reader."""
    name = member.name.lower()
    if name.endswith(TABLES):
        from lapsus.formats.columnar import arrow_rows

        for number, row in enumerate(arrow_rows(member), 1):
            yield Record(
                f"{member.name}, row {number}",
                {key: one for key, one in row.items() if one is not None},
                number,
            )
    elif name.endswith(CELLS):
        yield from _csv_records(member)
    else:
        for number, content in _json_items(member):
            is_lined = name.endswith(LINED)
            where = f"{member.name}, line {number}" if is_lined else f"{member.name}, record {number}"
            value = decoded_json(content, where, _NAMES)
            if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
                value = {"messages": value}  # a list of messages, without anything around it
            if not isinstance(value, dict):
                raise InputError("no-json-object", where=where, hint="object-record-expected")
            page = _page(value)
            if page is None and not is_lined:
                page = _nested(value)
            if page is None:
                yield Record(where, value, number)
            for place, item in enumerate(page or (), 1):
                yield Record(f"{where if is_lined else member.name}, record {place}", item, place)


def first_record(source: Source) -> Record | None:
    """The first record of a source, for recognising its format; None where it cannot be read."""
    if "record" not in source.found:
        member = source.first(*SUFFIXES)
        try:
            source.found["record"] = next(records(member), None) if member else None
        except (InputError, UnicodeDecodeError):
            source.found["record"] = None
    found: Record | None = source.found["record"]
    return found


def contains(source: Source, *keys: bytes) -> bool:
    """Whether a text file begins with something that names one of these keys (tables are not looked into)."""
    member = source.first(*SUFFIXES)
    if member is None or member.name.lower().endswith(TABLES):
        return False
    start = member.head(MAX_START)
    return any(key in start for key in keys)


def _page(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The records of an answer of a tool's interface, which come as a list under one key; None for a record itself.

    A record may have a list of that name, too, beside its id or the text that was made from it.
    """
    found = [value[key] for key in _PAGES if isinstance(value.get(key), list)]
    found += [value[key] for key in _TALKS if _are_talks(value.get(key))]
    if (
        "id" in value
        or "text" in value
        or any(isinstance(value.get(name), str) for name in TEXTS)
        or len(found) != 1
        or not all(isinstance(item, dict) for item in found[0])
    ):
        return None
    page: list[dict[str, Any]] = found[0]
    return page


def _nested(value: dict[str, Any], deep: int = _DEEPEST) -> list[dict[str, Any]] | None:
    """The talks of a file that is one object: in the one list further in, or each under its id; else None."""
    if "id" in value or "text" in value or not _CALL.isdisjoint(value) or shape_of(value) is not None:
        return None
    lists = [found for key, one in value.items() if (found := _listed(key, one))]
    found = _by_id(value) or (lists[0] if len(lists) == 1 else None)
    if found or not deep or any(_are_objects(one) for one in value.values()):
        return found
    inner = [page for one in value.values() if isinstance(one, dict) and (page := _nested(one, deep - 1))]
    return inner[0] if len(inner) == 1 else None


def _listed(key: str, value: Any) -> list[dict[str, Any]] | None:
    """The talks of a list, or its rows where their columns leave no doubt that each is a turn of some dialogue."""
    if key in _TALKS and _are_talks(value):
        return cast("list[dict[str, Any]]", value)
    if key in _TALKS and isinstance(value, list) and value and all(map(_are_messages, value)):
        return [{"messages": one} for one in value]
    if not _are_objects(value):
        return None
    found, is_sure = guessed_map(value)
    return value if found is not None and is_sure and found.dialogue else None


def _by_id(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    if all(map(_are_messages, value.values())):
        return [{"id": key, "messages": one} for key, one in value.items()]
    if len(value) > 1 and all(map(_are_turns, value.values())):
        # Under the name by which the map that is suggested takes it.
        return [{"dialogue": key, "messages": one} for key, one in value.items()]
    are_talks = len(value) > 1 and all(isinstance(one, dict) and list_of(one) for one in value.values())
    if are_talks:
        return [{"id": key, **one} for key, one in value.items()]
    return None


def _are_turns(value: Any) -> bool:
    """Whether the objects of a list say who speaks under names of their own, and not in which dialogue."""
    found = guessed_map(value)[0] if _are_objects(value) else None
    return found is not None and found.dialogue is None


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_message, value))


def _are_talks(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and any(_are_objects(one) for one in item.values()) for item in value)
    )


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _json_items(member: Member) -> Iterator[tuple[int, bytes]]:
    if member.name.lower().endswith(LINED):
        yield from lines(member)
    elif member.head(1000).lstrip().startswith(b"["):
        with member.open() as stream:
            yield from enumerate(raw_items(stream, member.name), 1)
    else:
        content = member.head(MAX_OBJECT + 1)
        if len(content) > MAX_OBJECT:
            hint = Notice("file-lines-then-name")
            raise InputError(
                "one-json-object-over", where=member.name, hint=hint, max_object=MAX_OBJECT >> 20
            )
        yield 1, content


def _csv_records(member: Member) -> Iterator[Record]:
    numbered = rows(member)
    _, header = next(numbered)
    for number, cells in numbered:
        given = {key: cell for key, cell in zip(header, cells, strict=True) if cell}
        yield Record(f"{member.name}, line {number}", given, number)
