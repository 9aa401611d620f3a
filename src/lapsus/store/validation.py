"""What every database can store: checked text, JSON, and digests of contents."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import msgspec
import regex

from lapsus.errors import InputError
from lapsus.notices import Notice, as_text

T = TypeVar("T")

LARGEST = 2**31 - 1
"""The largest number that every database keeps as a whole number."""
_UNPRINTABLE = regex.compile(r"[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_CONTROL = regex.compile(r"(?![\n\r\t])[\p{Cc}\p{Cs}]")
_UNSTORABLE = regex.compile(r"[\0\p{Cs}]")


def number(value: int) -> int:
    """A number within the range of every database; one outside becomes a number that nothing has."""
    return value if 0 <= value <= LARGEST else -1


def clamped(value: int) -> int:
    """A number of things, within what every database can count."""
    return max(0, min(value, LARGEST))


def is_storable(text: str) -> bool:
    """Whether every database can keep a text."""
    return _UNSTORABLE.search(text) is None


def storable(text: str) -> str:
    """The text without what some database cannot keep."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def showable(text: str) -> str:
    """A text of many lines without what some database cannot keep, and without control signs."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def check_storable(text: str, what: str) -> str:
    """A name as it comes in data: anything that every database can keep."""
    if found := _UNSTORABLE.search(text):
        sign = f"U+{ord(found.group()):04X}"
        raise InputError(
            "holds-a-sign-that-cannot-be-stored", where=repr(text[:40]), reason=Notice(what), sign=sign
        )
    return text


def check_words(text: str, what: str, *, longest: int, lines: bool = False) -> str:
    """Text that every database can keep and every page can show: no control signs, not too long.

    `what` is the id of a notice that names it, such as `words-name`.
    """
    bare = text.replace("\n", " ").replace("\t", " ").replace("\r", " ") if lines else text
    if not text.strip() or len(text) > longest:
        raise InputError("1-characters", where=repr(text[:40]), reason=Notice(what), longest=longest)
    if found := _UNPRINTABLE.search(bare):
        sign = f"U+{ord(found.group()):04X}"
        raise InputError("holds-sign-cannot-shown", where=repr(text[:40]), reason=Notice(what), sign=sign)
    return text


def to_json(value: Any) -> str:
    """JSON text; a value that has none is refused."""
    try:
        return msgspec.json.encode(value, enc_hook=as_text).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError("cannot-kept-json", error=error) from error


def digest_of(*parts: str) -> str:
    """BLAKE2 digest of a content; its parts cannot be confused."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def chunks(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in batches."""
    source = iter(things)
    while chunk := list(islice(source, size)):
        yield chunk
