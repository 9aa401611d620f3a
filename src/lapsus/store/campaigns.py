"""Campaigns: documents, a guideline, and a plan of who judges what."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, case, func, insert, select, update

from lapsus.errors import InputError, UsageError
from lapsus.formats.remote import shown
from lapsus.model import Document, Scheme, Text
from lapsus.model.unit import Screened
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme
from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.chains import checked_chain, choose_units, chosen_so_far, copy_documents, followers
from lapsus.store.document_intake import DocumentIntake
from lapsus.store.known_answers import KnownAnswers
from lapsus.store.plan import Block, KnownUnit
from lapsus.store.plan_file import Material, read_material
from lapsus.store.records import Added, Campaign, CampaignState, Plan
from lapsus.store.rows import (
    as_campaign,
    campaign_row,
    ensure_members,
    insert_missing,
    plan_of,
    planned_units,
    scheme_of,
    set_levels,
)
from lapsus.store.validation import check_storable, chunks, digest_of, is_storable, number, to_json

CHUNK = 200
"""How many documents go to the database at a time."""


class Campaigns(StorePart):
    """Setting up campaigns, and what is in them."""

    def create(self, plan: Plan, scheme: Scheme | None = None, *, by: int | None = None) -> Campaign:
        """A new campaign, open but still empty (or, chained to another, with the documents of that one)."""
        chosen = scheme or load_scheme(plan.scheme)
        return self.write(lambda conn: as_campaign(self._create(conn, plan, chosen, {}, by, "open")))

    def _create(
        self,
        conn: Connection,
        plan: Plan,
        scheme: Scheme,
        known: Mapping[Block, Sequence[KnownUnit]],
        by: int | None,
        state: CampaignState,
    ) -> Row[Any]:
        if conn.scalar(select(t.campaign.c.id).where(t.campaign.c.name == plan.name)) is not None:
            raise InputError("campaign-already", hint="choose-another-name", name=plan.name)
        _keep_scheme(conn, scheme)
        source = None if plan.chain is None else self._source(conn, plan.chain.campaign)
        chain = None if source is None else checked_chain(conn, plan, scheme, source)
        # An address may hold a signature, and whoever looks at the plan later need not know it.
        data = plan.source and msgspec.structs.replace(plan.source, path=shown(plan.source.path))
        kept = msgspec.structs.replace(plan, scheme=scheme.id, chain=chain, data=data or plan.data)
        row = _insert_campaign(conn, kept, scheme, source, self.clock(), state)
        ensure_members(conn, row.id, self._ids(conn, plan.people), self.clock())
        if source is not None:
            copy_documents(conn, source, row.id, KnownAnswers(kept, scheme, known))
            choose_units(conn, source, None)
        self.note(conn, "campaign created", by=by, campaign=row.id, plan=kept)
        return row

    def add_documents(
        self, campaign: str, documents: Iterable[Document | Screened], *, by: int | None = None
    ) -> Added:
        """More documents, after those that are there. All of them come in, or none.

        Of documents that come with their targets only these are judged, unless the plan wants all units.
        """
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            return self._add_documents(conn, id, documents, by)

    def _add_documents(
        self,
        conn: Connection,
        id: int,
        documents: Iterable[Document | Screened],
        by: int | None,
        known: Mapping[Block, Sequence[KnownUnit]] | None = None,
    ) -> Added:
        row = campaign_row(conn, id, lock="units")
        if row.source is not None:
            where = plan_of(row).chain
            raise UsageError(
                "documents-come-campaign-chained",
                where=Notice("campaign", campaign=row.name),
                hint=Notice("add", campaign=where.campaign) if where else None,
            )
        adding = DocumentIntake(conn, row, scheme_of(conn, id), known)
        for chunk in chunks(documents, CHUNK):
            adding.add([one if isinstance(one, Screened) else Screened(one) for one in chunk])
        adding.finish()
        for follower in followers(conn, id):
            copy_documents(conn, id, follower.id)
        added = Added(adding.documents, adding.units, adding.known_already, adding.targets)
        if added.documents:
            self.note(
                conn, "documents added", by=by, campaign=id, documents=added.documents, units=added.units
            )
        return added

    def get(self, name: str) -> Campaign:
        """The campaign of that name."""
        id = self._campaign_id(name)
        with self.reading() as conn:
            return as_campaign(campaign_row(conn, id))

    def all(self) -> list[Campaign]:
        """Every campaign, the oldest first."""
        return [as_campaign(row) for row in self.rows(select(t.campaign).order_by(t.campaign.c.id))]

    def of_person(self, person: int) -> list[Campaign]:
        """The campaigns that a person may work in: those for everybody, and those joined; no drafts."""
        with self.reading() as conn:
            joined: set[int] = set(
                conn.scalars(select(t.member.c.campaign).where(t.member.c.person == number(person)))
            )
            rows = conn.execute(select(t.campaign).order_by(t.campaign.c.id)).all()
        mine = (row for row in rows if row.id in joined or plan_of(row).who == "everybody")
        return [as_campaign(row) for row in mine if row.state != "draft"]

    def drafts_of(self, person: int) -> int:
        """How many campaigns a person has a part in that are not open yet."""
        mine = (t.member.c.person == number(person)) & (t.campaign.c.state == "draft")
        query = select(func.count()).select_from(t.member).join(t.campaign)
        return int(self.scalar(query.where(mine, t.campaign.c.archived.is_(None))) or 0)

    def set_state(self, campaign: str, state: CampaignState, *, by: int | None = None) -> None:
        """Open, paused (nothing new is handed out, work in hand may be finished) or closed (nothing is saved)."""
        known = [one for one in get_args(CampaignState) if one != "draft"]
        if state not in known:
            raise UsageError("no-state-called", hint=did_you_mean(state, known), state=state)
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            campaign_row(conn, id, lock="all")
            changed: dict[str, Any] = {"state": state}
            if state != "closed":
                changed["archived"] = None
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(changed))
            self.note(conn, f"campaign {state}", by=by, campaign=id)

    def set_archived(self, campaign: str, archived: bool, *, by: int | None = None) -> None:
        """Close a campaign and take it out of the lists, or put it back there, still closed. Nothing is deleted."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            campaign_row(conn, id, lock="all")
            changed = {"state": "closed", "archived": self.clock() if archived else None}
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(changed))
            if archived:
                # Programs at work there would go on, and some of them cost money.
                runs = t.program_run
                at_work = (runs.c.campaign == id) & (runs.c.state == "running")
                conn.execute(update(runs).where(at_work).values(state="stopped"))
                conn.execute(update(t.learning).where(t.learning.c.campaign == id).values(rest=False))
            self.note(
                conn,
                "campaign archived" if archived else "campaign back from the archive",
                by=by,
                campaign=id,
            )

    def set_title(self, campaign: str, title: Text, *, by: int | None = None) -> None:
        """What the campaign is called from now on, by language; nothing: by its short name."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            plan = plan_of(campaign_row(conn, id, lock="all"))
            if dict(plan.title) != dict(title):
                changed = msgspec.structs.replace(plan, title=title)
                conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(plan=to_json(changed)))
                self.note(conn, "plan changed", by=by, campaign=id, title=title)

    def set_per_unit(self, campaign: str, per_unit: int, *, by: int | None = None) -> None:
        """How many people judge each unit from now on. What was judged stays; more places are simply open."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            plan = msgspec.structs.replace(plan_of(campaign_row(conn, id, lock="all")), per_unit=per_unit)
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(plan=to_json(plan)))
            place, unit = t.campaign_document, t.unit
            main = select(place.c.position).where(place.c.campaign == id, place.c.part == "main")
            planned = (unit.c.campaign == id) & (unit.c.wanted < t.FULL) & unit.c.document.in_(main)
            conn.execute(update(unit).where(planned).values(wanted=per_unit))
            _recount(conn, id)
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

    def _source(self, conn: Connection, name: str) -> int:
        """The campaign to chain to; no documents are added to it until the transaction ends."""
        return int(campaign_row(conn, self._campaign_id(name), lock="units").id)

    def _ids(self, conn: Connection, names: tuple[str, ...]) -> list[int]:
        wanted = t.person.c.name.in_([name for name in names if is_storable(name)])
        rows = conn.execute(select(t.person.c.name, t.person.c.id).where(wanted))
        known = {row.name: int(row.id) for row in rows}
        for name in names:
            if name not in known:
                raise InputError("nobody-is-called", hint="lapsus-user-list-shows", name=name)
        return list(known.values())

    def set_up(
        self,
        plan: Plan,
        documents: Iterable[Document | Screened] = (),
        *,
        material: Material | None = None,
        draft: bool = False,
        by: int | None = None,
    ) -> tuple[Campaign, Added]:
        """A campaign with its documents, made in one transaction: if anything is wrong, nothing was made.

        `draft`: nothing is handed out before it is opened.
        """
        found = material or read_material(plan, Path())

        def every() -> Iterator[Document | Screened]:
            yield from found.documents
            yield from documents

        with self.writing() as conn:
            row = self._create(conn, plan, found.scheme, found.known, by, "draft" if draft else "open")
            if plan.chain is None:
                added = self._add_documents(conn, row.id, every(), by, found.known)
                if plan.collect is None:
                    _check_any(plan, added)
            else:
                added = Added(0, 0, 0, chosen_so_far(conn, row.source, row.id))
            if plan.has_known:
                KnownAnswers(plan, found.scheme, found.known).check_all_found(conn, row.id)
            return as_campaign(row), added

    def open_main(self, campaign: str, *, by: int | None = None) -> int:
        """After the pilot: open the rest of the documents; how many units that are."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> int:
            if campaign_row(conn, id, lock="all").stage != "pilot":
                raise UsageError("not-pilot", where=Notice("campaign", campaign=campaign))
            place, unit = t.campaign_document, t.unit
            main = select(place.c.position).where(place.c.campaign == id, place.c.part == "main")
            mine = (unit.c.campaign == id) & unit.c.document.in_(main)
            units = conn.execute(update(unit).where(mine).values(active=True)).rowcount
            _recount(conn, id)
            set_levels(conn, id, conn.scalars(main))
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(stage="main"))
            self.note(conn, "main stage opened", by=by, campaign=id, units=units)
            return units

        return self.write(work)


def _recount(conn: Connection, campaign: int) -> None:
    """Count anew how many units are open, what they want and what they have, where all of them may have changed."""
    unit, total = t.unit, t.campaign_total
    over = unit.c.done - unit.c.wanted
    sums = {
        "units": func.count(),
        "wanted": func.sum(unit.c.wanted),
        "done": func.sum(unit.c.done),
        "surplus": func.sum(case((over > 0, over), else_=0)),
        "complete": func.sum(case((over >= 0, 1), else_=0)),
    }
    query = select(*(func.coalesce(sum_, 0).label(name) for name, sum_ in sums.items()))
    row = conn.execute(query.where(planned_units(campaign))).one()
    conn.execute(update(total).where(total.c.campaign == campaign).values(row._asdict()))


def _keep_scheme(conn: Connection, scheme: Scheme) -> None:
    check_storable(scheme.id + scheme.version, "words-scheme-version")
    # What a scheme says of analysis may change without another version: annotators are told the same.
    digest = digest_of(to_json(scheme.guideline()))
    row = {"id": scheme.id, "version": scheme.version, "digest": digest, "content": to_json(scheme)}
    insert_missing(conn, t.scheme, [row])
    same = (t.scheme.c.id == scheme.id) & (t.scheme.c.version == scheme.version)
    if conn.scalar(select(t.scheme.c.digest).where(same)) != row["digest"]:
        raise InputError(
            "scheme-kept-here-already",
            hint="give-changed-guideline-new",
            id=scheme.id,
            version=scheme.version,
        )


def _insert_campaign(
    conn: Connection, plan: Plan, scheme: Scheme, source: int | None, now: Any, state: CampaignState
) -> Row[Any]:
    row = {
        "name": plan.name, "scheme": scheme.id, "version": scheme.version, "plan": to_json(plan),
        "state": state, "source": source, "created": now,
        "stage": "main" if plan.pilot is None else "pilot",
    }  # fmt: skip
    added = conn.execute(insert(t.campaign).returning(t.campaign), row).one()
    conn.execute(
        insert(t.campaign_total), {column.name: 0 for column in t.campaign_total.c} | {"campaign": added.id}
    )
    if plan.learn is not None:
        conn.execute(insert(t.learning), {"campaign": added.id, "next_at": plan.learn.after})
    return added


def _check_any(plan: Plan, added: Added) -> None:
    where = Notice("campaign", campaign=plan.name)
    if not added.documents:
        raise InputError("no-documents", where=where, hint="name-under-data-data")
    if not added.units and added.targets is not None and added.targets.judged:
        raise InputError(
            "none-judged-turns-target",
            where=where,
            hint="all-turns-all-turns-true",
            judged=added.targets.judged,
            scheme=plan.scheme,
        )
    if not added.units:
        raise InputError(
            "nothing-documents-judged-under",
            where=where,
            hint="right-guideline-data",
            documents=added.documents,
            scheme=plan.scheme,
        )
