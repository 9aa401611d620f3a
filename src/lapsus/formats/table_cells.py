"""What stands in the cells of a table, checked: names, texts, numbers, times and JSON."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from lapsus.errors import InvalidError
from lapsus.model.decoders import decoder

T = TypeVar("T")

_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def text(cell: Any, column: str) -> str:
    """A text, empty where there is none. Numbers will do: others keep numbered documents as numbers."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return str(cell)
    raise InvalidError(f"{column!r} must be a text, not {cell!r}")


def name(cell: Any, column: str) -> str:
    """A text that must be there."""
    if not (found := text(cell, column)):
        raise InvalidError(f"{column!r} is empty", hint="every row names it")
    return found


def number(cell: Any, column: str) -> int | float:
    """A number. Whole ones stay whole: 3 is not 3.0."""
    found = cell
    if isinstance(cell, str):
        if _WHOLE.fullmatch(cell):
            found = int(cell)
        elif _DECIMAL.fullmatch(cell):
            found = float(cell)
    if not isinstance(found, int | float) or not math.isfinite(found):
        raise InvalidError(f"{column!r} must be a number, not {cell!r}")
    return found


def whole(cell: Any, column: str) -> int | None:
    """A whole number, None where there is none. 3.0 will do: pandas makes it of 3 beside empty cells."""
    if cell is None or cell == "":
        return None
    found = number(cell, column)
    if found != int(found):
        raise InvalidError(f"{column!r} must be a whole number, not {cell!r}")
    return int(found)


def moment(cell: Any) -> datetime | None:
    """A time, None where there is none."""
    if cell is None or cell == "":
        return None
    try:
        return msgspec.convert(cell, datetime)
    except msgspec.ValidationError:
        raise InvalidError(f"'at' must be a time like 2024-05-31T09:30:00Z, not {cell!r}") from None


def json_of(cell: Any, column: str, kind: type[T]) -> T:
    """What a cell holds as a JSON object."""
    try:
        return decoder(kind).decode(text(cell, column))
    except msgspec.DecodeError as error:
        raise InvalidError(f"{column!r} must be a JSON object: {error}") from error
