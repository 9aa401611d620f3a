"""How far a campaign is, and each person in it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, func, select

from lapsus.store import tables as t
from lapsus.store.base import Database, Part
from lapsus.store.own_progress import COUNTED, read_own_progress, read_total
from lapsus.store.records import OwnProgress, PersonProgress, Progress
from lapsus.store.saves import Saves
from lapsus.store.unit_places import SUBMITTED
from lapsus.store.validation import number


class CampaignProgress(Part):
    """Progress of campaigns and people, from counts that are kept."""

    def __init__(self, database: Database, saves: Saves) -> None:
        super().__init__(database)
        self.saves = saves

    def of_campaign(self, campaign: str) -> Progress:
        """How far a campaign is, as a whole and by person."""
        id, total = self._campaign_id(campaign), t.campaign_total
        with self.reading() as conn:
            row = conn.execute(select(total).where(total.c.campaign == id)).one()
            people = _progress_of_people(conn, t.member.c.campaign == id)
        return Progress(row.documents, row.units, row.complete, row.wanted, row.done, tuple(people))

    def of_person(self, campaign: str, person: int) -> PersonProgress | None:
        """How far one person is; None for somebody who has nothing to do with the campaign."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            mine = (t.member.c.campaign == id) & (t.member.c.person == number(person))
            return next(iter(_progress_of_people(conn, mine)), None)

    def judged_since(self, person: int, since: datetime) -> int:
        """How many units a person has judged since a moment, in all campaigns."""
        mine, said = t.assignment, t.judgment
        # Only campaigns in which something was saved since then are looked into.
        here = select(t.member.c.campaign).where(
            t.member.c.person == number(person), t.member.c.last_at >= since
        )
        query = (
            select(func.count())
            .select_from(mine)
            .join(said, SUBMITTED)
            .where(mine.c.campaign.in_(here), mine.c.person == number(person), said.c.stored_at >= since)
        )
        with self.reading() as conn:
            return conn.scalar(query) or 0

    def own(self, campaign: str, person: int, unit: int) -> OwnProgress:
        """Where a person stands who looks at a unit."""
        id = self._campaign_id(campaign)
        document = self._unit(id, unit).document
        with self.reading() as conn:
            found = read_own_progress(conn, id, number(person), document)
        # Whoever looks at a document will soon answer; then nothing of it needs to be read.
        self.saves.keep_in_mind(campaign, (place.unit for place in found.places))
        return found

    def is_complete(self, campaign: str) -> bool:
        """Whether there are units and all have the judgments that the plan asks for."""
        id, total = self._campaign_id(campaign), t.campaign_total
        query = select(total.c.campaign).where(
            total.c.campaign == id, total.c.units > 0, total.c.complete >= total.c.units
        )
        with self.reading() as conn:
            return conn.scalar(query) is not None

    def unit_count(self, campaign: str) -> int:
        """How many units a campaign has."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            return read_total(conn, id)


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
