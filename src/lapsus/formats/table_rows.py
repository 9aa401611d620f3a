"""The long table: a row a judgment and answer, and a row for each of several labels or spans."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from lapsus.errors import InputError
from lapsus.kinds import KINDS, Kind, likely_kind
from lapsus.model import Answer, Entry, Judgment, Segment
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes import known_scheme

Cell: TypeAlias = Any
"""A text, a number or None. In others' Parquet files also a time."""


class Row(NamedTuple):
    """The columns, in order."""

    document: Cell
    segment: Cell
    role: Cell
    text: Cell
    scheme: Cell
    version: Cell
    annotator: Cell
    revision: Cell
    question: Cell = None
    kind: Cell = None
    answer: Cell = None
    span_segment: Cell = None
    span_start: Cell = None
    span_end: Cell = None
    tie: Cell = None
    quote: Cell = None
    at: Cell = None
    seconds: Cell = None
    distribution: Cell = None
    metadata: Cell = None
    system: Cell = None


COLUMNS = Row._fields
NEEDED = ("document", "segment", "scheme", "version", "annotator", "question", "kind", "answer")
FOR_THE_EYE = frozenset({"role", "text", "quote", "system"})
"""Columns taken from the document, so that a row can be understood. They are not read back."""
WHOLE = frozenset({"revision", "span_start", "span_end"})
DECIMAL = frozenset({"seconds"})


def has_columns(header: Sequence[str]) -> bool:
    """Whether this is the header of such a table."""
    return set(header) >= set(NEEDED)


def places(header: Sequence[str], where: str) -> list[int | None]:
    """Where each of our columns stands in a file; None for one that is not there or not read."""
    for column in NEEDED:
        if column not in header:
            raise InputError(
                "no-column-2", where=where, hint="needed", column=column, needed=", ".join(NEEDED)
            )
    for column in header:
        if column not in COLUMNS:
            hint = Notice("take-out-rename", did_you_mean=did_you_mean(column, list(COLUMNS)))
            raise InputError("unknown-column", where=where, hint=hint, column=column)
        if list(header).count(column) > 1:
            raise InputError("two-columns-called", where=where, hint="take-one-out", doubled=column)
    read = set(header) - FOR_THE_EYE
    return [header.index(column) if column in read else None for column in COLUMNS]


def rows_of(entry: Entry) -> Iterator[Row]:
    """The rows of an entry; those of one judgment follow each other."""
    document = entry.document
    segments = {segment.id: segment for segment in document.segments} if document else {}
    for judgment in tellable(entry.judgments):
        judged = segments.get(judgment.segment or "")
        common = Row(
            document=judgment.document,
            segment=judgment.segment,
            role=judged.role if judged else None,
            text=judged.text if judged else None,
            scheme=judgment.scheme,
            version=judgment.version,
            annotator=judgment.annotator,
            revision=judgment.revision,
            at=msgspec.to_builtins(judgment.at),
            seconds=judgment.seconds,
            metadata=_json(judgment.metadata) if judgment.metadata else None,
            system=document.system if document else None,
        )
        yield from _answers(judgment, common, segments)


def tellable(judgments: Iterable[Judgment]) -> Iterator[Judgment]:
    """Those that rows can keep apart: an annotator's first about a unit in each version and revision."""
    seen = set()
    for judgment in judgments:
        key = (judgment.segment, judgment.scheme, judgment.version, judgment.annotator, judgment.revision)
        if key not in seen and judgment.segment != "":
            seen.add(key)
            yield judgment


def _answers(judgment: Judgment, common: Row, segments: Mapping[str, Segment]) -> Iterator[Row]:
    scheme = known_scheme(judgment.scheme)
    kinds = {question.id: KINDS.get(question.kind) for question in scheme.questions} if scheme else {}
    questions = dict.fromkeys((*judgment.answers, *judgment.distributions))
    for question in questions:
        shares = judgment.distributions.get(question)
        row = common._replace(question=question, distribution=None if shares is None else _json(shares))
        if question in judgment.answers:
            yield from _answer(row, judgment.answers[question], kinds.get(question), segments)
        else:
            yield row
    if not questions:
        yield common


def _answer(
    row: Row, answer: Answer, kind: type[Kind] | None, segments: Mapping[str, Segment]
) -> Iterator[Row]:
    """The rows of an answer, by its question's kind if it is of that kind, else by what it looks like."""
    fitting = kind if kind is not None and kind.holds(answer) else likely_kind(answer)
    if isinstance(answer, tuple) and not fitting.holds(answer):
        for part in answer:
            yield from _answer(row, (part,), None, segments)
        return
    for cells in fitting.cells(answer):
        segment = segments.get(cells["span_segment"]) if "span_segment" in cells else None
        quote = segment.text[cells["span_start"] : cells["span_end"]] if segment else None
        yield row._replace(kind=fitting.name, quote=quote, **cells)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
