"""Campaigns: documents, a guideline, and a plan of who judges what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, case, func, insert, select, update

from lapsus import model
from lapsus.errors import InputError, UsageError
from lapsus.model import Document, Scheme, Unit
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme
from lapsus.store import tables as t
from lapsus.store.access import Access
from lapsus.store.adding import Adding
from lapsus.store.chains import checked_chain, choose_units, copy_documents, followers, votes_on
from lapsus.store.checks import check_storable, chunks, digest_of, is_storable, number, to_json
from lapsus.store.known import KnownAnswers
from lapsus.store.plan import Block, KnownUnit
from lapsus.store.records import Added, Campaign, CampaignState, Plan, UnitPlace
from lapsus.store.rows import (
    as_campaign,
    campaign_row,
    ensure_members,
    insert_missing,
    part_of_the_data,
    plan_of,
    scheme_of,
)

CHUNK = 200
"""How many documents go to the database at a time."""


class Campaigns(Access):
    """Setting up campaigns, and what is in them."""

    def create_campaign(self, plan: Plan, scheme: Scheme | None = None, *, by: int | None = None) -> Campaign:
        """A new campaign, open but still empty (or, chained to another, with the documents of that one)."""
        chosen = scheme or load_scheme(plan.scheme)
        return self.write(lambda conn: as_campaign(self._create(conn, plan, chosen, {}, by)))

    def _create(
        self,
        conn: Connection,
        plan: Plan,
        scheme: Scheme,
        known: Mapping[Block, Sequence[KnownUnit]],
        by: int | None,
    ) -> Row[Any]:
        if conn.scalar(select(t.campaign.c.id).where(t.campaign.c.name == plan.name)) is not None:
            raise InputError(f"there is a campaign {plan.name!r} already", hint="choose another name")
        _keep_scheme(conn, scheme)
        source = None if plan.chain is None else self._source(conn, plan.chain.campaign)
        chain = None if source is None else checked_chain(conn, plan, scheme, source)
        kept = msgspec.structs.replace(plan, scheme=scheme.id, chain=chain)
        row = _insert_campaign(conn, kept, scheme, source, self.clock())
        ensure_members(conn, row.id, self._ids(conn, plan.people), self.clock())
        if source is not None:
            copy_documents(conn, source, row.id, KnownAnswers(kept, scheme, known))
            choose_units(conn, source, None)
        self.note(conn, "campaign created", by=by, campaign=row.id, plan=kept)
        return row

    def add_documents(self, campaign: str, documents: Iterable[Document], *, by: int | None = None) -> Added:
        """More documents, after those that are there. All of them come in, or none."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            return self._add_documents(conn, id, documents, by)

    def _add_documents(
        self,
        conn: Connection,
        id: int,
        documents: Iterable[Document],
        by: int | None,
        known: Mapping[Block, Sequence[KnownUnit]] | None = None,
    ) -> Added:
        row = campaign_row(conn, id, lock="units")
        if row.source is not None:
            where = plan_of(row).chain
            raise UsageError(
                "its documents come from the campaign that it is chained to",
                where=f"campaign {row.name!r}",
                hint=f"add them to {where.campaign!r}" if where else None,
            )
        adding = Adding(conn, row, scheme_of(conn, id), known)
        for chunk in chunks(documents, CHUNK):
            adding.add(chunk)
        adding.finish()
        for follower in followers(conn, id):
            copy_documents(conn, id, follower.id)
        added = Added(adding.documents, adding.units, adding.known_already)
        if added.documents:
            self.note(
                conn, "documents added", by=by, campaign=id, documents=added.documents, units=added.units
            )
        return added

    def campaign(self, name: str) -> Campaign:
        """The campaign of that name."""
        with self.reading() as conn:
            return as_campaign(campaign_row(conn, self._campaign_id(name)))

    def campaigns(self) -> list[Campaign]:
        """Every campaign, the oldest first."""
        with self.reading() as conn:
            return [as_campaign(row) for row in conn.execute(select(t.campaign).order_by(t.campaign.c.id))]

    def campaigns_of(self, person: int) -> list[Campaign]:
        """The campaigns that a person may work in: those for everybody, and those joined."""
        with self.reading() as conn:
            joined: set[int] = set(
                conn.scalars(select(t.member.c.campaign).where(t.member.c.person == number(person)))
            )
            rows = conn.execute(select(t.campaign).order_by(t.campaign.c.id)).all()
        return [as_campaign(row) for row in rows if row.id in joined or plan_of(row).who == "everybody"]

    def set_state(self, campaign: str, state: CampaignState, *, by: int | None = None) -> None:
        """Open, paused (nothing new is handed out, work in hand may be finished) or closed (nothing is saved)."""
        if state not in get_args(CampaignState):
            raise UsageError(
                f"no state is called {state!r}", hint=did_you_mean(state, list(get_args(CampaignState)))
            )
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            campaign_row(conn, id, lock="all")
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(state=state))
            self.note(conn, f"campaign {state}", by=by, campaign=id)

    def set_per_unit(self, campaign: str, per_unit: int, *, by: int | None = None) -> None:
        """How many people judge each unit from now on. What was judged stays; more places are simply open."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            plan = msgspec.structs.replace(plan_of(campaign_row(conn, id, lock="all")), per_unit=per_unit)
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(plan=to_json(plan)))
            place, unit = t.campaign_document, t.unit
            main = select(place.c.position).where(place.c.campaign == id, place.c.part == "main")
            planned = (unit.c.campaign == id) & (unit.c.wanted < t.FULL)
            conn.execute(update(unit).where(planned, unit.c.document.in_(main)).values(wanted=per_unit))
            enough = case((unit.c.done >= unit.c.wanted, 1), else_=0)
            sums = select(func.sum(enough).label("complete"), func.sum(unit.c.wanted).label("wanted"))
            row = conn.execute(sums.where(planned, unit.c.active)).one()
            total = update(t.campaign_total).where(t.campaign_total.c.campaign == id)
            conn.execute(total.values(complete=row.complete or 0, wanted=row.wanted or 0))
            choose_units(conn, id, None)
            self.note(conn, "plan changed", by=by, campaign=id, per_unit=per_unit)

    def add_people(self, campaign: str, names: Iterable[str], *, by: int | None = None) -> None:
        """Let people into a campaign."""
        id, names = self._campaign_id(campaign), tuple(names)
        with self.writing() as conn:
            ensure_members(conn, id, self._ids(conn, names), self.clock())
            self.note(conn, "people added", by=by, campaign=id, people=names)

    def scheme(self, campaign: str) -> Scheme:
        """The guideline, in the version that the campaign was begun with."""
        return self._scheme_of(self._campaign_id(campaign))

    def document(self, campaign: str, name: str) -> Document:
        """A document of a campaign."""
        place = t.campaign_document
        wanted = (place.c.campaign == self._campaign_id(campaign)) & (place.c.name == name)
        with self.reading() as conn:
            digest = conn.scalar(select(place.c.digest).where(wanted)) if is_storable(name) else None
        if digest is None:
            raise UsageError(f"no document {name!r}", where=f"campaign {campaign!r}")
        return self._document(digest)

    def document_names(self, campaign: str, *, practice: bool = True) -> list[str]:
        """The documents of a campaign, in order; without `practice` only those that are part of its data."""
        place = t.campaign_document
        query = select(place.c.name).where(place.c.campaign == self._campaign_id(campaign))
        if not practice:
            query = query.where(part_of_the_data())
        with self.reading() as conn:
            return list(conn.scalars(query.order_by(place.c.position)))

    def unit(self, campaign: str, unit: int) -> UnitPlace:
        """Which unit a number stands for."""
        row = self._unit(self._campaign_id(campaign), unit)
        return UnitPlace(unit, row.name, row.segment)

    def visible_unit(self, campaign: str, unit: int) -> Unit:
        """A unit with what its judge may see, and nothing else."""
        row = self._unit(self._campaign_id(campaign), unit)
        return model.unit(self._document(row.digest), self.scheme(campaign).unit, row.segment)

    def votes(self, campaign: str, unit: int) -> Mapping[str, int] | None:
        """The votes by which a unit was chosen, if the plan lets annotators see them."""
        id, unit = self._campaign_id(campaign), number(unit)
        with self.reading() as conn:
            row = campaign_row(conn, id)
            plan = plan_of(row)
            if row.source is None or plan.chain is None or plan.chain.rule is None or not plan.show_votes:
                return None
            return votes_on(conn, row.source, [unit], plan.chain.rule.question).get(unit, {})

    def _source(self, conn: Connection, name: str) -> int:
        """The campaign to chain to; no documents are added to it until the transaction ends."""
        return int(campaign_row(conn, self._campaign_id(name), lock="units").id)

    def _ids(self, conn: Connection, names: tuple[str, ...]) -> list[int]:
        wanted = t.person.c.name.in_([name for name in names if is_storable(name)])
        rows = conn.execute(select(t.person.c.name, t.person.c.id).where(wanted))
        known = {row.name: int(row.id) for row in rows}
        for name in names:
            if name not in known:
                raise InputError(f"nobody is called {name!r}", hint="`lapsus user list` shows everybody")
        return list(known.values())


def _keep_scheme(conn: Connection, scheme: Scheme) -> None:
    content = to_json(scheme)
    check_storable(scheme.id + scheme.version, "a scheme's name and version")
    row = {"id": scheme.id, "version": scheme.version, "digest": digest_of(content), "content": content}
    insert_missing(conn, t.scheme, [row])
    same = (t.scheme.c.id == scheme.id) & (t.scheme.c.version == scheme.version)
    if conn.scalar(select(t.scheme.c.digest).where(same)) != row["digest"]:
        raise InputError(
            f"scheme {scheme.id!r} {scheme.version} is kept here already, with other content",
            hint="give the changed guideline a new version",
        )


def _insert_campaign(conn: Connection, plan: Plan, scheme: Scheme, source: int | None, now: Any) -> Row[Any]:
    row = {
        "name": plan.name, "scheme": scheme.id, "version": scheme.version, "plan": to_json(plan),
        "state": "open", "source": source, "created": now,
        "stage": "main" if plan.pilot is None else "pilot",
    }  # fmt: skip
    added = conn.execute(insert(t.campaign).returning(t.campaign), row).one()
    total = {"campaign": added.id, "documents": 0, "units": 0, "done": 0, "complete": 0, "wanted": 0}
    conn.execute(insert(t.campaign_total), total)
    return added
