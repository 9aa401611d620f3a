"""The documents and units of a campaign, one by one and all together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, func, select, update

from lapsus import model
from lapsus.errors import UsageError
from lapsus.language import plain_language
from lapsus.model import Document, Unit
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.chains import votes_on
from lapsus.store.records import UnitPlace
from lapsus.store.rows import (
    ANSWERS,
    ITS_DOCUMENT,
    SUBMITTED,
    campaign_row,
    lock_units,
    of_person,
    part_of_the_data,
    plan_of,
    planned_units,
    set_levels,
)
from lapsus.store.validation import chunks, clamped, is_storable, number


class Units(StorePart):
    """Documents and units, by their campaign's name and their number."""

    def get(self, campaign: str, unit: int) -> UnitPlace:
        """Which unit a number stands for."""
        row = self._unit(self._campaign_id(campaign), unit)
        return UnitPlace(unit, row.name, row.segment)

    def visible(self, campaign: str, unit: int) -> Unit:
        """A unit with what its judge may see, and nothing else."""
        row = self._unit(self._campaign_id(campaign), unit)
        return model.unit(
            self._document(row.digest), self._scheme_of(self._campaign_id(campaign)).unit, row.segment
        )

    def document(self, campaign: str, name: str) -> Document:
        """A document of a campaign."""
        place = t.campaign_document
        wanted = (place.c.campaign == self._campaign_id(campaign)) & (place.c.name == name)
        digest = self.scalar(select(place.c.digest).where(wanted)) if is_storable(name) else None
        if digest is None:
            raise UsageError("no-document", where=Notice("campaign", campaign=campaign), name=name)
        return self._document(digest)

    def document_names(self, campaign: str, *, practice: bool = True) -> list[str]:
        """The documents of a campaign, in order; without `practice` only those that are part of its data."""
        place = t.campaign_document
        query = select(place.c.name).where(place.c.campaign == self._campaign_id(campaign))
        if not practice:
            query = query.where(part_of_the_data())
        return list(self.scalars(query.order_by(place.c.position)))

    def planned(self, campaign: str) -> int:
        """How many units there are to judge in all, those after a pilot among them."""
        mine = (t.unit.c.campaign == self._campaign_id(campaign)) & (t.unit.c.wanted < t.FULL)
        with self.reading() as conn:
            return conn.scalar(select(func.count()).where(mine)) or 0

    def votes(self, campaign: str, unit: int) -> Mapping[str, int] | None:
        """The votes by which a unit was chosen, if the plan lets annotators see them."""
        id, unit = self._campaign_id(campaign), number(unit)
        with self.reading() as conn:
            row = campaign_row(conn, id)
            plan = plan_of(row)
            if row.source is None or plan.chain is None or plan.chain.rule is None or not plan.show_votes:
                return None
            return votes_on(conn, row.source, [unit], plan.chain.rule.question).get(unit, {})

    def part_of(self, campaign: str, unit: int) -> str:
        """Which part of a campaign a unit belongs to: training, checks, pilot or main."""
        id, place = self._campaign_id(campaign), t.campaign_document
        document = self._unit(id, unit).document
        query = select(place.c.part).where(place.c.campaign == id, place.c.position == document)
        return str(self.scalar(query))

    def places(self, campaign: str) -> list[UnitPlace]:
        """Which unit each number stands for."""
        place, unit = t.campaign_document, t.unit
        query = (
            select(unit.c.number, place.c.name, unit.c.segment)
            .join(place, ITS_DOCUMENT)
            .where(unit.c.campaign == self._campaign_id(campaign))
            .order_by(unit.c.number)
        )
        return [UnitPlace(r.number, r.name, r.segment or None) for r in self.rows(query)]


Standing: TypeAlias = Literal["all", "none", "some", "open", "complete"]
"""Units that nobody has judged, that somebody has, that still lack judgments, that have all of theirs."""
CHUNK = 500
NOTED = 20
"""How many numbers of units one line of the audit trail holds; it says how many there are."""


class UnitText(NamedTuple):
    """A unit's text and system."""

    unit: int
    document: int
    text: str
    before: str
    """What its turn answers: the turn before it, if somebody else spoke it; else empty."""
    system: str | None


class _Segment(msgspec.Struct):
    """Of a segment only what is read."""

    id: str
    role: str
    text: str


class _Read(msgspec.Struct):
    """Of a document only what is read, and who speaks."""

    segments: list[_Segment]
    metadata: dict[str, Any] = {}


class _Language(msgspec.Struct):
    """Of a document only its language."""

    language: str | None = None


class _More(msgspec.Struct):
    """What of the rest of a judgment is read here."""

    distributions: dict[str, dict[str, float]] = {}


_MORE = msgspec.json.Decoder(_More)


class UnitBrowsing(StorePart):
    """All units of a campaign. Those for practice and checks are no part of the data and left out."""

    def numbers(
        self, campaign: str, which: Standing = "all", *, start: int = 0, limit: int | None = None
    ) -> list[int]:
        """The numbers of units, in order."""
        unit = t.unit
        standing: dict[Standing, tuple[ColumnElement[bool], ...]] = {
            "all": (),
            "none": (unit.c.done == 0,),
            "some": (unit.c.done > 0,),
            "open": (unit.c.done < unit.c.wanted,),
            "complete": (unit.c.done >= unit.c.wanted,),
        }
        query = select(unit.c.number).where(planned_units(self._campaign_id(campaign)), *standing[which])
        if limit is not None:
            query = query.offset(clamped(start)).limit(clamped(limit))
        with self.reading() as conn:
            # As the driver gives them: with 100,000 of them, rows of SQLAlchemy's own would take most of the time.
            cursor: Any = conn.execute(query.order_by(unit.c.number)).cursor
            return [row[0] for row in cursor.fetchall()]

    def last(self, campaign: str) -> int:
        """The highest number of a unit: another one tells that documents were added."""
        query = select(func.max(t.unit.c.number)).where(t.unit.c.campaign == self._campaign_id(campaign))
        return self.scalar(query) or 0

    def texts(self, campaign: str) -> Iterator[UnitText]:
        """What there is to read of every unit, open or not: its turn with the one before, or all of its document."""
        id, place, unit = self._campaign_id(campaign), t.campaign_document, t.unit
        with self.reading() as conn:
            numbers: dict[int, list[tuple[int, str]]] = {}
            query = select(unit.c.number, unit.c.document, unit.c.segment).where(unit.c.campaign == id)
            for row in conn.execute(query.order_by(unit.c.number)):
                numbers.setdefault(row[1], []).append((row[0], row[2]))
            documents = select(place.c.position, t.document.c.content).join(t.document)
            documents = documents.where(place.c.campaign == id).order_by(place.c.position)
            read = decoder(_Read)
            rows: Iterable[Any] = conn.execute(documents).yield_per(CHUNK)
            for position, content in rows:
                found = read.decode(content)
                texts = {segment.id: segment.text for segment in found.segments}
                answered = {b.id: a.text for a, b in pairwise(found.segments) if a.role != b.role}
                known = found.metadata.get("system")
                system = None if known is None else str(known)
                for unit_number, segment in numbers.get(position, ()):
                    text = texts[segment] if segment else "\n".join(texts.values())
                    yield UnitText(unit_number, position, text, answered.get(segment, ""), system)

    def languages(self, campaign: str) -> frozenset[str]:
        """The languages of a campaign's documents without their regions, as far as they say it."""
        id, place, read = self._campaign_id(campaign), t.campaign_document, decoder(_Language)
        query = select(t.document.c.content).join(place).where(place.c.campaign == id)
        with self.reading() as conn:
            rows: Iterable[Any] = conn.execute(query).yield_per(CHUNK)
            return frozenset(plain_language(read.decode(content).language) for (content,) in rows) - {""}

    def with_documents(self, campaign: str, units: Sequence[int]) -> dict[int, tuple[Unit, Document]]:
        """Some units as their judges see them, each with its document."""
        id, place, unit = self._campaign_id(campaign), t.campaign_document, t.unit
        query = (
            select(unit.c.number, unit.c.segment, place.c.digest, t.document.c.content)
            .join(place, ITS_DOCUMENT)
            .join(t.document, t.document.c.digest == place.c.digest)
            .where(unit.c.campaign == id, unit.c.number.in_(units))
        )
        rule, documents = self._scheme_of(id).unit, dict[str, Document]()
        rows = self.rows(query)
        for row in rows:
            if row.digest not in documents:
                documents[row.digest] = decoder(Document).decode(row.content)
        return {
            row.number: (model.unit(documents[row.digest], rule, row.segment or None), documents[row.digest])
            for row in rows
        }

    def programs(self, campaign: str) -> dict[int, str]:
        """The programs that judged in a campaign, by number."""
        query = select(t.person.c.id, t.person.c.name).join(t.member, t.member.c.person == t.person.c.id)
        mine = (t.member.c.campaign == self._campaign_id(campaign)) & t.person.c.program
        return {row.id: row.name for row in self.rows(query.where(mine).order_by(t.person.c.id))}

    def program_answers(self, campaign: str, program: int, question: str) -> dict[int, Any]:
        """What a program answered to a question, by unit."""
        query = self._submitted(campaign, program, t.judgment.c.answers)
        found = {row.unit: ANSWERS.decode(row.answers).get(question) for row in self.rows(query)}
        return {unit: answer for unit, answer in found.items() if answer is not None}

    def program_shares(self, campaign: str, program: int, question: str) -> dict[int, dict[str, float]]:
        """How sure a program was of each answer to a question, by unit; nothing where it did not say."""
        rows = self.rows(self._submitted(campaign, program, t.judgment.c.more))
        found = {row.unit: _MORE.decode(row.more).distributions.get(question) for row in rows if row.more}
        return {unit: shares for unit, shares in found.items() if shares}

    def _submitted(self, campaign: str, program: int, what: ColumnElement[Any]) -> Select[Any]:
        mine = of_person(t.assignment, self._campaign_id(campaign), number(program))
        return select(t.judgment.c.unit, what).join(t.assignment, SUBMITTED).where(mine)

    def answering(self, campaign: str, fragment: str) -> list[int]:
        """Units of which somebody's newest judgment holds this piece of JSON."""
        mine, said = t.assignment, t.judgment
        holds = said.c.answers.contains(fragment, autoescape=True)
        query = select(said.c.unit).distinct().join(mine, SUBMITTED)
        query = query.where(said.c.campaign == self._campaign_id(campaign), holds)
        return sorted(self.scalars(query))

    def flagged(self, campaign: str, *, open_only: bool = False) -> list[int]:
        """Units that somebody marked for discussion."""
        query = select(t.flag.c.unit).distinct().where(t.flag.c.campaign == self._campaign_id(campaign))
        if open_only:
            query = query.where(t.flag.c.settled.is_(None))
        return sorted(self.scalars(query))

    def ask_again(self, campaign: str, units: Iterable[int], *, by: int | None = None) -> int:
        """Ask one more person about each of these units; how many they are."""
        id, unit, total = self._campaign_id(campaign), t.unit, t.campaign_total

        def work(conn: Connection) -> int:
            if campaign_row(conn, id, lock="all").state == "closed":
                raise UsageError("is-closed", where=Notice("campaign", campaign=campaign), hint="open-first")
            asked: list[int] = []
            for some in chunks(sorted({number(one) for one in units}), CHUNK):
                lock_units(conn, id, some)
                mine = planned_units(id) & unit.c.number.in_(some)
                # With more judgments than were asked for, a unit stays complete.
                full = conn.scalar(select(func.count()).where(mine, unit.c.done == unit.c.wanted)) or 0
                over = conn.scalar(select(func.count()).where(mine, unit.c.done > unit.c.wanted)) or 0
                more = update(unit).where(mine).values(wanted=unit.c.wanted + 1)
                rows = conn.execute(more.returning(unit.c.number, unit.c.document)).all()
                sums = {
                    "wanted": total.c.wanted + len(rows),
                    "complete": total.c.complete - full,
                    "surplus": total.c.surplus - over,
                }
                conn.execute(update(total).where(total.c.campaign == id).values(sums))
                set_levels(conn, id, {row.document for row in rows})
                asked += [row.number for row in rows]
            if asked:
                asked.sort()
                self.note(conn, "asked again", by=by, campaign=id, units=len(asked), first=asked[:NOTED])
            return len(asked)

        return self.write(work)
