"""A campaign without some of its judgments, to look at: a copy of the database, gone when one is done with it."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import select, update

from lapsus.model import UnitKey
from lapsus.store import tables as t
from lapsus.store.backup import restore
from lapsus.store.stats_cache import mark_changed
from lapsus.store.store import Store, open_store


@contextmanager
def without_judgments(
    store: Store, campaign: str, left_out: Collection[tuple[UnitKey, str]]
) -> Iterator[Store]:
    """A copy of the store in which what these people said of these units does not count. The store stays as it is."""
    with TemporaryDirectory(prefix="lapsus-") as folder:
        everything, copied = Path(folder, "everything.zip"), Path(folder, "copy.sqlite")
        store.backups.backup(everything)
        restore(everything, copied)
        with open_store(copied, clock=store.database.clock) as copy:
            _leave_out(copy, campaign, left_out)
            yield copy


def _leave_out(copy: Store, campaign: str, left_out: Collection[tuple[UnitKey, str]]) -> None:
    numbers = {UnitKey(row.document, row.segment): row.number for row in copy.units.places(campaign)}
    mine, person = t.assignment, t.person
    with copy.database.writing() as conn:
        id: int = conn.execute(select(t.campaign.c.id).where(t.campaign.c.name == campaign)).scalar_one()
        people = {row.name: row.id for row in conn.execute(select(person.c.id, person.c.name))}
        units = set()
        for unit, name in left_out:
            units.add(numbers[unit])
            which = (mine.c.campaign == id) & (mine.c.unit == numbers[unit]) & (mine.c.person == people[name])
            conn.execute(update(mine).where(which).values(state="extra"))
        documents = select(t.unit.c.document).where(t.unit.c.campaign == id, t.unit.c.number.in_(units))
        mark_changed(conn, id, set(conn.scalars(documents)))
