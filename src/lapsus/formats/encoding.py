"""Bytes of strangers as text and JSON; of text that is not UTF-8, which encoding it looks like and what to do."""

from __future__ import annotations

import codecs
import re
from typing import Any

import msgspec

from lapsus.errors import InputError
from lapsus.formats.source import Member

_KANA = re.compile(r"[ぁ-んァ-ヶ]")
_ENCODINGS = {"EUC-JP": "euc_jp", "Shift_JIS (CP932)": "cp932"}
_UTF16 = "UTF-16"


def refuse_utf16(member: Member) -> None:
    """Complain about UTF-16, which Excel writes and which no UTF-8 text looks like."""
    start = member.head(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or b"\0" in start:
        raise _looks_like(_UTF16, _UTF16, member.name)


def refuse_other_encodings(member: Member) -> None:
    """Complain where the beginning of a text is not UTF-8."""
    refuse_utf16(member)
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
    """What to say of bytes that are no UTF-8."""
    for shown, codec in _ENCODINGS.items():
        try:
            text = codecs.getincrementaldecoder(codec)().decode(error.object)
        except UnicodeDecodeError:
            continue
        if _KANA.search(text):
            return _looks_like(shown, codec.upper().replace("_", "-"), where)
    return InputError("not-utf-8-text", where=where, hint="save-utf-8-excel-csv", error=error.reason)


def _looks_like(shown: str, codec: str, where: str) -> InputError:
    return InputError("looks-like-not-utf-8", where=where, hint="convert-iconv-f-t", shown=shown, codec=codec)
