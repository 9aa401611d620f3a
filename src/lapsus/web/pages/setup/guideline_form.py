"""The form of a guideline: what each of its parts shows, read from the file as it stands, right or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from lapsus.kinds import KINDS
from lapsus.model.document import Role
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.web.page_words import say
from lapsus.web.pages.setup.own_guideline import FILE, Tree

Form: TypeAlias = Literal["words", "long", "lines", "number", "choice", "ticks", "id", "pairs"]
Option: TypeAlias = tuple[str, str]
"""A value, and what it is called; where that is empty the page has the word."""
REQUIRED: Final = ("title", "summary", "name", "ask", "definition", "meaning", "text")
"""Texts that a guideline cannot do without: they stay in the file when they are emptied."""
_LONG: Final = ("summary", "definition", "ask", "text")


class GuidelineInput(msgspec.Struct, frozen=True):
    """Something of a guideline that can be filled in."""

    name: str
    """Where it stands in the file, such as `questions.0.ask.en`."""
    what: str
    """What it is: the key."""
    form: Form
    value: str
    language: str = ""
    options: list[Option] = []
    ticked: list[str] = []


class GuidelinePart(msgspec.Struct, frozen=True):
    """What is shown together: the guideline itself, a section, question, label, level or example."""

    kind: str
    place: str
    """Where it stands in the file; empty for the guideline itself."""
    id: str
    title: str
    """Its name, in the reader's language where it has that."""
    inputs: list[GuidelineInput]
    parts: list[GuidelinePart] = []
    adds: list[Option] = []
    """Parts that can be added: what the button sends, and which kind of part that is."""


def guideline_form(tree: Tree, language: str) -> list[GuidelinePart]:
    """All parts of a guideline."""
    return _Reader(tree, language).parts()


def inputs_by_line(text: str, tree: Tree, language: str) -> dict[int, tuple[str, str]]:
    """The first input that stands in each line of a file, and where that is in words; a part's own line is its id's."""
    lines = parse_yaml(text, FILE).lines
    found: dict[int, tuple[str, str]] = {}

    def note(parts: Iterable[GuidelinePart], *around: str) -> None:
        for part in parts:
            here = around
            if part.place:
                kind = say(f"setup.own.parts.{part.kind}", language)
                name = "" if part.kind == "example" else part.title or part.id
                here = (*around, name if part.kind == "question" else f"{kind} {name}".strip())
            for one in sorted(part.inputs, key=lambda one: one.what != "id"):
                said = " › ".join((*here, say(f"setup.own.words.{one.what}", language)))
                steps = tuple(int(step) if step.isdigit() else step for step in one.name.split("."))
                for place in (steps, steps[:-1] if one.language or len(steps) == 3 else steps):
                    if place in lines:
                        found.setdefault(lines[place], (one.name, said))
            note(part.parts, *here)

    if ("questions",) in lines:
        found[lines[("questions",)]] = ("more", say("setup.own.add.title", language))
    note(guideline_form(tree, language))
    return found


def at(tree: Any, place: str) -> Any:
    """What stands at a place; None where nothing does."""
    for step in place.split(".") if place else ():
        try:
            tree = tree[int(step)] if isinstance(tree, list) else tree[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return tree


def mapping(tree: Any, key: str) -> Tree:
    """What stands under a key, where that is a mapping."""
    found = tree.get(key) if isinstance(tree, dict) else None
    return found if isinstance(found, dict) else {}


def numbered(value: Any) -> Iterator[tuple[int, Tree]]:
    """The mappings in a list, each with its place."""
    for place, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield place, one


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _listed(value: Any) -> list[str]:
    return [_said(one) for one in value] if isinstance(value, list) else []


class _Reader:
    def __init__(self, tree: Tree, language: str) -> None:
        self.tree, self.language = tree, language
        self.languages = [str(one) for one in mapping(tree, "title")] or [language]

    def parts(self) -> list[GuidelinePart]:
        tree = self.tree
        sections = [self._section(f"background.{n}", one) for n, one in numbered(tree.get("background"))]
        questions = [self._question(f"questions.{n}", one) for n, one in numbered(tree.get("questions"))]
        roles = [(role, "") for role in (*get_args(Role), "document")]
        inputs = [
            self._input("scheme", "id"),
            self._input("version", "words"),
            *self._texts("", "title", "summary"),
            self._input("unit.role", "choice", options=roles),
            self._input("unit.context", "choice", options=[("before", ""), ("all", ""), ("none", "")]),
        ]
        adds = [*((f"question:{kind}", kind) for kind in KINDS.names()), ("section", "section")]
        return [
            GuidelinePart("guideline", "", _said(tree.get("scheme")), self._title(tree, "title"), inputs),
            *sections,
            *questions,
            GuidelinePart("more", "", "", "", [], adds=adds),
        ]

    def _section(self, place: str, here: Tree) -> GuidelinePart:
        inputs = [self._input(f"{place}.id", "id"), *self._texts(place, "title", "text")]
        return GuidelinePart("section", place, _said(here.get("id")), self._title(here, "title"), inputs)

    def _question(self, place: str, here: Tree) -> GuidelinePart:
        kind = _said(here.get("kind"))
        keys = KINDS.get(kind).keys if kind in KINDS.names() else frozenset()
        inputs = [
            *self._texts(place, "name"),
            self._input(f"{place}.kind", "choice", options=[(name, "") for name in KINDS.names()]),
            *self._texts(place, "ask"),
            self._input(f"{place}.required", "choice", "yes", [("yes", ""), ("no", "")]),
            *self._condition(place),
            *self._notes(place),
        ]
        inputs += [self._input(f"{place}.{key}", "number") for key in ("at_least", "at_most") if key in keys]
        if "alone" in keys:
            labels = [(_said(one.get("id")), self._title(one)) for _, one in numbered(here.get("labels"))]
            inputs.append(self._ticks(f"{place}.alone", labels))
        inputs += [self._pairs(f"{place}.{key}") for key in ("apart", "ties") if key in keys]
        inputs.append(self._input(f"{place}.id", "id"))
        parts, adds = self._examples(place, here, "answer")
        if "labels" in keys and "labels_from" not in here:
            own = numbered(here.get("labels"))
            parts += [self._label(f"{place}.labels.{n}", one, kind) for n, one in own]
            adds.append((f"label:{place}", "label"))
        if "levels" in keys:
            parts += [self._level(f"{place}.levels.{n}", one) for n, one in numbered(here.get("levels"))]
            adds.append((f"level:{place}", "level"))
        return GuidelinePart("question", place, _said(here.get("id")), self._title(here), inputs, parts, adds)

    def _label(self, place: str, here: Tree, kind: str) -> GuidelinePart:
        inputs = [
            *self._texts(place, "name"),
            self._input(f"{place}.key", "words"),
            *self._texts(place, "definition"),
            *self._notes(place),
            self._input(f"{place}.id", "id"),
        ]
        if kind in KINDS.names() and KINDS.get(kind).on_text:
            roles = [(role, "") for role in get_args(Role)]
            inputs.append(self._input(f"{place}.on", "choice", options=roles))
            covers = [("", ""), ("token", ""), ("element", "")]
            inputs.append(self._input(f"{place}.covers", "choice", options=covers))
        parts, adds = self._examples(place, here, "fits")
        return GuidelinePart("label", place, _said(here.get("id")), self._title(here), inputs, parts, adds)

    def _level(self, place: str, here: Tree) -> GuidelinePart:
        inputs = [self._input(f"{place}.value", "number"), *self._texts(place, "meaning")]
        return GuidelinePart("level", place, _said(here.get("value")), self._title(here, "meaning"), inputs)

    def _examples(self, place: str, here: Tree, verdict: str) -> tuple[list[GuidelinePart], list[Option]]:
        parts = []
        for language in self.languages:
            found = numbered(mapping(here, "examples").get(language))
            parts += [
                self._example(f"{place}.examples.{language}.{n}", one, language, verdict) for n, one in found
            ]
        return parts, [(f"example:{place}.examples.{one}", f"example-{one}") for one in self.languages]

    def _example(self, place: str, here: Tree, language: str, verdict: str) -> GuidelinePart:
        shown = [key for key in ("triples", "turns") if key in here] or ["text"]
        inputs = [self._input(f"{place}.{key}", "lines", language=language) for key in shown if key != "text"]
        if "turns" not in here:
            inputs.append(self._input(f"{place}.text", "long", language=language))
        if "answer" in here or verdict == "answer":
            inputs.append(self._input(f"{place}.answer", "words"))
        else:
            inputs.append(self._input(f"{place}.fits", "choice", "yes", [("yes", ""), ("no", "")]))
        inputs.append(self._input(f"{place}.why", "long", language=language))
        return GuidelinePart("example", place, language, " ".join(_listed(here.get("turns")))[:60], inputs)

    def _condition(self, place: str) -> Iterator[GuidelineInput]:
        number = int(place.rpartition(".")[2])
        before = [one for n, one in numbered(self.tree.get("questions")) if n < number]
        options = [(_said(one.get("id")), self._title(one)) for one in before]
        if not options:
            return
        yield self._input(f"{place}.only_if.question", "choice", options=[("", ""), *options])
        chosen = _said(mapping(at(self.tree, place), "only_if").get("question"))
        asked = next((one for one in before if _said(one.get("id")) == chosen), None)
        if asked is not None:
            labels = [(_said(one.get("id")), self._title(one)) for _, one in numbered(asked.get("labels"))]
            levels = [
                (_said(one.get("value")), self._title(one, "meaning"))
                for _, one in numbered(asked.get("levels"))
            ]
            yield self._ticks(f"{place}.only_if.answers", labels or levels)

    def _texts(self, place: str, *keys: str) -> Iterator[GuidelineInput]:
        for key in keys:
            path = f"{place}.{key}" if place else key
            for language in self.languages:
                yield self._input(
                    f"{path}.{language}", "long" if key in _LONG else "words", language=language
                )

    def _notes(self, place: str) -> Iterator[GuidelineInput]:
        for language in self.languages:
            yield self._input(f"{place}.notes.{language}", "lines", language=language)

    def _input(
        self, name: str, form: Form, usual: str = "", options: Iterable[Option] = (), language: str = ""
    ) -> GuidelineInput:
        found = at(self.tree, name)
        value = "\n".join(_listed(found)) if form == "lines" else _said(found)
        above, _, last = name.rpartition(".")
        what = above.rpartition(".")[2] if language and last == language else last
        return GuidelineInput(name, what, form, value or usual, language, list(options))

    def _ticks(self, name: str, options: list[Option]) -> GuidelineInput:
        what = name.rpartition(".")[2]
        return GuidelineInput(name, what, "ticks", "", "", options, _listed(at(self.tree, name)))

    def _pairs(self, name: str) -> GuidelineInput:
        found = at(self.tree, name)
        lines = [" + ".join(_listed(pair)) for pair in (found if isinstance(found, list) else ())]
        return GuidelineInput(name, name.rpartition(".")[2], "pairs", "\n".join(lines))

    def _title(self, here: Tree, key: str = "name") -> str:
        words = mapping(here, key)
        return _said(words.get(self.language) or next(iter(words.values()), ""))
