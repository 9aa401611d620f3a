"""Talks: every turn that is acknowledged is on disk, and kept once however often it is sent.

All that is written goes through one writer, which commits what waits together. A talk that is done becomes a document
of its campaign in the transaction of its last turn, and of those that are chained to it.
"""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypeVar, cast

import msgspec
from sqlalchemy import Connection, Row, func, insert, select, update

from lapsus.errors import LapsusError
from lapsus.language.masking import masked, masked_answers
from lapsus.model import Answer, Document, Entry, Judgment, Segment, freeze
from lapsus.schemes import broken_rules, spelt_answers
from lapsus.store import tables as t
from lapsus.store.assignment import admit
from lapsus.store.base import Database, StorePart
from lapsus.store.collect_plan import Collect
from lapsus.store.judgment_import import take_in
from lapsus.store.records import Credential, Nothing, RefusedError, StoreError
from lapsus.store.rows import ANSWERS, campaign_row, plan_of, scheme_of
from lapsus.store.talk_beginning import Beginning, of_person, open_talk
from lapsus.store.talk_records import Reply, Said, Talk, Turn, TurnRequest
from lapsus.store.validation import check_words, number, showable, to_json
from lapsus.store.writer import Writer

LONGEST_TURN = 4000
SPARE = timedelta(seconds=30)
"""How long after the time for a reply another server may make it."""
FIRST_WAIT, LONGEST_WAIT = 2.0, 30.0
"""Seconds after which a system that failed is asked again; twice as many each time."""

R = TypeVar("R")
_Work: TypeAlias = Callable[[Connection], Any]


class Talks(StorePart):
    """People who talk to systems."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._writer: Writer[_Work, Any] = Writer(self._write_together)

    def close(self) -> None:
        """Finish what is in line."""
        self._writer.close()

    def _soon(self, work: Callable[[Connection], R]) -> Future[R]:
        return cast("Future[R]", self._writer.submit(work))

    def _write_together(self, works: list[_Work]) -> list[Any]:
        """One transaction for all. Whoever is refused is so before anything of theirs is written."""
        try:
            with self.database.transaction() as conn:
                return [_done_or_refused(work, conn) for work in works]
        except Exception:
            # Somebody got in the way of one of them: each has a key or a place, so none is done twice.
            return [self._alone(work) for work in works]

    def _alone(self, work: _Work) -> Any:
        try:
            return self.write(work, twice=True)
        except (LapsusError, StoreError) as error:
            return error

    def begin(self, campaign: str, person: int, *, early: bool = False) -> Talk | Nothing:
        """The talk that a person has open here, or a new one; or why there is none.

        `early`: also before the campaign is opened, for whoever tries it.
        """
        id, now = self._campaign_id(campaign), self.clock()

        def work(conn: Connection) -> int | Nothing:
            row = campaign_row(conn, id, lock="units")
            plan = plan_of(row)
            since = now - timedelta(minutes=plan.minutes)
            mine = open_talk(conn, id, number(person), since)
            if mine is not None and mine.state != "waiting":
                return int(mine.id)
            if row.state != "open" and not (early and row.state == "draft"):
                return Nothing(row.state)
            if plan.collect is None:
                raise RefusedError("no-talks", "nobody talks in this campaign")
            if (reason := admit(conn, id, number(person), plan, now)) is not None:
                return reason
            beginning = Beginning(conn, id, number(person), plan.collect, since)
            if mine is None and beginning.is_enough(plan.per_person):
                return Nothing("done")
            if (waiting := beginning.joined(now, mine)) is not None:
                return waiting
            if beginning.must_wait:
                return Nothing("wait")
            return beginning.started(plan.seed, now)

        found = self._soon(work).result()
        return found if isinstance(found, Nothing) else self.get(found)

    def get(self, talk: int) -> Talk:
        """A talk so far."""
        with self.reading() as conn:
            return _read(conn, number(talk))

    def last(self, campaign: str, person: int) -> Talk | None:
        """The talk that a person began or joined last."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            mine = of_person(id, number(person))
            found = conn.scalar(select(t.talk.c.id).where(mine).order_by(t.talk.c.id.desc()).limit(1))
            return None if found is None else _read(conn, found)

    def count_done(self, campaign: str, person: int) -> int:
        """How many talks a person has brought to their end."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            mine = of_person(id, number(person)) & (t.talk.c.state == "done")
            return conn.scalar(select(func.count()).select_from(t.talk).where(mine)) or 0

    def of(self, talk: int, campaign: str, person: int) -> Talk:
        """A talk, for one of the two who talk in it."""
        found = self.get(talk)
        if found.campaign != campaign or person not in (found.person, found.partner):
            raise RefusedError("not-your-talk", f"talk {talk} is not yours")
        return found

    def say(self, said: TurnRequest) -> Future[Said]:
        """Put a person's turn in line; done when it is on disk, or refused. The same key again: the same answer."""

        def work(conn: Connection) -> Said:
            row = _locked(conn, said.talk)
            plan = plan_of(row)
            collect = plan.collect
            if collect is None or said.person not in (row.person, row.partner):
                raise RefusedError("not-your-talk", f"talk {said.talk} is not yours")
            _check_credential(conn, said.person, said.credential)
            key = f"{said.person}:{check_words(said.key, 'words-key', longest=100)}"
            kept = conn.execute(select(t.talk_turn).where(t.talk_turn.c.key == key)).one_or_none()
            text = masked(_words(said.text, LONGEST_TURN), collect.mask)
            if kept is not None:
                if kept.talk != said.talk or kept.text != text:
                    raise RefusedError("key-reused", "this key was used for another turn")
                return _said(said, kept, row, collect)
            _check_turn(row, collect, said)
            now = self.clock()
            values = {"talk": said.talk, "position": said.position, "key": key, "text": text, "at": now}
            added = conn.execute(insert(t.talk_turn).returning(t.talk_turn), values).one()
            until = now + timedelta(seconds=collect.seconds) + SPARE
            is_held = bool(said.holder) and row.partner is None
            self._advance(conn, row, collect, now, {"holder": said.holder, "until": until} if is_held else {})
            return _said(said, added, row, collect)

        return self._soon(work)

    def _advance(
        self, conn: Connection, row: Row[Any], collect: Collect, now: datetime, hold: dict[str, Any]
    ) -> None:
        """One turn more; the last one makes a document of the talk."""
        is_done = row.turns + 1 >= collect.length
        values = {
            "turns": row.turns + 1, "last_at": now, "failures": 0, "holder": None, "until": None,
            "state": "done" if is_done else "open",
        }  # fmt: skip
        if not is_done:
            values |= hold
        conn.execute(update(t.talk).where(t.talk.c.id == row.id).values(values))
        if is_done:
            self._take_in(conn, row.id)

    def claim(self, talk: int, holder: str) -> Talk | None:
        """The talk, if a program has to reply in it and no server holds it; this server then does."""
        now = self.clock()

        def work(conn: Connection) -> bool:
            row = _locked(conn, talk)
            found = _read(conn, talk)
            until = now + timedelta(seconds=max(found.collect.seconds, LONGEST_WAIT)) + SPARE
            # Held for longer than anybody holds it: the clock was set back. Clocks of two servers differ by less.
            is_held = row.until is not None and now < row.until <= until + SPARE
            if not found.awaits_program or is_held or row.campaign_state == "closed":
                return False
            conn.execute(update(t.talk).where(t.talk.c.id == talk).values(holder=holder, until=until))
            return True

        return self.get(talk) if self._soon(work).result() else None

    def replied(self, talk: int, position: int, reply: Reply) -> Future[bool]:
        """Keep what a system said; False where somebody else's reply is there already."""

        def work(conn: Connection) -> bool:
            row = _locked(conn, talk)
            collect = plan_of(row).collect
            if collect is None or row.turns != position or row.state != "open":
                return False
            now = self.clock()
            values = msgspec.structs.asdict(reply) | {"talk": talk, "position": position, "at": now}
            values["text"] = showable(reply.text.strip())
            conn.execute(insert(t.talk_turn), values)
            self._advance(conn, row, collect, now, {})
            return True

        return self._soon(work)

    def failed(self, talk: int, position: int) -> None:
        """A system gave no reply. It is asked again after a while, by whoever waits then."""

        def work(conn: Connection) -> None:
            row = _locked(conn, talk)
            if row.turns == position:
                wait = min(FIRST_WAIT * 2.0**row.failures, LONGEST_WAIT)
                values = {
                    "failures": row.failures + 1, "failed": row.failed + 1, "holder": None,
                    "until": self.clock() + timedelta(seconds=wait),
                }  # fmt: skip
                conn.execute(update(t.talk).where(t.talk.c.id == talk).values(values))

        self._soon(work).result()

    def release(self) -> None:
        """Let go of what servers held: one that was killed makes no reply. A reply is kept once in any case."""

        def work(conn: Connection) -> None:
            held = t.talk.c.holder.is_not(None)
            conn.execute(update(t.talk).where(held).values(holder=None, until=None))

        self._soon(work).result()

    def end(self, talk: int, person: int) -> Talk:
        """End a talk before it is complete, where the plan allows it."""

        def work(conn: Connection) -> None:
            row = _locked(conn, talk)
            found = _read(conn, talk)
            if found.state == "done":
                return
            if person != row.person or not found.may_end(self.clock()):
                raise RefusedError("not-yet", "the talk is too short to be ended")
            done = {"state": "done", "holder": None, "until": None}
            conn.execute(update(t.talk).where(t.talk.c.id == talk).values(done))
            self._take_in(conn, talk)

        self._soon(work).result()
        return self.get(talk)

    def answer(
        self, talk: int, person: int, key: str, segment: str, answers: dict[str, Answer]
    ) -> Future[int]:
        """Keep what the person says of a turn, or of the whole talk (no segment); the revision."""

        def work(conn: Connection) -> int:
            row = _locked(conn, talk)
            found = _read(conn, talk)
            scheme = scheme_of(conn, row.campaign)
            if person != row.person or not found.collect.ask:
                raise RefusedError("not-your-talk", f"talk {talk} is not yours to judge")
            named = f"{person}:{check_words(key, 'words-key', longest=100)}"
            kept = conn.execute(select(t.talk_answer).where(t.talk_answer.c.key == named)).one_or_none()
            if kept is not None:
                return int(kept.revision)
            document = as_document(found)
            given = freeze(masked_answers(answers, found.collect.mask))
            spelt = spelt_answers(scheme, given, document)
            is_there = (segment == "") == (scheme.unit.role == "document") and (
                segment in {one.id for one in document.segments if one.role == scheme.unit.role}
                if segment
                else found.state == "done"
            )
            if not is_there:
                raise RefusedError("unknown-unit", "there is nothing to judge there")
            if broken := broken_rules(scheme, spelt, document, segment or None):
                raise RefusedError("rules", "the answers break the rules", broken=tuple(broken))
            mine = (t.talk_answer.c.talk == talk) & (t.talk_answer.c.segment == segment)
            last: int = conn.scalar(select(func.max(t.talk_answer.c.revision)).where(mine)) or 0
            row_ = {
                "talk": talk, "segment": segment, "revision": last + 1, "key": named,
                "answers": to_json(spelt), "at": self.clock(),
            }  # fmt: skip
            conn.execute(insert(t.talk_answer), row_)
            if found.state == "done":
                self._take_in(conn, talk)
            return last + 1

        return self._soon(work)

    def _take_in(self, conn: Connection, talk: int) -> None:
        """Make a document of a talk that is done, with what its person said of it so far."""
        found = _read(conn, talk)
        campaign = campaign_row(conn, self._campaign_id(found.campaign), lock="all")
        scheme, document = scheme_of(conn, campaign.id), as_document(found)
        who: str = conn.scalar(select(t.person.c.name).where(t.person.c.id == found.person)) or ""
        mine = select(t.talk_answer).where(t.talk_answer.c.talk == talk)
        judgments = tuple(
            Judgment(
                document.id, row.segment or None, who, scheme.id, scheme.version,
                ANSWERS.decode(row.answers), revision=row.revision, at=row.at,
            )
            for row in conn.execute(mine.order_by(t.talk_answer.c.segment, t.talk_answer.c.revision))
        )  # fmt: skip
        take_in(conn, campaign, scheme, [Entry(document.id, document, judgments)], self.clock())


def as_document(talk: Talk) -> Document:
    """A talk as a document; its turns are numbered from 0, as in the challenge's files."""
    topic = talk.collect.topics[talk.topic] if talk.topic is not None else None
    about = {"system": talk.system, "begun": talk.begun.isoformat(timespec="seconds")}
    if topic:
        about["topic"] = topic.get(talk.collect.language) or next(iter(topic.values()))
    segments = tuple(
        Segment(
            str(turn.position), turn.side, turn.text, None, {"time": turn.at.isoformat(timespec="seconds")}
        )
        for turn in talk.turns
    )
    return Document(f"{talk.campaign}-{talk.id}", segments, talk.collect.language, about)


def _done_or_refused(work: _Work, conn: Connection) -> Any:
    try:
        return work(conn)
    except (RefusedError, LapsusError) as error:
        return error


def _locked(conn: Connection, talk: int) -> Row[Any]:
    """A talk's row with its campaign's plan; nobody else changes the talk until the transaction ends."""
    query = (
        select(t.talk, t.campaign.c.plan, t.campaign.c.state.label("campaign_state"))
        .join(t.campaign, t.campaign.c.id == t.talk.c.campaign)
        .where(t.talk.c.id == number(talk))
        .with_for_update(of=t.talk)
    )
    row = conn.execute(query).one_or_none()
    if row is None:
        raise RefusedError("not-your-talk", f"there is no talk {talk}")
    return row


def _read(conn: Connection, talk: int) -> Talk:
    row = conn.execute(
        select(t.talk, t.campaign.c.plan, t.campaign.c.name.label("campaign_name"))
        .join(t.campaign, t.campaign.c.id == t.talk.c.campaign)
        .where(t.talk.c.id == talk)
    ).one_or_none()
    collect = None if row is None else plan_of(row).collect
    if row is None or collect is None:
        raise RefusedError("not-your-talk", f"there is no talk {talk}")
    turns = conn.execute(
        select(t.talk_turn).where(t.talk_turn.c.talk == talk).order_by(t.talk_turn.c.position)
    )
    said = select(t.talk_answer).where(t.talk_answer.c.talk == talk).order_by(t.talk_answer.c.revision)
    answers = {one.segment: ANSWERS.decode(one.answers) for one in conn.execute(said)} if collect.ask else {}
    return Talk(
        row.id, row.campaign_name, row.person, row.partner, row.system, row.topic, row.state, row.begun,
        row.last_at, row.failures, collect,
        tuple(Turn(one.position, collect.side_at(one.position), one.text, one.at) for one in turns),
        answers,
    )  # fmt: skip


def _check_credential(conn: Connection, person: int, credential: Credential | None) -> None:
    if credential is None:
        return
    who = select(t.person.c.stamp).where(t.person.c.id == person, t.person.c.disabled.is_(None))
    if credential.token is not None:
        token = t.api_token
        who = select(token.c.hash).where(token.c.person == person, token.c.revoked.is_(None))
        who = who.where(token.c.hash == credential.token)
    if conn.scalar(who) != (credential.token or credential.stamp):
        raise RefusedError("sign-in", "nobody is signed in")


def _check_turn(row: Row[Any], collect: Collect, said: TurnRequest) -> None:
    """Whether somebody may say something now: it is their turn, and nobody said anything there before."""
    if row.campaign_state == "closed":
        raise RefusedError("closed", "the campaign is closed")
    side = "system" if said.person == row.partner else "user"
    if row.state != "open" or said.position != row.turns or collect.side_at(row.turns) != side:
        raise RefusedError("turn-taken", "something was said there already, or it is not your turn")


def _words(text: str, longest: int) -> str:
    return check_words(text.strip(), "words-turn", longest=longest, lines=True)


def _said(said: TurnRequest, kept: Row[Any], row: Row[Any], collect: Collect) -> Said:
    turns = kept.position + 1
    is_done = turns >= collect.length
    awaits = not is_done and row.partner is None and row.turns <= turns
    return Said(said.key, kept.position, kept.at, kept.text, awaits, is_done)
