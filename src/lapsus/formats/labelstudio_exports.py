"""Which of Label Studio's exports a file is: the full JSON, or one that does not say where its answers stand."""

from __future__ import annotations

import re

from lapsus.errors import InputError
from lapsus.formats.csv_cells import opening
from lapsus.formats.source import Member, Source
from lapsus.notices import Notice

NOT_TASKS = Notice("export-json-not-json-min")
TABLES = (".csv", ".tsv")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}:]')
_MINIMAL = (b'"annotation_id"', b'"annotator"')
_COLUMNS = {"annotation_id", "annotator", "lead_time"}


def first_item(head: bytes) -> tuple[dict[bytes, bytes], bool]:
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


def is_minimal(head: bytes) -> bool:
    """Whether this is how JSON-MIN begins: answers beside the data, and who gave them."""
    opened, _ = first_item(head)
    return all(key in opened for key in _MINIMAL) and b'"data"' not in opened


def is_table_export(member: Member) -> bool:
    """Whether a table has the columns that Label Studio's CSV and TSV have."""
    return any(set(header) >= _COLUMNS for header in opening(member, 1))


def refuse_other_exports(source: Source) -> None:
    """Say which export it is, and which one can be read."""
    member = source.first(".json")
    table = source.first(*TABLES) if member is None else None
    what = None
    if member is not None and is_minimal(member.head()):
        what, where = "JSON-MIN", member.name
    elif table is not None and is_table_export(table):
        what, where = "CSV" if table.name.lower().endswith(".csv") else "TSV", table.name
    if what is not None:
        raise InputError(
            "label-studios-export-leaves", where=where, hint="export-project-again-json", reason=what
        )
