"""Judges that learn from running campaigns: claims of work, and its results.

Several servers may share a database. A server claims a piece of work for `HOLD` and renews that while it works (a
lease); where it ends without a word, another claims the work after that time.
"""

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, case, delete, exists, func, insert, select, update

from lapsus.errors import LapsusError, UsageError
from lapsus.model import Answer, Document
from lapsus.model.frozen import decoder
from lapsus.notices import Notice, packed, unpacked
from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.plan import Learn
from lapsus.store.rows import (
    ANSWERS,
    ITS_DOCUMENT,
    campaign_row,
    insert_rows,
    of_person,
    plan_of,
    planned_units,
)
from lapsus.store.validation import number, to_json

HOLD = timedelta(minutes=5)
"""How long a claim holds that is not renewed."""


class Work(NamedTuple):
    """A claimed piece of work: for which campaign (name and id), what, and which server (`holder`) does it."""

    campaign: str
    id: int
    what: Literal["learn", "judge"]
    """Learn from what people judged, or judge what nobody has judged."""
    holder: str


class OpenUnit(NamedTuple):
    """A unit that no person has judged."""

    number: int
    document: int
    """The position of its document in the campaign."""
    digest: str
    """By which the document is stored."""
    segment: str | None


class Suggestion(NamedTuple):
    """What the judge would answer about a unit."""

    unit: OpenUnit
    answers: Mapping[str, Answer]
    shown: bool
    """Whether people see it."""
    doubt: float
    """From 0 (sure) to 1: what is in doubt is handed out first, where the plan says so."""


class LearnedQuestion(msgspec.Struct, frozen=True):
    """How well a question was learned: agreement beyond chance on documents that were not learned from."""

    question: str
    units: int
    judge: float | None
    """The judge's agreement with people..."""
    low: float | None
    high: float | None
    """...with its interval."""
    people: float | None
    """The agreement of two people."""
    answered: bool
    """Whether it is answered: only where that is better than a constant answer."""


class Followed(msgspec.Struct, frozen=True):
    """How many of people's answers are those that the judge would have given."""

    same: int = 0
    answers: int = 0


class LearningRound(msgspec.Struct, frozen=True):
    """The figures of one round of learning: a point of the learning curve."""

    at: datetime
    units: int
    """Judged units that it learned from."""
    questions: tuple[LearnedQuestion, ...]
    seen: Followed = Followed()
    """By people who saw its suggestion..."""
    unseen: Followed = Followed()
    """...and by people who did not."""


class Trouble(msgspec.Struct, frozen=True):
    """The error that ended the last work: the fields of a LapsusError."""

    what: str
    where: str | None = None
    hint: str | None = None


class LearningState(NamedTuple):
    """What the campaign's page shows of its judge."""

    next_at: int | None
    """How many units must be judged before it learns again; None: it does not learn."""
    judged: int
    """Units that somebody has judged."""
    open: int
    """Units that nobody has judged, neither a person nor the judge."""
    doing: Literal["learn", "judge"] | None
    rest: bool
    """Whether it was asked to judge all units that nobody has judged."""
    trouble: Trouble | None
    rounds: tuple[LearningRound, ...]
    suggestions: int
    """Units that it has an answer for."""


class Learning(StorePart):
    """What is known of campaigns' judges, and the work for them."""

    def set(self, campaign: str, learn: Learn | None, *, by: int | None = None) -> None:
        """Switch a learning judge on, change its settings, or switch it off; its model is kept."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> None:
            plan = msgspec.structs.replace(plan_of(campaign_row(conn, id, lock="all")), learn=learn)
            conn.execute(update(t.campaign).where(t.campaign.c.id == id).values(plan=to_json(plan)))
            row = conn.execute(_row(id)).one_or_none()
            rounds = () if row is None else _rounds(row)
            if row is None:
                conn.execute(insert(t.learning), {"campaign": id})
            begin = None if learn is None else rounds[-1].units + learn.every if rounds else learn.after
            conn.execute(update(t.learning).where(t.learning.c.campaign == id).values(next_at=begin))
            self.note(conn, "plan changed", by=by, campaign=id, learn=learn)

        self.write(work)

    def judge_rest(self, campaign: str, *, by: int | None = None) -> None:
        """Ask for a judgment of the judge on all units that nobody has judged; a server does it when it comes to it."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> None:
            mine = (t.learning.c.campaign == id) & t.learning.c.model.is_not(None)
            if not conn.execute(update(t.learning).where(mine).values(rest=True, trouble=None)).rowcount:
                raise UsageError("judge-not-learned-anything", where=Notice("campaign", campaign=campaign))
            self.note(conn, "rest left to the judge", by=by, campaign=id)

        self.write(work)

    def state(self, campaign: str) -> LearningState | None:
        """What is known of the judge of a campaign; None where there never was one."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            row = conn.execute(_row(id)).one_or_none()
            if row is None:
                return None
            told = select(func.count()).select_from(t.learned_unit).where(t.learned_unit.c.campaign == id)
            program = conn.scalar(_judge(plan_of(campaign_row(conn, id)).name)) or 0
            left = _open_units(id, program).subquery()
            return LearningState(
                row.next_at,
                _judged(conn, id),
                conn.scalar(select(func.count()).select_from(left)) or 0,
                row.doing if row.holder is not None and row.until >= self.clock() else None,
                row.rest,
                None if row.trouble is None else _unpacked(decoder(Trouble).decode(row.trouble)),
                _rounds(row),
                conn.scalar(told) or 0,
            )

    def is_known(self, campaign: str) -> bool:
        """Whether a judge learns from a campaign, or did."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            return conn.execute(_row(id)).first() is not None

    def suggestion(self, campaign: str, unit: int) -> Mapping[str, Answer] | None:
        """What the campaign's judge suggests for a unit, if people are to see it."""
        found = t.learned_unit
        mine = (found.c.campaign == self._campaign_id(campaign)) & (found.c.unit == number(unit))
        answers = self.scalar(select(found.c.answers).where(mine, found.c.shown))
        return None if answers is None else ANSWERS.decode(answers)

    def answers(self, campaign: str) -> dict[tuple[str, str | None], Mapping[str, Answer]]:
        """What the judge would have answered, by document and segment; for units judged since, as it stood then."""
        found, place = t.learned_unit, t.campaign_document
        id = self._campaign_id(campaign)
        query = (
            select(place.c.name, t.unit.c.segment, found.c.answers)
            .join(t.unit, (t.unit.c.campaign == found.c.campaign) & (t.unit.c.number == found.c.unit))
            .join(place, ITS_DOCUMENT)
            .where(found.c.campaign == id, t.unit.c.done > 0, t.unit.c.wanted < t.FULL)
        )
        return {(row.name, row.segment or None): ANSWERS.decode(row.answers) for row in self.rows(query)}

    def claim(self, holder: str) -> Work | None:
        """Claim a piece of work that is due and that no server holds; None where there is none."""
        mine, now = t.learning, self.clock()
        # Held for far longer than anybody holds it: the clock was set back. Clocks of two servers differ by less.
        free = mine.c.holder.is_(None) | (mine.c.until < now) | (mine.c.until > now + 2 * HOLD)
        wanted = mine.c.next_at.is_not(None) | mine.c.rest
        query = select(mine, t.campaign.c.name, t.campaign.c.state).join(t.campaign).where(free, wanted)
        with self.reading() as conn:
            waiting = [(row, self._due(conn, row)) for row in conn.execute(query.order_by(mine.c.campaign))]
        for row, what in waiting:
            if what is not None and self._take(row.campaign, free, holder, what):
                return Work(row.name, row.campaign, what, holder)
        return None

    def _due(self, conn: Connection, row: Row[Any]) -> Literal["learn", "judge"] | None:
        """What there is to do for a campaign now."""
        if row.rest and row.model is not None:
            return "judge"
        is_on = row.next_at is not None and row.state == "open"
        return "learn" if is_on and _judged(conn, row.campaign) >= row.next_at else None

    def _take(self, campaign: int, free: ColumnElement[bool], holder: str, what: str) -> bool:
        """Claim it, unless another server was quicker; whether it is now the holder's."""
        values = {"holder": holder, "until": self.clock() + HOLD, "doing": what}
        change = update(t.learning).where(t.learning.c.campaign == campaign, free).values(values)
        return bool(self.write(lambda conn: conn.execute(change).rowcount))

    def hold(self, work: Work) -> bool:
        """Renew the claim; whether it was still the holder's."""
        change = update(t.learning).where(_own(work)).values(until=self.clock() + HOLD)
        return bool(self.write(lambda conn: conn.execute(change).rowcount))

    def let_go(self, work: Work) -> None:
        """Release the claim; the work stays due."""
        change = update(t.learning).where(_own(work)).values(holder=None, until=None)
        self.write(lambda conn: conn.execute(change))

    def open_units(self, campaign: str, limit: int, *, after: int = 0, program: int) -> list[OpenUnit]:
        """Units that neither a person nor the program has judged, by number, those after `after`."""
        query = _open_units(self._campaign_id(campaign), program).where(t.unit.c.number > after)
        return self._open(query, limit)

    def units_to_suggest(self, campaign: str, limit: int) -> list[OpenUnit]:
        """Units for which suggestions are made: those that no person has judged, and all attention checks.

        Without suggestions, checks could be told from other units.
        """
        return self._open(_to_suggest(_with_digests(), self._campaign_id(campaign)), limit)

    def _open(self, query: Any, limit: int) -> list[OpenUnit]:
        rows = self.rows(query.order_by(t.unit.c.number).limit(limit))
        return [OpenUnit(row.number, row.document, row.digest, row.segment or None) for row in rows]

    def document(self, unit: OpenUnit) -> Document:
        """The document of a unit."""
        return self._document(unit.digest)

    def model(self, campaign: str) -> bytes | None:
        """The content of the judge's model file; None before it has learned."""
        query = select(t.learning.c.model).where(t.learning.c.campaign == self._campaign_id(campaign))
        kept = self.scalar(query)
        return None if kept is None else base64.b64decode(kept)

    def learned(
        self, work: Work, latest: LearningRound, model: bytes, suggestions: Sequence[Suggestion]
    ) -> bool:
        """Keep a round with its model and suggestions, and end the claim; False where another server has taken over.

        What was suggested for units that somebody has judged meanwhile stays: nothing is suggested after the fact.
        """
        unit, found, document = t.unit, t.learned_unit, t.learned_document

        def keep(conn: Connection) -> bool:
            row = conn.execute(_row(work.id).with_for_update()).one()
            if row.holder != work.holder:
                return False
            learn = plan_of(campaign_row(conn, work.id)).learn
            stay = select(unit.c.number).where(
                unit.c.campaign == work.id, unit.c.done > 0, unit.c.wanted < t.FULL
            )
            conn.execute(delete(found).where(found.c.campaign == work.id, found.c.unit.not_in(stay)))
            conn.execute(delete(document).where(document.c.campaign == work.id))
            fresh: set[int] = set(conn.scalars(_to_suggest(select(unit.c.number), work.id)))
            kept = [one for one in suggestions if one.unit.number in fresh]
            rows = [
                {
                    "campaign": work.id, "unit": one.unit.number, "answers": to_json(one.answers),
                    "shown": one.shown,
                }
                for one in kept
            ]  # fmt: skip
            insert_rows(conn, found, rows)
            insert_rows(conn, document, _document_rows(work.id, kept))
            values: dict[str, Any] = {
                "curve": to_json([*_rounds(row), latest]),
                "model": base64.b64encode(model).decode(),
                "next_at": None if learn is None else latest.units + learn.every,
                "trouble": None, "holder": None, "until": None,
            }  # fmt: skip
            conn.execute(update(t.learning).where(_own(work)).values(values))
            self.note(conn, "judge learned", campaign=work.id, units=latest.units, suggestions=len(kept))
            return True

        return self.write(keep)

    def failed(self, work: Work, error: LapsusError, units: int) -> None:
        """Keep the error, and end the claim. It is tried again when there are more judgments, or when somebody asks."""
        told = Trouble(packed(error.what), _packed(error.where), _packed(error.hint))

        def keep(conn: Connection) -> None:
            learn = plan_of(campaign_row(conn, work.id)).learn
            mine = t.learning.c.next_at
            later = mine if work.what == "judge" or learn is None else units + learn.every
            values: dict[str, Any] = {
                "trouble": to_json(told), "holder": None, "until": None, "rest": False,
                "next_at": case((mine.is_(None), None), else_=later),
            }  # fmt: skip
            if conn.execute(update(t.learning).where(_own(work)).values(values)).rowcount:
                self.note(conn, "judge failed", campaign=work.id, why=error.what)

        self.write(keep)

    def judged_rest(self, work: Work, judgments: int) -> None:
        """Note that all that nobody had judged now is, and end the claim."""

        def keep(conn: Connection) -> None:
            values = {"rest": False, "holder": None, "until": None, "trouble": None}
            if conn.execute(update(t.learning).where(_own(work)).values(values)).rowcount:
                self.note(conn, "rest judged", campaign=work.id, judgments=judgments)

        self.write(keep)

    def count_judged(self, campaign: str) -> int:
        """How many units somebody has judged."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            return _judged(conn, id)


def _own(work: Work) -> ColumnElement[bool]:
    return (t.learning.c.campaign == work.id) & (t.learning.c.holder == work.holder)


def _row(campaign: int) -> Any:
    return select(t.learning).where(t.learning.c.campaign == campaign)


def _judge(name: str) -> Any:
    """The program by whose name the judge of a campaign goes."""
    return select(t.person.c.id).where(t.person.c.name == f"judge-{name}", t.person.c.program)


def _rounds(row: Row[Any]) -> tuple[LearningRound, ...]:
    return decoder(tuple[LearningRound, ...]).decode(row.curve)


def _judged(conn: Connection, campaign: int) -> int:
    query = select(func.count()).select_from(t.unit).where(planned_units(campaign), t.unit.c.done > 0)
    return conn.scalar(query) or 0


def _with_digests() -> Any:
    return select(t.unit.c.number, t.unit.c.document, t.unit.c.segment, t.campaign_document.c.digest)


def _open_units(campaign: int, program: int) -> Any:
    """A query for units that neither a person nor the program has judged, with their documents' digests."""
    unit, mine = t.unit, t.assignment
    judged = of_person(mine, campaign, program) & (mine.c.unit == unit.c.number) & (mine.c.submitted > 0)
    query = _with_digests().join(t.campaign_document, ITS_DOCUMENT)
    return query.where(planned_units(campaign), unit.c.done == 0, ~exists().where(judged))


def _to_suggest(query: Any, campaign: int) -> Any:
    unit = t.unit
    is_check = unit.c.active & (unit.c.wanted >= t.FULL) & (t.campaign_document.c.part == "checks")
    query = query.join(t.campaign_document, ITS_DOCUMENT).where(unit.c.campaign == campaign)
    return query.where((planned_units(campaign) & (unit.c.done == 0)) | is_check)


def _document_rows(campaign: int, suggestions: Sequence[Suggestion]) -> list[dict[str, Any]]:
    """For each document the mean doubt over its units."""
    doubts: dict[int, list[float]] = {}
    for one in suggestions:
        doubts.setdefault(one.unit.document, []).append(one.doubt)
    return [
        {"campaign": campaign, "document": document, "doubt": sum(found) / len(found)}
        for document, found in sorted(doubts.items())
    ]


def _packed(text: str | None) -> str | None:
    return None if text is None else packed(text)


def _unpacked(trouble: Trouble) -> Trouble:
    where, hint = (text and unpacked(text) for text in (trouble.where, trouble.hint))
    return Trouble(unpacked(trouble.what), where, hint)
