"""The file of a draft: its columns, what these probably hold, what the manager says they do, and reading it so.

It is kept until the campaign is made, and read again whenever its columns are mapped.
"""

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple

import msgspec
import regex
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from lapsus.errors import InputError, LapsusError
from lapsus.formats import EntryStream, read
from lapsus.formats.chat import LOOKED_AT
from lapsus.formats.field_map import FieldMap, field_map, flattened, probable_map
from lapsus.formats.messages import json_text
from lapsus.formats.records import SUFFIXES, records
from lapsus.formats.source import Source
from lapsus.formats.speakers import ROLES
from lapsus.model import Document, Entry
from lapsus.store.drafts import Draft
from lapsus.web.forms import field, fields, given_name, on_disk, posts, told
from lapsus.web.page_routes import for_managers, managing, twins
from lapsus.web.page_words import say
from lapsus.web.pages.judging.unit import segment_response
from lapsus.web.pages.setup.forms import steps_of
from lapsus.web.pages.setup.preview import draft_here
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.schemas import SegmentResponse

OFFERED: Final = ("text", "speaker", "dialogue", "model", "time", "prompt", "reply", "messages")
"""What a column can hold, in the order in which it is offered."""
ROWS: Final = 5
COLUMNS: Final = 60
SPEAKERS: Final = 30
TURNS: Final = 6
WIDTH: Final = 200
"""Characters of a cell that are shown."""
_SPEAKERS: Final = ("role", "from", "speaker", "sender")
_PAGE: Final = "setup/columns.html"
_PROGRAM: Final = regex.compile(
    r"(?i)bot|assist|agent|\bai\b|gpt|llm|model|system|ボット|システム|アシスタント"
)

Side = Literal["system", "user", ""]


class ColumnResponse(msgspec.Struct, frozen=True):
    """A column of the file."""

    name: str
    holds: str
    """A word of `OFFERED`; empty where it is not used."""
    cells: list[str]
    """Its first five."""


class SpeakerResponse(msgspec.Struct, frozen=True):
    """Who speaks, by the name in the file."""

    name: str
    turns: int
    """Among the rows that were looked at."""
    side: Side
    """Whether these turns are judged; empty where nothing tells."""


class ColumnsResponse(msgspec.Struct, frozen=True):
    """Which column of a file holds what, and what becomes of the file so."""

    draft: str
    steps: list[str]
    file: str
    columns: list[ColumnResponse]
    speakers: list[SpeakerResponse]
    documents: int
    turns: int
    sample: list[SegmentResponse]
    """The beginning of the first conversation, as it was understood."""
    sample_language: str | None
    option: str
    """The same map on the command line."""
    missing: str | UnsetType = UNSET
    """What is still to be said before the file can be read."""
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


def show(visit: RequestContext) -> ColumnsResponse:
    """The columns as they were mapped, or as they probably are."""
    draft = draft_here(visit)
    rows = first_rows(visit, draft.id)
    # Who is judged is asked where names do not tell: a guess that nobody looks at would have users judged.
    guess = msgspec.structs.replace(probable_map(rows), system=(), user=())
    return _record(visit, draft, rows, map_of_draft(draft) or with_sides(guess, rows))


def change(visit: RequestContext, form: FormData) -> ColumnsResponse | Response:
    """Keep what was said of the columns; then look at what comes of it, or take the documents and go on."""
    draft, rows = draft_here(visit), first_rows(visit, draft_here(visit).id)
    known = _given(visit, form, rows)
    if field(form, "go") != "next":
        visit.store.drafts.change(draft.id, visit.me.id, {**draft.plan, MAP: msgspec.to_builtins(known)})
        return _record(visit, draft, rows, known)
    _check(visit, known, rows)
    found = read_file(visit, draft.id, known)
    visit.store.drafts.change(
        draft.id, visit.me.id, {**draft.plan, MAP: msgspec.to_builtins(known)}, found.entries
    )
    return redirect(visit, f"/new/{draft.id}/guideline")


def _again(visit: RequestContext, form: FormData, error: LapsusError) -> ColumnsResponse:
    draft = draft_here(visit)
    rows = first_rows(visit, draft.id)
    try:
        known = _given(visit, form, rows)
    except LapsusError:
        known = map_of_draft(draft) or FieldMap()
    return _record(visit, draft, rows, known, error)


def _given(visit: RequestContext, form: FormData, rows: Sequence[Mapping[str, Any]]) -> FieldMap:
    """The map that a form says; each thing stands in one column."""
    given, found = fields(form), dict[str, Any]()
    for place, name in enumerate(_names(rows)):
        holds = given.get(f"column-{place}", "")
        if holds in found:
            what = say(f"setup.columns.holds.{holds}", visit.language)
            raise InputError("two-columns-same", what=what, one=found[holds], other=name)
        if holds in OFFERED:
            found[holds] = name
    known = msgspec.convert(found, FieldMap)
    sides: dict[str, list[str]] = {"system": [], "user": []}
    for place, (name, _) in enumerate(speakers(known, rows)):
        side = given.get(f"speaker-{place}", "")
        if side in sides and given.get(f"named-{place}") == name:
            sides[side].append(name)
    known = msgspec.structs.replace(known, system=tuple(sides["system"]), user=tuple(sides["user"]))
    return with_sides(known, rows)


def _check(visit: RequestContext, known: FieldMap, rows: Sequence[Mapping[str, Any]]) -> None:
    """Say what is missing in the words of the page, before a reader says it in its own."""
    if not (known.messages or known.reply or known.text):
        raise InputError("columns-no-text")
    if known.text and not known.messages and not known.speaker:
        raise InputError("columns-no-speaker")
    if known.speaker and not any(_side(known, name) == "system" for name, _ in speakers(known, rows)):
        raise InputError("columns-nobody-judged")


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))[:COLUMNS]


def speakers(known: FieldMap, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Who speaks in the rows, and how often."""
    if known.messages:
        listed = [json_text(row.get(known.messages)) for row in rows]
        talks = [one for talk in listed if isinstance(talk, list) for one in talk if isinstance(one, Mapping)]
        key = known.speaker or next(
            (key for key in ("role", "from", "speaker", "sender") if talks and key in talks[0]), ""
        )
        found = [str(one[key]) for one in talks if one.get(key) is not None] if key else []
    elif known.speaker:
        found = [str(row[known.speaker]) for row in rows if row.get(known.speaker) is not None]
    else:
        found = []
    return Counter(name.strip() for name in found).most_common(SPEAKERS)


def _side(known: FieldMap, name: str) -> Side:
    plain = name.lower()
    if plain in {one.lower() for one in known.system}:
        return "system"
    if plain in {one.lower() for one in known.user}:
        return "user"
    usual = ROLES.get(plain)
    return "system" if usual == "system" else "user" if usual is not None else ""


def with_sides(known: FieldMap, rows: Sequence[Mapping[str, Any]]) -> FieldMap:
    """The map with a side for speakers of whom nothing was said: a program by its name, the other one of two."""
    found = [name for name, _ in speakers(known, rows)]
    open_ = [name for name in found if not _side(known, name)]
    programs = [name for name in open_ if _PROGRAM.search(name)]
    judged = [name for name in found if _side(known, name) == "system"]
    if not (programs or judged):
        # `system` is what chat programs call instructions; beside one other name it speaks.
        programs = [name for name in found if name.lower() == "system" and name not in known.user]
    rest = [name for name in open_ if name not in programs] if programs or judged else []
    if not (programs or judged) and len(open_) == 1 and len(found) == 2:
        programs = open_
    return msgspec.structs.replace(known, system=(*known.system, *programs), user=(*known.user, *rest))


def _record(
    visit: RequestContext,
    draft: Draft,
    rows: Sequence[Mapping[str, Any]],
    known: FieldMap,
    error: LapsusError | None = None,
) -> ColumnsResponse:
    documents, missing = list[Document](), None
    if known.taken and error is None:
        try:
            _check(visit, known, rows)
            documents = [
                entry.document
                for entry in read_file(visit, draft.id, known).entries
                if entry.document is not None
            ]
        except LapsusError as problem:
            missing = problem
    file = visit.store.drafts.file(draft.id)
    first = documents[0] if documents else None
    return ColumnsResponse(
        draft=draft.id,
        steps=steps_of(draft.plan),
        file="" if file is None else file[0],
        columns=[_column(name, known, rows) for name in _names(rows)],
        speakers=[SpeakerResponse(name, count, _side(known, name)) for name, count in speakers(known, rows)],
        documents=len(documents),
        turns=sum(len(document.segments) for document in documents),
        sample=[] if first is None else [segment_response(one) for one in first.segments[:TURNS]],
        sample_language=None if first is None else first.language,
        option=str(known),
        missing=told(missing, visit.language)["error"],
        **told(error, visit.language),
    )


def _column(name: str, known: FieldMap, rows: Sequence[Mapping[str, Any]]) -> ColumnResponse:
    holds = next((field for field in OFFERED if getattr(known, field) == name), "")
    return ColumnResponse(name, holds, [_cell(row.get(name)) for row in rows[:ROWS]])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    words = " ".join(text.split())
    return words if len(words) <= WIDTH else f"{words[:WIDTH]}…"


MAP: Final = "map"
"""Where a draft keeps which column holds what; it is no part of the plan."""


class Reading(NamedTuple):
    """What became of a file: its documents with their judgments, and the map that was used or told from it."""

    entries: list[Entry]
    map: FieldMap | None


def keep_upload(visit: RequestContext, draft: str, file: UploadFile) -> None:
    """Keep a file with a draft, before anything can be wrong with it."""
    visit.store.drafts.keep_file(draft, visit.me.id, given_name(file) or "file", file.file.read())


def map_of_draft(draft: Draft) -> FieldMap | None:
    """What the manager said of the columns."""
    found = draft.plan.get(MAP)
    return field_map(found) if found else None


def read_file(visit: RequestContext, draft: str, known: FieldMap | None) -> Reading:
    """The documents in a draft's file; an error names the file as its owner does."""
    with _opened(visit, draft, is_table=known is not None) as path:
        stream: EntryStream = read(path, map=known)
        return Reading(list(stream), stream.options.map)


def first_rows(visit: RequestContext, draft: str) -> list[dict[str, Any]]:
    """The first records of a draft's file, what is nested in them by paths; none where it has no records."""
    if visit.store.drafts.file(draft) is None:
        return []
    try:
        with _opened(visit, draft, is_table=True) as path:
            member = Source.of([path]).first(*SUFFIXES)
            found = islice(records(member), LOOKED_AT) if member else ()
            return [flattened(record.value) for record in found]
    except (LapsusError, UnicodeDecodeError):
        return []


@contextmanager
def _opened(visit: RequestContext, draft: str, *, is_table: bool) -> Iterator[Any]:
    kept = visit.store.drafts.file(draft)
    file = None if kept is None else UploadFile(io.BytesIO(kept[1]), filename=_told_by(kept[0], is_table))
    with on_disk(file) as path:
        yield path


def _told_by(name: str, is_table: bool) -> str:
    """The name by which a file is read: what stands between commas or tabs is a table, whatever it is called."""
    plain = PurePosixPath(name)
    return str(plain.with_suffix(".csv")) if is_table and plain.suffix.lower() in (".tsv", ".txt") else name


_PATH = "/new/{draft:secret}/columns"
ROUTES = [
    *twins(_PATH, for_managers(show), _PAGE),
    *posts(_PATH, change, who=managing, again=_again, template=_PAGE, fields=2 * COLUMNS + 4 * SPEAKERS),
]
