"""Checks a scheme file: its shape, and whether it holds together. Every problem names line and rule."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec
import regex

from lapsus.errors import InputError, InvalidError
from lapsus.kinds import KINDS, kind_of
from lapsus.model.frozen import converted
from lapsus.model.scheme import Example, Label, Question, Scheme
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes.marked_yaml import MarkedYaml, YamlPath, parse_yaml

_ID = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_-]*")
_TURN = regex.compile(r"[SU]: ")
SPECIAL = (
    "labels", "labels_from", "at_least", "at_most", "in_order", "alone", "apart", "axes", "ties", "levels",
    "calculator", "suggest",
)  # fmt: skip
"""Keys of a question that mean something for some kinds only."""


class Incoherence(NamedTuple):
    """A problem and the place in the scheme that has it."""

    path: YamlPath
    rule: str
    message: str
    severe: bool = True


def findings(scheme: Scheme) -> Iterator[Incoherence]:
    """Every problem of a scheme."""
    yield from _languages(scheme)
    yield from _unique((("questions", place, "id"), q.id) for place, q in enumerate(scheme.questions))
    yield from _unique((("lists", place, "id"), item.id) for place, item in enumerate(scheme.lists))
    if not scheme.questions:
        yield Incoherence(("questions",), "questions", Notice("scheme-asks-least-one"))
    if not _ID.fullmatch(scheme.scheme):
        yield Incoherence(("scheme",), "id", Notice("no-id-letters-digits", scheme=scheme.scheme))
    if scheme.target and not 0 < scheme.target.at_least <= 1:
        yield Incoherence(("target", "at_least"), "target", Notice("share-more-0-most"))
    known = {label.id for question in scheme.questions for label in question.labels}
    for place, step in enumerate(scheme.steps):
        yield from _refer(("steps", place, "labels"), step.labels, known, "label")
    for place, question in enumerate(scheme.questions):
        yield from _of_question(scheme, question, ("questions", place))
        yield from _condition(scheme, place)


def _of_question(scheme: Scheme, question: Question, path: YamlPath) -> Iterator[Incoherence]:
    yield from _kind(scheme, question, path)
    yield from _lists(scheme, question, path)
    labels = [label.id for label in scheme.labels_of(question)]
    yield from _refer((*path, "alone"), question.alone, labels, "label")
    for key, pairs in (("apart", question.apart), ("ties", question.ties)):
        for place, pair in enumerate(pairs):
            yield from _refer((*path, key, place), pair, labels, "label")
            if pair[0] == pair[1]:
                yield Incoherence((*path, key, place), key, Notice("cannot-paired-itself", pair=pair[0]))
    if question.at_most is not None and question.at_most < question.at_least:
        yield Incoherence((*path, "at_most"), "at_most", Notice("less-least"))
    own = [((*path, "labels", place), label) for place, label in enumerate(question.labels)]
    yield from _unique(((*at, "id"), label.id) for at, label in own)
    yield from _unique(((*at, "number"), str(label.number)) for at, label in own if label.number is not None)
    yield from _unique(((*at, "key"), label.key) for at, label in own if label.key is not None)
    yield from _unique(((*at, "aliases"), alias) for at, label in own for alias in label.aliases)
    for at, label in own:
        yield from _label(question, label, at)
    yield from _examples(question.examples, (*path, "examples"))


def _condition(scheme: Scheme, place: int) -> Iterator[Incoherence]:
    """A question depends on an earlier one, and on answers that can be given to it."""
    rule, path = scheme.questions[place].only_if, ("questions", place, "only_if")
    if rule is None:
        return
    earlier = {question.id: question for question in scheme.questions[:place]}
    yield from _refer((*path, "question"), [rule.question], earlier, Notice("earlier-question"))
    if rule.question in earlier:
        options = [str(one) for one in kind_of(earlier[rule.question], scheme).conditions]
        yield from _refer((*path, "answers"), map(str, rule.answers), options, Notice("condition-answer"))
    if not rule.answers:
        yield Incoherence((*path, "answers"), "only_if", Notice("condition-no-answers"))


def _kind(scheme: Scheme, question: Question, path: YamlPath) -> Iterator[Incoherence]:
    kind = kind_of(question, scheme)
    for key in SPECIAL:
        if getattr(question, key) and key not in kind.keys:
            yield Incoherence(
                (*path, key), "kind", Notice("means-nothing-question-kind", key=key, name=kind.name)
            )
    if kind.offers_labels and not kind.labels:
        yield Incoherence(path, "labels", Notice("question-kind-offers-labels", name=kind.name))
    if question.labels and question.labels_from:
        yield Incoherence((*path, "labels_from"), "labels", Notice("labels-come-here-list"))
    for place, rule, message in kind.flaws():
        yield Incoherence((*path, *place), rule, message)


def _lists(scheme: Scheme, question: Question, path: YamlPath) -> Iterator[Incoherence]:
    names = [reference.id for reference in scheme.lists]
    for key, name in (("reference", question.reference), ("labels_from", question.labels_from)):
        if name is not None:
            yield from _refer((*path, key), [name], names, "list")


def _label(question: Question, label: Label, path: YamlPath) -> Iterator[Incoherence]:
    if not _ID.fullmatch(label.id):
        yield Incoherence((*path, "id"), "id", Notice("no-id-letters-digits", scheme=label.id))
    if question.in_order and label.number is None:
        yield Incoherence(path, "in_order", Notice("needs-number-since-labels", id=label.id))
    if (question.axes is None) != (label.cell is None):
        yield Incoherence(path, "axes", Notice("either-all-labels-stand", id=label.id))
    elif question.axes is not None and label.cell is not None:
        rows = [value.id for value in question.axes.rows.values]
        columns = [value.id for value in question.axes.columns.values]
        yield from _refer((*path, "cell"), label.cell[:1], rows, "row")
        yield from _refer((*path, "cell"), label.cell[1:], columns, "column")
    for rule, message in kind_of(question).label_flaws(label):
        yield Incoherence(path, rule, message)
    yield from _examples(label.examples, (*path, "examples"))
    for language, examples in label.examples.items():
        for fits, word in ((True, Notice("fits")), (False, Notice("does-not-fit"))):
            if not any(example.fits is fits for example in examples):
                at = (*path, "examples", language)
                yield Incoherence(at, "examples", Notice("no-example", id=label.id, word=word), severe=False)


def _examples(examples: Any, path: YamlPath) -> Iterator[Incoherence]:
    for language, items in examples.items():
        for place, example in enumerate(items):
            yield from _example(example, (*path, language, place))


def _example(example: Example, path: YamlPath) -> Iterator[Incoherence]:
    if bool(example.turns) == bool(example.text):
        yield Incoherence(path, "example", Notice("example-shows-turns-triples"))
    if (example.fits is None) == (example.answer is None):
        yield Incoherence(path, "example", Notice("example-says-fits-answer"))
    for place, turn in enumerate(example.turns):
        if not _TURN.match(turn):
            yield Incoherence((*path, "turns", place), "example", Notice("turn-begins-s-u"))


def _languages(scheme: Scheme) -> Iterator[Incoherence]:
    """Every text is there in each of the languages that the title has."""
    for path, value in _mappings(scheme, ()):
        for language in scheme.title:
            if value and language not in value:
                yield Incoherence(path, "language", Notice("missing-title", language=language))
        for language, words in value.items():
            if language not in scheme.title:
                yield Incoherence(
                    (*path, language), "language", Notice("none-titles-languages", language=language)
                )
            elif not words:
                yield Incoherence((*path, language), "language", Notice("is-empty-in", language=language))


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


def _unique(items: Iterable[tuple[YamlPath, str]]) -> Iterator[Incoherence]:
    seen: set[str] = set()
    for path, name in items:
        if name in seen:
            yield Incoherence(path, "unique", Notice("is-there-already", name=name))
        seen.add(name)


def _refer(path: YamlPath, names: Iterable[str], known: Iterable[str], what: str) -> Iterator[Incoherence]:
    options = list(known)
    for name in names:
        if name not in options:
            yield Incoherence(
                path, "reference", Notice("no-known", reason=what, name=name, options=", ".join(options))
            )


T = TypeVar("T", bound=msgspec.Struct)

_STEP = regex.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]|\[\.\.\.\]")
_UNKNOWN = regex.compile(r"unknown field `(?P<field>[^`]+)`")


class SchemeProblem(NamedTuple):
    """Something wrong with a scheme file (or, if not severe, something it would be better with)."""

    line: int
    rule: str
    message: str
    severe: bool = True


def check_scheme(text: str, name: str) -> tuple[Scheme | None, list[SchemeProblem]]:
    """The scheme in a file's text, if its shape allows one, and every problem that it has."""
    try:
        marked = parse_yaml(text, name)
    except InputError as error:
        line = regex.search(r"line (\d+)", error.where or "")
        return None, [SchemeProblem(int(line.group(1)) if line else 1, "yaml", error.what)]
    if not isinstance(marked.data, dict):
        return None, [SchemeProblem(1, "shape", Notice("scheme-file-mapping-begins"))]
    scheme, problems = _shape(marked)
    if scheme is not None:
        problems = [SchemeProblem(marked.line(one.path), *one[1:]) for one in findings(scheme)]
    return scheme, sorted(problems)


def _shape(marked: MarkedYaml) -> tuple[Scheme | None, list[SchemeProblem]]:
    """Convert piece by piece, so that one mistyped key does not hide the next."""
    problems: list[SchemeProblem] = []
    data = dict(marked.data)
    questions = data.get("questions")
    if isinstance(questions, list):
        data["questions"] = []
        for place, raw in enumerate(questions):
            _question(raw, ("questions", place), marked, problems)
    convert_part(data, Scheme, (), marked, problems)
    if problems:
        return None, problems
    return convert_part(marked.data, Scheme, (), marked, problems), problems


def _question(raw: Any, path: YamlPath, marked: MarkedYaml, problems: list[SchemeProblem]) -> None:
    if isinstance(raw, dict) and isinstance(raw.get("labels"), list):
        for place, label in enumerate(raw["labels"]):
            convert_part(label, Label, (*path, "labels", place), marked, problems)
        raw = {**raw, "labels": []}
    question = convert_part(raw, Question, path, marked, problems)
    if question is not None and question.kind not in KINDS.names():
        known = did_you_mean(question.kind, KINDS.names())
        where = marked.line((*path, "kind"))
        problems.append(SchemeProblem(where, "shape", Notice("no-kind", kind=question.kind, known=known)))


def convert_part(
    raw: Any, kind: type[T], path: YamlPath, marked: MarkedYaml, problems: list[SchemeProblem]
) -> T | None:
    """What stands at a place of a file as a record of that kind; what is wrong with it goes to the problems."""
    try:
        return converted(raw, kind)
    except (msgspec.ValidationError, InvalidError) as error:
        message, _, place = str(error).partition(" - at `")
        full = path + _path(place)
        if unknown := _UNKNOWN.search(message):
            wrong = unknown.group("field")
            message = Notice(
                "unknown-key", wrong=wrong, did_you_mean=did_you_mean(wrong, _keys(kind, _path(place)))
            )
            full = (*full, wrong)
        elif empty := _without_text(message, marked.data, full):
            message = Notice("no-text-text-comma", empty=empty)
        problems.append(SchemeProblem(marked.line(full), "shape", message))
        return None


def _without_text(message: str, data: Any, path: YamlPath) -> str | None:
    """The key that a text was expected for and that has none, as what follows a comma inside braces has."""
    if message != "Expected `str`, got `null`":
        return None
    for step in path:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return None
    return (
        next((key for key, value in data.items() if value is None), None) if isinstance(data, dict) else None
    )


def _path(place: str) -> YamlPath:
    """`$.labels[2].name` as a path."""
    found: list[str | int] = []
    for name, number in _STEP.findall(place):
        if name:
            found.append(name)
        elif number:
            found.append(int(number))
    return tuple(found)


def _keys(kind: type[msgspec.Struct], path: YamlPath) -> list[str]:
    """The keys that may stand at a place below a record."""
    here: Any = kind
    for step in path:
        if isinstance(step, str) and isinstance(here, type) and issubclass(here, msgspec.Struct):
            types = {field.encode_name: field.type for field in msgspec.structs.fields(here)}
            here = _record_in(types.get(step))
    is_record = isinstance(here, type) and issubclass(here, msgspec.Struct)
    return [field.encode_name for field in msgspec.structs.fields(here if is_record else kind)]


def _record_in(annotation: Any) -> Any:
    """The record type inside `tuple[X, ...]`, `X | None` or a mapping to these."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if (found := _record_in(argument)) is not None:
            return found
    return None
