"""The audit trail: who did what, and when."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, select

from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.records import Event
from lapsus.store.validation import clamped

EXPORTED = "exported"
STRESSED = "judge stressed"
PROBED = "judge probed"
ALIGNED = "judge aligned"


class AuditTrail(StorePart):
    """Reads the audit trail, and writes down what leaves no other trace."""

    def exported(
        self, campaign: str, *, what: str, format: str, units: int | None = None, by: int | None = None
    ) -> None:
        """Note that data of a campaign were taken: what of it, as which format, of how many units if not of all."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            self.note(conn, EXPORTED, by=by, campaign=id, data=what, format=format, units=units)

    def stressed(self, campaign: str, tests: Iterable[Mapping[str, Any]], *, by: int | None = None) -> None:
        """Note what judges found of planted errors."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            for test in tests:
                self.note(conn, STRESSED, by=by, campaign=id, **test)

    def probed(self, campaign: str, found: Mapping[str, Any], *, by: int | None = None) -> None:
        """Note how often a judge agreed with itself."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            self.note(conn, PROBED, by=by, campaign=id, **found)

    def aligned(self, campaign: str, found: Mapping[str, Any], *, by: int | None = None) -> None:
        """Note what fitting a judge's prompt to people's answers was worth."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            self.note(conn, ALIGNED, by=by, campaign=id, **found)

    def events(
        self, campaign: str | None = None, *, what: str | None = None, limit: int = 100
    ) -> list[Event]:
        """The audit trail, the newest first; of one kind, if asked for."""
        query = (
            select(t.event, t.person.c.name, t.campaign.c.name.label("campaign_name"))
            .join(t.person, isouter=True)
            .join(t.campaign, t.campaign.c.id == t.event.c.campaign, isouter=True)
            .order_by(t.event.c.id.desc())
            .limit(clamped(limit))
        )
        if campaign is not None:
            query = query.where(t.event.c.campaign == self._campaign_id(campaign))
        if what is not None:
            query = query.where(t.event.c.what == what)
        with self.reading() as conn:
            rows: Sequence[Row[Any]] = conn.execute(query).all()
        return [
            Event(row.at, row.name, row.campaign_name, row.what, msgspec.json.decode(row.details))
            for row in rows
        ]
