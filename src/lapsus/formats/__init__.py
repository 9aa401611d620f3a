"""Real corpora, in and out: one module a format."""

from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.convert import Conversion, convert
from lapsus.formats.entry_stream import EntryStream, read
from lapsus.formats.library import FORMATS, format_for_output, recognise
from lapsus.formats.source import Source

__all__ = [
    "FORMATS",
    "Conversion",
    "EntryStream",
    "Format",
    "Loss",
    "ReadOptions",
    "Source",
    "convert",
    "format_for_output",
    "read",
    "recognise",
]
