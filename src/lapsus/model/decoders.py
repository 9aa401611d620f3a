"""Decoders of records, each made once and by one thread at a time.

When msgspec meets a class for the first time it notes down its fields. A second thread that decodes the same class
at that moment reads half a note and takes the whole process down with it: seen with msgspec 0.22, whenever several
people came to a server that had just started. So threads take their decoders from here.
"""

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_MAKING = threading.Lock()
_MADE: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of a class, or of a list or dict of its records."""
    found = _MADE.get(kind)
    if found is None:
        with _MAKING:
            found = _MADE.setdefault(kind, msgspec.json.Decoder(kind))
    return found


def converted(value: Any, kind: type[T]) -> T:
    """A value that was decoded as plain lists and dicts, as a record. What the decoder noted down serves here too."""
    decoder(kind)
    return msgspec.convert(value, kind)
