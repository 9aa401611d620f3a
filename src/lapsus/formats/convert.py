"""From one format to another, with every loss owned up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lapsus.errors import LossError, UsageError
from lapsus.formats.base import Format, Loss
from lapsus.formats.library import FORMATS, format_for_output
from lapsus.formats.reading import Reading
from lapsus.formats.sink import put_in_place
from lapsus.model import Entry


@dataclass
class Conversion:
    """What was converted, and what the output could not carry."""

    reading: Reading
    to: Format
    losses: Counter[Loss] = field(default_factory=Counter)
    """How many entries lose what."""


def convert(
    reading: Reading,
    path: Path,
    to: str | None = None,
    *,
    lossy: bool = False,
    overwrite: bool = False,
    progress: Callable[[Entry], None] = lambda entry: None,
) -> Conversion:
    """Write what is read to a path. Where answers or documents would be lost, nothing is written unless `lossy`."""
    target = FORMATS.get(to)() if to else format_for_output(path)
    if not target.writes:
        raise UsageError(f"format {target.name!r} can be read but not written")
    conversion = Conversion(reading, target)
    with put_in_place(path, overwrite=overwrite) as draft:
        target.write(_watched(conversion, lossy, progress), draft)
    return conversion


def _watched(conversion: Conversion, lossy: bool, progress: Callable[[Entry], None]) -> Iterator[Entry]:
    for entry in conversion.reading:
        for loss in set(conversion.to.losses(entry)):
            if loss.severe and not lossy:
                raise LossError(
                    f"format {conversion.to.name!r} cannot carry {loss.what}",
                    where=f"document {entry.id!r}",
                    hint="choose another format, or --lossy to go on without them",
                )
            conversion.losses[loss] += 1
        progress(entry)
        yield entry
