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
    raise InvalidError("must-text-not", column=column, cell=cell)


def name(cell: Any, column: str) -> str:
    """A text that must be there."""
    if not (found := text(cell, column)):
        raise InvalidError("is-empty", hint="every-row-names", column=column)
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
        raise InvalidError("must-number-not", column=column, cell=cell)
    return found


def whole(cell: Any, column: str) -> int | None:
    """A whole number, None where there is none. 3.0 will do: pandas makes it of 3 beside empty cells."""
    if cell is None or cell == "":
        return None
    found = number(cell, column)
    if found != int(found):
        raise InvalidError("must-whole-number-not", column=column, cell=cell)
    return int(found)


def moment(cell: Any) -> datetime | None:
    """A time, None where there is none."""
    if cell is None or cell == "":
        return None
    try:
        return msgspec.convert(cell, datetime)
    except msgspec.ValidationError:
        raise InvalidError("must-time-like-2024-05-31t09", cell=cell) from None


def json_of(cell: Any, column: str, kind: type[T]) -> T:
    """What a cell holds as a JSON object."""
    try:
        return decoder(kind).decode(text(cell, column))
    except msgspec.DecodeError as error:
        raise InvalidError("must-json-object", column=column, error=error) from error
