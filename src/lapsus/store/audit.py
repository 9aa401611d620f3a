"""The audit trail: who did what, and when."""

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import select

from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.records import Event
from lapsus.store.rows import record
from lapsus.store.validation import clamped

EXPORTED = "exported"
STRESSED = "judge stressed"
"""What a judge found of planted errors."""
PROBED = "judge probed"
"""How often a judge agreed with itself."""
ALIGNED = "judge aligned"
"""What fitting a judge's prompt to people's answers was worth."""


class AuditTrail(StorePart):
    """Reads the audit trail, and writes down what leaves no other trace."""

    def add(self, campaign: str, what: str, *details: Mapping[str, Any], by: int | None = None) -> None:
        """Write an event of a campaign, once for each of the details."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            for one in details:
                self.note(conn, what, by=by, campaign=id, **one)

    def exported(
        self, campaign: str, *, what: str, format: str, units: int | None = None, by: int | None = None
    ) -> None:
        """Note that data of a campaign were taken: what of it, as which format, of how many units if not of all."""
        self.add(campaign, EXPORTED, {"data": what, "format": format, "units": units}, by=by)

    def events(
        self, campaign: str | None = None, *, what: str | None = None, limit: int = 100
    ) -> list[Event]:
        """The audit trail, the newest first; of one kind, if asked for."""
        query = (
            select(t.event.c.at, t.event.c.what, t.event.c.details)
            .add_columns(t.person.c.name.label("by"), t.campaign.c.name.label("campaign"))
            .join(t.person, isouter=True)
            .join(t.campaign, t.campaign.c.id == t.event.c.campaign, isouter=True)
            .order_by(t.event.c.id.desc())
            .limit(clamped(limit))
        )
        if campaign is not None:
            query = query.where(t.event.c.campaign == self._campaign_id(campaign))
        if what is not None:
            query = query.where(t.event.c.what == what)
        return [record(Event, row, details=msgspec.json.decode(row.details)) for row in self.rows(query)]
