"""What the cards of the shipped models say, worked out anew: one table a model and guideline.

    python benchmarks/cards.py [--only NAME ...]

For each model: the figures on what it was not fitted on, with intervals, as they were found when it was made; which of
the guideline's own examples it tells, by label, in each language it knows; what it never says; what it costs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lapsus.annotators import Annotator
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.library import load_model, model_file, shipped_models
from lapsus.model import Answer, Document, Question, Segment, Span
from lapsus.model.scheme import Example
from lapsus.reports import Table

LANGUAGES = ("en", "ja")
_TIMED = 60


class Told(NamedTuple):
    """An example of a guideline, and whether the model says what it says."""

    language: str
    label: str
    fits: bool
    right: bool
    said: tuple[str, ...]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(shipped_models()), help="which models")
    for name in parser.parse_args().only:
        sys.stdout.write("\n".join(card(name)) + "\n\n")


def card(name: str) -> Iterator[str]:
    """The lines of one model's card."""
    model = load_model(model_file(name))
    yield f"# {name}"
    if isinstance(model, Judge):
        yield from map(str, model.account())
    languages = [one for one in LANGUAGES if one in model.origin_.languages]
    for question in model.scheme.questions:
        told = [one for language in languages for one in examples_told(model, question, language)]
        if told:
            yield table(question.id, told).to_text()
            named = {label for one in told for label in one.said}
            labels = [label.id for label in model.scheme.labels_of(question)]
            yield f"never said of them: {', '.join(one for one in labels if one not in named) or '–'}"
    yield cost(model, name)


def examples_told(model: Annotator, question: Question, language: str) -> Iterator[Told]:
    """The examples of a question's labels, each judged."""
    for label in model.scheme.labels_of(question):
        for example in label.examples.get(language, ()):
            document, marked = as_document(example, language)
            judgments = list(model.judge([document]))
            answer = judgments[-1].answers.get(question.id) if judgments else None
            said, same = names_and_places(document, answer, label.id)
            wanted = (
                (bool(same) and not any(_apart(one, same) for one in marked)) if marked else label.id in said
            )
            yield Told(language, label.id, example.fits, wanted == example.fits, said)


def _apart(wanted: str, found: Iterable[str]) -> bool:
    return not any(one in wanted or wanted in one for one in found)


def table(id: str, told: Sequence[Told]) -> Table:
    """How many examples are told, a row a label."""
    rows = []
    for label in [*dict.fromkeys(one.label for one in told), "all"]:
        row = [label]
        for language in dict.fromkeys(one.language for one in told):
            for fits in (True, False):
                here = [
                    one.right
                    for one in told
                    if one.language == language and one.fits == fits and label in (one.label, "all")
                ]
                row.append(f"{sum(here)} of {len(here)}" if here else "–")
        rows.append(tuple(row))
    head = [
        f"{part}, {one}" for one in dict.fromkeys(one.language for one in told) for part in ("fit", "near")
    ]
    return Table((id, *head), tuple(rows), "The guideline's own examples")


def as_document(example: Example, language: str) -> tuple[Document, set[str]]:
    """An example as a document, and the words in it that are marked by brackets."""
    if example.turns:
        roles = ("user" if turn.startswith("U: ") else "system" for turn in example.turns)
        said = zip(roles, (turn[3:] for turn in example.turns), strict=True)
        segments = [Segment(str(n), role, text) for n, (role, text) in enumerate(said)]  # type: ignore[arg-type]
        return Document("example", tuple(segments), language), set()
    text = example.text or ""
    marked = {one.split("]")[0] for part in (*example.triples, text) for one in part.split("[")[1:]}
    bare = [part.replace("[", "").replace("]", "") for part in (*example.triples, text)]
    data = [Segment.triple(f"t{n}", *one.split(" | ")) for n, one in enumerate(bare[:-1])]
    return Document("example", (*data, Segment("text", "text", bare[-1])), language), marked


def names_and_places(
    document: Document, answer: Answer | None, label: str
) -> tuple[tuple[str, ...], set[str]]:
    """The labels of an answer, and the words that it marks with one of them."""
    answers = answer if isinstance(answer, tuple) else () if answer is None else (answer,)
    spans = [one for one in answers if isinstance(one, Span)]
    words = {document.segment(one.segment).text[one.start : one.end] for one in spans if one.label == label}
    return tuple(one.label if isinstance(one, Span) else str(one) for one in answers), words


def cost(model: Annotator, name: str) -> str:
    """The size of the file, and how long a turn of a chat takes on one machine, with what is read for it."""
    size = model_file(name).stat().st_size / 1e6
    if model.scheme.unit.role != "system":
        return f"costs: {size:.1f} MB"
    chats = [_chat(number) for number in range(_TIMED // 5)]
    list(model.judge(chats[:1]))
    begin = time.perf_counter()
    turns = len(list(model.judge(chats[1:])))
    return f"costs: {size:.1f} MB, {1000 * (time.perf_counter() - begin) / max(turns, 1):.0f} ms a turn"


def _chat(number: int) -> Document:
    turns = []
    for turn in range(10):
        said = (
            f"Did you count {number * 7 + turn} sheep?"
            if turn % 2 == 0
            else f"Yes, by {turn + number} o'clock."
        )
        turns.append(Segment(str(turn), "system" if turn % 2 else "user", said))
    return Document(f"chat-{number}", tuple(turns), "en")


if __name__ == "__main__":
    main()
