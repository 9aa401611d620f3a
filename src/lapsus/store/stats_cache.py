"""A campaign's cached counts, updated by what changed: no page counts a million judgments.

A save leaves a note which documents have new votes. Whoever looks next reads the judgments of those documents, and
of no others, puts them in the place of what was counted before, and changes the sums by the difference. Reading and
counting are done beside the saves; only the few rows of the result are written in a transaction.
"""

from __future__ import annotations

import base64
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Connection, delete, func, insert, select, type_coerce, update
from sqlalchemy.dialects import postgresql, sqlite

from lapsus.model import Question, Scheme
from lapsus.model.frozen import decoder
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.records import StoreError
from lapsus.store.rows import ANSWERS, SUBMITTED, insert_missing, insert_rows
from lapsus.store.validation import chunks, to_json

if TYPE_CHECKING:
    from lapsus.kinds.packed_votes import Given, PackedVotes, Rows

CHUNK = 100
"""How many documents are brought up to date at a time."""
UNITS = 500
"""Of how many units the judgments are asked for at a time."""
KEPT = 4
"""Of how many campaigns the votes stay in memory."""
TRIES = 20
"""How often a look gives way to others that look at the same time."""
UNKNOWN = "?"
"""The system of documents that name none."""
DAY = 86_400_000_000
"""Microseconds."""


class PatternRow(NamedTuple):
    """How many units of a system were voted on alike: how many people gave each answer."""

    question: str
    system: str
    counts: tuple[int, ...]
    times: int


class DayRow(NamedTuple):
    """What a person did on a day."""

    person: int
    day: int
    """Since 1970, in UTC; -1 where it is not known."""
    judgments: int
    milliseconds: int


class CampaignCounts(NamedTuple):
    """Sums over a campaign's votes; their number does not grow with the judgments."""

    version: int
    """Another one whenever a figure has changed."""
    patterns: tuple[PatternRow, ...]
    days: tuple[DayRow, ...]


class Sums(NamedTuple):
    """What is added up over documents."""

    patterns: Counter[tuple[str, str, str]]
    """By question, system and pattern."""
    days: Counter[tuple[int, int]]
    times: Counter[tuple[int, int]]
    """Milliseconds by person and day."""


@dataclass
class _Change:
    """What a look has found out and is to be written."""

    version: int
    notes: list[int]
    blocks: dict[int, str] = field(default_factory=dict)
    sums: Sums = field(default_factory=lambda: Sums(Counter(), Counter(), Counter()))


class StatsCache(StorePart):
    """Keeping figures, and reading them."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._ballots: OrderedDict[int, tuple[int, PackedVotes]] = OrderedDict()
        self._ballots_guard = threading.Lock()

    def figures(self, campaign: str) -> CampaignCounts:
        """The current figures of a campaign."""
        id = self._campaign_id(campaign)
        self.bring_up_to_date(id)
        pattern, day = t.figure_pattern, t.figure_day
        with self.reading() as conn:
            version = _version(conn, id)
            rows = conn.execute(select(pattern).where(pattern.c.campaign == id)).all()
            patterns = [PatternRow(r.question, r.system, _counts(r.pattern), r.times) for r in rows]
            query = select(day.c.person, day.c.day, day.c.judgments, day.c.milliseconds)
            days = [DayRow._make(row) for row in conn.execute(query.where(day.c.campaign == id))]
        return CampaignCounts(version, tuple(sorted(patterns)), tuple(sorted(days)))

    def packed_votes(self, campaign: str) -> tuple[int, PackedVotes]:
        """Every judgment that counts, packed, and the version of the figures that it goes with."""
        from lapsus.kinds.packed_votes import PackedVotes, unpack

        id = self._campaign_id(campaign)
        self.bring_up_to_date(id)
        block = t.figure_block
        with self.reading() as conn:
            version = _version(conn, id)
            with self._ballots_guard:
                known = self._ballots.get(id)
            if known is not None and known[0] == version:
                return known
            query = select(block.c.content).where(block.c.campaign == id).order_by(block.c.document)
            rows = unpack(self._scheme_of(id), map(base64.b64decode, conn.scalars(query)))
        found = (version, PackedVotes(self._scheme_of(id), rows))
        with self._ballots_guard:
            self._ballots[id] = found
            self._ballots.move_to_end(id)
            while len(self._ballots) > KEPT:
                self._ballots.popitem(last=False)
        return found

    def check_counts(self, campaign: str) -> dict[int, tuple[int, int]]:
        """How many checks each person failed, and how many there were."""
        result = t.check_result
        query = (
            select(result.c.person, result.c.passed, func.count().label("many"))
            .where(result.c.campaign == self._campaign_id(campaign), result.c.block != "training")
            .group_by(result.c.person, result.c.passed)
        )
        found: dict[int, tuple[int, int]] = {}
        for row in self.rows(query):
            failed, all_ = found.get(row.person, (0, 0))
            found[row.person] = failed + (0 if row.passed else row.many), all_ + row.many
        return found

    def refresh(self) -> None:
        """Bring the figures of all campaigns up to date: a server does so from time to time."""
        changed: list[int] = list(self.scalars(select(t.figure_change.c.campaign).distinct()))
        for campaign in changed:
            self.bring_up_to_date(campaign)

    def bring_up_to_date(self, campaign: int) -> None:
        """Count what was said since the figures were last brought up to date."""
        lost = 0
        while (change := self._look(campaign)) is not None:
            if self._keep(campaign, change):
                lost = 0
            elif (lost := lost + 1) > TRIES:
                raise StoreError("figures-being-worked-out", hint="try-again-moment")

    def _look(self, campaign: int) -> _Change | None:
        """What has changed since the last look, in some documents; None where nothing has."""
        scheme = self._scheme_of(campaign)
        with self.reading() as conn:
            notes, documents = _noted(conn, campaign)
            if not notes:
                return None
            change = _Change(_version(conn, campaign), notes)
            block = t.figure_block
            mine = (block.c.campaign == campaign) & block.c.document.in_(documents)
            before = {
                row.document: row.content
                for row in conn.execute(select(block.c.document, block.c.content).where(mine))
            }
            systems = _systems(conn, campaign, documents)
            given = _given(conn, campaign, documents)
        from lapsus.kinds.packed_votes import pack, unpack

        for document in documents:
            system = systems.get(document, UNKNOWN)
            if document in before:
                _add(change.sums, scheme, system, unpack(scheme, [base64.b64decode(before[document])]), -1)
            rows = pack(scheme, given.get(document, ()))
            _add(change.sums, scheme, system, rows, +1)
            change.blocks[document] = base64.b64encode(rows.tobytes()).decode()
        return change

    def _keep(self, campaign: int, change: _Change) -> bool:
        """Write what a look has found; False where another one was first."""

        def work(conn: Connection) -> bool:
            insert_missing(conn, t.figure_state, [{"campaign": campaign, "version": 0}])
            state = t.figure_state
            unchanged = (state.c.campaign == campaign) & (state.c.version == change.version)
            if not conn.execute(update(state).where(unchanged).values(version=change.version + 1)).rowcount:
                return False
            for notes in chunks(change.notes, 500):
                conn.execute(delete(t.figure_change).where(t.figure_change.c.id.in_(notes)))
            block = t.figure_block
            mine = (block.c.campaign == campaign) & block.c.document.in_(list(change.blocks))
            conn.execute(delete(block).where(mine))
            rows = [
                {"campaign": campaign, "document": document, "content": content}
                for document, content in change.blocks.items()
                if content
            ]
            insert_rows(conn, block, rows)
            _add_up(conn, campaign, change.sums)
            return True

        return self.write(work)


def mark_changed(conn: Connection, campaign: int, documents: Iterable[int]) -> None:
    """Mark documents as changed, in the transaction that adds their votes."""
    rows = [{"campaign": campaign, "documents": to_json(some)} for some in chunks(sorted(documents), CHUNK)]
    if rows:
        conn.execute(insert(t.figure_change), rows)


def _add(sums: Sums, scheme: Scheme, system: str, rows: Rows, times: int) -> None:
    from lapsus.kinds import kind_of
    from lapsus.kinds.packed_votes import PackedVotes

    packed_votes = PackedVotes(scheme, rows)
    for question in scheme.questions:
        if kind_of(question).is_counted:
            for pattern in _patterns(packed_votes, question):
                sums.patterns[question.id, system, pattern] += times
    days = (rows["at"] // DAY).tolist()  # a time that is not known gives -1
    for person, day, seconds in zip(rows["person"].tolist(), days, rows["seconds"].tolist(), strict=True):
        sums.days[person, day] += times
        sums.times[person, day] += times * (0 if seconds != seconds else round(seconds * 1000))


def _patterns(packed_votes: PackedVotes, question: Question) -> list[str]:
    counts = packed_votes.counts(question)
    return [to_json(row) for row in counts[counts.any(axis=1)].tolist()]


def _add_up(conn: Connection, campaign: int, sums: Sums) -> None:
    """Change the sums by what was found."""
    pattern, day = t.figure_pattern, t.figure_day
    changed = [
        {"campaign": campaign, "question": question, "system": system, "pattern": shape, "times": times}
        for (question, system, shape), times in sums.patterns.items()
        if times
    ]
    _increase(conn, pattern, ("campaign", "question", "system", "pattern"), ("times",), changed)
    if min(sums.patterns.values(), default=0) < 0:
        conn.execute(delete(pattern).where(pattern.c.campaign == campaign, pattern.c.times == 0))
    worked = [
        {
            "campaign": campaign,
            "person": who,
            "day": when,
            "judgments": n,
            "milliseconds": sums.times[who, when],
        }
        for (who, when), n in sums.days.items()
        if n or sums.times[who, when]
    ]
    _increase(conn, day, ("campaign", "person", "day"), ("judgments", "milliseconds"), worked)
    if min(sums.days.values(), default=0) < 0:
        conn.execute(delete(day).where(day.c.campaign == campaign, day.c.judgments == 0))


def _increase(
    conn: Connection, table: Any, key: Sequence[str], columns: Sequence[str], rows: list[dict[str, Any]]
) -> None:
    if not rows:
        return
    dialect: Any = postgresql if conn.dialect.name == "postgresql" else sqlite
    added = dialect.insert(table)
    more = {name: table.c[name] + added.excluded[name] for name in columns}
    # Always in the same order, so that no two processes wait for each other.
    rows.sort(key=lambda row: tuple(str(row[name]) for name in key))
    conn.execute(added.on_conflict_do_update(index_elements=list(key), set_=more), rows)


def _noted(conn: Connection, campaign: int) -> tuple[list[int], list[int]]:
    """The oldest notes, for about a chunk of documents."""
    note = t.figure_change
    query = select(note.c.id, note.c.documents).where(note.c.campaign == campaign).order_by(note.c.id)
    notes: list[int] = []
    documents: set[int] = set()
    for row in conn.execute(query.limit(50 * CHUNK)):
        new = set(decoder(list[int]).decode(row.documents))
        if notes and len(documents | new) > CHUNK:
            break
        notes.append(row.id)
        documents |= new
    return notes, sorted(documents)


def _given(conn: Connection, campaign: int, documents: Sequence[int]) -> Mapping[int, list[Given]]:
    """The judgments that count, by document: everybody's newest that is submitted and has a place in the plan."""
    from lapsus.kinds.packed_votes import Given

    numbers = _units_of(conn, campaign, documents)
    mine, said = t.assignment, t.judgment
    at = type_coerce(said.c.given_at, BigInteger)
    query = select(said.c.unit, said.c.person, at, said.c.seconds, said.c.answers).join(mine, SUBMITTED)
    given: dict[int, list[Given]] = {}
    for some in chunks(numbers, UNITS):
        counted = query.where(mine.c.campaign == campaign, mine.c.unit.in_(some), mine.c.state == "done")
        rows: Iterable[Any] = conn.execute(counted)
        for unit, person, moment, seconds, answers in rows:
            one = Given(unit, person, moment, seconds, ANSWERS.decode(answers))
            given.setdefault(numbers[unit], []).append(one)
    return given


def _units_of(conn: Connection, campaign: int, documents: Sequence[int]) -> dict[int, int]:
    """The units of some documents, each with its document; without training and checks, whose answers are known.

    Looked up by themselves: asked for together with the judgments, SQLite goes through all that there are.
    """
    unit = t.unit
    query = select(unit.c.number, unit.c.document).where(
        unit.c.campaign == campaign, unit.c.document.in_(documents), unit.c.wanted < t.FULL
    )
    return {row.number: row.document for row in conn.execute(query)}


class _Spoken(msgspec.Struct):
    """Of a document only who speaks in it."""

    metadata: dict[str, Any] = {}


def _system(content: str) -> str:
    name = decoder(_Spoken).decode(content).metadata.get("system")
    return UNKNOWN if name is None else str(name)


def _systems(conn: Connection, campaign: int, documents: Sequence[int]) -> dict[int, str]:
    place = t.campaign_document
    query = (
        select(place.c.position, t.document.c.content)
        .join(t.document)
        .where(place.c.campaign == campaign, place.c.position.in_(documents))
    )
    return {row.position: _system(row.content) for row in conn.execute(query)}


def _version(conn: Connection, campaign: int) -> int:
    state = t.figure_state
    return int(conn.scalar(select(state.c.version).where(state.c.campaign == campaign)) or 0)


def _counts(pattern: str) -> tuple[int, ...]:
    return decoder(tuple[int, ...]).decode(pattern)
