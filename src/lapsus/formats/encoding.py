"""Bytes to text: JSON, and the cells of CSV files."""

import codecs
import csv
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

import msgspec

from lapsus.errors import InputError, LossError
from lapsus.formats.source import Member
from lapsus.notices import Notice


def refuse_other_encodings(member: Member) -> None:
    """Complain where the beginning of a text is in no encoding known here."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(member.head())
    except UnicodeDecodeError as error:
        raise not_utf8(error, member.name) from error


def decoded_json(content: bytes, where: str, hint: str) -> Any:
    """What JSON says; an error names the place and, where it is not sound JSON, has the hint."""
    try:
        return msgspec.json.decode(content)
    except UnicodeDecodeError as error:
        raise not_utf8(error, where) from error
    except msgspec.DecodeError as error:
        raise InputError("not-sound-json", where=where, hint=hint, error=error) from error
    except RecursionError:
        raise InputError("nested-too-deeply", where=where) from None


def not_utf8(error: UnicodeDecodeError, where: str) -> InputError:
    """What to say of text that is in no encoding known here."""
    return InputError("not-utf-8-text", where=where, hint="convert-iconv-f-t", error=error.reason)


LIMIT = 16 << 20
"""How many characters a row may have: a quote that is never closed must not fill the memory."""
Numbered: TypeAlias = tuple[int, list[str]]
"""A row, and the line where it begins."""
DELIMITERS = (",", ";", "\t")
# Full-width signs are formulas too where Japanese is typed, and some programs look past leading blanks.
_RISKY = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")


def defused(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula: with an apostrophe in front if need be."""
    return f"'{text}" if _RISKY.match(text) else text


def restored(cell: str) -> str:
    """The text that `defused` made the cell from."""
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell, 1) else cell


def in_one_line(text: str) -> str:
    """A cell of a table that is only looked at, defused: Python leaves a lone carriage return without quotes."""
    return defused(text.replace("\r", " "))


class CsvWriter(Protocol):
    """Takes rows of cells: texts are defused, numbers stay numbers, None is an empty cell."""

    def __call__(self, cells: Iterable[str | int | float | None]) -> None:
        """Write one row."""


@contextmanager
def writing(path: Path) -> Iterator[CsvWriter]:
    """A new CSV file, in UTF-8."""
    with path.open("x", encoding="utf-8", newline="") as stream:
        # Lines end as RFC 4180 has it; with any other end, Python leaves a lone carriage return unquoted.
        writer = csv.writer(stream, lineterminator="\r\n")

        def write(cells: Iterable[str | int | float | None]) -> None:
            row = [defused(cell) if isinstance(cell, str) else cell for cell in cells]
            if (size := sum(len(cell) for cell in row if isinstance(cell, str))) > LIMIT:
                raise LossError("row-csv-holds-most", limit=LIMIT, size=size)
            writer.writerow(row)

        yield write


def rows(member: Member) -> Generator[Numbered, None, None]:
    """The rows of a CSV file, each with the line where it begins; first the header, and no blank ones.

    Every row has as many cells as the header. Comma, semicolon or tab: the one that makes most of the header.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LIMIT))
    with member.text(newline="") as text:
        try:
            yield from _even(_records(text, member.name), member.name)
        except UnicodeDecodeError as error:
            raise not_utf8(error, member.name) from error


def opening(member: Member, count: int) -> list[list[str]]:
    """The header and the rows after it, `count` in all; none where the file is not sound CSV."""
    try:
        with closing(rows(member)) as numbered:
            return [cells for _, cells in islice(numbered, count)]
    except InputError:
        return []


def _records(text: IO[str], name: str) -> Iterator[Numbered]:
    first = next(_lines(text, name), "")
    reader = csv.reader(chain([first], _lines(text, name, 2)), delimiter=_delimiter(first), strict=True)
    start = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            hint = Notice("quote-may-open-not")
            raise InputError(
                "not-sound-csv", where=Notice("line", name=name, line=start), hint=hint, error=error
            ) from error
        if cells is None:
            return
        if any(cells):
            yield start, cells
        start = reader.line_num + 1


def _even(records: Iterator[Numbered], name: str) -> Iterator[Numbered]:
    line, names = next(records, (1, []))
    while names and not names[-1].strip():
        names.pop()
    if not names:
        raise InputError("empty", where=name, hint="first-line-names-columns")
    yield line, names
    width = len(names)
    for line, cells in records:
        if len(cells) < width or any(cells[width:]):
            raise InputError(
                "cells-but-header", where=Notice("line", name=name, line=line), count=len(cells), width=width
            )
        yield line, cells[:width]


def _lines(text: IO[str], name: str, number: int = 1) -> Iterator[str]:
    # Twice as much, because a line may hold a row of nothing but doubled quotes.
    while line := text.readline(2 * LIMIT + 1000):
        if len(line) > 2 * LIMIT:
            raise InputError(
                "line-more-characters", where=Notice("line", name=name, line=number), limit=2 * LIMIT
            )
        yield line
        number += 1


def _delimiter(line: str) -> str:
    return max(DELIMITERS, key=lambda sign: len(next(csv.reader([line], delimiter=sign), [])))
