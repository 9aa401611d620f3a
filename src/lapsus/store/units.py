"""The documents and units of a campaign."""

from collections.abc import Mapping

from sqlalchemy import select

from lapsus import model
from lapsus.errors import UsageError
from lapsus.model import Document, Unit
from lapsus.notices import Notice
from lapsus.store import tables as t
from lapsus.store.base import Part
from lapsus.store.chains import votes_on
from lapsus.store.records import UnitPlace
from lapsus.store.rows import (
    campaign_row,
    part_of_the_data,
    plan_of,
)
from lapsus.store.validation import is_storable, number


class Units(Part):
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
        with self.reading() as conn:
            digest = conn.scalar(select(place.c.digest).where(wanted)) if is_storable(name) else None
        if digest is None:
            raise UsageError("no-document", where=Notice("campaign", campaign=campaign), name=name)
        return self._document(digest)

    def document_names(self, campaign: str, *, practice: bool = True) -> list[str]:
        """The documents of a campaign, in order; without `practice` only those that are part of its data."""
        place = t.campaign_document
        query = select(place.c.name).where(place.c.campaign == self._campaign_id(campaign))
        if not practice:
            query = query.where(part_of_the_data())
        with self.reading() as conn:
            return list(conn.scalars(query.order_by(place.c.position)))

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
        with self.reading() as conn:
            return str(conn.scalar(query))

    def places(self, campaign: str) -> list[UnitPlace]:
        """Which unit each number stands for."""
        place, unit = t.campaign_document, t.unit
        query = (
            select(unit.c.number, place.c.name, unit.c.segment)
            .join(place, (place.c.campaign == unit.c.campaign) & (place.c.position == unit.c.document))
            .where(unit.c.campaign == self._campaign_id(campaign))
            .order_by(unit.c.number)
        )
        with self.reading() as conn:
            return [UnitPlace(r.number, r.name, r.segment or None) for r in conn.execute(query)]
