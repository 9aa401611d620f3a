"""Documents on their way into a campaign, and the units that they bring."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from lapsus.errors import InputError
from lapsus.model import Document, Scheme, units
from lapsus.store import tables as t
from lapsus.store.checks import check_storable, digest_of, to_json
from lapsus.store.rows import insert_missing, insert_rows, plan_of
from lapsus.store.shuffling import shuffle_of


class Adding:
    """Documents on their way into one campaign."""

    def __init__(self, conn: Connection, row: Row[Any], scheme: Scheme) -> None:
        self.conn, self.campaign, self.rule = conn, row.id, scheme.unit
        self.seed = plan_of(row).seed
        self.documents = self.units = self.known = 0
        self.position = self._last(t.campaign_document.c.position, t.campaign_document.c.campaign)
        self.number = self._last(t.unit.c.number, t.unit.c.campaign)

    def _last(self, column: Any, campaign: Any) -> int:
        return self.conn.scalar(select(func.max(column)).where(campaign == self.campaign)) or 0

    def add(self, documents: list[Document]) -> None:
        """Add some documents; those that are there already, with the same content, are passed over."""
        place = t.campaign_document
        names = [check_storable(document.id, "a document's id") for document in documents]
        mine = (place.c.campaign == self.campaign) & place.c.name.in_(names)
        there = {
            row.name: row.digest
            for row in self.conn.execute(select(place.c.name, place.c.digest).where(mine))
        }
        contents: list[dict[str, Any]] = []
        places: list[dict[str, Any]] = []
        rows: list[dict[str, Any]] = []
        for document in documents:
            content = to_json(document)
            digest = digest_of(content)
            if document.id in there:
                self._same(document.id, there[document.id], digest)
                continue
            there[document.id] = digest
            contents.append({"digest": digest, "id": document.id, "content": content})
            segments = [judged.key.segment for judged in units(document, self.rule)]
            places.append(self._place(document.id, digest, len(segments)))
            rows.extend(self._unit(segment) for segment in segments)
        insert_missing(self.conn, t.document, contents)
        insert_rows(self.conn, place, places)
        insert_rows(self.conn, t.unit, rows)

    def _same(self, name: str, known: str, digest: str) -> None:
        if known != digest:
            raise InputError(
                "is in the campaign already, with other content",
                where=f"document {name!r}",
                hint="give the changed one an id of its own",
            )
        self.known += 1

    def _place(self, name: str, digest: str, units: int) -> dict[str, Any]:
        self.position += 1
        self.documents += 1
        return {
            "campaign": self.campaign, "position": self.position, "name": name, "digest": digest,
            "level": 0 if units else t.FULL, "shuffle": shuffle_of(self.seed, digest),
        }  # fmt: skip

    def _unit(self, segment: str | None) -> dict[str, Any]:
        self.number += 1
        self.units += 1
        return {
            "campaign": self.campaign, "number": self.number, "document": self.position,
            "segment": t.WHOLE if segment is None else check_storable(segment, "a segment's id"),
            "active": True, "taken": 0, "done": 0,
        }  # fmt: skip

    def finish(self) -> None:
        """Keep count of what was added."""
        total = t.campaign_total
        more = {"documents": total.c.documents + self.documents, "units": total.c.units + self.units}
        self.conn.execute(update(total).where(total.c.campaign == self.campaign).values(more))
