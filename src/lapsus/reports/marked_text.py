"""A document in a notebook: its segments, with marks on the text and what was answered below.

The page around it is not ours and may be light or dark, so that marks tint what lies below them and text keeps its
colour. Nothing in it runs, and nothing is loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from markupsafe import Markup

from lapsus.errors import UsageError
from lapsus.kinds import Kind, kinds_of
from lapsus.model import Document, Entry, Judgment, Segment, Span, in_language, latest
from lapsus.notices import Notice
from lapsus.reports.html_page import plain
from lapsus.schemes import known_scheme

SHOWN: Final = 100
"""Segments that are shown of a long document."""
NAMED: Final = 3
"""Annotators that are named of many who said the same."""
_TINTS: Final = ("230,159,0", "0,114,178", "0,158,115", "204,121,167", "213,94,0", "86,180,233", "160,140,0")
"""Colours that also those tell apart who see fewer of them; the label stands beside each mark in any case."""
_STYLE: Final = Markup(
    ".lapsus-document{max-width:52rem;line-height:1.7;overflow-wrap:anywhere}"
    ".lapsus-document p{margin:.2rem 0;white-space:pre-wrap}"
    ".lapsus-document mark{color:inherit;border-radius:.2em;padding:.05em 0}"
    ".lapsus-document .role,.lapsus-document sup,.lapsus-document .answers{opacity:.75;font-size:.8em}"
    ".lapsus-document .answers{margin:0 0 .5rem 1rem;padding:0;list-style:none}"
)


class Mark(NamedTuple):
    """A span, who marked it, and what its label is called."""

    span: Span
    annotators: tuple[str, ...]
    name: str


def to_html(data: Entry | Document, language: str = "en") -> str:
    """A document as a piece of HTML: marks are highlighted with their labels, other answers stand below the turn."""
    entry = Entry(data.id, data) if isinstance(data, Document) else data
    if entry.document is None:
        raise UsageError("judgments-without-their-text", where=Notice("document", document=entry.id))
    judgments = latest(entry.judgments)
    marks = _marks(judgments, language)
    tints = _tints(judgments, marks)
    segments = entry.document.segments
    shown = [
        _segment(segment, [mark for mark in marks if mark.span.segment == segment.id], tints)
        + _answers([judgment for judgment in judgments if judgment.segment == segment.id], language)
        for segment in segments[:SHOWN]
    ]
    if len(segments) > SHOWN:
        shown.append(Markup("<p>… {:,} more</p>").format(len(segments) - SHOWN))
    shown.append(_answers([judgment for judgment in judgments if judgment.segment is None], language))
    return str(
        Markup('<style>{}</style><div class="lapsus-document"><p><strong>{}</strong></p>{}</div>').format(
            _STYLE, plain(entry.id), Markup("").join(shown)
        )
    )


def _marks(judgments: Sequence[Judgment], language: str) -> list[Mark]:
    names = _label_names(judgments, language)
    found: dict[tuple[str, int, int, str], tuple[Span, list[str]]] = {}
    for judgment in judgments:
        for answer in judgment.answers.values():
            for span in answer if isinstance(answer, tuple) else ():
                if isinstance(span, Span):
                    place = (span.segment, span.start, span.end, span.label)
                    found.setdefault(place, (span, []))[1].append(judgment.annotator)
    return [Mark(span, tuple(who), names.get(span.label, span.label)) for span, who in found.values()]


def _segment(segment: Segment, marks: Sequence[Mark], tints: Mapping[str, str]) -> Markup:
    return Markup('<p><span class="role">{}</span> {}</p>').format(
        segment.role, Markup("").join(_pieces(segment.text, marks, tints))
    )


def _pieces(text: str, marks: Sequence[Mark], tints: Mapping[str, str]) -> Iterator[Markup]:
    """The text cut where marks begin and end: marks that cross each other are no nested elements."""
    inside = [mark for mark in marks if mark.span.end <= len(text)]
    edges = sorted({0, len(text), *(edge for mark in inside for edge in (mark.span.start, mark.span.end))})
    for start, end in pairwise(edges):
        over = [mark for mark in inside if mark.span.start <= start and end <= mark.span.end]
        piece = plain(text[start:end], limit=end - start)
        if not over:
            yield Markup("{}").format(piece)
            continue
        colours = dict.fromkeys(tints[mark.span.label] for mark in over)
        layers = ",".join(f"linear-gradient(rgba({one},.35),rgba({one},.35))" for one in colours)
        ending = [mark for mark in over if mark.span.end == end]
        labels = "; ".join(f"{mark.name} ({_named(mark.annotators)})" for mark in ending)
        yield Markup('<mark style="background:{}" title="{}">{}</mark>{}').format(
            layers,
            plain("; ".join(mark.name for mark in over)),
            piece,
            Markup("<sup> {} </sup>").format(plain(labels)) if labels else "",
        )


def _label_names(judgments: Sequence[Judgment], language: str) -> dict[str, str]:
    schemes = dict.fromkeys(judgment.scheme for judgment in judgments)
    kinds = [kind for scheme in schemes for kind in _kinds(scheme).values() if kind.on_text]
    return {id: name for kind in kinds for id, name in kind.choice_names(language).items()}


def _tints(judgments: Sequence[Judgment], marks: Sequence[Mark]) -> dict[str, str]:
    """A colour a label, the same in every document of a scheme."""
    schemes = dict.fromkeys(judgment.scheme for judgment in judgments)
    kinds = [kind for scheme in schemes for kind in _kinds(scheme).values() if kind.on_text]
    labels = dict.fromkeys([*(id for kind in kinds for id in kind.label_ids), *(m.span.label for m in marks)])
    return {label: _TINTS[place % len(_TINTS)] for place, label in enumerate(labels)}


def _answers(judgments: Sequence[Judgment], language: str) -> Markup:
    """What was answered besides marks: a line a question, each answer with who gave it or how many."""
    said: dict[str, dict[str, list[str]]] = {}
    for judgment in judgments:
        kinds = _kinds(judgment.scheme)
        for question, answer in judgment.answers.items():
            kind = kinds.get(question)
            if isinstance(answer, tuple) and any(isinstance(part, Span) for part in answer):
                continue
            fits = kind is not None and kind.holds(answer)
            words = ", ".join(kind.in_words(answer, language, True)) if kind and fits else str(answer)
            name = in_language(kind.question.name, language) if kind else question
            # Where lists say "Soundness 5", here the question's name stands before it already.
            shown = words.removeprefix(f"{name} ") or "–"
            said.setdefault(name, {}).setdefault(shown, []).append(judgment.annotator)
    items = [
        Markup("<li>{}: {}</li>").format(
            plain(name), plain("; ".join(f"{words} ({_named(who)})" for words, who in answers.items()))
        )
        for name, answers in said.items()
    ]
    return Markup('<ul class="answers">{}</ul>').format(Markup("").join(items)) if items else Markup("")


def _named(annotators: Sequence[str]) -> str:
    return ", ".join(annotators) if len(annotators) <= NAMED else f"{len(annotators)}"


def _kinds(scheme: str) -> dict[str, Kind]:
    return kinds_of(found) if (found := known_scheme(scheme)) else {}
