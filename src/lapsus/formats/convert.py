"""From one format to another, with every loss reported."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lapsus.errors import LossError, UsageError
from lapsus.formats.base import Format, Loss
from lapsus.formats.entry_stream import read
from lapsus.formats.library import FORMATS, format_for_output
from lapsus.formats.sink import put_in_place
from lapsus.model import Document, Entry, Judgment, Scheme
from lapsus.notices import Notice
from lapsus.schemes import given_schemes


@dataclass
class Conversion:
    """What was written, and what the format could not carry."""

    to: Format
    documents: int = 0
    judgments: int = 0
    losses: Counter[Loss] = field(default_factory=Counter)
    """How many entries lose what."""


def convert(
    entries: str | Path | Iterable[Entry],
    path: str | Path,
    to: str | None = None,
    *,
    lossy: bool = False,
    overwrite: bool = False,
    progress: Callable[[Entry], None] = lambda entry: None,
    schemes: Iterable[Scheme] = (),
) -> Conversion:
    """Write a file, or entries, such as a reading's, to a path.

    Where answers or documents would be lost, nothing is written unless `lossy`. `schemes`: guidelines of the judgments
    that may not be installed, such as a campaign's own.
    """
    path = Path(path)
    if isinstance(entries, str | Path):
        entries = read(entries)
    target = FORMATS.get(to)() if to else format_for_output(path)
    if not target.writes:
        raise UsageError("format-can-read-but", name=target.name)
    conversion = Conversion(target)
    with put_in_place(path, overwrite=overwrite) as draft, given_schemes(schemes):
        target.write(carried(_watched(entries, progress), conversion, lossy=lossy), draft)
    return conversion


def _watched(entries: Iterable[Entry], progress: Callable[[Entry], None]) -> Iterator[Entry]:
    for entry in entries:
        progress(entry)
        yield entry


def carried(
    entries: Iterable[Entry], conversion: Conversion, *, lossy: bool | None = None
) -> Iterator[Entry]:
    """Entries on their way into a format, counted. Where it cannot carry what matters, that is an error.

    Unless `lossy`; None is for those who cannot choose that.
    """
    way_out = Notice("choose-another-format") if lossy is None else Notice("choose-another-format-lossy")
    for entry in entries:
        losses = dict.fromkeys(conversion.to.losses(entry))
        conversion.losses.update(list(losses))
        severe = next((loss for loss in losses if loss.severe), None)
        if severe and not lossy:
            raise LossError(
                "format-cannot-carry",
                where=Notice("document", document=entry.id),
                hint=way_out,
                name=conversion.to.name,
                reason=severe.what,
            )
        rest = _carried(conversion.to, entry) if severe else entry
        if rest is not None:
            conversion.documents += rest.document is not None
            conversion.judgments += len(rest.judgments)
            yield rest


def _carried(format: Format, entry: Entry) -> Entry | None:
    """What is left of an entry when all that the format cannot carry is taken out."""
    document = entry.document if not _severe(format, Entry(entry.id, entry.document)) else None
    kept = (_carried_judgment(format, entry.id, document, judgment) for judgment in entry.judgments)
    judgments = tuple(judgment for judgment in kept if judgment is not None)
    return Entry(entry.id, document, judgments) if document or judgments else None


def _carried_judgment(
    format: Format, id: str, document: Document | None, judgment: Judgment
) -> Judgment | None:
    """The judgment, if need be without some of its answers."""
    problems = _severe(format, Entry(id, document, (judgment,)))
    for question in judgment.answers:
        if not problems:
            break
        rest = {key: answer for key, answer in judgment.answers.items() if key != question}
        smaller = msgspec.structs.replace(judgment, answers=rest)
        left = _severe(format, Entry(id, document, (smaller,)))
        if rest and len(left) < len(problems):
            judgment, problems = smaller, left
    return None if problems else judgment


def _severe(format: Format, entry: Entry) -> list[Loss]:
    return [loss for loss in format.losses(entry) if loss.severe]
