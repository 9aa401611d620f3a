"""What the cards of the shipped models say, worked out anew.

    python benchmarks/cards.py [--only NAME ...] [--write]

For each model: the figures on what it was not fitted on, with intervals, as they were found when it was made; which of
the guideline's own examples it tells, by label, in each language it knows; what it never says of them; what it costs.
`--write` puts them into its page in docs/annotators.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from benchmark import HERE, write
from lapsus.annotators import Annotator
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.learning import report_table
from lapsus.annotators.library import load_model, model_file, shipped_models
from lapsus.model import Answer, Document, Question, Segment, Span
from lapsus.model.scheme import Example

LANGUAGES = ("en", "ja")
LEVELS_TOLD = ("level", "or next to it")
PAGES = HERE.parent / "docs" / "annotators"
_TIMED = 60


class Told(NamedTuple):
    """An example of a guideline, and whether the model says what it says."""

    language: str
    label: str
    fits: bool
    right: bool
    said: tuple[str, ...]


def main() -> None:
    """Print the tables, each model's from a process of its own: what one needs of memory is then its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=list(shipped_models()), help="which models")
    parser.add_argument("--write", action="store_true", help="put what is printed into docs/annotators")
    asked = parser.parse_args()
    for name in asked.only:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            sections = alone.submit(made, name).result()
        sys.stdout.write("\n\n".join([f"# {name}", *sections.values(), ""]))
        if asked.write:
            page = next(one for one in (name, name.removesuffix("-en")) if (PAGES / f"{one}.md").is_file())
            for section, card in sections.items():
                write(PAGES / f"{page}.md", section, card)


def made(name: str) -> dict[str, str]:
    """The sections of one model's page: of a judge the figures that it holds, and what is worked out here."""
    model = load_model(model_file(name))
    sections = {}
    if isinstance(model, Judge) and model.reports_:
        held = report_table(model.reports_)
        sections["figures"] = markdown(held.columns, [[str(cell) for cell in row] for row in held.rows])
    languages = [one for one in LANGUAGES if one in model.origin_.languages]
    tables, silent = [], []
    left = model.unanswered if isinstance(model, Judge) else []
    for question in (one for one in model.scheme.questions if one.id not in left):
        told = [one for language in languages for one in examples_told(model, question, language)]
        if told:
            tables.append(table(question.id, told))
            labels = [label.id for label in model.scheme.labels_of(question)]
            said = {label for one in told for label in one.said}
            silent += [f"`{one}`" for one in labels if labels[0] != one and one not in said]
    levels = [one for question in model.scheme.questions for one in levels_told(model, question, languages)]
    if levels:
        head = ("question", *(f"{part}, {one}" for one in languages for part in LEVELS_TOLD))
        tables.append(markdown(head, levels))
    lines = [
        *tables,
        f"Never said of them: {', '.join(silent) or '–'}.",
        cost(model, name),
    ]
    return {**sections, "examples": "\n\n".join(lines)}


def levels_told(model: Annotator, question: Question, languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A row for a question with levels: of how many of its examples the model gives the level, and nearly."""
    row = [question.id]
    for language in languages:
        off = []
        for example in question.examples.get(language, ()) if question.kind == "scale" else ():
            document, _ = as_document(example, language)
            answer = list(model.judge([document]))[-1].answers.get(question.id)
            if isinstance(answer, int | float) and isinstance(example.answer, int):
                off.append(abs(answer - example.answer))
        examples = len(question.examples.get(language, ()))
        row += [
            f"{sum(one <= most for one in off)} of {examples}" if off else "not answered" for most in (0, 1)
        ]
    if question.kind == "scale" and question.examples:
        yield tuple(row)


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


def table(id: str, told: Sequence[Told]) -> str:
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
    languages = dict.fromkeys(one.language for one in told)
    return markdown((id, *(f"{part}, {one}" for one in languages for part in ("fit", "near"))), rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of a page."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
    """The size of the file, the memory, and how long a turn of a chat takes, with what is read for it."""
    told = f"Costs: {model_file(name).stat().st_size / 1e6:.1f} MB on disk"
    if model.scheme.unit.role == "system":
        language = next(one for one in LANGUAGES if one in model.origin_.languages)
        chats = [_chat(number, language) for number in range(_TIMED // 5)]
        list(model.judge(chats[:1]))
        begin = time.process_time()
        turns = len(list(model.judge(chats[1:])))
        told += f", {1000 * (time.process_time() - begin) / max(turns, 1):.0f} ms of a core a turn"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{told}, {memory:.0f} MB of memory with Python and all that it reads with."


_SAID = {
    "en": ("Did you count {} sheep?", "Yes, by {} o'clock."),
    "ja": ("羊を{}匹数えましたか。", "はい、{}時までに。"),
}


def _chat(number: int, language: str) -> Document:
    asked, answered = _SAID[language]
    turns = []
    for turn in range(10):
        said = answered.format(turn + number) if turn % 2 else asked.format(number * 7 + turn)
        turns.append(Segment(str(turn), "system" if turn % 2 else "user", said))
    return Document(f"chat-{number}", tuple(turns), language)


if __name__ == "__main__":
    main()
