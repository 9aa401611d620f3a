"""Export: documents and submitted judgments as entries, which every format can write."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Generator, Iterator
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, func, select

from lapsus.model import ANONYMOUS, Document, Entry, Judgment
from lapsus.model.frozen import decoder
from lapsus.model.judgment import PROGRAM
from lapsus.store import tables as t
from lapsus.store.access import Access
from lapsus.store.base import Database, StorePart
from lapsus.store.rows import ANSWERS, SAME_PLACE, part_of_the_data

CHUNK = 100
"""How many documents are in memory at a time."""


class Export(StorePart):
    """Writes a campaign's documents and judgments as entries, under names or pseudonyms."""

    def __init__(self, database: Database, access: Access) -> None:
        super().__init__(database)
        self.access = access

    def export(
        self,
        campaign: str,
        *,
        names: Literal["pseudonyms", "names"] = "pseudonyms",
        revisions: Literal["newest", "all"] = "newest",
        extras: bool = False,
        programs: bool = False,
    ) -> Generator[Entry, None, None]:
        """Documents with their submitted judgments, all as of one moment, whatever is saved meanwhile.

        Close it (`contextlib.closing`) where it may not be read to its end: it holds on to that moment.
        Judgments that came after their place had gone to others, and all of the practice and the checks, are left
        out unless `extras` is set, so that no unit has more than the plan asks for. What programs said is left out
        unless `programs` is set; it is marked, so that it stays a program's where it is taken in.
        """
        id = self._campaign_id(campaign)
        called = self.pseudonyms(campaign) if names == "pseudonyms" else (lambda name: name)
        said, mine = t.judgment, t.assignment
        counted = mine.c.state.in_(("done", "extra") if extras else ("done",)) & ~t.person.c.program
        if programs:
            counted |= t.person.c.program
        which = counted & (said.c.submitted if revisions == "all" else said.c.revision == mine.c.submitted)
        if not extras:
            which &= t.unit.c.wanted < t.FULL
        scheme = self._scheme_of(self._campaign_id(campaign)).id
        with self.reading() as conn:
            start = 0
            while documents := _documents(conn, id, start, practice=extras):
                start = documents[-1].position
                names_of = {row.position: row.name for row in documents}
                judgments: dict[int, list[Judgment]] = {position: [] for position in names_of}
                for row in _judgments(conn, id, list(names_of), which):
                    about = names_of[row.document]
                    # A program is nobody: which judgments are whose model's is what they are exported for.
                    by = row.name if row.program else called(row.name)
                    judgments[row.document].append(_judgment(row, about, scheme, by))
                for row in documents:
                    document = decoder(Document).decode(row.content)
                    yield Entry(row.name, document, tuple(judgments[row.position]))

    def documents(self, campaign: str, *, practice: bool = True) -> Iterator[tuple[str, Document]]:
        """The documents of a campaign in order, by their names in it; without `practice` only those of its data."""
        id, start = self._campaign_id(campaign), 0
        while True:
            with self.reading() as conn:
                rows = _documents(conn, id, start, practice=practice)
            if not rows:
                return
            start = rows[-1].position
            yield from ((row.name, decoder(Document).decode(row.content)) for row in rows)

    def pseudonyms(self, campaign: str) -> Callable[[str], str]:
        """Another name for each person: always the same within a campaign, never the same in another."""
        self._campaign_id(campaign)
        secret = f"{self.access.secret('pseudonyms')}/{campaign}".encode()

        def called(name: str) -> str:
            if name.startswith(ANONYMOUS):
                return name
            digest = hmac.digest(secret, name.encode(), hashlib.sha256)
            return "p-" + base64.b32encode(digest[:10]).decode().lower()

        return called


def _documents(conn: Connection, campaign: int, after: int, *, practice: bool = True) -> list[Row[Any]]:
    place = t.campaign_document
    query = (
        select(place.c.position, place.c.name, t.document.c.content)
        .join(t.document)
        .where(place.c.campaign == campaign, place.c.position > after)
        .order_by(place.c.position)
        .limit(CHUNK)
    )
    if not practice:
        query = query.where(part_of_the_data())
    return list(conn.execute(query))


def _judgments(
    conn: Connection, campaign: int, documents: list[int], which: ColumnElement[bool]
) -> Iterator[Row[Any]]:
    said, mine, unit = t.judgment, t.assignment, t.unit
    # Documents that follow each other have units that do. Without this SQLite goes through all judgments every time.
    bounds = select(func.min(unit.c.number), func.max(unit.c.number)).where(
        unit.c.campaign == campaign, unit.c.document.in_(documents)
    )
    first, last = conn.execute(bounds).one()
    query = (
        select(said, t.person.c.name, t.person.c.program, unit.c.document, unit.c.segment)
        .join(mine, SAME_PLACE)
        .join(unit, and_(unit.c.campaign == said.c.campaign, unit.c.number == said.c.unit))
        .join(t.person, t.person.c.id == said.c.person)
        .where(said.c.campaign == campaign, said.c.unit.between(first, last))
        .where(unit.c.campaign == campaign, unit.c.document.in_(documents), which)
        .order_by(said.c.unit, said.c.person, said.c.revision)
    )
    yield from conn.execute(query)


def _judgment(row: Row[Any], document: str, scheme: str, annotator: str) -> Judgment:
    more = msgspec.json.decode(row.more) if row.more else {}
    metadata = more.get("metadata", {})
    return Judgment(
        document=document,
        segment=row.segment or None,
        annotator=annotator,
        scheme=scheme,
        version=row.version,
        answers=ANSWERS.decode(row.answers),
        distributions=more.get("distributions", {}),
        revision=row.revision,
        at=row.given_at,
        seconds=row.seconds,
        metadata={**metadata, PROGRAM: True} if row.program else metadata,
    )
