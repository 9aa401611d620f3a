"""Campaigns that somebody is about to make in the browser: a plan that is not complete, and its documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import msgspec
from sqlalchemy import delete, insert, select, update

from lapsus.errors import InputError
from lapsus.model import Document
from lapsus.model.decoding import decoder
from lapsus.store import tables as t
from lapsus.store.base import Base
from lapsus.store.checks import is_storable, number, to_json
from lapsus.store.people import new_secret
from lapsus.store.records import RefusedError

KEPT = timedelta(days=7)
LARGEST_TEXT = 50_000_000
"""Characters of all documents together; more is for the command line."""


class Draft(msgspec.Struct, frozen=True):
    """A campaign that is being made."""

    id: str
    plan: dict[str, Any]
    """As far as it goes."""
    lines: str

    def documents(self) -> Iterator[Document]:
        """Its documents, one at a time."""
        for line in self.lines.splitlines():
            yield decoder(Document).decode(line)


class Drafts(Base):
    """Drafts are one person's, and gone after a week."""

    def new_draft(self, person: int, plan: Mapping[str, Any], documents: Iterable[Document]) -> str:
        """Keep a draft with its documents; the name by which it is found again."""
        lines: list[str] = []
        size = 0
        for document in documents:
            line = to_json(document)
            if (size := size + len(line)) > LARGEST_TEXT:
                raise InputError("is too much for the browser", hint="use `lapsus campaign create`")
            if not is_storable(line):
                raise InputError("holds a sign that cannot be stored", where=f"document {document.id[:80]!r}")
            lines.append(line)
        id, now = new_secret(), self.clock()
        row = {
            "id": id,
            "person": person,
            "plan": to_json(plan),
            "documents": "\n".join(lines),
            "changed": now,
        }
        with self.writing() as conn:
            conn.execute(delete(t.draft).where(t.draft.c.changed < now - KEPT))
            conn.execute(insert(t.draft), row)
        return id

    def draft(self, id: str, person: int) -> Draft:
        """A person's draft."""
        mine = (t.draft.c.id == id) & (t.draft.c.person == number(person))
        with self.reading() as conn:
            row = conn.execute(select(t.draft).where(mine)).one_or_none()
        if row is None:
            raise RefusedError("no-draft", "there is no such draft", hint="begin anew")
        return Draft(row.id, msgspec.json.decode(row.plan), row.documents)

    def change_draft(self, id: str, person: int, plan: Mapping[str, Any]) -> None:
        """Keep what was decided since."""
        mine = (t.draft.c.id == id) & (t.draft.c.person == number(person))
        with self.writing() as conn:
            conn.execute(update(t.draft).where(mine).values(plan=to_json(plan), changed=self.clock()))

    def drop_draft(self, id: str, person: int) -> None:
        """Throw a draft away."""
        with self.writing() as conn:
            conn.execute(delete(t.draft).where(t.draft.c.id == id, t.draft.c.person == number(person)))
