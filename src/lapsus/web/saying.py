"""A judgment in a few words, for lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from lapsus.model import Answer, Question, Scheme, Span, Unit, in_language

LONGEST = 160


def in_words(scheme: Scheme, answers: Mapping[str, Answer], language: str) -> list[str]:
    """What was said, question by question, with labels by their names; how many of each, of spans."""
    found: list[str] = []
    for question in scheme.questions:
        if (answer := answers.get(question.id)) is not None:
            found.extend(_words(scheme, question, answer, language))
    return found


def excerpt(unit: Unit) -> str:
    """The text that was judged, or its beginning; of a whole document, the last there is to read."""
    segment = unit.target or unit.visible[-1]
    return _short(segment.text)


def _words(scheme: Scheme, question: Question, answer: Answer, language: str) -> Iterator[str]:
    about = in_language(question.name, language)
    names = {label.id: in_language(label.name, language) for label in scheme.labels_of(question)}
    if question.kind == "label":
        name = names.get(str(answer), str(answer))
        is_only = sum(other.kind == "label" for other in scheme.questions) == 1
        yield name if is_only else f"{about}: {name}"
    elif isinstance(answer, tuple):
        labels = Counter(part.label if isinstance(part, Span) else part for part in answer)
        for label, times in labels.items():
            yield names.get(label, label) + (f" × {times}" if times > 1 else "")
    elif question.kind == "scale":
        yield f"{about} {answer}"
    else:
        yield _short(str(answer))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
