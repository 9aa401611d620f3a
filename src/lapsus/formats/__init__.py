"""Real corpora, in and out: one module a format."""

from lapsus.formats.base import Format as Format
from lapsus.formats.base import Loss as Loss
from lapsus.formats.base import ReadOptions as ReadOptions
from lapsus.formats.convert import Conversion as Conversion
from lapsus.formats.convert import convert as convert
from lapsus.formats.entry_stream import EntryStream as EntryStream
from lapsus.formats.entry_stream import read as read
from lapsus.formats.library import FORMATS as FORMATS
from lapsus.formats.library import format_for_output as format_for_output
from lapsus.formats.library import recognise as recognise
from lapsus.formats.source import Source as Source
