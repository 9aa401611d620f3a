"""A long JSON list, read item by item: memory holds the item at hand, never the file."""

import re
from collections.abc import Iterator
from typing import IO, TypeVar

import msgspec

from lapsus.errors import InputError
from lapsus.model.frozen import decoder
from lapsus.notices import Notice

T = TypeVar("T")

CHUNK = 1 << 20
"""How many bytes are read at once."""
LARGEST = 1 << 28
"""No honest item is larger. A bracket that is never closed would otherwise fill the memory."""
DEEPEST = 1000
"""Brackets within brackets. What is deeper cannot be decoded, and looking for its end would take long."""
_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
# Up to the next sign that matters, strings skipped. Nothing is tried twice, whatever the input.
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+[\[\]{}]", re.DOTALL)
_TO_END = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+[\[\]{},]", re.DOTALL)


def items(stream: IO[bytes], name: str, kind: type[T], hint: str | None = None) -> Iterator[tuple[int, T]]:
    """The numbered items of a JSON list, each read as a `kind`. `hint` is for items of another shape."""
    decode = decoder(kind).decode
    for number, raw in enumerate(raw_items(stream, name), 1):
        try:
            yield number, decode(raw)
        except msgspec.ValidationError as error:
            raise InputError(
                str(error), where=Notice("item-2", name=name, number=number), hint=hint
            ) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                "not-sound-json", where=Notice("item-2", name=name, number=number), error=error
            ) from error


def raw_items(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """The items of a JSON list as they stand there, not yet checked."""
    window = _Window(stream)
    opening = window.skip_space()
    if opening != b"[":
        raise _no_list(opening, name)
    window.start = window.at = window.at + 1
    number = 1
    while True:
        item, sign = window.item(f"{name}, item {number}")
        if item.strip(_SPACE):
            yield item
        elif sign != b"]" or number > 1:
            raise InputError("comma-stands-but-no", where=Notice("item-2", name=name, number=number))
        if sign == b"]":
            break
        number += 1
    if window.skip_space():
        raise InputError("something-follows-end-list", where=name, hint="one-list-file")


class _Window:
    """The part of a stream that is in memory: the item at hand and what was read along with it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.content = stream.read(CHUNK).removeprefix(_BOM)
        self.start = 0
        """Where the item at hand begins."""
        self.at = 0
        """How far it has been looked through."""

    def skip_space(self) -> bytes:
        """Go to the next sign that is no space, and say which it is; nothing at the end of the stream."""
        while True:
            rest = self.content[self.at :].lstrip(_SPACE)
            self.start = self.at = len(self.content) - len(rest)
            if rest or not self.grow():
                return rest[:1]

    def grow(self) -> bool:
        """Read on, and forget what lies before the item. The more is held, the more is read at once."""
        chunk = self.stream.read(max(CHUNK, len(self.content) - self.start))
        self.content = self.content[self.start :] + chunk
        self.at -= self.start
        self.start = 0
        return bool(chunk)

    def item(self, where: str) -> tuple[bytes, bytes]:
        """The next item, and the comma or bracket after it."""
        depth = 0
        while True:
            match = (_TO_BRACKET if depth else _TO_END).match(self.content, self.at)
            if match is None:
                self._need_more(where)
                continue
            self.at = match.end()
            sign = self.content[self.at - 1 : self.at]
            if sign in b"[{":
                depth += 1
                if depth > DEEPEST:
                    raise InputError("nested-too-deeply", where=where)
            elif depth:
                depth -= 1
            elif sign == b"}":
                raise InputError("not-sound-json-too", where=where)
            else:
                item = self.content[self.start : self.at - 1]
                self.start = self.at
                return item, sign

    def _need_more(self, where: str) -> None:
        if len(self.content) - self.start > LARGEST:
            size = f"{LARGEST >> 20} MiB"
            raise InputError("larger", where=where, hint="bracket-missing", size=size)
        if not self.grow():
            raise InputError("file-ends-middle", where=where, hint="get-file-anew")


def _no_list(opening: bytes, name: str) -> InputError:
    if not opening:
        return InputError("empty", where=name, hint="json-list-expected")
    if opening == b"{":
        hint = Notice("put-several-kind-between")
        return InputError("one-json-object-not", where=name, hint=hint)
    return InputError("no-json-list-begins", where=name, decode=opening.decode(errors="replace"))
