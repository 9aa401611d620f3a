"""The printable manual: a page made from the scheme file alone."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar

import regex
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from lapsus.errors import UsageError
from lapsus.kinds import kind_of
from lapsus.kinds.messages import join
from lapsus.model import Question, Scheme, in_language
from lapsus.schemes.library import load_scheme, scheme_names
from lapsus.word_files import word_file

T = TypeVar("T")

_MARKED = regex.compile(r"\[([^\]]+)\]")


class Way(NamedTuple):
    """Somewhere to go from the page, and the language of its name where that is another."""

    name: str
    address: str
    language: str | None = None


def manual(scheme: Scheme, language: str, ways: Sequence[Way] = ()) -> str:
    """The guideline as one self-contained HTML page, for the screen and for paper; `ways` lead on from it."""
    if language not in scheme.languages:
        known = ", ".join(scheme.languages)
        raise UsageError("not-written", hint="languages", id=scheme.id, language=language, known=known)
    page = GuidelineWords(scheme, language)
    return (
        _environment()
        .get_template("manual.html")
        .render(
            scheme=scheme,
            language=language,
            ways=ways,
            style=Markup((files("lapsus.schemes") / "templates/manual.css").read_text(encoding="utf-8")),  # noqa: S704  our own file
            t=page.text,
            w=page.word,
            rules_of=page.rules,
            list_title=page.list_title,
            target_labels=page.target_labels,
            target_title=page.target_title,
        )
    )


class GuidelineWords:
    """A guideline in one language, and the fixed words around it: for the manual, and for whoever else reads it."""

    def __init__(self, scheme: Scheme, language: str) -> None:
        self.scheme = scheme
        self.language = language

    def text(self, words: Mapping[str, T]) -> T:
        """What the scheme says, in the language."""
        return in_language(words, self.language)

    def word(self, name: str, **values: object) -> str:
        """One of the fixed words."""
        template: str = in_language(
            word_file("lapsus.schemes", "data/manual-words.yaml")[name], self.language
        )
        return template.format(**values)

    def list_title(self, id: str) -> str:
        """What a reference list is called."""
        reference = self.scheme.reference(id)
        return self.text(reference.title) if reference else id

    def target_title(self) -> str:
        """What the guideline is called by whose labels turns are chosen."""
        if (target := self.scheme.target) is None:
            return ""
        return (
            self.text(load_scheme(target.scheme).title) if target.scheme in scheme_names() else target.scheme
        )

    def target_labels(self) -> str:
        """The labels by which turns are chosen, each with its name under the guideline that has it."""
        if (target := self.scheme.target) is None:
            return ""
        found = load_scheme(target.scheme) if target.scheme in scheme_names() else None
        question = found.question(target.question) if found else None
        brackets = "{}（{}）" if self.language == "ja" else "{} ({})"
        names = []
        for id in target.labels:
            label = question.label(id) if question else None
            names.append(brackets.format(id, self.text(label.name)) if label else id)
        return " / ".join(names)

    def rules(self, question: Question) -> list[str]:
        """The rules that hold for a question, in words."""
        found: list[str] = []
        if question.only_if is not None and (before := self.scheme.question(question.only_if.question)):
            given = join([self._answer(before, answer) for answer in question.only_if.answers], " / ")
            found.append(self.word("rule-only-if", question=self.text(before.name), answers=self.text(given)))
        if (rule := kind_of(question, self.scheme).manual_rule()) is not None:
            found.append(self.word(rule))
        if question.at_least:
            found.append(self.word("rule-at-least", limit=question.at_least))
        if question.at_most is not None:
            found.append(self.word("rule-at-most", limit=question.at_most))
        if question.in_order:
            found.append(self.word("rule-in-order"))
        if question.alone:
            names = join([self._name(question, id) for id in question.alone])
            found.append(self.word("rule-alone", labels=self.text(names)))
        for rule, pairs in (("rule-apart", question.apart), ("rule-ties", question.ties)):
            for first, second in pairs:
                names_of = {"first": self._name(question, first), "second": self._name(question, second)}
                found.append(self.word(rule, **names_of))
        if calculator := question.calculator:
            counts = {"part": self.text(calculator.part), "whole": self.text(calculator.whole)}
            found.append(self.word("calculator", **counts, times=calculator.times, least=calculator.least))
        return found

    def _answer(self, question: Question, answer: int | str) -> str:
        meaning = next((level.meaning for level in question.levels if level.value == answer), None)
        return self._name(question, str(answer)) if meaning is None else f"{answer}: {self.text(meaning)}"

    def _name(self, question: Question, id: str) -> str:
        label = question.label(id)
        if label is None:
            return id
        name = self.text(label.name)
        return f"{label.number} {name}" if label.number is not None else name


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("lapsus.schemes"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["prose"] = _prose
    environment.filters["marked"] = _marked
    return environment


def _prose(text: str) -> Markup:
    """Paragraphs at blank lines, list items at lines that begin with a hyphen."""
    blocks: list[Markup] = []
    for block in regex.split(r"\n\s*\n", text.strip()):
        lines = block.splitlines()
        plain = [line for line in lines if not line.startswith("- ")]
        items = [line[2:] for line in lines if line.startswith("- ")]
        if plain:
            blocks.append(Markup("<p>{}</p>").format("\n".join(plain)))
        if items:
            listed = Markup("").join(Markup("<li>{}</li>").format(item) for item in items)
            blocks.append(Markup("<ul>{}</ul>").format(listed))
    return Markup("\n").join(blocks)


def _marked(text: str) -> Markup:
    """Words in square brackets are shown as marked."""
    return Markup(_MARKED.sub(r"<mark>\1</mark>", str(escape(text))))  # noqa: S704  escaped just before
