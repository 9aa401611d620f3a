"""Reading back: judgments, progress, flags and the audit trail. Nothing here goes through all of history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, insert, select, update

from lapsus.errors import UsageError
from lapsus.store import tables as t
from lapsus.store.chains import ANSWERS
from lapsus.store.checks import check_words, clamped, number
from lapsus.store.records import Event, Flag, PersonProgress, Progress, Standing, StoredJudgment
from lapsus.store.saving import Saving
from lapsus.store.standing import COUNTED, read_standing, read_total

_SAID, _MINE = t.judgment, t.assignment
SAME_PLACE = and_(
    _SAID.c.campaign == _MINE.c.campaign, _SAID.c.unit == _MINE.c.unit, _SAID.c.person == _MINE.c.person
)


class Reading(Saving):
    """What is in the store."""

    def judgment(self, campaign: str, unit: int, person: int) -> StoredJudgment | None:
        """The newest revision of what a person said about a unit; a draft, if that is the newest."""
        mine = (_MINE.c.unit == number(unit)) & (_MINE.c.person == number(person))
        found = self._judgments(campaign, self._newest(_MINE.c.revision, mine))
        return found[0] if found else None

    def own_judgments(
        self, campaign: str, person: int, *, limit: int = 100, before: int | None = None
    ) -> list[StoredJudgment]:
        """The newest revisions of a person's judgments, by number from the end: `before` turns the page."""
        mine = _MINE.c.person == number(person)
        if before is not None:
            mine &= _MINE.c.unit < clamped(before)
        query = self._newest(_MINE.c.revision, mine).order_by(_MINE.c.unit.desc()).limit(clamped(limit))
        return self._judgments(campaign, query)

    def unit_judgments(self, campaign: str, unit: int) -> list[StoredJudgment]:
        """What everybody submitted about a unit: each person's newest."""
        query = self._newest(_MINE.c.submitted, _MINE.c.unit == number(unit))
        return self._judgments(campaign, query.order_by(_MINE.c.person))

    def history(self, campaign: str, unit: int, person: int | None = None) -> list[StoredJudgment]:
        """Every revision of the judgments of a unit, drafts too, of everybody or of one."""
        query = _revisions().where(_MINE.c.unit == number(unit)).order_by(_MINE.c.person, _SAID.c.revision)
        return self._judgments(
            campaign, query if person is None else query.where(_MINE.c.person == number(person))
        )

    def _newest(self, revision: Any, which: ColumnElement[bool]) -> Select[Any]:
        return _revisions().where(_SAID.c.revision == revision, which)

    def _judgments(self, campaign: str, query: Select[Any]) -> list[StoredJudgment]:
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            rows = conn.execute(query.where(_MINE.c.campaign == id)).all()
        return [self._stored(id, row) for row in rows]

    def _stored(self, campaign: int, row: Row[Any]) -> StoredJudgment:
        unit = self._unit(campaign, row.unit)
        return StoredJudgment(
            row.unit, unit.name, unit.segment, row.person, row.annotator, row.revision, row.submitted,
            row.version, ANSWERS.decode(row.answers), row.given_at, row.stored_at, row.seconds, row.client,
        )  # fmt: skip

    def progress(self, campaign: str) -> Progress:
        """How far a campaign is, as a whole and by person."""
        id, total = self._campaign_id(campaign), t.campaign_total
        with self.reading() as conn:
            row = conn.execute(select(total).where(total.c.campaign == id)).one()
            people = _progress_of_people(conn, t.member.c.campaign == id)
        return Progress(row.documents, row.units, row.complete, row.wanted, row.done, tuple(people))

    def progress_of(self, campaign: str, person: int) -> PersonProgress | None:
        """How far one person is; None for somebody who has nothing to do with the campaign."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            mine = (t.member.c.campaign == id) & (t.member.c.person == number(person))
            return next(iter(_progress_of_people(conn, mine)), None)

    def standing(self, campaign: str, person: int, unit: int) -> Standing:
        """Where a person stands who looks at a unit."""
        id = self._campaign_id(campaign)
        document = self._unit(id, unit).document
        with self.reading() as conn:
            found = read_standing(conn, id, number(person), document)
        # Whoever looks at a document will soon answer; then nothing of it needs to be read.
        self.keep_in_mind(campaign, (place.unit for place in found.places))
        return found

    def unit_count(self, campaign: str) -> int:
        """How many units a campaign has."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            return read_total(conn, id)

    def add_flag(self, key: str, campaign: str, unit: int, person: int, text: str) -> None:
        """Mark a unit for discussion. The same key again changes nothing."""
        id = self._campaign_id(campaign)
        self._unit(id, unit)
        row = {
            "key": check_words(key, "a key", longest=100),
            "campaign": id, "unit": unit, "person": self.person(person).id, "at": self.clock(),
            "text": check_words(text, "a remark", longest=10_000, lines=True),
        }  # fmt: skip

        def work(conn: Connection) -> None:
            if conn.scalar(select(t.flag.c.id).where(t.flag.c.key == key)) is None:
                conn.execute(insert(t.flag), row)

        self.write(work)

    def flags(self, campaign: str, *, unit: int | None = None) -> list[Flag]:
        """The flags of a campaign or of one unit, the oldest first."""
        query = (
            select(t.flag, t.person.c.name)
            .join(t.person)
            .where(t.flag.c.campaign == self._campaign_id(campaign))
        )
        if unit is not None:
            query = query.where(t.flag.c.unit == number(unit))
        with self.reading() as conn:
            return [
                Flag(row.id, row.unit, row.person, row.name, row.text, row.at, row.settled)
                for row in conn.execute(query.order_by(t.flag.c.id))
            ]

    def settle_flag(self, campaign: str, flag: int, *, by: int | None = None) -> None:
        """The discussion is over."""
        id = self._campaign_id(campaign)
        open_one = (t.flag.c.id == number(flag)) & (t.flag.c.campaign == id) & t.flag.c.settled.is_(None)
        with self.writing() as conn:
            if not conn.execute(update(t.flag).where(open_one).values(settled=self.clock())).rowcount:
                raise UsageError(f"there is no open flag {flag}", where=f"campaign {campaign!r}")
            self.note(conn, "flag settled", by=by, campaign=id, flag=flag)

    def events(self, campaign: str | None = None, *, limit: int = 100) -> list[Event]:
        """The audit trail, the newest first."""
        query = (
            select(t.event, t.person.c.name, t.campaign.c.name.label("campaign_name"))
            .join(t.person, isouter=True)
            .join(t.campaign, t.campaign.c.id == t.event.c.campaign, isouter=True)
            .order_by(t.event.c.id.desc())
            .limit(clamped(limit))
        )
        if campaign is not None:
            query = query.where(t.event.c.campaign == self._campaign_id(campaign))
        with self.reading() as conn:
            rows: Sequence[Row[Any]] = conn.execute(query).all()
        return [
            Event(row.at, row.name, row.campaign_name, row.what, msgspec.json.decode(row.details))
            for row in rows
        ]


def _revisions() -> Select[Any]:
    return (
        select(_SAID, t.person.c.name.label("annotator"))
        .join(_MINE, SAME_PLACE)
        .join(t.person, t.person.c.id == _SAID.c.person)
    )


def _progress_of_people(conn: Connection, which: ColumnElement[bool]) -> list[PersonProgress]:
    query = select(t.member, COUNTED, t.person.c.name).join(t.person).where(which).order_by(t.member.c.person)
    return [
        PersonProgress(
            person=row.person,
            name=row.name,
            submitted=row.counted,
            drafts=row.drafts,
            held=row.held,
            seconds=row.seconds,
            last_at=row.last_at,
            stopped=row.stopped is not None,
        )
        for row in conn.execute(query)
    ]
