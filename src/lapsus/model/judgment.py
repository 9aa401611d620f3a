"""Judgments: what an annotator, human or program, said about a unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from lapsus.errors import InvalidError
from lapsus.model.document import Document
from lapsus.model.frozen import EMPTY, FrozenDict, freeze
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.formats.frame import Frame

ANONYMOUS = "?"
"""First character of made-up annotator ids, where data only says that *somebody* judged."""


class Span(msgspec.Struct, frozen=True, omit_defaults=True, order=True):
    """A stretch of a segment's text. Offsets count Unicode code points; the end is exclusive."""

    segment: str
    start: int
    end: int
    label: str
    tie: str | None = None
    """Spans of one judgment with the same tie belong together: a name left out and the one put in its place."""

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InvalidError("span-must-begin-before", start=self.start, end=self.end)


Answer: TypeAlias = str | int | float | tuple[str | Span, ...]
"""label and text: str; scale: number; labels: tuple of str; spans: tuple of Span."""


class UnitKey(NamedTuple):
    """Which unit: a segment of a document, or the whole document where segment is None."""

    document: str
    segment: str | None


PROGRAM: Final = "program"
"""Is true in the metadata of a judgment that a program gave; people's have none."""
SETTING: Final = "setting"
"""In a judgment's metadata: what the program was made with. `model` is a language model's name, or a model's digest."""
GOLD: Final = "gold"
"""In the metadata of a judgment that was put together out of others': the signature of each question's method."""
_OF_PROGRAMS: Final = (SETTING, "scores")
"""Keys of metadata, with values by name, that only programs write: how a model was asked, how sure a judge is."""


class Judgment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One annotator's answers about one unit. Never overwritten: a change is a new revision."""

    document: str
    segment: str | None
    annotator: str
    scheme: str
    version: str
    answers: Mapping[str, Answer]
    distributions: Mapping[str, Mapping[str, float]] = EMPTY
    """For each question, how sure the annotator was of each label. Programs give it, people rarely."""
    revision: int = 1
    at: datetime | None = None
    seconds: float | None = None
    metadata: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        if not (self.document and self.annotator and self.scheme):
            raise InvalidError("judgment-names-document-annotator")
        if self.revision < 1:
            raise InvalidError("revisions-count-1", where=Notice("document", document=self.document))
        # Bulk readers share ready-frozen mappings between judgments; only others pay for freezing.
        if type(self.answers) is not FrozenDict:
            if any(
                isinstance(answer, float) and not math.isfinite(answer) for answer in self.answers.values()
            ):
                raise InvalidError(
                    "answer-must-finite-number", where=Notice("document", document=self.document)
                )
            msgspec.structs.force_setattr(self, "answers", freeze(self.answers))
        if type(self.distributions) is not FrozenDict:
            if not all(
                math.isfinite(share) for shares in self.distributions.values() for share in shares.values()
            ):
                raise InvalidError(
                    "share-must-finite-number", where=Notice("document", document=self.document)
                )
            msgspec.structs.force_setattr(self, "distributions", freeze(self.distributions))
        if type(self.metadata) is not FrozenDict:
            msgspec.structs.force_setattr(self, "metadata", freeze(self.metadata))

    @property
    def unit(self) -> UnitKey:
        """What is judged."""
        return UnitKey(self.document, self.segment)

    @property
    def by_program(self) -> bool:
        """Whether it looks like a program's: it says so, was asked of a model, or comes with shares or scores."""
        known = self.metadata
        return (
            known.get(PROGRAM) is True
            or bool(self.distributions)
            or any(isinstance(known.get(key), Mapping) for key in _OF_PROGRAMS)
        )

    @property
    def may_leave_open(self) -> bool:
        """Whether required questions may go without an answer: programs and gold answer what they can."""
        return self.by_program or GOLD in self.metadata

    @property
    def is_anonymous(self) -> bool:
        """Whether the annotator's name only numbers a place, so that nothing may be said *of the person*."""
        return self.annotator.startswith(ANONYMOUS)


def anonymous_annotator(position: int) -> str:
    """A name for the nth unnamed annotator of a unit."""
    return f"{ANONYMOUS}{position:02d}"


def latest(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The newest revision of each annotator's judgment of each unit under each scheme, in first-seen order."""
    newest: dict[tuple[str, str | None, str, str], Judgment] = {}
    for judgment in judgments:
        key = (judgment.document, judgment.segment, judgment.annotator, judgment.scheme)
        known = newest.get(key)
        if known is None or judgment.revision > known.revision:
            newest[key] = judgment
        elif judgment.revision == known.revision and judgment != known:
            raise InvalidError(
                "judged-same-unit-twice",
                where=Notice("document-segment", document=judgment.document, segment=judgment.segment),
                annotator=judgment.annotator,
                revision=judgment.revision,
            )
    return list(newest.values())


class Entry(msgspec.Struct, frozen=True):
    """A document with the judgments about it: what readers and writers pass along, one at a time.

    Runs of detectors hold judgments without the text they are about; then `document` is None.
    """

    id: str
    document: Document | None
    judgments: tuple[Judgment, ...] = ()

    def __post_init__(self) -> None:
        if self.document is not None and self.document.id != self.id:
            raise InvalidError("entry-holds-document", id=self.id, id2=self.document.id)
        for judgment in self.judgments:
            if judgment.document != self.id:
                raise InvalidError("judgment-about-stands-under", document=judgment.document, id=self.id)

    # What a table and a page are is not the model's affair: the whole package is asked, and only then imported.

    def to_frame(self, of: Literal["judgments", "segments"] = "judgments") -> Frame:
        """The judgments (or the segments) as a table for pandas, polars and DuckDB."""
        frame: Frame = import_module("lapsus").to_frame(self, of)
        return frame

    def _repr_html_(self) -> str | None:
        return str(import_module("lapsus").to_html(self)) if self.document is not None else None


LEARNED = "learned"
"""In a judgment's metadata, and only then: the program learned from people's judgments of the same document."""


def learned_from(judgment: Judgment) -> bool:
    """Whether a program says that it had learned from the document it judged."""
    return judgment.metadata.get(LEARNED) is True


def without_notes(judgment: Judgment) -> Judgment:
    """The same without what a trained program notes of itself, for files whose form is laid down elsewhere.

    What a language model says of its prompt stays: it always stood there.
    """
    kept = {
        name: value
        for name, value in judgment.metadata.items()
        if name != LEARNED
        and not (name == SETTING and isinstance(value, Mapping) and value.keys() == {"model"})
    }
    if len(kept) == len(judgment.metadata):
        return judgment
    return msgspec.structs.replace(judgment, metadata=kept)
