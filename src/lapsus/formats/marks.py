"""What formats of marks have in common: the question they answer, lines between them, people who change them.

Brat and Label Studio keep beside what they show what Lapsus knew when it wrote. Where the two no longer agree,
somebody has judged anew: the old judgment stays, and the change is its next revision.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lapsus.kinds import kinds_of
from lapsus.model import Answer, Document, Judgment, Question, Scheme, Span
from lapsus.schemes import known_scheme

SCHEME = "semantic-errors"
"""The scheme of marks that Lapsus did not write, and that is offered where nobody has marked anything yet."""
UNANNOTATED = "unannotated"
"""The folder of documents that nobody has judged."""
_LAST_OF_ONE_UNIT = "\uffff"


def marks_question(scheme: Scheme | str) -> Question | None:
    """The question that marks answer, of a scheme or of a known one by its name."""
    found = known_scheme(scheme) if isinstance(scheme, str) else scheme
    kinds = kinds_of(found).values() if found else ()
    return next((kind.question for kind in kinds if kind.on_text), None)


def spans_of(judgment: Judgment, question: Question) -> tuple[Span, ...]:
    """The marks of a judgment."""
    answer = judgment.answers.get(question.id)
    return tuple(item for item in answer if isinstance(item, Span)) if isinstance(answer, tuple) else ()


def newest(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The newest revision of each judgment, in first-seen order."""
    found: dict[tuple[str, str, str | None], Judgment] = {}
    for judgment in judgments:
        key = (judgment.annotator, judgment.scheme, judgment.segment)
        if key not in found or judgment.revision > found[key].revision:
            found[key] = judgment
    return list(found.values())


def revised(judgment: Judgment, answers: Mapping[str, Answer]) -> Judgment:
    """The same annotator's next revision. When it was made and how long it took is not known."""
    return Judgment(
        judgment.document,
        judgment.segment,
        judgment.annotator,
        judgment.scheme,
        judgment.version,
        answers,
        revision=judgment.revision + 1,
    )


def lies_in(span: Span, document: Document) -> bool:
    """Whether a span stands where the document has text."""
    return any(segment.id == span.segment and span.end <= len(segment.text) for segment in document.segments)


def links(spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """Which spans to draw a line between, by place: each with the one before it that has the same tie."""
    last: dict[str, int] = {}
    for place, span in enumerate(spans):
        if span.tie is not None:
            if span.tie in last:
                yield last[span.tie], place
            last[span.tie] = place


def tied(
    marks: Mapping[str, Sequence[Span]], lines: Iterable[tuple[str, str]], document: Document
) -> tuple[Span, ...]:
    """The spans of marks, in the order of the text. Marks that lines join, also in a chain, share a tie."""
    joined: dict[str, str] = {}
    for one, other in lines:
        joined.setdefault(one, one)
        joined.setdefault(other, other)
        joined[_end(joined, one)] = _end(joined, other)
    order = {segment.id: place for place, segment in enumerate(document.segments)}
    found = [(order[s.segment], s.start, s.end, s.label, mark, s) for mark, own in marks.items() for s in own]
    names: dict[str, str] = {}
    spans = []
    for *_, mark, span in sorted(found, key=lambda item: item[:4]):
        tie = names.setdefault(_end(joined, mark), str(len(names) + 1)) if mark in joined else None
        spans.append(msgspec.structs.replace(span, tie=tie))
    return tuple(spans)


def _end(joined: dict[str, str], mark: str) -> str:
    """The mark that stands for all that are joined with this one."""
    while joined[mark] != mark:
        # Every step also shortens the way for the next one.
        joined[mark] = joined[joined[mark]]
        mark = joined[mark]
    return mark


def to_utf16(text: str, at: int) -> int:
    """Code points before a place, as UTF-16 units."""
    return at if text.isascii() else at + sum(sign > _LAST_OF_ONE_UNIT for sign in text[:at])


def from_utf16(text: str, at: int) -> int | None:
    """UTF-16 units before a place, as code points; None in the middle of a sign or beyond the end."""
    if text.isascii() or max(text) <= _LAST_OF_ONE_UNIT:
        return at if at <= len(text) else None
    units = 0
    for place, sign in enumerate(text):
        if units >= at:
            return place if units == at else None
        units += 2 if sign > _LAST_OF_ONE_UNIT else 1
    return len(text) if units == at else None
