"""Text in UTF-16 or a Japanese encoding, read as UTF-8, so that all that comes after knows one encoding.

And files of lines that are read while they are being written.
"""

import codecs
import io
import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import IO, Any, cast

import msgspec

from lapsus.errors import InputError
from lapsus.formats.packed import SMALL

OTHER_ENCODING: ContextVar[Callable[[str, str], None] | None] = ContextVar("other_encoding", default=None)
"""Hears the name of each file, every time that it is opened, that is in another encoding than UTF-8, and in which."""
_SHOWN = {
    "euc_jp": "EUC-JP",
    "cp932": "Shift_JIS (CP932)",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
}
_PIECE = 1 << 16
_KANA = re.compile(r"[ぁ-んァ-ヶ]")
_FEWEST = 0.2
"""At least this share of the signs beyond ASCII in Japanese text are kana; Korean read as EUC-JP has some, too."""


def encoding_of(start: bytes, *, is_beginning: bool = True) -> str | None:
    """The codec of a text by its first signs beyond ASCII; None where it is UTF-8 or of no encoding known here.

    What is sound UTF-8 is UTF-8. The last sign may be cut off.
    """
    if is_beginning and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if is_beginning and b"\0\0" in (start[:4:2], start[1:4:2]):
        codec = "utf-16-be" if start.startswith(b"\0") else "utf-16-le"
        return None if _decoded(start, codec) is None else codec
    if _decoded(start, "utf-8") is not None:
        return None
    codecs_left = [
        "euc_jp",
        "cp932",
        *(("utf-16-le", "utf-16-be") if is_beginning and b"\0" in start else ()),
    ]
    # UTF-8 with a broken sign in it often passes for Shift_JIS, but then has more kana when it is read as UTF-8.
    most, found = _kana(start.decode("utf-8", "replace")), None
    for codec in codecs_left:
        text = _decoded(start, codec) or ""
        if (kana := _kana(text)) > max(most, _FEWEST * sum(sign > "\x7f" for sign in text)):
            most, found = kana, codec
    return found


def _kana(text: str) -> int:
    return len(_KANA.findall(text))


def _decoded(content: bytes, codec: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(codec)().decode(content)
    except UnicodeDecodeError:
        return None


class _Reread(io.RawIOBase):
    """A stream that is made piece by piece from another one, and closes that too."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what is ready."""
        while not self._ready and (more := self._more()) is not None:
            self._ready = memoryview(more)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _more(self) -> bytes | None:
        """The next piece, which may be empty; None at the end."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the stream too."""
        self._stream.close()
        super().close()


class InUtf8(_Reread):
    """A stream of text as UTF-8. What fits no encoding known here comes as it is."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        super().__init__(stream)
        self._name = name
        self._is_beginning, self._is_told = True, False
        self._codec: str | None = None
        self._decoder: codecs.IncrementalDecoder | None = None

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; an error where the text is not of the encoding that it began in."""
        if self._is_told and self._decoder is None and not self._ready:
            return cast(io.BufferedIOBase, self._stream).readinto(buffer)
        return super().readinto(buffer)

    def _more(self) -> bytes | None:
        piece = self._stream.read(_PIECE)
        return self._converted(piece) or (piece or None)

    def _converted(self, piece: bytes) -> bytes:
        # As long as all is ASCII, nothing is told yet: it is the same in all encodings but UTF-16.
        if not self._is_told and (self._is_beginning or not piece.isascii()):
            piece += self._stream.read(_PIECE)
            self._tell(piece)
        if self._decoder is None:
            return piece
        try:
            return self._decoder.decode(piece, final=not piece).encode()
        except UnicodeError as error:
            reason = error.reason if isinstance(error, UnicodeDecodeError | UnicodeEncodeError) else error
            raise InputError(
                "taken-for-but", where=self._name, hint="convert-iconv-f-t", shown=self._shown, error=reason
            ) from error

    def _tell(self, start: bytes) -> None:
        self._codec = encoding_of(start, is_beginning=self._is_beginning)
        self._is_beginning = False
        self._is_told = self._codec is not None or not start.isascii()
        if self._codec is not None:
            self._decoder = codecs.getincrementaldecoder(self._codec)()
            if hears := OTHER_ENCODING.get():
                hears(self._name, self._shown)

    @property
    def _shown(self) -> str:
        return _SHOWN[self._codec or ""]


class WholeLines(_Reread):
    """A stream of JSON lines, without a last line that is not whole yet."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._unfinished = bytearray()
        self._is_over = False

    def _more(self) -> bytes | None:
        if self._is_over:
            return None
        piece, whole = self._stream.read(SMALL), b""
        lines, end, rest = piece.rpartition(b"\n")
        if end:
            whole = bytes(self._unfinished) + lines + end
            self._unfinished.clear()
        self._unfinished += rest
        # What is written from now on is read next time.
        self._is_over = not piece
        if self._is_over and _is_value(last := bytes(self._unfinished)):
            return last
        return whole


def _is_value(line: bytes) -> bool:
    try:
        msgspec.json.decode(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return False
    return True


def open_whole_lines(open: Callable[[], IO[bytes]]) -> IO[bytes]:
    """A file of JSON lines, opened as far as it is whole."""
    return io.BufferedReader(WholeLines(open()), SMALL)


def open_in_utf8(open: Callable[[], IO[bytes]], name: str) -> IO[bytes]:
    """A text file opened as UTF-8."""
    return io.BufferedReader(InUtf8(open(), name), _PIECE)
