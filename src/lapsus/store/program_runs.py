"""Runs of programs that judge a campaign: their progress, and the server that holds each."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import Connection, Row, Select, insert, or_, select, update

from lapsus.errors import UsageError
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.programs import Programs
from lapsus.store.records import Person, RefusedError
from lapsus.store.rows import of_person, record
from lapsus.store.validation import number, to_json

RunState: TypeAlias = Literal["running", "stopped", "failed", "done"]
HELD = timedelta(seconds=30)
"""How long the lease of a server lasts; then another server may claim the run."""
LONGEST_NOTE = 500


class ProgramRun(msgspec.Struct, frozen=True):
    """A program that was asked to judge a campaign."""

    id: int
    campaign: str
    program: int
    name: str
    spec: Mapping[str, Any]
    """Which program it is and how it is asked. It holds no key."""
    state: RunState
    note: str
    """Why it stopped by itself; empty otherwise."""
    refused: int
    is_held: bool
    """Whether some server works on it just now."""
    judged: int
    left: int
    """Open units that it has not judged."""


class ProgramRuns(StorePart):
    """A run belongs to one server at a time, the one that holds it; the others leave it alone."""

    def __init__(self, database: Database, programs: Programs) -> None:
        super().__init__(database)
        self.programs = programs

    def add(self, campaign: str, program: Person, spec: Mapping[str, Any], *, by: int | None = None) -> int:
        """Ask a program to judge a campaign, from now on; the number of the run."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> int:
            there = conn.scalar(select(t.program_run.c.id).where(of_person(t.program_run, id, program.id)))
            if there is not None:
                raise UsageError("is-there-already", hint="go-name-otherwise", name=program.name)
            row = {
                "campaign": id, "person": program.id, "spec": to_json(spec), "state": "running",
                "note": "", "refused": 0, "added": self.clock(),
            }  # fmt: skip
            self.note(conn, "judge started", by=by, campaign=id, name=program.name)
            return int(conn.execute(insert(t.program_run).returning(t.program_run.c.id), row).scalar_one())

        return self.write(work)

    def of_campaign(self, campaign: str) -> list[ProgramRun]:
        """All runs of a campaign, in the order in which they were asked for."""
        query = _runs().where(t.program_run.c.campaign == self._campaign_id(campaign))
        rows = self.rows(query.order_by(t.program_run.c.id))
        return [self._record(row) for row in rows]

    def get(self, run: int) -> ProgramRun:
        """One of them."""
        row = self.row(_runs().where(t.program_run.c.id == number(run)))
        if row is None:
            raise RefusedError("not-found", "there is no such run")
        return self._record(row)

    def started_by(self, run: ProgramRun) -> int | None:
        """Who started a run last, as the audit trail has it; None: nobody who is known."""
        event, id = t.event, self._campaign_id(run.campaign)
        starts = select(event.c.person, event.c.details).where(
            event.c.campaign == id, event.c.what == "judge started"
        )
        for row in self.rows(starts.order_by(event.c.id.desc())):
            if msgspec.json.decode(row.details).get("name") == run.name:
                return None if row.person is None else int(row.person)
        return None

    def set_state(self, campaign: str, run: int, state: RunState, *, by: int | None = None) -> None:
        """Stop a run or have it go on. Whoever holds it lets go at the next look."""
        mine = (t.program_run.c.id == number(run)) & (t.program_run.c.campaign == self._campaign_id(campaign))
        values: dict[str, Any] = {"state": state, "note": ""}
        if state == "running":
            values["refused"] = 0

        def work(conn: Connection) -> None:
            name = select(t.person.c.name).join(t.program_run, t.program_run.c.person == t.person.c.id)
            if (found := conn.scalar(name.where(mine))) is None:
                raise RefusedError("not-found", "there is no such run")
            conn.execute(update(t.program_run).where(mine).values(values))
            what = "judge started" if state == "running" else "judge stopped"
            self.note(conn, what, by=by, campaign=self._campaign_id(campaign), name=found)

        self.write(work)

    def claim(self, worker: str, may: Callable[[Mapping[str, Any]], bool]) -> ProgramRun | None:
        """A run that is to be done and that nobody holds, now held by this worker; None where there is none.

        `may` says of a run's `spec` whether it can be done here; the rest is left to others.
        """
        run, now = t.program_run, self.clock()
        # Held for far longer than anybody holds it: the clock was set back. Clocks of two servers differ by less.
        is_over = or_(run.c.worker.is_(None), run.c.until < now, run.c.until > now + 2 * HELD)
        free = (run.c.state == "running") & is_over
        waiting = self.rows(select(run.c.id, run.c.spec).where(free).order_by(run.c.id))
        for id in (row.id for row in waiting if may(msgspec.json.decode(row.spec))):

            def take(conn: Connection, id: int = id) -> bool:
                held = update(run).where(run.c.id == id, free).values(worker=worker, until=now + HELD)
                return conn.execute(held).rowcount == 1

            if self.write(take):
                return self.get(id)
        return None

    def hold(self, run: int, worker: str) -> bool:
        """Renew the lease on a run; False where the run was stopped, or another server holds it."""
        mine = (t.program_run.c.id == run) & (t.program_run.c.worker == worker)
        still = update(t.program_run).where(mine, t.program_run.c.state == "running")
        return self.write(
            lambda conn: conn.execute(still.values(until=self.clock() + HELD)).rowcount == 1, twice=True
        )

    def release(self, run: int, worker: str, state: RunState, note: str = "", refused: int = 0) -> None:
        """Let go of a run. What somebody decided meanwhile stands; `running` leaves it to the next who asks."""
        mine = (t.program_run.c.id == run) & (t.program_run.c.worker == worker)
        is_asked_for = t.program_run.c.state == "running"
        told = {"state": state, "note": note[:LONGEST_NOTE], "refused": refused}

        def work(conn: Connection) -> None:
            conn.execute(update(t.program_run).where(mine, is_asked_for).values(told))
            conn.execute(update(t.program_run).where(mine).values(worker=None, until=None))

        self.write(work, twice=True)

    def _record(self, row: Row[Any]) -> ProgramRun:
        return record(
            ProgramRun,
            row,
            program=row.person,
            spec=msgspec.json.decode(row.spec),
            is_held=row.worker is not None and row.until >= self.clock(),
            judged=self.programs.count_judged(row.at_campaign, row.person),
            left=self.programs.count_units(row.at_campaign, row.person),
            campaign=row.at_campaign,
        )


def _runs() -> Select[Any]:
    query = select(t.program_run, t.campaign.c.name.label("at_campaign"), t.person.c.name)
    return query.join(t.campaign, t.campaign.c.id == t.program_run.c.campaign).join(
        t.person, t.person.c.id == t.program_run.c.person
    )
