"""Campaigns that somebody is about to make in the browser: a plan that is not complete, and its documents."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import delete, insert, select, update

from lapsus.errors import InputError
from lapsus.kinds import Kind, kinds_of
from lapsus.model import Document, Entry, Scheme, UnitKey
from lapsus.model.frozen import decoder
from lapsus.model.unit import WHOLE, Screened, Targets, targets_of
from lapsus.notices import Notice
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.people import new_secret
from lapsus.store.records import RefusedError
from lapsus.store.validation import is_storable, number, to_json

KEPT = timedelta(days=7)
MOST = 5
"""Drafts that are kept of a person: the newest."""
LARGEST_TEXT = 50_000_000
"""Characters of all documents together; more is for the command line."""


class Draft(msgspec.Struct, frozen=True):
    """A campaign that is being made."""

    id: str
    plan: dict[str, Any]
    """The plan as far as it is filled in, as its file would hold it."""
    lines: str

    def documents(self) -> Iterator[Document]:
        """Its documents, one at a time."""
        for line in self._kept():
            yield line.document

    def screened(self, scheme: Scheme | None) -> Iterator[Screened]:
        """Its documents, each with the targets that a guideline has in it: votes are the same under the same rule."""
        rule = None if scheme is None else scheme.target
        same = [name for name in scheme_names() if rule is not None and load_scheme(name).target == rule]
        for line in self._kept():
            yield Screened(
                line.document, next((line.targets[name] for name in same if name in line.targets), None)
            )

    def doubts(self, scheme: str) -> dict[UnitKey, float]:
        """How much programs whose judgments came along doubt their answers, unit by unit."""
        return {
            UnitKey(line.document.id, segment or None): doubt
            for line in self._kept()
            for segment, doubt in line.doubts.get(scheme, {}).items()
        }

    def _kept(self) -> Iterator[DraftLine]:
        yield from map(decoder(DraftLine).decode, self.lines.split("\n") if self.lines else ())


class BegunDraft(NamedTuple):
    """A draft in a list, without its documents."""

    id: str
    plan: dict[str, Any]
    changed: datetime


class DraftLine(NamedTuple):
    """A document, its targets by the guideline that has them, and by guideline how much programs doubt its units."""

    document: Document
    targets: dict[str, Targets]
    doubts: Mapping[str, Mapping[str, float]] = {}


def _doubts(entry: Entry, known: Mapping[str, Mapping[str, Kind]]) -> dict[str, dict[str, float]]:
    """For each guideline the mean doubt of programs that say how sure they are, by segment. `known`: their kinds."""
    told: dict[str, dict[str, list[float]]] = {}
    for judgment in entry.judgments:
        if judgment.distributions and (kinds := known.get(judgment.scheme)) is not None:
            unsure = [
                kinds[question].doubt(shares)
                for question, shares in judgment.distributions.items()
                if shares and question in kinds
            ]
            own = told.setdefault(judgment.scheme, {})
            own.setdefault(judgment.segment or WHOLE, []).extend(unsure)
    return {
        scheme: {segment: sum(values) / len(values) for segment, values in own.items() if values}
        for scheme, own in told.items()
    }


class Drafts(StorePart):
    """Drafts are one person's, and gone after a week, or when the person has begun some more."""

    def new(self, person: int, plan: Mapping[str, Any], entries: Iterable[Entry]) -> str:
        """Keep a draft with its documents and what the votes on them chose; the name by which it is found again."""
        return self.keep(person, plan, _screened(entries))

    def keep(self, person: int, plan: Mapping[str, Any], lines: Iterable[DraftLine]) -> str:
        """The same with documents whose targets are known."""
        id, now = new_secret(), self.clock()
        row = {"id": id, "person": person, "plan": to_json(plan), "documents": _text(lines), "changed": now}
        with self.writing() as conn:
            conn.execute(delete(t.draft).where(t.draft.c.changed < now - KEPT))
            conn.execute(insert(t.draft), row)
            mine = select(t.draft.c.id).where(t.draft.c.person == person).order_by(t.draft.c.changed.desc())
            old: list[str] = list(conn.scalars(mine.offset(MOST)))
            conn.execute(delete(t.draft).where(t.draft.c.id.in_(old)))
        return id

    def get(self, id: str, person: int) -> Draft:
        """A person's draft."""
        mine = (t.draft.c.id == id) & (t.draft.c.person == number(person))
        row = self.row(select(t.draft).where(mine))
        if row is None:
            raise RefusedError("no-draft", "there is no such draft", hint="begin anew")
        return Draft(row.id, msgspec.json.decode(row.plan), row.documents)

    def of_person(self, person: int) -> list[BegunDraft]:
        """A person's drafts, the newest first."""
        draft = t.draft
        query = select(draft.c.id, draft.c.plan, draft.c.changed).where(draft.c.person == number(person))
        query = query.where(draft.c.changed >= self.clock() - KEPT).order_by(draft.c.changed.desc())
        rows = self.rows(query)
        return [BegunDraft(row.id, msgspec.json.decode(row.plan), row.changed) for row in rows]

    def change(
        self, id: str, person: int, plan: Mapping[str, Any], entries: Iterable[Entry] | None = None
    ) -> None:
        """Keep what was decided since, and other documents where some are given."""
        mine = (t.draft.c.id == id) & (t.draft.c.person == number(person))
        changed: dict[str, Any] = {"plan": to_json(plan), "changed": self.clock()}
        if entries is not None:
            changed["documents"] = _text(_screened(entries))
        with self.writing() as conn:
            conn.execute(update(t.draft).where(mine).values(changed))

    def keep_file(self, id: str, person: int, name: str, content: bytes) -> None:
        """Keep the file that a draft's documents are read from, in place of the one before."""
        self.get(id, person)
        file = t.draft_file
        with self.writing() as conn:
            conn.execute(delete(file).where(file.c.draft == id))
            conn.execute(insert(file), {"draft": id, "name": name, "content": b64encode(content).decode()})

    def file(self, id: str) -> tuple[str, bytes] | None:
        """The name and content of the file that came with a draft; None where none did."""
        query = select(t.draft_file.c.name, t.draft_file.c.content).where(t.draft_file.c.draft == id)
        row = self.row(query)
        return None if row is None else (row.name, b64decode(row.content))

    def drop(self, id: str, person: int) -> None:
        """Throw a draft away."""
        with self.writing() as conn:
            conn.execute(delete(t.draft).where(t.draft.c.id == id, t.draft.c.person == number(person)))


def _screened(entries: Iterable[Entry]) -> Iterator[DraftLine]:
    """The documents of some entries, each with what the votes on it chose."""
    schemes = [load_scheme(name) for name in scheme_names()]
    choosing = [scheme for scheme in schemes if scheme.target is not None]
    kinds = {scheme.id: kinds_of(scheme) for scheme in schemes}
    for entry in entries:
        if entry.document is not None:
            found = {scheme.id: targets_of(entry, scheme) for scheme in choosing}
            chosen = {name: targets for name, targets in found.items() if targets}
            yield DraftLine(entry.document, chosen, _doubts(entry, kinds))


def _text(documents: Iterable[DraftLine]) -> str:
    """Documents as a draft holds them."""
    lines: list[str] = []
    size = 0
    for one in documents:
        line = to_json(one)
        if (size := size + len(line)) > LARGEST_TEXT:
            raise InputError("too-much-browser", hint="use-lapsus-campaign-create")
        if not is_storable(line):
            raise InputError(
                "holds-sign-cannot-stored", where=Notice("document", document=one.document.id[:80])
            )
        lines.append(line)
    return "\n".join(lines)
