"""Programs that judge: detectors and models as annotators, whose answers stand beside the plan's."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, exists, func, insert, select

from lapsus.errors import InputError, UsageError
from lapsus.model import EMPTY, Document, Entry, Unit, units
from lapsus.model.frozen import decoder
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.judgment_import import JudgmentImport
from lapsus.store.judgments import Judgments
from lapsus.store.people import as_person, check_name, folded, new_secret
from lapsus.store.records import Person, StoredJudgment
from lapsus.store.rows import ITS_DOCUMENT, SUBMITTED, campaign_row, of_person, plan_of
from lapsus.store.validation import chunks

CHUNK = 50
"""Documents whose judgments are committed together: what a program has done is kept should it be ended."""


class Programs(StorePart):
    """Programs take no place of the plan, and count in no vote: they are compared with people, and can suggest."""

    def __init__(self, database: Database, imports: JudgmentImport, judgments: Judgments) -> None:
        super().__init__(database)
        self.imports = imports
        self.judgments = judgments

    def add(self, name: str, *, by: int | None = None) -> Person:
        """The program of that name, made where there is none."""
        name = check_name(name)

        def work(conn: Connection) -> Person:
            found = conn.execute(select(t.person).where(t.person.c.name == name)).one_or_none()
            if found is not None:
                if not found.program:
                    raise InputError("person", hint="give-program-name", name=name)
                return as_person(found)
            row = {
                "name": name, "role": "annotator", "stamp": new_secret(),
                "created": self.clock(), "program": True, "folded": folded(name),
            }  # fmt: skip
            added = conn.execute(insert(t.person).returning(t.person), row).one()
            self.note(conn, "program added", by=by, name=name)
            return as_person(added)

        return self.write(work)

    def count_documents(self, campaign: str, program: int) -> int:
        """How many documents a program has still to judge."""
        query = _unjudged(self._campaign_id(campaign), program, 0).subquery()
        return self.scalar(select(func.count()).select_from(query)) or 0

    def documents_for(self, campaign: str, program: int) -> Iterator[Document]:
        """The documents that a program has still to judge, a few in memory at a time."""
        id, start = self._campaign_id(campaign), 0
        while True:
            rows = self.rows(_unjudged(id, program, start).limit(CHUNK))
            for row in rows:
                yield self._document(row.digest)
            if not rows:
                return
            start = rows[-1].position

    def count_units(self, campaign: str, program: int) -> int:
        """How many units that are open a program has still to judge."""
        query = _open_units(self._campaign_id(campaign), program).subquery()
        return self.scalar(select(func.count()).select_from(query)) or 0

    def count_judged(self, campaign: str, program: int) -> int:
        """How many units a program has judged."""
        mine = of_person(t.assignment, self._campaign_id(campaign), program) & (t.assignment.c.submitted > 0)
        return self.scalar(select(func.count()).select_from(t.assignment).where(mine)) or 0

    def units_for(self, campaign: str, program: int) -> Iterator[Unit]:
        """The open units that a program has still to judge, each with what its judge may see.

        Unlike `documents_for` it leaves out what is not open (yet), for programs that cost something to ask.
        """
        id, start, rule = self._campaign_id(campaign), 0, self._scheme_of(self._campaign_id(campaign)).unit
        while True:
            with self.reading() as conn:
                later = _open_units(id, program).where(t.unit.c.number > start)
                rows = conn.execute(later.order_by(t.unit.c.number).limit(CHUNK)).all()
            for digest, group in groupby(rows, key=lambda row: str(row.digest)):
                wanted = {row.segment or None for row in group}
                yield from (u for u in units(self._document(digest), rule) if u.key.segment in wanted)
            if not rows:
                return
            start = rows[-1].number

    def metadata_of(self, campaign: str, program: int) -> Mapping[str, Any] | None:
        """What stands with one of a program's judgments; None where it has judged nothing."""
        mine, said = t.assignment, t.judgment
        query = select(said.c.more).join(mine, SUBMITTED).limit(1)
        whose = of_person(mine, self._campaign_id(campaign), program)
        with self.reading() as conn:
            row = conn.execute(query.where(whose)).first()
        if row is None:
            return None
        found: Mapping[str, Any] = decoder(dict[str, Any]).decode(row.more or "{}").get("metadata", EMPTY)
        return found

    def add_judgments(
        self,
        campaign: str,
        program: Person,
        entries: Iterable[Entry],
        *,
        by: int | None = None,
        at_a_time: int = CHUNK,
        once: bool = False,
    ) -> Iterator[int]:
        """Keep what a program says, some entries at a time; yields how many judgments were kept each time.

        What it says of turns that the votes did not choose is left out.
        `once`: where it has judged a unit meanwhile, that stands. So a program can be started twice by mistake.
        """
        if not program.program:
            raise UsageError("person", name=program.name)
        id, scheme = self._campaign_id(campaign), self._scheme_of(self._campaign_id(campaign)).id
        total = 0
        for chunk in chunks(entries, at_a_time):
            renamed = [_as(entry, program.name) for entry in chunk]
            for entry in renamed:
                for judgment in entry.judgments:
                    if judgment.scheme != scheme:
                        raise UsageError(
                            "judges-under-campaign-under",
                            name=program.name,
                            scheme=judgment.scheme,
                            scheme2=scheme,
                        )
            kept = self.imports.import_entries(
                id, self._chosen(id, renamed), check=True, by=by, once=once
            ).judgments
            total += kept
            yield kept
        if once and total:
            with self.writing() as conn:
                self.note(conn, "program judged", by=by, campaign=id, program=program.name, judgments=total)

    def _chosen(self, campaign: int, entries: list[Entry]) -> list[Entry]:
        """The entries without judgments of turns that the campaign's target leaves out of a document."""
        if self._scheme_of(campaign).target is None:
            return entries
        place, unit = t.campaign_document, t.unit
        names = {judgment.document for entry in entries for judgment in entry.judgments}
        query = select(place.c.name, unit.c.segment).join(unit, ITS_DOCUMENT)
        rows = self.rows(query.where(place.c.campaign == campaign, place.c.name.in_(names)))
        known, found = {row.name for row in rows}, {(row.name, row.segment or None) for row in rows}
        return [
            Entry(
                entry.id,
                entry.document,
                tuple(one for one in entry.judgments if one.unit in found or one.document not in known),
            )
            for entry in entries
        ]

    def suggestion(self, campaign: str, unit: int) -> StoredJudgment | None:
        """What the program that the plan names would answer, if it has judged the unit."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            name = plan_of(campaign_row(conn, id)).suggest
            if name is None:
                return None
            wanted = (t.person.c.name == name) & t.person.c.program
            person = conn.scalar(select(t.person.c.id).where(wanted))
        return None if person is None else self.judgments.get(campaign, unit, person)


def _unjudged(campaign: int, program: int, after: int) -> Select[Any]:
    """Documents with a unit that the program has not judged."""
    place, unit, mine = t.campaign_document, t.unit, t.assignment
    judged = exists().where(
        mine.c.campaign == campaign,
        mine.c.unit == unit.c.number,
        mine.c.person == program,
        mine.c.submitted > 0,
    )
    open_units = exists().where(unit.c.campaign == campaign, unit.c.document == place.c.position, ~judged)
    query = select(place.c.position, place.c.digest).where(place.c.campaign == campaign, open_units)
    return query.where(place.c.position > after).order_by(place.c.position)


def _open_units(campaign: int, program: int) -> Select[Any]:
    """Units that are open and that the program has not judged."""
    place, unit, mine = t.campaign_document, t.unit, t.assignment
    judged = exists().where(
        of_person(mine, campaign, program), mine.c.unit == unit.c.number, mine.c.submitted > 0
    )
    query = select(unit.c.number, unit.c.segment, place.c.digest).join(place, ITS_DOCUMENT)
    return query.where(unit.c.campaign == campaign, unit.c.active, ~judged)


def _as(entry: Entry, name: str) -> Entry:
    judgments = tuple(msgspec.structs.replace(judgment, annotator=name) for judgment in entry.judgments)
    return Entry(entry.id, entry.document, judgments)
