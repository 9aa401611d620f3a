"""Deciding where people differ. A decision is never changed: another one comes on top, and the newest counts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from sqlalchemy import Connection, Row, Select, func, insert, select

from lapsus.errors import UsageError
from lapsus.model import Answer, freeze
from lapsus.model.frozen import decoder
from lapsus.registry import did_you_mean
from lapsus.schemes import broken_rules, spelt_answers
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.judgments import Judgments
from lapsus.store.people import People, new_secret
from lapsus.store.records import Person, RefusedError
from lapsus.store.rows import ANSWERS, campaign_row, insert_rows, record
from lapsus.store.validation import check_words, clamped, number, to_json

How: TypeAlias = Literal["majority", "plurality", "person", "own", "withdrawn"]
"""Whose answer it is: that of more than half of the people, the most frequent one, that of one person, or the
adjudicator's own. `withdrawn`: what was decided before does not stand, and the unit is open again."""
MAY_DECIDE = ("manager", "adjudicator")


class Decision(msgspec.Struct, frozen=True):
    """What somebody decided about a unit."""

    unit: int
    document: str
    segment: str | None
    by: str
    how: How
    follows: str | None
    """Whose answer was taken, where it was one person's."""
    answers: Mapping[str, Answer]
    reason: str
    at: datetime


class GoldUnit(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold of one unit."""

    document: str
    segment: str | None
    answers: Mapping[str, Answer]
    shares: Mapping[str, Mapping[str, float]] = {}
    decided: bool = False


class GoldCounts(msgspec.Struct, frozen=True):
    """On how many units a question has gold, and on how many it is undecided though people answered."""

    units: int
    undecided: int


class StoredGold(msgspec.Struct, frozen=True):
    """Gold as it was made: the method and signature say how, for good."""

    id: int
    at: datetime
    by: str | None
    method: str
    signatures: Mapping[str, str]
    questions: Mapping[str, GoldCounts]
    units: int
    """Units with gold for some question."""
    decided: int


class Decisions(StorePart):
    """Decisions, and the gold that comes of them."""

    def __init__(self, database: Database, people: People, judgments: Judgments) -> None:
        super().__init__(database)
        self.people = people
        self.judgments = judgments

    def decide(
        self,
        key: str,
        campaign: str,
        unit: int,
        person: int,
        how: How,
        answers: Mapping[str, Answer | None] | None = None,
        *,
        follows: int | None = None,
        reason: str = "",
    ) -> Decision:
        """Keep a decision; the same key again changes nothing. It keeps the rules that everybody's answers keep."""
        if how not in get_args(How) or how == "withdrawn":
            raise RefusedError("shape", f"nobody decides by {how!r}: majority, plurality, person or own")
        who, id = self._adjudicator(person), self._campaign_id(campaign)
        chosen = self._taken(campaign, unit, follows) if how == "person" else answers or {}
        row = self._row(key, id, unit, who.id, how, chosen, follows if how == "person" else None, reason)

        def work(conn: Connection) -> None:
            there = conn.execute(select(t.decision).where(t.decision.c.key == key)).one_or_none()
            if there is None:
                conn.execute(insert(t.decision), row)
            elif (there.campaign, there.unit, there.person, there.how) != (id, unit, who.id, how) or (
                msgspec.json.decode(there.answers) != msgspec.json.decode(str(row["answers"]))
            ):
                raise RefusedError("key-reused", "this key was used for another decision")

        self.write(work)
        return next(one for one in self.all(campaign, unit) if one.by == who.name)

    def _adjudicator(self, person: int) -> Person:
        who = self.people.get(person)
        if who.role not in MAY_DECIDE or who.disabled is not None:
            raise RefusedError("not-yours-to-see", "only managers and adjudicators decide")
        return who

    def _row(
        self,
        key: str,
        campaign: int,
        unit: int,
        person: int,
        how: How,
        chosen: Mapping[str, Answer | None],
        follows: int | None = None,
        reason: str = "",
    ) -> dict[str, Any]:
        """A decision as it is kept, if it keeps the rules."""
        place, scheme = self._unit(campaign, unit), self._scheme_of(campaign)
        given = freeze({name: answer for name, answer in chosen.items() if answer is not None})
        document = self._document(place.digest)
        kept = freeze(spelt_answers(scheme, given, document))
        if broken := broken_rules(scheme, kept, document, place.segment):
            raise RefusedError("rules", broken[0].message(), broken=tuple(broken))
        return {
            "key": check_words(key, "words-key", longest=100), "campaign": campaign, "unit": unit, "person": person,
            "how": how, "follows": follows, "answers": to_json(kept), "at": self.clock(),
            "reason": check_words(reason, "words-reason", longest=10_000, lines=True) if reason.strip() else "",
        }  # fmt: skip

    def decide_many(
        self, campaign: str, person: int, chosen: Mapping[int, tuple[How, Mapping[str, Answer]]]
    ) -> str:
        """Decide on many units at once, all of them or none; the key by which `withdraw` undoes it.

        What somebody decided on one of them meanwhile stays.
        """
        who, id, batch = self._adjudicator(person), self._campaign_id(campaign), new_secret()
        rows = [
            self._row(f"{batch}-{unit}", id, unit, who.id, how, answers)
            for unit, (how, answers) in chosen.items()
        ]

        def work(conn: Connection) -> None:
            campaign_row(conn, id, lock="units")
            standing: set[int] = set(conn.scalars(_standing_units(id)))
            insert_rows(conn, t.decision, [row for row in rows if row["unit"] not in standing])
            self.note(conn, "many decided", by=who.id, campaign=id, units=len(rows), batch=batch)

        self.write(work)
        return batch

    def withdraw(self, campaign: str, person: int, batch: str) -> int:
        """Undo what was decided at once under a key; on how many units. What was decided on one since then stays."""
        who, id = self._adjudicator(person), self._campaign_id(campaign)

        def work(conn: Connection) -> int:
            campaign_row(conn, id, lock="units")
            mine = t.decision.c.key.startswith(
                f"{check_words(batch, 'words-key', longest=60)}-", autoescape=True
            )
            query = select(t.decision.c.unit).where(t.decision.c.id.in_(_newest(id)), mine)
            row = {
                "campaign": id, "person": who.id, "how": "withdrawn", "follows": None, "answers": "{}",
                "reason": "", "at": self.clock(),
            }  # fmt: skip
            units: Sequence[int] = conn.scalars(query).all()
            rows = [row | {"unit": unit, "key": f"{new_secret()}-{unit}"} for unit in units]
            insert_rows(conn, t.decision, rows)
            if rows:
                self.note(
                    conn, "many decisions withdrawn", by=who.id, campaign=id, units=len(rows), batch=batch
                )
            return len(rows)

        return self.write(work)

    def _taken(self, campaign: str, unit: int, follows: int | None) -> Mapping[str, Answer]:
        """What a person said, as it was submitted."""
        for judgment in self.judgments.of_unit(campaign, unit):
            if judgment.person == follows:
                return judgment.answers
        raise RefusedError("shape", "this person has not judged the unit")

    def all(self, campaign: str, unit: int | None = None) -> list[Decision]:
        """What was ever decided on a unit, or on all; the newest first."""
        id = self._campaign_id(campaign)
        query = _decisions().where(t.decision.c.campaign == id)
        if unit is not None:
            query = query.where(t.decision.c.unit == number(unit))
        rows: Sequence[Row[Any]] = self.rows(query.order_by(t.decision.c.id.desc()))
        return [self._decision(id, row) for row in rows]

    def decided_units(self, campaign: str) -> frozenset[int]:
        """The units that somebody has decided on."""
        return frozenset(self.scalars(_standing_units(self._campaign_id(campaign))))

    def standing(self, campaign: str, units: Sequence[int] | None = None) -> dict[int, Decision]:
        """The decision that counts for each unit, or for each of some: the newest."""
        id = self._campaign_id(campaign)
        newest, stands = _newest(id), t.decision.c.how != "withdrawn"
        if units is not None:
            newest = newest.where(t.decision.c.unit.in_(units))
        with self.reading() as conn:
            query = _decisions().where(t.decision.c.id.in_(newest), stands)
            rows = conn.execute(query.order_by(t.decision.c.unit)).all()
        return {row.unit: self._decision(id, row) for row in rows}

    def _decision(self, campaign: int, row: Row[Any]) -> Decision:
        place = self._unit(campaign, row.unit)
        answers = ANSWERS.decode(row.answers)
        return record(
            Decision, row, document=place.name, segment=place.segment, follows=row.followed, answers=answers
        )

    def keep_gold(
        self,
        campaign: str,
        method: str,
        signatures: Mapping[str, str],
        questions: Mapping[str, GoldCounts],
        units: Sequence[GoldUnit],
        *,
        by: int | None = None,
    ) -> StoredGold:
        """Keep gold, with how it was made."""
        id = self._campaign_id(campaign)
        row = {
            "campaign": id, "person": by, "at": self.clock(), "method": method,
            "signatures": to_json(signatures), "questions": to_json(questions), "units": len(units),
            "decided": sum(one.decided for one in units), "content": to_json(units),
        }  # fmt: skip
        with self.writing() as conn:
            made: int = conn.execute(insert(t.gold).returning(t.gold.c.id), row).scalar_one()
            self.note(conn, "gold made", by=by, campaign=id, gold=made, method=method, signatures=signatures)
        return next(gold for gold in self.golds(campaign) if gold.id == made)

    def golds(self, campaign: str, *, limit: int = 100) -> list[StoredGold]:
        """The gold that was made of a campaign, the newest first."""
        kept = t.gold
        columns = [column for column in kept.c if column.name != "content"]
        query = (
            select(*columns, t.person.c.name.label("by"))
            .join(t.person, isouter=True)
            .where(kept.c.campaign == self._campaign_id(campaign))
            .order_by(kept.c.id.desc())
            .limit(clamped(limit))
        )  # fmt: skip
        rows: Sequence[Row[Any]] = self.rows(query)
        counts = decoder(dict[str, GoldCounts])
        return [
            record(
                StoredGold,
                row,
                signatures=msgspec.json.decode(row.signatures),
                questions=counts.decode(row.questions),
            )
            for row in rows
        ]

    def gold_units(self, campaign: str, gold: int) -> list[GoldUnit]:
        """The gold of each unit, as it was kept."""
        mine = (t.gold.c.campaign == self._campaign_id(campaign)) & (t.gold.c.id == number(gold))
        content = self.scalar(select(t.gold.c.content).where(mine))
        if content is None:
            known = [str(one.id) for one in self.golds(campaign)]
            raise UsageError("no-gold", hint=did_you_mean(str(gold), known), gold=gold)
        return decoder(list[GoldUnit]).decode(content)


def _newest(campaign: int) -> Select[Any]:
    """The newest decision on each unit."""
    return (
        select(func.max(t.decision.c.id)).where(t.decision.c.campaign == campaign).group_by(t.decision.c.unit)
    )


def _standing_units(campaign: int) -> Select[Any]:
    """The units whose newest decision was not withdrawn."""
    stands = t.decision.c.id.in_(_newest(campaign)) & (t.decision.c.how != "withdrawn")
    return select(t.decision.c.unit).where(stands)


def _decisions() -> Select[Any]:
    followed = t.person.alias("followed_person")
    return (
        select(t.decision, t.person.c.name.label("by"), followed.c.name.label("followed"))
        .join(t.person, t.person.c.id == t.decision.c.person)
        .join(followed, followed.c.id == t.decision.c.follows, isouter=True)
    )
