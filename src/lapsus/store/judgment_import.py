"""Import: judgments given elsewhere, by people or programs, with their annotators' names."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, insert, select

from lapsus.errors import InputError
from lapsus.kinds import kinds_of
from lapsus.model import Document, Entry, Judgment, Scheme
from lapsus.model.frozen import decoder
from lapsus.model.judgment import PROGRAM, without_notes
from lapsus.model.unit import screened
from lapsus.notices import Notice
from lapsus.schemes import broken_rules, spelt_answers, without_open
from lapsus.store import save_statements as sql
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.chains import choose_units, copy_documents, followers
from lapsus.store.document_intake import DocumentIntake
from lapsus.store.people import folded, new_secret
from lapsus.store.records import Imported, is_programs
from lapsus.store.rows import (
    ITS_DOCUMENT,
    analyze_tables,
    campaign_row,
    ensure_members,
    insert_rows,
    scheme_of,
    set_levels,
)
from lapsus.store.save_batch import PersonCounts, PlaceId, UnitCapacity, UnitCounts, place_values
from lapsus.store.stats_cache import StatsCache, mark_changed
from lapsus.store.validation import check_storable, chunks, digest_of, to_json

CHUNK = 50
"""How many documents, with all their judgments, are in memory at a time."""


class JudgmentImport(StorePart):
    """Takes judgments from files into a campaign."""

    def __init__(self, database: Database, stats: StatsCache) -> None:
        super().__init__(database)
        self.stats = stats

    def add_judgments(
        self, campaign: str, entries: Iterable[Entry], *, check: bool = True, by: int | None = None
    ) -> Imported:
        """Add documents and the judgments about them, all or nothing; what is there already is passed over.

        Annotators become people without a password, or are the people of that name. Their judgments take places
        of the plan, more than it asks for if there are more; those of programs take none. With `check` a judgment
        that breaks the scheme's rules stops the import; programs may leave required questions open. Until it is
        through, nobody else can save.
        """
        return self.import_entries(self._campaign_id(campaign), entries, check=check, by=by)

    def import_entries(
        self,
        id: int,
        entries: Iterable[Entry],
        *,
        check: bool,
        by: int | None,
        once: bool = False,
    ) -> Imported:
        """Import; `once`: what is judged stays."""
        with self.writing() as conn:
            row = campaign_row(conn, id, lock="all")
            job = _Import(conn, row, scheme_of(conn, id), check, self.clock(), once)
            for chunk in chunks(entries, CHUNK):
                job.add(chunk)
            result = job.finish()
            counts = {"documents": result.documents, "judgments": result.judgments}
            if not once:
                # A program at work stores a few answers at a time; they are noted together at its end.
                self.note(conn, "judgments imported", by=by, campaign=id, **counts)
        self.stats.bring_up_to_date(id)
        return result


def take_in(conn: Connection, row: Row[Any], scheme: Scheme, entries: list[Entry], now: datetime) -> Imported:
    """Add documents with judgments that were checked before, in a transaction under way."""
    job = _Import(conn, row, scheme, check=False, now=now, once=True)
    job.add(entries)
    return job.finish()


class _Unit(NamedTuple):
    """A unit by its number and the digest of its document."""

    number: int
    digest: str


class _Import:
    """An import under way."""

    def __init__(
        self,
        conn: Connection,
        row: Row[Any],
        scheme: Scheme,
        check: bool,
        now: datetime,
        once: bool,
    ) -> None:
        self.conn, self.row, self.scheme, self.check, self.now = conn, row, scheme, check, now
        self.campaign, self.once = row.id, once
        self.has_marks = any(kind.on_text for kind in kinds_of(scheme).values())
        self.adding = DocumentIntake(conn, row, scheme)
        self.people: dict[str, int] = {}
        self.programs: set[int] = set()
        self.new_people = self.judgments = self.known = 0
        self.passed_over: Counter[str] = Counter()
        self.touched: set[int] = set()
        self.changed: set[int] = set()
        """Documents with new judgments."""

    def add(self, entries: list[Entry]) -> None:
        """Add some entries."""
        if self.row.source is None:
            self.adding.add(list(screened(entries, self.scheme)))
        given: list[Judgment] = []
        for entry in entries:
            mine = [judgment for judgment in entry.judgments if judgment.scheme == self.scheme.id]
            self.passed_over.update(j.scheme for j in entry.judgments if j.scheme != self.scheme.id)
            given.extend(mine)
        if given:
            _Chunk(self, given, {entry.id: entry.document for entry in entries if entry.document}).write()

    def finish(self) -> Imported:
        """What follows from it all for other campaigns, and how much it was."""
        self.adding.finish()
        for follower in followers(self.conn, self.campaign):
            copy_documents(self.conn, self.campaign, follower.id)
        for units in chunks(sorted(self.touched), 1000):
            choose_units(self.conn, self.campaign, units)
        mark_changed(self.conn, self.campaign, self.changed)
        analyze_tables(self.conn, t.campaign_document, t.unit, t.member, t.assignment, t.judgment)
        added = self.adding.documents
        return Imported(added, self.judgments, self.known, self.new_people, dict(self.passed_over))

    def document(self, digest: str) -> Document:
        """A document that is in the store and did not come along."""
        content = self.conn.scalar(select(t.document.c.content).where(t.document.c.digest == digest))
        return decoder(Document).decode(content or "")

    def name_people(self, given: Sequence[Judgment]) -> None:
        """Find or make the people and the programs who gave these."""
        programs = {judgment.annotator: judgment for judgment in given if is_programs(judgment)}
        names = dict.fromkeys(judgment.annotator for judgment in given)
        new = [check_storable(name, "words-annotator-name") for name in names if name not in self.people]
        found = {}
        for row in self.conn.execute(select(t.person).where(t.person.c.name.in_(new))):
            found[row.name] = int(row.id)
            self.programs |= {row.id} if row.program else set()
        for name in new:
            if name not in found:
                found[name] = self._new_person(name, name in programs)
        ensure_members(self.conn, self.campaign, found.values(), self.now)
        self.people.update(found)
        for name, judgment in programs.items():
            if self.people[name] not in self.programs:
                hint = Notice("give-program-another-name")
                raise InputError("program-gave-person", where=_where(judgment), hint=hint, name=name)

    def _new_person(self, name: str, is_program: bool) -> int:
        row = {"name": name, "role": "annotator", "stamp": new_secret(), "created": self.now}
        row["folded"] = folded(name)
        made = insert(t.person).returning(t.person.c.id)
        id: int = self.conn.execute(made, {**row, "program": is_program}).scalar_one()
        if is_program:
            self.programs.add(id)
        else:
            self.new_people += 1
        return id


class _Chunk:
    """Some of the judgments, and what they are about."""

    def __init__(self, job: _Import, given: Sequence[Judgment], documents: Mapping[str, Document]) -> None:
        self.job, self.conn, self.campaign = job, job.conn, job.campaign
        self.found = self._find_units({judgment.document for judgment in given})
        self.known_documents = {name for name, _ in self.found}
        self.places: dict[PlaceId, UnitCapacity] = {}
        self.units: dict[int, UnitCounts] = {}
        self.wanted: dict[int, int] = {}
        self.members: dict[int, PersonCounts] = {}
        self.last: dict[int, datetime] = {}
        """When somebody gave the last of these, as far as they say it."""
        self.rows: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        job.name_people(given)
        placed = [(self._unit(judgment), _unmarked(judgment)) for judgment in given]
        for numbers in chunks(sorted({unit.number for unit, _ in placed}), 5000):
            self._read(numbers)
        for unit, judgment in sorted(
            placed, key=lambda pair: (pair[0].number, pair[1].annotator, pair[1].revision)
        ):
            document = documents.get(judgment.document)
            if document is None and (job.check or job.has_marks):
                document = job.document(unit.digest)
            spelt = spelt_answers(job.scheme, judgment.answers, document) if job.has_marks else None
            if spelt is not None and spelt != judgment.answers:
                judgment = msgspec.structs.replace(judgment, answers=spelt)
            if job.check:
                self._check(judgment, document)
            self._add(unit.number, judgment)

    def _find_units(self, names: set[str]) -> dict[tuple[str, str | None], _Unit]:
        place, unit = t.campaign_document, t.unit
        for name in names:
            check_storable(name, "words-document-id")
        query = (
            select(place.c.name, place.c.digest, unit.c.segment, unit.c.number)
            .join(unit, ITS_DOCUMENT)
            .where(place.c.campaign == self.campaign, place.c.name.in_(names))
        )
        rows = self.conn.execute(query)
        return {(row.name, row.segment or None): _Unit(row.number, row.digest) for row in rows}

    def _unit(self, judgment: Judgment) -> _Unit:
        if (unit := self.found.get(judgment.unit)) is None:
            is_chosen = self.job.scheme.target is not None and judgment.document in self.known_documents
            hint = Notice("only-target-turns-judged") if is_chosen else None
            raise InputError("campaign-no-unit", where=_where(judgment), hint=hint)
        return unit

    def _read(self, numbers: list[int]) -> None:
        mine, unit = t.assignment, t.unit
        query = select(unit).where(unit.c.campaign == self.campaign, unit.c.number.in_(numbers))
        for row in self.conn.execute(query.order_by(unit.c.number).with_for_update()):
            self.units[row.number] = UnitCounts(row.document, row.taken, row.done)
            self.wanted[row.number] = row.wanted if row.active else t.FULL
        for row in self.conn.execute(
            select(mine).where(mine.c.campaign == self.campaign, mine.c.unit.in_(numbers))
        ):
            unit_counts = self.units[row.unit]
            place = UnitCapacity(unit_counts, row.place, row.state, row.revision, row.submitted)
            self.places[self.campaign, row.unit, row.person] = place
            if row.place is not None:
                unit_counts.used.add(row.place)

    def _check(self, judgment: Judgment, document: Document | None) -> None:
        broken = broken_rules(self.job.scheme, judgment.answers, document, judgment.segment)
        if judgment.may_leave_open or self.job.people[judgment.annotator] in self.job.programs:
            broken = without_open(broken)
        if broken:
            where, hint = _where(judgment), "mend-import-without-checks"
            raise InputError("rule-broken", where=where, hint=hint, rule=broken[0])

    def _add(self, unit: int, judgment: Judgment) -> None:
        id = (self.campaign, unit, self.job.people[judgment.annotator])
        place = self.places.setdefault(id, UnitCapacity(self.units[unit], None, "new", 0, 0))
        # Compared without the metadata that programs add about themselves.
        key = f"import:{digest_of(str(self.campaign), to_json(without_notes(judgment)))}"
        if judgment.revision > place.revision:
            self._count(id, place, judgment)
            self.rows.append(_row(id, key, judgment, self.job.now))
            self.keys.add(key)
        elif self.job.once or self._is_there(key):
            self.job.known += 1
        else:
            raise InputError(
                "judged-already-revision",
                where=_where(judgment),
                hint="change-higher-revision",
                annotator=judgment.annotator,
                revision=place.revision,
            )

    def _is_there(self, key: str) -> bool:
        return (
            key in self.keys
            or self.conn.scalar(select(t.judgment.c.key).where(t.judgment.c.key == key)) is not None
        )

    def _count(self, id: PlaceId, place: UnitCapacity, judgment: Judgment) -> None:
        unit, member = place.unit, self.members.setdefault(id[2], PersonCounts())
        member.held -= place.state == "reserved"
        member.submitted += place.submitted == 0
        member.drafts -= place.revision > place.submitted
        member.seconds += judgment.seconds or 0.0
        if judgment.at is not None:
            at = judgment.at if judgment.at.tzinfo else judgment.at.replace(tzinfo=UTC)
            self.last[id[2]] = max(at, self.last.get(id[2], at))
        place.is_new |= place.state == "new"
        place.revision = place.submitted = judgment.revision
        if id[2] in self.job.programs:
            place.state = "extra"
            return
        if place.place is None:
            place.place = unit.take_free()
        unit.more_done += place.state != "done"
        place.state = "done"

    def write(self) -> None:
        """Write it all, in the order in which one thing refers to another."""
        if not self.rows:
            return
        touched = {(row["campaign"], row["unit"], row["person"]): None for row in self.rows}
        new = [id for id in touched if self.places[id].is_new]
        old = [id for id in touched if not self.places[id].is_new]
        insert_rows(self.conn, t.assignment, [_assignment(id, self.places[id]) for id in new])
        if not self.job.judgments:
            analyze_tables(self.conn, t.unit, t.assignment)
        if old:
            self.conn.execute(sql.SET_PLACE, [place_values(id, self.places[id]) for id in old])
        insert_rows(self.conn, t.judgment, self.rows)
        self._write_counts()
        self.job.touched.update(unit for _, unit, _ in touched)
        self.job.changed.update(self.units[unit].document for _, unit, _ in touched)
        self.job.judgments += len(self.rows)

    def _write_counts(self) -> None:
        changed = {number: unit for number, unit in self.units.items() if unit.more_taken or unit.more_done}
        if changed:
            values = [
                {"c": self.campaign, "u": number, "more_taken": unit.more_taken, "more_done": unit.more_done}
                for number, unit in changed.items()
            ]
            self.conn.execute(sql.SET_UNIT, values)
            set_levels(self.conn, self.campaign, {unit.document for unit in changed.values()})
        for person, counts in sorted(self.members.items()):
            self.conn.execute(sql.COUNT_MEMBER, {"c": self.campaign, "p": person, **counts.more()})
        for person, at in sorted(self.last.items()):
            self.conn.execute(sql.LAST_JUDGED, {"c": self.campaign, "p": person, "at": at})
        planned = [(unit, self.wanted[n]) for n, unit in changed.items() if self.wanted[n] < t.FULL]
        total = {
            "c": self.campaign,
            "more_done": sum(unit.more_done for unit, _ in planned),
            "more_surplus": sum(
                max(u.done + u.more_done - enough, 0) - max(u.done - enough, 0) for u, enough in planned
            ),
            "more_complete": sum(u.done < enough <= u.done + u.more_done for u, enough in planned),
        }
        self.conn.execute(sql.SET_TOTAL, total)


def _row(id: PlaceId, key: str, judgment: Judgment, now: datetime) -> dict[str, Any]:
    held = {"distributions": judgment.distributions, "metadata": judgment.metadata}
    more = {name: value for name, value in held.items() if value}
    return {
        "campaign": id[0], "unit": id[1], "person": id[2], "revision": judgment.revision, "key": key,
        "version": check_storable(judgment.version, "words-version"), "submitted": True,
        "answers": to_json(judgment.answers), "more": to_json(more) if more else None,
        "given_at": judgment.at, "stored_at": now, "seconds": judgment.seconds, "client": "import",
    }  # fmt: skip


def _assignment(id: PlaceId, place: UnitCapacity) -> dict[str, Any]:
    return {
        "campaign": id[0], "unit": id[1], "person": id[2], "document": place.unit.document, "place": place.place,
        "state": place.state, "revision": place.revision, "submitted": place.submitted,
    }  # fmt: skip


def _unmarked(judgment: Judgment) -> Judgment:
    """As it was before it left a store: who gave it is known by the name."""
    if not is_programs(judgment):
        return judgment
    rest = {name: value for name, value in judgment.metadata.items() if name != PROGRAM}
    return msgspec.structs.replace(judgment, metadata=rest)


def _where(judgment: Judgment) -> str:
    unit = Notice("document", document=judgment.document)
    return f"{unit}, segment {judgment.segment!r}" if judgment.segment is not None else unit
