"""Checks a scheme file: first its shape, then whether it holds together. Every problem names line and rule."""

from typing import Any, NamedTuple, TypeVar

import msgspec
import regex

from lapsus.errors import InputError, InvalidError
from lapsus.kinds import KINDS
from lapsus.model.decoders import converted
from lapsus.model.scheme import Label, Question, Scheme
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes.coherence import Incoherence, findings
from lapsus.schemes.marked_yaml import MarkedYaml, YamlPath, parse_yaml

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
        problems = [_problem(finding, marked) for finding in findings(scheme)]
    return scheme, sorted(problems)


def _problem(finding: Incoherence, marked: MarkedYaml) -> SchemeProblem:
    return SchemeProblem(marked.line(finding.path), finding.rule, finding.message, finding.severe)


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
