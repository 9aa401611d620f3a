"""Whether a scheme of the right shape holds together: names that refer to something, rules that can be kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import regex

from lapsus.model.scheme import Example, Label, Question, Scheme
from lapsus.schemes.marked_yaml import YamlPath

_ID = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_-]*")
_TURN = regex.compile(r"[SU]: ")
_FOR_KINDS = {
    "labels": {"label", "labels", "spans"},
    "labels_from": {"label", "labels"},
    "at_least": {"labels", "spans"},
    "at_most": {"labels", "spans"},
    "in_order": {"label", "labels"},
    "alone": {"labels"},
    "apart": {"labels"},
    "axes": {"label", "labels"},
    "ties": {"spans"},
    "levels": {"scale"},
    "calculator": {"scale"},
    "suggest": {"text"},
}
"""The kinds of question for which each key means something."""


class Finding(NamedTuple):
    """A problem and the place in the scheme that has it."""

    path: YamlPath
    rule: str
    message: str
    severe: bool = True


def findings(scheme: Scheme) -> Iterator[Finding]:
    """Every problem of a scheme."""
    yield from _languages(scheme)
    yield from _unique((("questions", place, "id"), q.id) for place, q in enumerate(scheme.questions))
    yield from _unique((("lists", place, "id"), item.id) for place, item in enumerate(scheme.lists))
    if not scheme.questions:
        yield Finding((), "questions", "a scheme asks at least one question")
    if not _ID.fullmatch(scheme.scheme):
        yield Finding(("scheme",), "id", f"{scheme.scheme!r} is no id: letters, digits, hyphens")
    if scheme.target and not 0 < scheme.target.at_least <= 1:
        yield Finding(("target", "at_least"), "target", "a share is more than 0 and at most 1")
    known = {label.id for question in scheme.questions for label in question.labels}
    for place, step in enumerate(scheme.steps):
        yield from _refer(("steps", place, "labels"), step.labels, known, "label")
    for place, question in enumerate(scheme.questions):
        yield from _question(scheme, question, ("questions", place))


def _question(scheme: Scheme, question: Question, path: YamlPath) -> Iterator[Finding]:
    yield from _kind(scheme, question, path)
    yield from _lists(scheme, question, path)
    labels = [label.id for label in scheme.labels_of(question)]
    yield from _refer((*path, "alone"), question.alone, labels, "label")
    for key, pairs in (("apart", question.apart), ("ties", question.ties)):
        for place, pair in enumerate(pairs):
            yield from _refer((*path, key, place), pair, labels, "label")
            if pair[0] == pair[1]:
                yield Finding((*path, key, place), key, f"{pair[0]!r} cannot be paired with itself")
    if question.at_most is not None and question.at_most < question.at_least:
        yield Finding((*path, "at_most"), "at_most", "is less than at_least")
    own = [((*path, "labels", place), label) for place, label in enumerate(question.labels)]
    yield from _unique(((*at, "id"), label.id) for at, label in own)
    yield from _unique(((*at, "number"), str(label.number)) for at, label in own if label.number is not None)
    yield from _unique(((*at, "key"), label.key) for at, label in own if label.key is not None)
    yield from _unique(((*at, "aliases"), alias) for at, label in own for alias in label.aliases)
    for at, label in own:
        yield from _label(question, label, at)
    yield from _examples(question.examples, (*path, "examples"))


def _kind(scheme: Scheme, question: Question, path: YamlPath) -> Iterator[Finding]:
    for key, kinds in _FOR_KINDS.items():
        if getattr(question, key) and question.kind not in kinds:
            yield Finding(
                (*path, key), "kind", f"{key!r} means nothing for a question of kind {question.kind!r}"
            )
    if question.kind in ("label", "labels", "spans") and not scheme.labels_of(question):
        yield Finding(path, "labels", f"a question of kind {question.kind!r} offers labels")
    if question.labels and question.labels_from:
        yield Finding((*path, "labels_from"), "labels", "labels come from here or from a list, not both")
    if question.kind == "scale":
        values = [level.value for level in question.levels]
        if len(values) < 2 or values != list(range(values[0], values[0] + len(values))):
            yield Finding(
                (*path, "levels"), "levels", "a scale has two or more levels, one apart, lowest first"
            )


def _lists(scheme: Scheme, question: Question, path: YamlPath) -> Iterator[Finding]:
    names = [reference.id for reference in scheme.lists]
    for key, name in (("reference", question.reference), ("labels_from", question.labels_from)):
        if name is not None:
            yield from _refer((*path, key), [name], names, "list")


def _label(question: Question, label: Label, path: YamlPath) -> Iterator[Finding]:
    if not _ID.fullmatch(label.id):
        yield Finding((*path, "id"), "id", f"{label.id!r} is no id: letters, digits, hyphens")
    if question.in_order and label.number is None:
        yield Finding(path, "in_order", f"{label.id!r} needs a number, since labels are offered in order")
    if (question.axes is None) != (label.cell is None):
        yield Finding(
            path, "axes", f"{label.id!r}: either all labels stand in a cell of the axes or none does"
        )
    elif question.axes is not None and label.cell is not None:
        rows = [value.id for value in question.axes.rows.values]
        columns = [value.id for value in question.axes.columns.values]
        yield from _refer((*path, "cell"), label.cell[:1], rows, "row")
        yield from _refer((*path, "cell"), label.cell[1:], columns, "column")
    if question.kind == "spans" and label.on is None:
        yield Finding(path, "on", f"{label.id!r} must say on which segments its spans stand (on: text)")
    if question.kind != "spans" and (label.on or label.covers):
        yield Finding(path, "on", "'on' and 'covers' are for spans")
    yield from _examples(label.examples, (*path, "examples"))
    for language, examples in label.examples.items():
        for fits, word in ((True, "fits"), (False, "does not fit")):
            if not any(example.fits is fits for example in examples):
                at = (*path, "examples", language)
                yield Finding(at, "examples", f"{label.id!r} has no example that {word}", severe=False)


def _examples(examples: Any, path: YamlPath) -> Iterator[Finding]:
    for language, items in examples.items():
        for place, example in enumerate(items):
            yield from _example(example, (*path, language, place))


def _example(example: Example, path: YamlPath) -> Iterator[Finding]:
    if bool(example.turns) == bool(example.text):
        yield Finding(path, "example", "an example shows turns, or triples and a text")
    if (example.fits is None) == (example.answer is None):
        yield Finding(path, "example", "an example says `fits`, or which `answer` is right")
    for place, turn in enumerate(example.turns):
        if not _TURN.match(turn):
            yield Finding((*path, "turns", place), "example", "a turn begins with 'S: ' or 'U: '")


def _languages(scheme: Scheme) -> Iterator[Finding]:
    """Every text is there in each of the languages that the title has."""
    for path, value in _mappings(scheme, ()):
        for language in scheme.title:
            if value and language not in value:
                yield Finding(path, "language", f"is missing in {language!r}, which the title has")
        for language, words in value.items():
            if language not in scheme.title:
                yield Finding((*path, language), "language", f"{language!r} is none of the title's languages")
            elif not words:
                yield Finding((*path, language), "language", f"is empty in {language!r}")


def _mappings(value: Any, path: YamlPath) -> Iterator[tuple[YamlPath, dict[str, Any]]]:
    """All mappings in a scheme are from languages to words."""
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from _mappings(getattr(value, field), (*path, field))
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from _mappings(item, (*path, place))
    elif isinstance(value, dict):
        yield path, value


def _unique(items: Iterable[tuple[YamlPath, str]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for path, name in items:
        if name in seen:
            yield Finding(path, "unique", f"{name!r} is there already")
        seen.add(name)


def _refer(path: YamlPath, names: Iterable[str], known: Iterable[str], what: str) -> Iterator[Finding]:
    options = list(known)
    for name in names:
        if name not in options:
            yield Finding(path, "reference", f"there is no {what} {name!r} (known: {', '.join(options)})")
