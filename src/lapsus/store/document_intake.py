"""Adding documents and their units to a campaign."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from lapsus.errors import InputError
from lapsus.model import Document, Scheme
from lapsus.model.unit import Screened
from lapsus.notices import Notice
from lapsus.schemes import need_askable
from lapsus.store import tables as t
from lapsus.store.known_answers import KnownAnswers
from lapsus.store.plan import Block, KnownUnit
from lapsus.store.random_order import shuffle_of
from lapsus.store.records import Chosen
from lapsus.store.rows import insert_missing, insert_rows, plan_of
from lapsus.store.validation import check_storable, digest_of, to_json


class DocumentIntake:
    """Adds documents to one campaign."""

    def __init__(
        self,
        conn: Connection,
        row: Row[Any],
        scheme: Scheme,
        known: Mapping[Block, Sequence[KnownUnit]] | None = None,
    ) -> None:
        self.conn, self.campaign, self.scheme = conn, row.id, scheme
        self.plan, self.is_pilot = plan_of(row), row.stage == "pilot"
        self.known = KnownAnswers(self.plan, scheme, known)
        self.documents = self.units = self.known_already = 0
        self.counted = self.wanted = 0
        self.judged = self.chosen = self.without = 0
        self.position = self._last(t.campaign_document.c.position, t.campaign_document.c.campaign)
        self.number = self._last(t.unit.c.number, t.unit.c.campaign)
        self.pilot_left = self._pilot_left() if self.is_pilot else 0

    def _pilot_left(self) -> int:
        """How many more documents belong to the pilot."""
        place = t.campaign_document
        mine = (place.c.campaign == self.campaign) & (place.c.part == "pilot")
        there = self.conn.scalar(select(func.count()).select_from(place).where(mine)) or 0
        return self.plan.pilot.documents - there if self.plan.pilot else 0

    def _last(self, column: Any, campaign: Any) -> int:
        return self.conn.scalar(select(func.max(column)).where(campaign == self.campaign)) or 0

    def add(self, given: Sequence[Screened]) -> None:
        """Add some documents; those that are there already, with the same content, are passed over."""
        place = t.campaign_document
        names = [check_storable(document.id, "words-document-id") for document, _ in given]
        mine = (place.c.campaign == self.campaign) & place.c.name.in_(names)
        there = {
            row.name: row.digest
            for row in self.conn.execute(select(place.c.name, place.c.digest).where(mine))
        }
        contents: list[dict[str, Any]] = []
        places: list[dict[str, Any]] = []
        rows: list[dict[str, Any]] = []
        for one in given:
            document = one.document
            if self.plan.collect is None:
                need_askable(self.scheme, document)
            content = to_json(document)
            digest = digest_of(content)
            if document.id in there:
                self._same(document.id, there[document.id], digest)
                continue
            there[document.id] = digest
            contents.append({"digest": digest, "id": document.id, "content": content})
            segments = self._segments(one)
            part = self._part(document.id, bool(segments))
            places.append(self._place(document.id, digest, part, len(segments)))
            rows.extend(self._unit(document, segment, part) for segment in segments)
        insert_missing(self.conn, t.document, contents)
        insert_rows(self.conn, place, places)
        insert_rows(self.conn, t.unit, rows)
        self.known.write(self.conn, self.campaign)

    def _segments(self, one: Screened) -> list[str | None]:
        """The units of a document that the campaign judges."""
        chooses = self.scheme.target is not None and not self.plan.all_turns
        if chooses and one.targets is not None:
            self.judged += one.targets.judged
            self.chosen += len(one.targets.chosen)
        elif chooses and one.document.id not in self.known.parts:
            self.without += 1
        shown = one if chooses else Screened(one.document)
        return [unit.key.segment for unit in shown.units(self.scheme)]

    @property
    def targets(self) -> Chosen | None:
        """What the votes chose so far; None where the guideline has no rule, or the plan wants all."""
        if self.scheme.target is None or self.plan.all_turns:
            return None
        return Chosen(self.judged, self.chosen, self.without)

    def _same(self, name: str, known: str, digest: str) -> None:
        if known != digest:
            raise InputError(
                "campaign-already-other-content",
                where=Notice("document", document=name),
                hint="give-changed-one-id",
            )
        self.known_already += 1

    def _part(self, name: str, is_judged: bool) -> str:
        if (part := self.known.parts.get(name)) is not None:
            return part
        if self.pilot_left > 0 and is_judged:
            self.pilot_left -= 1
            return "pilot"
        return "main"

    def _is_open(self, part: str) -> bool:
        """While the pilot runs, the rest is there but not judged; talks are judged by those who talked, or not here."""
        if self.plan.collect is not None:
            return self.plan.collect.ask
        return part != "main" or not self.is_pilot

    def _place(self, name: str, digest: str, part: str, units: int) -> dict[str, Any]:
        self.position += 1
        self.documents += 1
        return {
            "campaign": self.campaign, "position": self.position, "name": name, "digest": digest,
            "level": 0 if units and self._is_open(part) else t.FULL,
            "shuffle": shuffle_of(self.plan.seed, digest), "part": part,
        }  # fmt: skip

    def _unit(self, document: Document, segment: str | None, part: str) -> dict[str, Any]:
        self.number += 1
        self.units += 1
        counts = {"main": self.plan.per_unit, "pilot": self.plan.pilot_per_unit}
        wanted = counts.get(part, t.FULL)
        if wanted < t.FULL and self._is_open(part):
            self.counted += 1
            self.wanted += wanted
        self.known.found(document, segment, self.number)
        return {
            "campaign": self.campaign, "number": self.number, "document": self.position,
            "segment": t.WHOLE if segment is None else check_storable(segment, "words-segment-id"),
            "active": self._is_open(part), "taken": 0, "done": 0, "wanted": wanted,
        }  # fmt: skip

    def finish(self) -> None:
        """Keep count of what was added."""
        total = t.campaign_total
        more = {
            "documents": total.c.documents + self.documents,
            "units": total.c.units + self.counted,
            "wanted": total.c.wanted + self.wanted,
        }
        self.conn.execute(update(total).where(total.c.campaign == self.campaign).values(more))
