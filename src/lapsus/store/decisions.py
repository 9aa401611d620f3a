"""Deciding where people differ. A decision is never changed: another one comes on top, and the newest counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from sqlalchemy import Connection, Row, Select, func, insert, select

from lapsus.errors import UsageError
from lapsus.model import Answer, freeze
from lapsus.model.decoders import decoder
from lapsus.registry import did_you_mean
from lapsus.schemes import broken_rules, spelt_answers
from lapsus.store import tables as t
from lapsus.store.base import Database, Part
from lapsus.store.chains import ANSWERS
from lapsus.store.judgments import Judgments
from lapsus.store.people import People
from lapsus.store.records import RefusedError
from lapsus.store.validation import check_words, clamped, number, to_json

How: TypeAlias = Literal["majority", "person", "own"]
"""Whose answer it is: that of most people, of one of them, or the adjudicator's own."""
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


class StoredGold(msgspec.Struct, frozen=True):
    """Gold as it was made: the method and signature say how, for good."""

    id: int
    at: datetime
    by: str | None
    method: str
    signatures: Mapping[str, str]
    units: int
    decided: int


class Decisions(Part):
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
        if how not in get_args(How):
            raise RefusedError("shape", f"nobody decides by {how!r}: majority, person or own")
        who = self.people.get(person)
        if who.role not in MAY_DECIDE or who.disabled is not None:
            raise RefusedError("not-yours-to-see", "only managers and adjudicators decide")
        id = self._campaign_id(campaign)
        place = self._unit(id, unit)
        chosen = self._taken(campaign, unit, follows) if how == "person" else answers or {}
        given = freeze({name: answer for name, answer in chosen.items() if answer is not None})
        document = self._document(place.digest)
        kept = freeze(spelt_answers(self._scheme_of(id), given, document))
        if broken := broken_rules(self._scheme_of(id), kept, document, place.segment):
            raise RefusedError("rules", broken[0].message(), broken=tuple(broken))
        row = {
            "key": check_words(key, "a key", longest=100), "campaign": id, "unit": unit, "person": who.id,
            "how": how, "follows": follows if how == "person" else None, "answers": to_json(kept),
            "reason": check_words(reason, "a reason", longest=10_000, lines=True) if reason.strip() else "",
            "at": self.clock(),
        }  # fmt: skip

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
        with self.reading() as conn:
            rows: Sequence[Row[Any]] = conn.execute(query.order_by(t.decision.c.id.desc())).all()
        return [self._decision(id, row) for row in rows]

    def decided_units(self, campaign: str) -> frozenset[int]:
        """The units that somebody has decided on."""
        query = select(t.decision.c.unit).where(t.decision.c.campaign == self._campaign_id(campaign))
        with self.reading() as conn:
            return frozenset(conn.scalars(query.distinct()))

    def standing(self, campaign: str, units: Sequence[int] | None = None) -> dict[int, Decision]:
        """The decision that counts for each unit, or for each of some: the newest."""
        id = self._campaign_id(campaign)
        newest = (
            select(func.max(t.decision.c.id)).where(t.decision.c.campaign == id).group_by(t.decision.c.unit)
        )
        if units is not None:
            newest = newest.where(t.decision.c.unit.in_(units))
        with self.reading() as conn:
            rows = conn.execute(
                _decisions().where(t.decision.c.id.in_(newest)).order_by(t.decision.c.unit)
            ).all()
        return {row.unit: self._decision(id, row) for row in rows}

    def _decision(self, campaign: int, row: Row[Any]) -> Decision:
        place = self._unit(campaign, row.unit)
        return Decision(
            row.unit, place.name, place.segment, row.by, row.how, row.followed, ANSWERS.decode(row.answers),
            row.reason, row.at,
        )  # fmt: skip

    def keep_gold(
        self,
        campaign: str,
        method: str,
        signatures: Mapping[str, str],
        units: Sequence[GoldUnit],
        *,
        by: int | None = None,
    ) -> StoredGold:
        """Keep gold, with how it was made."""
        id = self._campaign_id(campaign)
        row = {
            "campaign": id, "person": by, "at": self.clock(), "method": method,
            "signatures": to_json(signatures), "units": len(units),
            "decided": sum(one.decided for one in units), "content": to_json(units),
        }  # fmt: skip
        with self.writing() as conn:
            made: int = conn.execute(insert(t.gold).returning(t.gold.c.id), row).scalar_one()
            self.note(conn, "gold made", by=by, campaign=id, gold=made, method=method, signatures=signatures)
        return next(gold for gold in self.golds(campaign) if gold.id == made)

    def golds(self, campaign: str, *, limit: int = 100) -> list[StoredGold]:
        """The gold that was made of a campaign, the newest first."""
        kept = t.gold
        query = (
            select(
                kept.c.id, kept.c.at, t.person.c.name, kept.c.method, kept.c.signatures, kept.c.units,
                kept.c.decided,
            )
            .join(t.person, isouter=True)
            .where(kept.c.campaign == self._campaign_id(campaign))
            .order_by(kept.c.id.desc())
            .limit(clamped(limit))
        )  # fmt: skip
        with self.reading() as conn:
            rows: Sequence[Row[Any]] = conn.execute(query).all()
        return [
            StoredGold(r.id, r.at, r.name, r.method, msgspec.json.decode(r.signatures), r.units, r.decided)
            for r in rows
        ]

    def gold_units(self, campaign: str, gold: int) -> list[GoldUnit]:
        """The gold of each unit, as it was kept."""
        mine = (t.gold.c.campaign == self._campaign_id(campaign)) & (t.gold.c.id == number(gold))
        with self.reading() as conn:
            content = conn.scalar(select(t.gold.c.content).where(mine))
        if content is None:
            known = [str(one.id) for one in self.golds(campaign)]
            raise UsageError(f"there is no gold {gold}", hint=did_you_mean(str(gold), known))
        return decoder(list[GoldUnit]).decode(content)


def _decisions() -> Select[Any]:
    followed = t.person.alias("followed_person")
    return (
        select(t.decision, t.person.c.name.label("by"), followed.c.name.label("followed"))
        .join(t.person, t.person.c.id == t.decision.c.person)
        .join(followed, followed.c.id == t.decision.c.follows, isouter=True)
    )
