"""Label Studio's JSON: a list of tasks with annotations, to import there and as exported from there."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from lapsus.errors import InputError, InvalidError, LapsusError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.encoding import opening
from lapsus.formats.json_stream import items
from lapsus.formats.labelstudio_answers import (
    DIALOGUE,
    Controls,
    LabelStudioAnswers,
    Result,
    Units,
    results_of,
)
from lapsus.formats.marks import SCHEME, lies_in, marks_question, newest, revised
from lapsus.formats.source import Source
from lapsus.formats.speakers import ROLES
from lapsus.model import Answer, Document, Entry, Judgment, Role, Segment, Span, anonymous_annotator
from lapsus.model.frozen import converted
from lapsus.notices import Notice
from lapsus.schemes import known_scheme

SUFFIX = ".json"
NOT_TASKS = Notice("export-json-not-json-min")
TABLES = (".csv", ".tsv")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}:]')
_MINIMAL = (b'"annotation_id"', b'"annotator"')
_COLUMNS = {"annotation_id", "annotator", "lead_time"}
_LISTS = (DIALOGUE, "messages")
_SPEAKERS = ("author", "role", "speaker")
_WORDS = ("text", "content")
_ROLES: dict[str, Role] = {
    **ROLES,
    "system": "system",
    "s": "system",
    "u": "user",
}
VERSION = 1


class Person(msgspec.Struct):
    """A user of Label Studio."""

    id: int | str | None = None
    email: str | None = None
    username: str | None = None


class Annotation(msgspec.Struct, omit_defaults=True):
    """What one person said about a task."""

    result: list[Result] = []
    completed_by: int | str | Person | None = None
    created_at: datetime | None = None
    lead_time: float | None = None
    was_cancelled: bool | None = None
    ground_truth: bool | None = None


class Prediction(msgspec.Struct):
    """What a program said about a task."""

    result: list[Result] = []
    model_version: int | float | str | None = None
    score: float | None = None
    created_at: datetime | None = None


class Task(msgspec.Struct):
    """A document with what was said about it."""

    annotations: list[Annotation] = []
    predictions: list[Prediction] = []
    data: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    id: int | str | None = None
    meta: dict[str, Any] | None = None
    completions: Any = None
    """What annotations were called before version 1.0."""


class KnownSegment(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knows of a segment; its text stands in `dialogue`."""

    id: str
    role: Role
    parts: tuple[str, str, str] | None = None
    metadata: dict[str, Any] = {}


class WrittenDocument(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knew of a document and of its judgments when it wrote the task."""

    format: int
    id: str
    segments: list[KnownSegment]
    language: str | None = None
    metadata: dict[str, Any] = {}
    judgments: list[Judgment] = []


class LabelStudio(Format):
    """Documents as tasks, judgments as annotations."""

    name = "labelstudio"
    title = Notice("label-studio-tasks-annotations")
    suffix = SUFFIX

    def recognises(self, source: Source) -> bool:
        """By what the first item of the first file holds. Its other exports are recognised too, to be refused."""
        member = source.first(SUFFIX)
        return (member is not None and _looks_like_tasks(member.head())) or bool(_other_export(source))

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """One task at a time."""
        if other := _other_export(source):
            what, where = other
            raise InputError(
                "label-studios-export-leaves", where=where, hint="export-project-again-json", reason=what
            )
        for member in source.members(SUFFIX):
            controls = Controls()
            with member.open() as stream:
                for number, task in items(stream, member.name, Task, NOT_TASKS):
                    try:
                        yield _entry(task, number, options, controls)
                    except InvalidError as error:
                        misfit = InputError(error.what, where=error.where, hint=error.hint)
                        raise misfit.at(Notice("item-2", name=member.name, number=number)) from error
                    except LapsusError as error:
                        raise error.at(Notice("item-2", name=member.name, number=number)) from error

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Judgments without their document. What cannot be shown still comes back."""
        if entry.document is None:
            yield Loss(Notice("judgments-without-their-document"), severe=True)
            return
        turns = {segment.id for segment in entry.document.segments}
        for judgment in entry.judgments:
            scheme = known_scheme(judgment.scheme)
            if scheme is None:
                yield Loss(Notice("view-label-studio-scheme", scheme=judgment.scheme))
            elif any(scheme.question(name) is None for name in judgment.answers):
                yield Loss(Notice("view-label-studio-answers"))
            if judgment.segment is not None and judgment.segment not in turns:
                yield Loss(Notice("view-label-studio-judgments"))
            if any(not lies_in(span, entry.document) for span in _spans(judgment)):
                yield Loss(Notice("view-label-studio-spans"))

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """Tasks, one after the other."""
        encoder = msgspec.json.Encoder()
        with path.open("xb") as stream:
            before = b"[\n"
            for entry in entries:
                if entry.document is not None:
                    stream.write(before + encoder.encode(_task(entry.document, entry.judgments)))
                    before = b",\n"
            stream.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _spans(judgment: Judgment) -> Iterator[Span]:
    for answer in judgment.answers.values():
        if isinstance(answer, tuple):
            yield from (item for item in answer if isinstance(item, Span))


def _looks_like_tasks(head: bytes) -> bool:
    """Whether a list begins with an object that holds annotations and, as far as can be seen, data."""
    opened, is_whole = _first_item(head)
    has_said = b"[" in (opened.get(b'"annotations"'), opened.get(b'"predictions"'))
    return has_said and (opened.get(b'"data"') == b"{" or (not is_whole and b'"result"' in head))


def _task(document: Document, judgments: tuple[Judgment, ...]) -> dict[str, Any]:
    """A task with an annotation an annotator, not named: Label Studio refuses people it does not know."""
    numbers = {id(judgment): number for number, judgment in enumerate(judgments)}
    by_annotator: dict[str, list[Result]] = {}
    for judgment in newest(judgments):
        results = results_of(judgment, numbers[id(judgment)], document)
        by_annotator.setdefault(judgment.annotator, []).extend(results)
    # An annotation of nothing would count as somebody else's when it comes back.
    annotations = [Annotation(results, ground_truth=False) for results in by_annotator.values() if results]
    # Annotations come first, so that the head of a file shows what it is, however long its first text.
    return {"annotations": annotations, "data": _data_of(document, judgments)}


def _entry(task: Task, number: int, options: ReadOptions, controls: Controls) -> Entry:
    if task.data is msgspec.UNSET:
        raise InputError("has-no-data", hint=NOT_TASKS)
    if task.completions is not None:
        raise InputError("comes-label-studio-before", hint="export-newer-version")
    document, known = _read_data(task, number, options)
    reader = _Reader(document, known, controls)
    for place, annotation in enumerate(task.annotations, 1):
        if not annotation.was_cancelled:
            reader.add_annotation(annotation, place)
    for place, prediction in enumerate(task.predictions, 1):
        reader.add_prediction(prediction, place)
    return Entry(document.id, document, tuple(reader.judgments))


class _Reader:
    """Puts together what Lapsus had written with a task and what was said in Label Studio since."""

    def __init__(self, document: Document, known: list[Judgment], controls: Controls) -> None:
        self.document = document
        self.answers = LabelStudioAnswers(document, known, controls)
        self.judgments = list(known)
        self.newest = {(j.annotator, j.scheme, j.segment): j for j in newest(known)}
        self.numbers = {id(judgment): number for number, judgment in enumerate(known)}

    def add_annotation(self, annotation: Annotation, place: int) -> None:
        units = self._units(annotation.result, Notice("annotation", place=place))
        who = self.answers.author(annotation.result) or _person(annotation.completed_by, place)
        metadata: dict[str, Any] = {"ground_truth": True} if annotation.ground_truth else {}
        seconds = annotation.lead_time
        if len(units) > 1 and seconds is not None:
            # The time was taken for all turns together.
            metadata["lead_time"], seconds = seconds, None
        self._add(who, units, {"at": annotation.created_at, "seconds": seconds, "metadata": metadata})

    def add_prediction(self, prediction: Prediction, place: int) -> None:
        units = self._units(prediction.result, f"prediction {place}")
        version = prediction.model_version
        who = f"prediction-{place}" if version in (None, "") else str(version)
        metadata = {} if prediction.score is None else {"score": prediction.score}
        self._add(who, units, {"at": prediction.created_at, "metadata": metadata})

    def _units(self, results: list[Result], where: str) -> Units:
        try:
            return self.answers.units(results) or self._nothing()
        except LapsusError as error:
            raise error.at(where) from error

    def _nothing(self) -> Units:
        """No result at all: with triples it says that there is no error, else it says nothing."""
        marks = marks_question(SCHEME)
        if marks is None or all(s.role != "triple" for s in self.document.segments):
            raise InputError("says-nothing", hint="skip-delete-label-studio")
        return {(SCHEME, None): {marks.id: ()}}

    def _add(self, who: str, units: Units, circumstances: dict[str, Any]) -> None:
        for (scheme, segment), answers in units.items():
            before = self.newest.get((who, scheme, segment))
            if before is not None and id(before) in self.numbers:
                shown = self._as_shown(before)
                if same(shown, answers):
                    continue
                changed = _changed(before, shown, answers)
                if same(before.answers, changed):
                    continue
                made = revised(before, changed)
            else:
                found = known_scheme(scheme)
                revision = before.revision + 1 if before else 1
                version = found.version if found else ""
                made = Judgment(
                    self.document.id,
                    segment,
                    who,
                    scheme,
                    version,
                    answers,
                    revision=revision,
                    **circumstances,
                )
            self.newest[who, scheme, segment] = made
            self.judgments.append(made)

    def _as_shown(self, judgment: Judgment) -> Mapping[str, Answer]:
        """The part of a judgment's answers that Label Studio was given to show."""
        results = list(results_of(judgment, self.numbers[id(judgment)], self.document))
        return self.answers.units(results).get((judgment.scheme, judgment.segment), {})


def _changed(
    before: Judgment, shown: Mapping[str, Answer], answers: Mapping[str, Answer]
) -> dict[str, Answer]:
    """New answers, and the old ones that Label Studio did not show. A mark that is gone was taken away."""
    changed = dict(answers)
    for name, answer in before.answers.items():
        if name not in shown:
            changed.setdefault(name, answer)
        elif isinstance(answer, tuple):
            changed.setdefault(name, ())
    return changed


def same(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> bool:
    """Whether answers say the same; the order of labels says nothing."""
    return {name: _shape(answer) for name, answer in one.items()} == {
        name: _shape(answer) for name, answer in other.items()
    }


def _shape(answer: Answer) -> object:
    return sorted(answer, key=str) if isinstance(answer, tuple) else answer


def _person(who: int | str | Person | None, place: int) -> str:
    if isinstance(who, Person):
        who = who.email or who.username or who.id
    return anonymous_annotator(place) if who in (None, "") else str(who)


def _first_item(head: bytes) -> tuple[dict[bytes, bytes], bool]:
    """The keys of a list's first object, each with what follows it, and whether all of the object was seen."""
    opened: dict[bytes, bytes] = {}
    if not re.match(rb"\s*\[\s*\{", head):
        return opened, False
    depth, tokens = 0, _TOKEN.findall(head)
    for place, token in enumerate(tokens):
        depth += (token in (b"[", b"{")) - (token in (b"]", b"}"))
        if depth == 2 and token == b":" and place + 1 < len(tokens):
            opened[tokens[place - 1]] = tokens[place + 1]
        if depth == 1 and token == b"}":
            return opened, True
    return opened, False


def _other_export(source: Source) -> tuple[str, str] | None:
    """Which other export of Label Studio a source is, and the file that shows it."""
    member = source.first(SUFFIX)
    if member is not None:
        opened, _ = _first_item(member.head())
        # JSON-MIN has answers beside the data, and who gave them.
        is_minimal = all(key in opened for key in _MINIMAL) and b'"data"' not in opened
        return ("JSON-MIN", member.name) if is_minimal else None
    table = source.first(*TABLES)
    if table is not None and any(set(header) >= _COLUMNS for header in opening(table, 1)):
        return "CSV" if table.name.lower().endswith(".csv") else "TSV", table.name
    return None


def _data_of(document: Document, judgments: tuple[Judgment, ...]) -> dict[str, Any]:
    """What Label Studio shows of a document, and all that Lapsus knows of it.

    Label Studio keeps a task's data as it is, so the key survives import, annotation and export.
    """
    segments = [KnownSegment(s.id, s.role, s.parts, dict(s.metadata)) for s in document.segments]
    turns = [{"author": s.role.capitalize(), "text": s.text} for s in document.segments]
    known = WrittenDocument(
        VERSION, document.id, segments, document.language, dict(document.metadata), list(judgments)
    )
    return {DIALOGUE: turns, "lapsus": known}


def _read_data(task: Task, number: int, options: ReadOptions) -> tuple[Document, list[Judgment]]:
    """The document of a task, and the judgments that Lapsus had written with it."""
    data = task.data or {}
    if (known := data.get("lapsus")) is not None:
        return _known(known, data)
    segments = tuple(_segments(data))
    if not segments:
        raise InputError(
            "no-text-data-only",
            hint="text-dialogue-messages-known",
            data=", ".join(data) or Notice("nothing"),
        )
    metadata = {key: value for key, value in data.items() if key not in (*_LISTS, "text")}
    if task.meta:
        metadata["meta"] = task.meta
    name = str(number if task.id is None else task.id)
    return Document(name, segments, options.language_of(segments), metadata), []


def _known(raw: Any, data: dict[str, Any]) -> tuple[Document, list[Judgment]]:
    try:
        known = converted(raw, WrittenDocument)
        texts = msgspec.convert([turn["text"] for turn in data[DIALOGUE]], list[str])
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise InputError("data-not-lapsus-wrote", error=error) from error
    if known.format > VERSION:
        raise InputError("written-by-a-newer-lapsus-format", hint="update-lapsus", known=known.format)
    if len(texts) != len(known.segments):
        raise InputError("lapsus-wrote-turns-but", count=len(known.segments), count2=len(texts))
    segments = tuple(
        Segment(segment.id, segment.role, text, segment.parts, segment.metadata)
        for segment, text in zip(known.segments, texts, strict=True)
    )
    return Document(known.id, segments, known.language, known.metadata), known.judgments


def _segments(data: dict[str, Any]) -> list[Segment]:
    found: list[Segment] = []
    for key in _LISTS:
        turns = data.get(key)
        if isinstance(turns, list) and not found:
            names = [_first(turn, _SPEAKERS, f"{key}, turn {place}") for place, turn in enumerate(turns)]
            # As chat programs have it, `system` is the one who instructs the assistant.
            instructs = key == "messages" or any(name.lower() == "assistant" for name in names)
            found = [_turn(key, place, turns[place], name, instructs) for place, name in enumerate(names)]
        elif turns is not None:
            raise InputError("one-list-turns-too", key=key)
    text = data.get("text")
    if isinstance(text, str):
        found.append(Segment("text", "text", text))
    elif text is not None:
        raise InputError("text-no-text")
    return found


def _turn(key: str, place: int, turn: dict[str, Any], name: str, instructs: bool) -> Segment:
    where = f"{key}, turn {place}"
    role = _ROLES.get(name.lower())
    if role is None:
        raise InputError("unknown-speaker", where=where, hint="known", speaker=name, known=", ".join(_ROLES))
    if instructs and name.lower() == "system":
        role = "prompt"
    text = _first(turn, _WORDS, where)
    used = {next(key for key in keys if key in turn) for keys in (_SPEAKERS, _WORDS)}
    metadata = {key: value for key, value in turn.items() if key not in used}
    if name != role:
        metadata.setdefault("speaker", name)
    return Segment(str(place), role, text, None, metadata)


def _first(turn: Any, keys: tuple[str, ...], where: str) -> str:
    value = next((turn[key] for key in keys if key in turn), None) if isinstance(turn, dict) else None
    if not isinstance(value, str):
        raise InputError("has-no", where=where, hint="each-expected-text", name=" or ".join(keys))
    return value
