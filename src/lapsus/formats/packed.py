"""Packed files, unpacked as they are read. What is damaged, cut off or made to fill the disk is told as such."""

import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from lapsus.errors import InputError, UsageError
from lapsus.notices import Notice

COMPRESSED = (".gz", ".zst")
MAX_EXPANSION = 250
"""How many times larger than its zipped size a member may be. Honest JSON stays below 60."""
SMALL = 1 << 20
"""Members up to this size may expand as they like."""
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
)
"""All that the standard library raises, here or there, over a zip that is broken or made to break it."""
_LONGEST_HEADER = 18
_SKIPPED = range(0x184D2A50, 0x184D2A60)
"""Frames of zstd that hold no data begin with one of these numbers."""
_REPEATED = 1
"""A block of zstd that is one byte many times."""


class Unpacked(io.RawIOBase):
    """A packed file. Damage often shows only while it is read, and is then told as an error of ours."""

    def __init__(
        self,
        stream: IO[bytes],
        place: str,
        kind: str = "zip",
        packed: IO[bytes] | None = None,
        largest: int | None = None,
    ) -> None:
        self.stream = stream
        self.packed = packed
        self.place = place
        self.kind = kind
        self.largest = largest
        self.given = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; an error where the file turns out to be damaged, cut off or a bomb."""
        with sound(self.place, self.kind):
            size = cast(io.BufferedIOBase, self.stream).readinto(buffer)
            if not size and self.kind == ".zst" and self.packed is not None and not _is_whole(self.packed):
                # zstandard takes a frame that breaks off for the end of the file.
                raise EOFError
        self.given += size
        if self.largest is not None and self.given > self.largest:
            hint = Notice("looks-like-bomb-unpack")
            raise InputError("unpacks-more-bytes", where=self.place, hint=hint, largest=self.largest)
        return size

    def readall(self) -> bytes:
        """All the rest."""
        # In one go where the archive has said how much it is; else by parts, so that no more than may be is unpacked.
        if self.largest is not None:
            return super().readall() or b""
        with sound(self.place, self.kind):
            return self.stream.read()

    def close(self) -> None:
        """Close the packed file too."""
        self.stream.close()
        if self.packed is not None:
            self.packed.close()
        super().close()


def open_packed(open: Callable[[], IO[bytes]], ending: str, name: str) -> IO[bytes]:
    """The unpacked bytes of a `.gz` or `.zst` file."""
    stream = open()
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    with sound(name, ending):
        unpacked = _unpacked(stream, ending)
    return io.BufferedReader(Unpacked(unpacked, name, ending, stream, max(SMALL, MAX_EXPANSION * size)))


def _unpacked(stream: IO[bytes], ending: str) -> Any:
    if ending == ".gz":
        import gzip

        return gzip.GzipFile(fileobj=stream, mode="rb")
    try:
        import zstandard
    except ImportError:
        raise UsageError("zst-file", hint="pip install 'lapsus-eval[remote]'") from None
    return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)


@contextmanager
def sound(place: str, kind: str = "zip") -> Iterator[None]:
    """Tell damage that shows here as an error in the file."""
    try:
        yield
    except (InputError, UsageError):
        raise
    except EOFError as error:
        hint = Notice("cut-off-copy-fetch")
        raise InputError("the-file-ends-in-the-middle", where=place, hint=hint) from error
    except Exception as error:
        if not isinstance(error, DAMAGE) and not type(error).__module__.startswith("zstandard"):
            raise
        raise InputError("cannot-read-file", where=place, kind=kind.strip("."), error=error) from error


def _is_whole(stream: IO[bytes]) -> bool:
    """Whether every frame of a `.zst` file ends within it. Only the lengths that it states are looked at."""
    here, size = stream.tell(), stream.seek(0, os.SEEK_END)
    place = 0
    while place < size:
        place = _frame_end(stream, place, size)
    stream.seek(here)
    return place == size


def _frame_end(stream: IO[bytes], place: int, size: int) -> int:
    """Where a frame ends; beyond the file where it is cut off."""
    import zstandard

    stream.seek(place)
    head = stream.read(_LONGEST_HEADER)
    if len(head) >= 8 and int.from_bytes(head[:4], "little") in _SKIPPED:
        return place + 8 + int.from_bytes(head[4:8], "little")
    try:
        parameters, length = zstandard.get_frame_parameters(head), zstandard.frame_header_size(head)
    except zstandard.ZstdError:
        return size + 1
    place += length
    is_last = False
    while not is_last and place + 3 <= size:
        stream.seek(place)
        block = int.from_bytes(stream.read(3), "little")
        is_last, kind = bool(block & 1), block >> 1 & 3
        place += 3 + (1 if kind == _REPEATED else block >> 3)
    return place + 4 * parameters.has_checksum if is_last else size + 1
