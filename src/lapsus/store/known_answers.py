"""Known answers: their units, the right answers, and whether an answer is right."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from lapsus.errors import InputError
from lapsus.kinds import countable, kinds_of
from lapsus.model import Answer, Document, Scheme, Span, in_language, units
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.schemes import broken_rules, spelt_answers
from lapsus.store import tables as t
from lapsus.store.plan import Block, KnownUnit, KnownUnits, Plan
from lapsus.store.rows import (
    ANSWERS,
    ITS_DOCUMENT,
    campaign_row,
    insert_rows,
    of_person,
    release,
    scheme_of,
    set_levels,
)
from lapsus.store.validation import chunks, to_json

_UNFINISHED = ("missing-answer", "too-few")
"""Rules that a right answer need not keep: it may leave questions out."""
CHUNK = 500


class KnownAnswers:
    """Adds a plan's known answers to a campaign as their documents come in."""

    def __init__(
        self, plan: Plan, scheme: Scheme, given: Mapping[Block, Sequence[KnownUnit]] | None = None
    ) -> None:
        self.scheme = scheme
        self._compared = {question.id for question in countable(scheme.questions)}
        self.parts: dict[str, Block] = {}
        """Documents that everybody gets, and why."""
        self.units: dict[tuple[str, str | None], tuple[Block, KnownUnit]] = {}
        self._rows: list[dict[str, Any]] = []
        self._met: set[tuple[str, str | None]] = set()
        for name, block in plan.known.items():
            for unit in (given or {}).get(name) or block.units:
                self._note(name, unit)

    def _note(self, block: Block, unit: KnownUnit) -> None:
        key = (unit.document, unit.segment)
        before = self.units.setdefault(key, (block, unit))
        if before != (block, unit):
            raise InputError("known-twice-under", where=_where(unit), before=before[0], block=block)
        if (part := self.parts.get(unit.document, block)) != block:
            what = Notice("one-document-cannot-under", part=part, block=block)
            raise InputError(what, where=_where(unit), hint="choose-unit-another-document")
        if block != "gold":
            self.parts[unit.document] = block

    def found(self, document: Document, segment: str | None, number: int) -> None:
        """A unit that has come in: if its answer is known, it is noted."""
        if (known := self.units.get((document.id, segment))) is None:
            return
        block, unit = known
        known_right = [spelt_answers(self.scheme, right, document) for right in unit.right]
        for right in known_right:
            for rule in broken_rules(self.scheme, right, document, segment):
                if rule.rule not in _UNFINISHED:
                    where = _where(unit)
                    raise InputError("known-answer-breaks", where=where, hint="answer-anew-remove", rule=rule)
        # Nobody finds the same words: what is written freely is not compared.
        compared = [
            {name: said for name, said in one.items() if name in self._compared} for one in known_right
        ]
        if not all(compared):
            raise InputError("known-answer-nothing-could", where=_where(unit))
        self._met.add((document.id, segment))
        self._rows.append(
            {
                "unit": number,
                "block": block,
                "answers": to_json(compared),
                "feedback": to_json(unit.feedback),
            }
        )

    def write(self, conn: Connection, campaign: int) -> None:
        """Keep what was noted; the units must be there."""
        insert_rows(conn, t.expected, [{"campaign": campaign, **row} for row in self._rows])
        self._rows = []

    def check_all_found(self, conn: Connection, campaign: int) -> None:
        """Complain of a unit that the plan knows and the documents do not have."""
        place, unit, known = t.campaign_document, t.unit, t.expected
        query = (
            select(place.c.name, unit.c.segment)
            .join(unit, ITS_DOCUMENT)
            .join(known, (known.c.campaign == unit.c.campaign) & (known.c.unit == unit.c.number))
            .where(place.c.campaign == campaign)
        )
        self._complain({(row.name, row.segment or None) for row in conn.execute(query)})

    def check_against(self, documents: Iterable[Document]) -> None:
        """Complain of whatever is wrong with the known answers about these documents, before a campaign is made."""
        for document in documents:
            for unit in units(document, self.scheme.unit):
                self.found(document, unit.key.segment, 0)
        self._complain(self._met)

    def _complain(self, there: Collection[tuple[str, str | None]]) -> None:
        for key, (block, unit) in self.units.items():
            if key not in there:
                hint = Notice("name-document-data-segment")
                raise InputError("names-unit-not", where=_where(unit), hint=hint, block=block)


def open_known(conn: Connection, campaign: int, known: KnownAnswers, after: int) -> None:
    """In a campaign whose units others' votes choose: open the known units of documents that came in last."""
    place, unit = t.campaign_document, t.unit
    rows = conn.execute(
        select(place.c.position, place.c.name, unit.c.number, unit.c.segment, t.document.c.content)
        .join(unit, ITS_DOCUMENT)
        .join(t.document, t.document.c.digest == place.c.digest)
        .where(place.c.campaign == campaign, place.c.position > after)
        .where(place.c.name.in_({document for document, _ in known.units}))
    ).all()
    opened: dict[int, tuple[int, Block]] = {}
    for row in rows:
        segment = row.segment or None
        known.found(decoder(Document).decode(row.content), segment, row.number)
        if (row.name, segment) in known.units and (part := known.parts.get(row.name)) is not None:
            opened[row.number] = row.position, part
    known.write(conn, campaign)
    for numbers in chunks(sorted(opened), CHUNK):
        mine = (unit.c.campaign == campaign) & unit.c.number.in_(numbers)
        conn.execute(update(unit).where(mine).values(active=True, wanted=t.FULL))
    for part in {part for _, part in opened.values()}:
        positions = {position for position, its in opened.values() if its == part}
        mine = (place.c.campaign == campaign) & place.c.position.in_(positions)
        conn.execute(update(place).where(mine).values(part=part))
        set_levels(conn, campaign, positions)


def is_right(scheme: Scheme, right: Sequence[Mapping[str, Answer]], answers: Mapping[str, Answer]) -> bool:
    """Whether answers are as good as one of the right ones. Ties of spans make no difference."""
    given = _without_ties(scheme, answers)
    return any(_without_ties(scheme, one).items() <= given.items() for one in right)


def _without_ties(scheme: Scheme, answers: Mapping[str, Answer]) -> dict[str, Hashable]:
    kinds, found = kinds_of(scheme), dict[str, Hashable]()
    for id, answer in answers.items():
        if isinstance(answer, tuple):
            parts = [
                msgspec.structs.replace(one, tie=None) if isinstance(one, Span) else one for one in answer
            ]
            found[id] = kinds[id].same_or_none(tuple(parts))
        else:
            found[id] = kinds[id].same_or_none(answer)
    return found


def _where(unit: KnownUnit) -> str:
    name = Notice("document", document=unit.document)
    return name if unit.segment is None else f"{name}, segment {unit.segment!r}"


RIGHT: msgspec.json.Decoder[tuple[dict[str, Answer], ...]] = msgspec.json.Decoder(
    tuple[dict[str, Answer], ...]
)
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
    if not answers:
        return set()
    there, scheme = _results(conn, campaign, answers), scheme_of(conn, campaign)
    failed: list[tuple[int, Block]] = []
    for one in answers:
        if (one.person, one.unit) in there:
            continue
        there.add((one.person, one.unit))
        row = known[one.unit]
        passed = is_right(scheme, RIGHT.decode(row.answers), ANSWERS.decode(one.answers))
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


def _follow(
    conn: Connection, campaign: int, person: int, name: str, block: KnownUnits, now: datetime
) -> None:
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
