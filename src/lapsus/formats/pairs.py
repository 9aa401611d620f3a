"""Records of data and the text that was made from them: JSON Lines, JSON, CSV or Parquet with `data` and `text`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import regex

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, ReadOptions
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
MOST: Final = 1_000
"""Facts of one record that are read."""
LONGEST: Final = 300
"""Signs of a value that are read."""
_LOOKED_AT: Final = 20 * MOST
_DEEPEST: Final = 12
_NAMES: Final = ("name", "title", "label", "entity")
_TIMES: Final = ("date", "time", "datetime", "dt_txt", "day", "month", "year")
_VALUES: Final = ("value", "amount", "quantity")
_UNITS: Final = ("unit", "units")
_OF_VALUES: Final = frozenset((*_NAMES, *_VALUES, *_UNITS))
_PARTS: Final = ("subject", "predicate", "object")
_FOR_PROGRAMS = regex.compile(
    r"(?:^|[_\s-]|(?<=\p{Ll})(?=\p{Lu}))(?:ids?|uuid|guid|slug|ur[il]|href|logo|icon|im(?:g|age)|hash|timestamp|file)$",
    regex.IGNORECASE,
)
_ADDRESS = regex.compile(r"(?:https?|ftp|data):\S+")
_NAMED_LINE = regex.compile(r"#?\s*([^:,]{1,60}):\s+(\S.*)")
_BAR = regex.compile(r"(?<= )\|(?= )")
_NOTHING = "record"
_EMPTY: Final = frozenset({"", "N/A", "nan"})


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


class Fact(NamedTuple):
    """One triple."""

    subject: str
    predicate: str
    object: str


def facts(data: Any) -> tuple[list[Fact], bool]:
    """What data says, each fact once and in its order, and whether there was more than is read.

    The rule, by the shape of a value:

    - three texts in a list, `"a | b | c"` or an object with subject, predicate and object are a triple as they are;
    - a field of an object is a fact about it: its name is the predicate. Fields of an object inside it have both names
      (`main temp`), unless that object has a name of its own: then it is said, and its fields are facts about it;
    - an object is called by its `name`, `title`, `label` or `entity`, in a list also by its date or time or else by its
      place; a record without a name by that of the first thing in it that has one;
    - two texts in a list, and an object of a name and a value, are predicate and object; a value with a unit is one
      value;
    - an object of columns, each with the same numbers of rows (a table as pandas writes it), is its rows; a row is
      called by the column of names that has most different ones;
    - the items of a list are facts with the same predicate; lines of a text are read as `name: value` or as a table of
      commas, whose first column says what a row is about;
    - nothing that only programs look at: identifiers, addresses, pictures, times as numbers; nothing that is empty,
      or N/A.

    Long values are cut, and a record has so many facts and no more.
    """
    found: dict[Fact, None] = {}
    for fact in islice(_facts(data), _LOOKED_AT):
        if len(found) == MOST and fact not in found:
            return list(found), True
        found[fact] = None
    return list(found), False


def _facts(data: Any) -> Iterator[Fact]:
    name = _name(data) or next(_inner_names(data, 0), _NOTHING)
    yield from _about(name, (), data, 0)


def _about(subject: str, path: tuple[str, ...], value: Any, depth: int) -> Iterator[Fact]:
    """What a value says of a subject. The path is the names that lead to it."""
    if depth > _DEEPEST:
        return
    if (whole := _triple(value)) is not None:
        yield whole
    elif (said := _scalar(value)) is not None:
        yield from _said(subject, path, said)
    elif isinstance(value, Mapping):
        yield from _object(subject, path, value, depth)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from _items(subject, path, value, depth)


def _object(subject: str, path: tuple[str, ...], value: Mapping[Any, Any], depth: int) -> Iterator[Fact]:
    if (pair := _named_value(value)) is not None:
        yield from _said(subject, (pair[0],), pair[1])
        return
    if rows := _rows(value):
        yield from _items(subject, path, rows, depth)
        return
    name = _name(value)
    if name and path:
        yield from _said(subject, path, name)
    if name:
        subject, path = name, ()
    for key, inner in value.items():
        is_name = key in _NAMES and _scalar(inner) is not None
        if not is_name and not _is_for_programs(str(key)):
            yield from _about(subject, (*path, str(key)), inner, depth + 1)


def _items(subject: str, path: tuple[str, ...], items: Sequence[Any], depth: int) -> Iterator[Fact]:
    for number, item in enumerate(items, 1):
        if isinstance(item, Mapping) and not (_name(item) or _triple(item) or _scalar(item)):
            time = next((text for key in _TIMES if (text := _scalar(item.get(key)))), None)
            if len(items) > 1 or time:
                yield from _object(time or f"{path[-1] if path else subject} {number}", (), item, depth + 1)
                continue
        if _is_texts(item, 2):
            yield from _said(subject, (str(item[0]),), str(_scalar(item[1])))
        else:
            yield from _about(subject, path, item, depth + 1)


def _said(subject: str, path: Iterable[str], value: str) -> Iterator[Fact]:
    """A value as a fact, and one of several lines as the facts of its lines."""
    lines = value.splitlines()
    if len(lines) > 1:
        yield from _lines(subject, lines)
    elif not _ADDRESS.fullmatch(value):
        yield Fact(_clean(subject), _clean(" ".join(path)) or "is", _clean(value))


def _lines(subject: str, lines: Iterable[str]) -> Iterator[Fact]:
    header: list[str] | None = None
    for line in filter(None, map(str.strip, lines)):
        cells = [cell.strip().strip('"') for cell in line.split(",")]
        if (named := _NAMED_LINE.fullmatch(line)) is not None:
            yield Fact(_clean(subject), _clean(named[1]), _clean(named[2]))
        elif len(cells) < 2:
            yield Fact(_clean(subject), "is", _clean(line))
        elif header is None:
            header = cells
        else:
            for name, cell in zip(header[1:], cells[1:], strict=False):
                if cell and cells[0]:
                    yield Fact(_clean(cells[0]), _clean(name) or "is", _clean(cell))


def _triple(value: Any) -> Fact | None:
    """A value that is a triple already."""
    parts: Sequence[Any] = ()
    if isinstance(value, str) and "\n" not in value:
        parts = value.split(" | ")
    elif isinstance(value, Mapping):
        parts = [value.get(name) for name in _PARTS]
    elif _is_texts(value, 3):
        parts = value
    texts = [text for part in parts if (text := _scalar(part))]
    return Fact(*map(_clean, texts)) if len(parts) == len(texts) == 3 else None


def _named_value(value: Mapping[Any, Any]) -> tuple[str, str] | None:
    """The name and the value of an object that is nothing else."""
    rest = {str(key): text for key, inner in value.items() if (text := _scalar(inner)) is not None}
    name = next((rest[key] for key in _NAMES if key in rest), None)
    said = next((rest[key] for key in _VALUES if key in rest), None)
    unit = next((rest[key] for key in _UNITS if key in rest), "")
    if name is None or said is None or not all(key in _OF_VALUES for key in value):
        return None
    return name, f"{said} {unit}".strip()


def _rows(value: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a table that is written column by column; none where it is no such table."""
    columns = list(value.values())
    if len(columns) < 2 or not all(isinstance(one, Mapping) and one for one in columns):
        return []
    numbers = columns[0].keys()
    if any(one.keys() != numbers for one in columns) or not all(str(one).isdecimal() for one in numbers):
        return []
    rows = [{str(name): column[number] for name, column in value.items()} for number in numbers]
    names = [name for name in rows[0] if name.lower().endswith("name")]
    if not names:
        return rows
    called = max(names, key=lambda name: len({str(row[name]) for row in rows}))
    return [{_NAMES[0]: row[called], **{key: row[key] for key in row if key != called}} for row in rows]


def _bare_value(value: Mapping[Any, Any]) -> str | None:
    """The value, with its unit, of an object that has nothing else."""
    if not any(key in _VALUES for key in value) or not all(key in _OF_VALUES for key in value):
        return None
    if any(_scalar(value.get(key)) for key in _NAMES):
        return None
    parts = [_scalar(value.get(key)) for key in (*_VALUES, *_UNITS)]
    return " ".join(part for part in parts if part) or None


def _scalar(value: Any) -> str | None:
    """A value in words; None where it is empty or has parts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return _bare_value(value)
    if isinstance(value, int | float | str):
        said = str(value).strip()
        return None if said in _EMPTY else said
    return None


def _is_texts(value: Any, count: int) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == count
        and all(isinstance(part, str) for part in value[:-1])
        and all(_scalar(part) is not None and not isinstance(part, Mapping) for part in value)
    )


def _name(value: Any) -> str | None:
    """What an object is called."""
    if not isinstance(value, Mapping):
        return None
    found = (value.get(key) for key in _NAMES)
    return next((one.strip() for one in found if isinstance(one, str) and one.strip()), None)


@lru_cache(maxsize=4096)
def _is_for_programs(key: str) -> bool:
    return _FOR_PROGRAMS.search(key) is not None


def _inner_names(value: Any, depth: int) -> Iterator[str]:
    """The names of what is in a value, as they come."""
    if depth <= _DEEPEST and isinstance(value, Mapping):
        for inner in value.values():
            if name := _name(inner):
                yield name
            yield from _inner_names(inner, depth + 1)


def _clean(text: str) -> str:
    """On one line, without what parts a triple, and not too long."""
    whole = _BAR.sub("/", " ".join(text.split()))
    return whole if len(whole) <= LONGEST else whole[:LONGEST].rpartition(" ")[0] or whole[:LONGEST]
