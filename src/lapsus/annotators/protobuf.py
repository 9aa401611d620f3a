"""Messages of protobuf, field by field: as much as it takes to change a graph of ONNX without the library `onnx`.

Messages that follow each other are read as one, so that what is put after a message adds to it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

_NUMBER, _EIGHT_BYTES, _CONTENT, _FOUR_BYTES = 0, 1, 2, 5
_LENGTHS: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_LONGEST: Final = 10
"""Bytes that a number takes at most."""


class Field(NamedTuple):
    """One field of a message. It holds places in the message, since copies of large ones take long."""

    number: int
    value: int | None
    """Of a field that is a number."""
    message: bytes
    start: int
    begin: int
    """Where its content begins..."""
    end: int
    """...and ends."""

    @property
    def content(self) -> bytes:
        """Of a field that is no number: text, bytes, or a message of its own."""
        return self.message[self.begin : self.end]

    @property
    def whole(self) -> bytes:
        """The field as it stands in the message."""
        return self.message[self.start : self.end]

    @property
    def numbers(self) -> list[int]:
        """The number, or those that were packed into one field."""
        if self.value is not None:
            return [self.value]
        found, place = [], self.begin
        while place < self.end:
            number, place = _number_at(self.message, place)
            found.append(number)
        return found


def fields(message: bytes) -> Iterator[Field]:
    """All fields, in order. What is not well-formed is a ValueError."""
    start = 0
    while start < len(message):
        key, begin = _number_at(message, start)
        value = None
        if key & 7 == _NUMBER:
            value, end = _number_at(message, begin)
        elif key & 7 == _CONTENT:
            length, begin = _number_at(message, begin)
            end = begin + length
        elif key & 7 in _LENGTHS:
            end = begin + _LENGTHS[key & 7]
        else:
            raise ValueError(f"a field of kind {key & 7}")
        if end > len(message):
            raise ValueError("a field that is cut short")
        yield Field(key >> 3, value, message, start, begin, end)
        start = end


def number_field(number: int, value: int) -> bytes:
    """A field that is a number, zero or above."""
    return _number(number << 3 | _NUMBER) + _number(value)


def content_field(number: int, content: bytes) -> bytes:
    """A field of text, bytes, or a message of its own."""
    return _number(number << 3 | _CONTENT) + _number(len(content)) + content


def _number_at(message: bytes, place: int) -> tuple[int, int]:
    """A number, and where it ends: seven bits a byte, the lowest first."""
    if message[place : place + 1] < b"\x80" and place < len(message):  # most are of one byte
        return message[place], place + 1
    found = 0
    for shift, byte in enumerate(message[place : place + _LONGEST]):
        found |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return found, place + shift + 1
    raise ValueError("a number without an end")


def _number(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
