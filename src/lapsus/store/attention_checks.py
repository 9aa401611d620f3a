"""Comparing what people say with what is known, in the transaction in which they say it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from lapsus.model import Answer, in_language
from lapsus.store import tables as t
from lapsus.store.known_answers import is_right
from lapsus.store.plan import Block, Known, Plan
from lapsus.store.rows import campaign_row
from lapsus.store.unit_places import of_person, release
from lapsus.store.validation import to_json

RIGHT: msgspec.json.Decoder[tuple[dict[str, Answer], ...]] = msgspec.json.Decoder(
    tuple[dict[str, Answer], ...]
)
_ANSWERS: msgspec.json.Decoder[dict[str, Answer]] = msgspec.json.Decoder(dict[str, Answer])
WARNING = {
    "en": "Some of your answers differed from what was expected. Please read the guideline once more"
    " and take your time.",
    "ja": "いくつかの回答が、想定された答えと異なっていました。ガイドラインをもう一度読み、ゆっくり進めてください。",
}


class Said(NamedTuple):
    """A submitted answer, just stored."""

    unit: int
    person: int
    revision: int
    answers: str


def check_answers(
    conn: Connection, campaign: int, plan: Plan, said: Sequence[tuple[int, int, int, str]], now: datetime
) -> set[int]:
    """Note whether answers about known units are right, and do what the plan says where they are not.

    A unit's first answer counts. Called only for campaigns in which something is known. Gives those who are stopped.
    """
    known = _known(conn, campaign, sorted({unit for unit, *_ in said}))
    answers = [Said(*one) for one in said if one[0] in known]
    there = _results(conn, campaign, answers) if answers else set()
    failed: list[tuple[int, Block]] = []
    for one in answers:
        if (one.person, one.unit) in there:
            continue
        there.add((one.person, one.unit))
        row = known[one.unit]
        passed = is_right(RIGHT.decode(row.answers), _ANSWERS.decode(one.answers))
        result = {"campaign": campaign, "person": one.person, "unit": one.unit, "block": row.block}
        conn.execute(insert(t.check_result), result | {"revision": one.revision, "passed": passed, "at": now})
        if not passed:
            failed.append((one.person, row.block))
    stopped = set()
    for person, name in dict.fromkeys(failed):
        block = plan.known.get(name)
        if (
            block is not None
            and block.then != "nothing"
            and _failures(conn, campaign, person, name) > block.allow
        ):
            _follow(conn, campaign, person, name, block, now)
            stopped |= {person} if block.then == "stop" else set()
    return stopped


def _known(conn: Connection, campaign: int, units: list[int]) -> dict[int, Any]:
    query = select(t.expected).where(t.expected.c.campaign == campaign, t.expected.c.unit.in_(units))
    return {row.unit: row for row in conn.execute(query)}


def _results(conn: Connection, campaign: int, said: Sequence[Said]) -> set[tuple[int, int]]:
    done = t.check_result
    query = select(done.c.person, done.c.unit).where(
        done.c.campaign == campaign,
        done.c.person.in_({one.person for one in said}),
        done.c.unit.in_({one.unit for one in said}),
    )
    return {(row.person, row.unit) for row in conn.execute(query)}


def _failures(conn: Connection, campaign: int, person: int, block: str) -> int:
    done = t.check_result
    wrong = of_person(done, campaign, person) & (done.c.block == block) & ~done.c.passed
    return conn.scalar(select(func.count()).select_from(done).where(wrong)) or 0


def _follow(conn: Connection, campaign: int, person: int, name: str, block: Known, now: datetime) -> None:
    """What follows from too many wrong answers."""
    details: dict[str, Any] = {"person": person, "block": name}
    if block.then == "stop":
        # Nobody hands out units while these go back.
        campaign_row(conn, campaign, lock="units")
        stopped = update(t.member).where(of_person(t.member, campaign, person), t.member.c.stopped.is_(None))
        if not conn.execute(stopped.values(stopped=now)).rowcount:
            return
        details["units"] = release(conn, campaign, person)
    if block.then == "warn" or block.say:
        language = conn.scalar(select(t.person.c.language).where(t.person.c.id == person)) or "en"
        text = in_language(block.say or WARNING, language)
        row = {"campaign": campaign, "person": person, "sender": None, "text": text, "at": now}
        conn.execute(insert(t.message), row)
    what = "stopped after wrong answers" if block.then == "stop" else "warned after wrong answers"
    row = {"at": now, "person": None, "campaign": campaign, "what": what, "details": to_json(details)}
    conn.execute(insert(t.event), row)
