"""Brat's stand-off files: a folder an annotator, with `.txt`, `.ann` and `annotation.conf`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec
import regex

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.brat_ann import (
    CONFIG,
    NAME,
    Annotations,
    Configuration,
    configuration,
    known_labels,
    parse,
    read_configuration,
    remark_question,
    render,
    scheme_of,
    text_of,
    whole_triples,
    without_events,
)
from lapsus.formats.marks import (
    SCHEME,
    UNANNOTATED,
    Layout,
    PlacedDocument,
    lay_out,
    lies_in,
    marks_question,
    newest,
    recognised,
    restore,
    revised,
    spans_of,
)
from lapsus.formats.sink import Sink, inner, sink
from lapsus.formats.source import Member, Source
from lapsus.kinds import kind_of, kinds_of
from lapsus.model import Document, Entry, Judgment, Question, Scheme
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.schemes import known_scheme, load_scheme, scheme_names

TEXT = ".txt"
MARKS = ".ann"
SIDE = ".lapsus.json"
VERSION = 1


class SideFile(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What brat has no place for."""

    lapsus: int
    document: PlacedDocument
    annotator: str | None = None
    judgments: list[Judgment] = []
    """All of this annotator's judgments of the document; the `.ann` shows one of them."""


@dataclass
class ForeignProject:
    """A project that Lapsus did not write, with types of its own."""

    scheme: Scheme
    events: frozenset[str]


class Copy(NamedTuple):
    """A document in one annotator's folder."""

    folder: str
    text: Member | None
    marks: Member | None
    side: Member | None

    @property
    def name(self) -> str:
        """One of its files, for messages."""
        return next(member.name for member in (self.text, self.marks, self.side) if member)


class Brat(Format):
    """Marks in texts, as the annotation tool brat keeps them."""

    name = "brat"
    title = Notice("brat-stand-off-txt-ann")

    def suits(self, scheme: Scheme) -> bool:
        """Marks in texts."""
        return marks_question(scheme) is not None

    def recognises(self, source: Source) -> bool:
        """By the file ending."""
        return source.first(MARKS) is not None

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """One document at a time, with the marks of all its annotators."""
        groups = copies(source)
        has_others = any(copy.marks and not copy.side for group in groups for copy in group)
        project = foreign_project(source) if has_others else None
        for group in groups:
            source.place = group[0].name
            try:
                yield _read(group, source, options, project)
            except InvalidError as error:
                raise InputError(error.what, where=error.where, hint=error.hint).at(group[0].name) from error

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Anything but spans and remarks under schemes that mark spans."""
        if entry.document is None:
            yield Loss(Notice("judgments-without-their-document"), severe=True)
            return
        for judgment in entry.judgments:
            yield from _losses(judgment, entry.document)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A folder an annotator; documents that nobody judged have a folder of their own."""
        with sink(path) as files:
            writer = _Writer(files)
            for entry in entries:
                if entry.document is not None:
                    writer.add(entry.document, entry.judgments)
            writer.finish()


def _losses(judgment: Judgment, document: Document) -> Iterator[Loss]:
    marks = marks_question(judgment.scheme)
    if marks is None:
        yield Loss(Notice("judgments-under-scheme-only", scheme=judgment.scheme), severe=True)
        return
    for question in judgment.answers.keys() - _carried(judgment, marks).keys():
        yield Loss(Notice("answers-to", question=question), severe=True)
    for span in spans_of(judgment, marks):
        if not NAME.fullmatch(span.label):
            yield Loss(Notice("labels-brat-cannot-spell"), severe=True)
        if not lies_in(span, document):
            yield Loss(Notice("view-brat-spans-outside"))


def _carried(judgment: Judgment, marks: Question) -> dict[str, Any]:
    """The answers that brat can hold: marks of one question, and words."""
    scheme = known_scheme(judgment.scheme)
    texts = {id for id, kind in kinds_of(scheme).items() if not kind.is_countable} if scheme else set()
    return {
        question: answer
        for question, answer in judgment.answers.items()
        if (question in texts and isinstance(answer, str))
        or (question == marks.id and kind_of(marks).holds(answer))
    }


class _Writer:
    """Writes documents as they come, and at the end what brat is to offer in each folder."""

    def __init__(self, files: Sink) -> None:
        self.files = files
        self.labels: dict[str, dict[str, None]] = {}

    def add(self, document: Document, judgments: Iterable[Judgment]) -> None:
        layout = lay_out(document)
        by_annotator: dict[str, list[Judgment]] = {}
        for judgment in judgments:
            if (marks := marks_question(judgment.scheme)) is not None:
                carried = msgspec.structs.replace(judgment, answers=_carried(judgment, marks))
                if carried.answers or not judgment.answers:
                    by_annotator.setdefault(judgment.annotator, []).append(carried)
        for annotator, own in by_annotator.items():
            self._add(inner(annotator), layout, SideFile(VERSION, layout.placed(), annotator, own))
        if not by_annotator:
            self._add(UNANNOTATED, layout, SideFile(VERSION, layout.placed()))

    def _add(self, folder: str, layout: Layout, side: SideFile) -> None:
        shown = newest(side.judgments)[0] if side.judgments else None
        self._offer(folder, shown)
        marks = _rendered(shown, layout) if shown else ""
        name = f"{folder}/{inner(layout.document.id)}"
        self.files.add(f"{name}{TEXT}", layout.text.encode())
        self.files.add(f"{name}{MARKS}", marks.encode())
        self.files.add(f"{name}{SIDE}", msgspec.json.format(msgspec.json.encode(side), indent=1))

    def _offer(self, folder: str, shown: Judgment | None) -> None:
        offered = self.labels.setdefault(folder, {})
        if (question := marks_question(shown.scheme if shown else SCHEME)) is not None:
            offered |= dict.fromkeys(label.id for label in question.labels)
            offered |= dict.fromkeys(span.label for span in (spans_of(shown, question) if shown else ()))

    def finish(self) -> None:
        for folder, labels in self.labels.items():
            self.files.add(f"{folder}/{CONFIG}", configuration(labels).encode())


def _rendered(judgment: Judgment, layout: Layout) -> str:
    scheme = known_scheme(judgment.scheme)
    marks = marks_question(scheme) if scheme else None
    if scheme is None or marks is None:
        return ""
    question = remark_question(scheme)
    answer = judgment.answers.get(question.id) if question else None
    return render(spans_of(judgment, marks), answer if isinstance(answer, str) else None, layout)


def _read(group: list[Copy], source: Source, options: ReadOptions, project: ForeignProject | None) -> Entry:
    texts = [_text(copy) for copy in group]
    for copy, text in zip(group, texts, strict=True):
        if text != texts[0]:
            raise InputError(
                "another-text", where=copy.name, hint="documents-same-name-must", name=group[0].name
            )
    sides = [side_of(copy.side) if copy.side else None for copy in group]
    layout = _layout(group, sides, texts[0], options)
    judgments: list[Judgment] = []
    folders: dict[str, Copy] = {}
    for copy, side in zip(group, sides, strict=True):
        annotator = _annotator(copy, side, source)
        if annotator is not None and folders.setdefault(annotator, copy) is not copy:
            raise InputError(
                "marked-same-document",
                where=copy.name,
                hint="give-every-annotator-one",
                annotator=annotator,
                name=folders[annotator].name,
                side=SIDE,
            )
        judgments += _judgments(copy, side, annotator, layout, options, project)
    return Entry(layout.document.id, layout.document, tuple(judgments))


def _text(copy: Copy) -> str:
    if copy.text is None:
        stem = PurePosixPath(copy.name).name.removesuffix(MARKS).removesuffix(SIDE)
        raise InputError("no-beside", where=copy.name, hint="give-whole-folder-not", stem=stem, text=TEXT)
    return text_of(copy.text)


def _layout(group: list[Copy], sides: list[SideFile | None], text: str, options: ReadOptions) -> Layout:
    known = [(copy, side.document) for copy, side in zip(group, sides, strict=True) if side]
    if not known:
        path = PurePosixPath(group[0].name)
        return recognised(path.name.removesuffix(TEXT), text, options, group[0].name)
    first, placed = known[0]
    for copy, other in known:
        if other != placed:
            raise InputError("side-file-describes-another", where=copy.name, name=first.name)
    return restore(placed, text, first.name)


def _annotator(copy: Copy, side: SideFile | None, source: Source) -> str | None:
    """Who marked it: as the side file says, else by the folder's name; nobody in the folder for that."""
    if side is not None and side.annotator is not None:
        return side.annotator
    folder = PurePosixPath(copy.folder).name or PurePosixPath(source.name).stem
    return None if folder == UNANNOTATED else folder


def _judgments(
    copy: Copy,
    side: SideFile | None,
    annotator: str | None,
    layout: Layout,
    options: ReadOptions,
    project: ForeignProject | None,
) -> Iterator[Judgment]:
    if copy.marks is None:
        if side is not None:
            raise InputError("no-file-beside", where=copy.name, marks=MARKS)
        return
    content = text_of(copy.marks)
    if side is not None:
        project = None
    if project is not None:
        content = without_events(content, project.events, options.dropped)
    found = parse(content, layout.text, copy.marks.name)
    if whole := whole_triples(found, layout):
        options.mended[Notice("marks-over-whole-triple")] += whole
    if side is not None and side.judgments:
        yield from side.judgments
        yield from _changed(newest(side.judgments)[0], found, layout, copy.name)
    elif annotator is not None:
        yield _first(found, annotator, layout, project, copy.name)
    elif found.marks:
        raise InputError(
            "marks-but-stands",
            where=copy.marks.name,
            hint="name-folder-after-annotator",
            unannotated=UNANNOTATED,
        )


def _first(
    found: Annotations, annotator: str, layout: Layout, project: ForeignProject | None, where: str
) -> Judgment:
    """A judgment that is new to Lapsus. No marks at all mean that no error was found.

    Of others' projects it is under the scheme of their own types; relations are ties, and whole in the metadata.
    """
    scheme = project.scheme if project else load_scheme(SCHEME)
    marks, remark = _questions(scheme, found, where)
    labels = known_labels(marks)
    answers: dict[str, Any] = {marks.id: found.spans(layout, labels)}
    if found.remark is not None:
        answers[remark] = found.remark
    metadata = {"relations": found.relations(layout, labels)} if project and found.lines else {}
    return Judgment(
        layout.document.id, None, annotator, scheme.id, scheme.version, answers, metadata=metadata
    )


def _changed(shown: Judgment, found: Annotations, layout: Layout, where: str) -> Iterator[Judgment]:
    """What was changed in brat since Lapsus wrote it, if anything, as the next revision."""
    marks, remark = _questions(shown.scheme, found, where)
    used = tuple(span.label for span in spans_of(shown, marks))
    labels = known_labels(marks, used)
    before = parse(_rendered(shown, layout), layout.text, "")
    spans = found.spans(layout, labels)
    answers: dict[str, Any] = dict(shown.answers)
    if spans != before.spans(layout, labels):
        answers[marks.id] = spans
    if found.remark != before.remark:
        answers.pop(remark, None)
        if found.remark is not None:
            answers[remark] = found.remark
    if answers != shown.answers:
        yield revised(shown, answers)


def _questions(scheme: Scheme | str, found: Annotations, where: str) -> tuple[Question, str]:
    """The question that marks answer, and the id of the one that notes answer."""
    known = known_scheme(scheme) if isinstance(scheme, str) else scheme
    marks = marks_question(known) if known else None
    if known is None or marks is None:
        problem = Notice("marks-no-spans") if known else Notice("not-installed-here")
        raise InputError("judged-under-scheme", where=where, name=scheme, problem=problem)
    words = remark_question(known)
    if words is None and found.notes:
        raise InputError("notes-but-scheme-asks", where=where, name=known.id)
    return marks, words.id if words else ""


def copies(source: Source) -> list[list[Copy]]:
    """The copies of each document. Only names are looked at, so that documents can be read one by one."""
    found: dict[str, dict[str, dict[str, Member]]] = {}
    for member in source.members(TEXT, MARKS, SIDE):
        ending = next(ending for ending in (TEXT, MARKS, SIDE) if member.name.endswith(ending))
        stem = member.path.name.removesuffix(ending)
        found.setdefault(stem, {}).setdefault(str(member.path.parent), {})[ending] = member
    return [
        [Copy(folder, *map(files.get, (TEXT, MARKS, SIDE))) for folder, files in folders.items()]
        for folders in found.values()
    ]


def side_of(member: Member) -> SideFile:
    """A side file."""
    try:
        side = decoder(SideFile).decode(member.read())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("not-lapsus-writes", where=member.name, error=error) from error
    if side.lapsus > VERSION:
        raise InputError(
            "written-newer-lapsus-format",
            where=member.name,
            hint="update-lapsus",
            lapsus=side.lapsus,
            version=VERSION,
        )
    return side


def foreign_project(source: Source) -> ForeignProject | None:
    """The scheme of a project whose `annotation.conf` offers other labels than our own scheme of marks."""
    members = [member for member in source.members(CONFIG) if member.path.name == CONFIG]
    if not members:
        return None
    found = Configuration()
    for member in members:
        read_configuration(member, found)
    question = marks_question(SCHEME)
    ours = known_labels(question) if question else {}
    if all(name.lower() in ours for name in found.entities):
        return None
    return ForeignProject(scheme_of(found, _name(source)), frozenset(found.events))


def _name(source: Source) -> str:
    """The scheme's name: that of the folder or zip, and never that of a scheme which is there already."""
    stem = regex.sub(r"\.zip$", "", source.name, flags=regex.IGNORECASE)
    name = regex.sub(r"[^\p{L}\p{N}_-]+", "-", stem).strip("-_") or "project"
    return f"brat-{name}" if name in scheme_names() else name
