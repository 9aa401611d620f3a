"""What a language model is told: the scheme's own words in a short frame, and a unit as data."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from lapsus.annotators.language_model.aligned import Aligned
from lapsus.annotators.language_model.prompt_frames import has_frame, prompt_frame
from lapsus.annotators.language_model.reply import REASON, answer_schema, is_optional_text
from lapsus.errors import UsageError
from lapsus.kinds import kind_of, kinds_of
from lapsus.model import Label, Notes, Question, Role, Scheme, Segment, Unit, in_language
from lapsus.model.scheme import Axes, Example, Examples
from lapsus.schemes.manual import GuidelineWords


class Prompt(NamedTuple):
    """The words that every unit of a scheme is judged by, in one language."""

    scheme: Scheme
    language: str
    system: str
    """Role, guideline, and how to answer."""
    schema: Mapping[str, Any]
    """The JSON schema of the answer."""
    digest: str
    """A few letters that differ where prompts differ; every judgment carries them."""

    def again(self, problems: Iterable[str]) -> str:
        """What is said of an answer that cannot be taken."""
        return _again(problems, self.language)


def make_prompt(
    scheme: Scheme,
    language: str | None = None,
    *,
    examples: int | None = None,
    reasons: bool = False,
    aligned: Aligned | None = None,
) -> Prompt:
    """The prompt of a scheme; `examples`: at most so many of each kind, all by default; `reasons`: ask why, too.

    `aligned`: what is added so that a model answers as people do. It is written in one language, and that holds.
    """
    if aligned is not None:
        aligned.must_fit(scheme)
        if language not in (None, aligned.language):
            raise UsageError("aligned-other-language", hint="align-again", language=aligned.language)
        language = aligned.language
    if language is not None and language not in scheme.languages:
        known = ", ".join(scheme.languages)
        raise UsageError("not-written", hint="languages", id=scheme.id, language=language, known=known)
    chosen = language or fitting_language(scheme, None)
    if reasons and scheme.question(REASON) is not None:
        raise UsageError("question-own", hint="asked-anyway", id=scheme.id, reason=REASON)
    system = "\n\n".join(_Guideline(scheme, chosen, examples, reasons, aligned).blocks())
    schema = answer_schema(scheme, reasons=reasons)
    parts = [system, schema, _again(["…"], chosen)]
    return Prompt(scheme, chosen, system, schema, _digest(json.dumps(parts)))


def fitting_language(scheme: Scheme, language: str | None) -> str:
    """The language to ask in about a document: its own where the scheme has it, else English, else the first."""
    for wanted in ((language or "").partition("-")[0], "en"):
        if wanted in scheme.languages:
            return wanted
    return scheme.languages[0]


def unit_message(unit: Unit) -> str:
    """A unit as one line of JSON. Nothing in a text can end its string, so it stays data."""
    return _line(unit_data(unit))


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def unit_digest(unit: Unit) -> str:
    """A few letters that differ where a model is told something else about a unit."""
    return _digest(unit_message(unit))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def unit_data(unit: Unit) -> dict[str, Any]:
    """What a model gets to see of a unit: ids, roles and texts, and nothing that a person would not see."""
    context = [_segment(segment) for segment in unit.context]
    if unit.target is None:
        return {"document": context}
    target = {"target": _segment(unit.target)}
    return {"context": context, **target} if context else target


def _segment(segment: Segment) -> dict[str, str]:
    return {"id": segment.id, "role": segment.role, "text": segment.text}


def _again(problems: Iterable[str], language: str) -> str:
    lines = [
        prompt_frame("again", language),
        *(f"- {problem}" for problem in problems),
        prompt_frame("again-end", language),
    ]
    return "\n".join(lines)


class _Guideline:
    """A scheme as text."""

    def __init__(
        self, scheme: Scheme, language: str, examples: int | None, reasons: bool, aligned: Aligned | None
    ) -> None:
        self.scheme, self.language, self.most, self.reasons = scheme, language, examples, reasons
        self.aligned = aligned
        self.words = GuidelineWords(scheme, language)
        self.text, self.word = self.words.text, self.words.word

    def blocks(self) -> Iterator[str]:
        """The parts of the prompt, in order."""
        scheme = self.scheme
        yield prompt_frame("role", self.language)
        title = self.text(scheme.title)
        yield "# " + prompt_frame("guideline", self.language, title=title, version=scheme.version)
        yield self.text(scheme.summary)
        yield f"{self.word('unit')}: {self._unit()}"
        for section in scheme.background:
            yield f"## {self.text(section.title)}"
            yield self.text(section.text)
        if scheme.steps:
            yield f"## {self.word('steps')}"
            for place, step in enumerate(scheme.steps, 1):
                yield f"{place}. {self.text(step.title)}\n{self.text(step.text)}"
        for question in scheme.questions:
            yield from self._question(question)
        yield from self._lists()
        if self.aligned is not None and self.aligned.clauses:
            yield "## " + prompt_frame("aligned-clauses", self.language)
            yield from _listed(self.aligned.clauses)
        yield from self._input()
        yield from self._answer()
        if self.aligned is not None and self.aligned.examples:
            yield "# " + prompt_frame("aligned-examples", self.language)
            for shot in self.aligned.examples:
                yield f"{_line(shot.unit)}\n→ {_line(shot.answer)}"

    def _unit(self) -> str:
        rule = self.scheme.unit
        if rule.role == "document":
            return self.word("unit-document")
        between = "" if self.language == "ja" else " "
        return self.word(f"unit-{rule.role}") + between + self.word(f"context-{rule.context}")

    def _question(self, question: Question) -> Iterator[str]:
        optional = "" if question.required else f" ({self.word('optional')})"
        yield f"## {question.id}: {self.text(question.name)}{optional}"
        yield self.text(question.ask)
        yield from _listed(self.words.rules(question))
        yield from self._notes(question.notes)
        if question.axes:
            yield from self._grid(question.axes)
        yield from _listed(f"{level.value}: {self.text(level.meaning)}" for level in question.levels)
        for name in (question.reference, question.labels_from):
            if name:
                yield self.word("see-list", title=self.words.list_title(name))
        yield from self._examples(question.examples)
        if question.suggest:
            yield f"{self.word('suggested')}: {' / '.join(self.text(question.suggest))}"
        for label in question.labels:
            yield from self._label(label, question.axes)

    def _grid(self, axes: Axes) -> Iterator[str]:
        values = [(axis.name, value) for axis in (axes.rows, axes.columns) for value in axis.values]
        yield from _listed(
            f"{self.text(name)}: {self.text(value.name)}: {self.text(value.definition)}"
            for name, value in values
        )
        yield from _listed(
            f"{self._cell(axes, cell.at)}: {self.text(cell.definition)}" for cell in axes.cells
        )

    def _cell(self, axes: Axes, at: tuple[str, str]) -> str:
        """A place in the grid by the names of its row and its column."""
        pairs = zip((axes.rows, axes.columns), at, strict=True)
        names = [self.text(value.name) for axis, id in pairs for value in axis.values if value.id == id]
        return " × ".join(names)

    def _label(self, label: Label, axes: Axes | None) -> Iterator[str]:
        number = "" if label.number is None else f"{label.number} "
        yield f"### {label.id}: {number}{self.text(label.name)}"
        where = [self.word(f"on-{label.on}")] if label.on else []
        where += [self.word(f"covers-{label.covers}")] if label.covers else []
        where += [self._cell(axes, label.cell)] if axes and label.cell else []
        if where:
            yield " · ".join(where)
        yield self.text(label.definition)
        yield from self._notes(label.notes)
        yield from self._examples(label.examples)

    def _notes(self, notes: Notes) -> Iterator[str]:
        if notes:
            yield from _listed(self.text(notes))

    def _examples(self, examples: Examples) -> Iterator[str]:
        if examples:
            yield from _listed(self._example(example) for example in self._few(self.text(examples)))

    def _few(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The first examples of each kind: those that fit, those that do not, those of each level."""
        seen: dict[Any, int] = {}
        for example in examples:
            kind = (example.fits, example.answer)
            seen[kind] = seen.get(kind, 0) + 1
            if self.most is None or seen[kind] <= self.most:
                yield example

    def _example(self, example: Example) -> str:
        if example.fits is not None:
            said = self.word("fits" if example.fits else "fits-not")
        else:
            level = f"{self.word('level')} " if isinstance(example.answer, int) else ""
            said = f"{level}{example.answer}"
        shown = " / ".join([*example.turns, *example.triples, *([example.text] if example.text else [])])
        return f"{said}: {shown} → {example.why}"

    def _lists(self) -> Iterator[str]:
        for reference in self.scheme.lists:
            yield f"## {self.text(reference.title)}"
            for group in reference.groups:
                yield f"### {self.text(group.name)}"
                yield from _listed(
                    f"{item.id}: {self.text(item.name)}: {self.text(item.definition)}"
                    + (f" ({' / '.join(self.text(item.examples))})" if item.examples else "")
                    for item in group.items
                )

    def _input(self) -> Iterator[str]:
        rule = self.scheme.unit
        yield "# " + prompt_frame("input-heading", self.language)
        yield prompt_frame("input", self.language)
        how = "document" if rule.role == "document" else rule.context
        yield prompt_frame(f"input-{how}", self.language)
        yield prompt_frame("input-segment", self.language, roles=", ".join(get_args(Role)))

    def _answer(self) -> Iterator[str]:
        yield "# " + prompt_frame("answer-heading", self.language)
        yield prompt_frame("answer", self.language)
        keys = {q.id: self._expected(q) for q in sorted(self.scheme.questions, key=is_optional_text)}
        keys |= {REASON: prompt_frame("answer-reason", self.language)} if self.reasons else {}
        yield "\n".join(f'- "{key}": {expected}' for key, expected in keys.items())
        if any(kind.on_text for kind in kinds_of(self.scheme).values()):
            yield prompt_frame("marks", self.language)

    def _expected(self, question: Question) -> str:
        kind = kind_of(question, self.scheme)
        name = f"answer-{kind.name}"
        said = (
            prompt_frame(name, self.language, **kind.prompt_values())
            if has_frame(name)
            else in_language(kind.expected, self.language)
        )
        if question.only_if is not None:
            said = prompt_frame("answer-asked", self.language, answer=said)
        return said if question.required else prompt_frame("answer-optional", self.language, answer=said)


def _listed(items: Iterable[str]) -> Iterator[str]:
    """Items as one block, each in a line of its own; nothing where there are none. An item's own lines are set in."""
    if lines := [f"- {item.strip()}".replace("\n", "\n  ") for item in items]:
        yield "\n".join(lines)
