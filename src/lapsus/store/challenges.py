"""Challenges: a test set whose labels are kept here, teams with a link each, and the runs that they hand in."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, insert, select, update

from lapsus.errors import InputError, UsageError
from lapsus.model import Document
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.store import tables as t
from lapsus.store.access import token_hash
from lapsus.store.base import StorePart
from lapsus.store.challenge_records import (
    Challenge,
    ChallengePlan,
    ChallengeState,
    Counts,
    GoldDocument,
    NewRun,
    StoredRun,
    Team,
)
from lapsus.store.people import new_secret, spelling
from lapsus.store.records import RefusedError, UnknownNameError
from lapsus.store.rows import insert_missing, insert_rows, record
from lapsus.store.validation import check_storable, check_words, digest_of, is_storable, number, to_json

ORGANISERS = "organisers"
"""Under this name runs stand that no team handed in."""
LONGEST = 60
"""Characters of the name of a team or a run."""

Pair = tuple[int, int]


class Challenges(StorePart):
    """Test sets, teams and runs."""

    def create(
        self,
        plan: ChallengePlan,
        documents: Sequence[GoldDocument],
        *,
        floors: str = "{}",
        by: int | None = None,
    ) -> Challenge:
        """A new challenge, open. Its test set never changes afterwards."""
        if not any(document.votes for document in documents):
            raise InputError("nobody-judged-any-turns", where=plan.source or plan.name)
        names = Counter(gold.document.id for gold in documents)
        if doubled := [name for name, count in names.items() if count > 1]:
            raise InputError("comes-twice", where=Notice("document", document=doubled[0]))

        def work(conn: Connection) -> Challenge:
            if conn.scalar(select(t.challenge.c.id).where(t.challenge.c.name == plan.name)) is not None:
                raise InputError("challenge-already", hint="choose-another-name", name=plan.name)
            row = {"name": plan.name, "plan": to_json(plan), "state": "open", "floors": floors}
            added = conn.execute(
                insert(t.challenge).returning(t.challenge), row | {"created": self.clock()}
            ).one()
            _keep_documents(conn, added.id, documents)
            self.note(conn, "challenge created", by=by, challenge=plan.name, documents=len(documents))
            return _challenge(added)

        return self.write(work)

    def get(self, name: str) -> Challenge:
        """The challenge of that name."""
        with self.reading() as conn:
            return _challenge(_row(conn, name))

    def all(self) -> list[Challenge]:
        """Every challenge, the newest first."""
        return [_challenge(row) for row in self.rows(select(t.challenge).order_by(t.challenge.c.id.desc()))]

    def gold(self, challenge: int) -> list[GoldDocument]:
        """The dialogues of a test set in order, with the votes."""
        place = t.challenge_document
        query = (
            select(place.c.language, place.c.votes, t.document.c.content)
            .join(t.document, t.document.c.digest == place.c.digest)
            .where(place.c.challenge == number(challenge))
            .order_by(place.c.position)
        )
        content, votes = decoder(Document), decoder(dict[str, Counts])
        return [
            GoldDocument(content.decode(row.content), row.language, votes.decode(row.votes))
            for row in self.rows(query)
        ]

    def set_state(self, name: str, state: ChallengeState, *, by: int | None = None) -> None:
        """Open, frozen or revealed. What was revealed stays so: it has been seen."""
        if state not in get_args(ChallengeState):
            known = list(get_args(ChallengeState))
            raise UsageError("no-state-called", hint=did_you_mean(state, known), state=state)

        def work(conn: Connection) -> None:
            row = _row(conn, name, lock=True)
            if row.state == state:
                return
            if row.state == "revealed":
                raise RefusedError("revealed", "the challenge is revealed, and what was seen stays seen")
            conn.execute(update(t.challenge).where(t.challenge.c.id == row.id).values(state=state))
            self.note(conn, f"challenge {state}", by=by, challenge=name)

        self.write(work)

    def add_team(self, name: str, team: str, *, by: int | None = None) -> str:
        """The secret of a team's link. For a team that is there already it is a new one, and the old one ends."""
        team = check_words(spelling(team).strip(), "words-team-name", longest=LONGEST)
        if team.casefold() == ORGANISERS:
            raise InputError("name-stands-those-who", where=repr(team))
        token = new_secret()

        def work(conn: Connection) -> str:
            row = _row(conn, name, lock=True)
            rows = conn.execute(select(t.challenge_team).where(t.challenge_team.c.challenge == row.id))
            # Names that differ by case are one name.
            known = {one.name.casefold(): one.name for one in rows}
            name_there = known.get(team.casefold(), team)
            mine = (t.challenge_team.c.challenge == row.id) & (t.challenge_team.c.name == name_there)
            values: dict[str, Any] = {"hash": token_hash(token)}
            if conn.execute(update(t.challenge_team).where(mine).values(values)).rowcount:
                self.note(conn, "team's link renewed", by=by, challenge=name, team=team)
            else:
                values |= {"challenge": row.id, "name": team, "created": self.clock()}
                conn.execute(insert(t.challenge_team), values)
                self.note(conn, "team added", by=by, challenge=name, team=team)
            return token

        return self.write(work)

    def teams(self, name: str) -> list[Team]:
        """Who takes part, in the order in which they came."""
        with self.reading() as conn:
            mine = t.challenge_team.c.challenge == _row(conn, name).id
            query = select(t.challenge_team).where(mine).order_by(t.challenge_team.c.id)
            return [record(Team, row) for row in conn.execute(query)]

    def team_named(self, name: str, team: str) -> Team:
        """The team of that name."""
        teams = self.teams(name)
        wanted = spelling(team).strip().casefold()
        found = next((known for known in teams if known.name.casefold() == wanted), None)
        if found is None:
            names = [known.name for known in teams]
            hint = did_you_mean(team, names) if names else Notice("lapsus-challenge-team-team", name=name)
            raise UsageError("no-team-called", where=Notice("challenge", name=name), hint=hint, team=team)
        return found

    def team_of_token(self, name: str, token: str) -> Team | None:
        """The team that a link belongs to; None where it is wrong, renewed, or another challenge's."""
        team = t.challenge_team
        valid = (team.c.hash == token_hash(token)) & (t.challenge.c.name == name)
        query = select(team).join(t.challenge, t.challenge.c.id == team.c.challenge).where(valid)
        row = self.row(query) if is_storable(name) else None
        return None if row is None else record(Team, row)

    def add_run(self, name: str, run: NewRun, *, team: int | None = None, by: int | None = None) -> StoredRun:
        """Keep a run, if the challenge is open, the team has one left and did not hand in the same before."""
        called = (
            None if run.name is None else check_words(run.name.strip(), "words-run-name", longest=LONGEST)
        )

        def work(conn: Connection) -> StoredRun:
            row = _row(conn, name, lock=True)
            place = _next_number(conn, row, msgspec.structs.replace(run, name=called), team)
            values = {
                "challenge": row.id, "team": team, "language": run.language, "number": place,
                "name": called or f"run{place}", "at": self.clock(), "digest": run.digest,
                "answers": run.answers, "sums": run.sums, "scores": run.scores,
            }  # fmt: skip
            id: int = conn.execute(
                insert(t.challenge_run).returning(t.challenge_run.c.id), values
            ).scalar_one()
            self.note(conn, "run handed in", by=by, challenge=name, run=id, team=team)
            return _run(name, conn.execute(_run_query().where(t.challenge_run.c.id == id)).one())

        return self.write(work)

    def runs(self, name: str) -> list[StoredRun]:
        """The runs of a challenge, in the order in which they came."""
        with self.reading() as conn:
            mine = t.challenge_run.c.challenge == _row(conn, name).id
            rows = conn.execute(_run_query().where(mine).order_by(t.challenge_run.c.id)).all()
        return [_run(name, row) for row in rows]

    def run_answers(self, id: int) -> str:
        """What a run said, as JSON."""
        return str(self.scalar(select(t.challenge_run.c.answers).where(t.challenge_run.c.id == number(id))))

    def run_sums(self, ids: Iterable[int]) -> dict[int, str]:
        """The sums by document of some runs, as JSON."""
        runs = t.challenge_run
        query = select(runs.c.id, runs.c.sums).where(runs.c.id.in_(sorted(ids)))
        return {row.id: row.sums for row in self.rows(query)}

    def run_pairs(self, challenge: int) -> dict[Pair, str]:
        """The comparisons of two runs that were kept, as JSON."""
        rows = self.rows(select(t.challenge_pair).where(t.challenge_pair.c.challenge == number(challenge)))
        return {(row.first, row.second): row.p for row in rows}

    def keep_pairs(self, challenge: int, pairs: Mapping[Pair, str]) -> None:
        """Keep comparisons. Whoever else made them meanwhile found the same."""
        rows = [
            {"first": first, "second": second, "challenge": challenge, "p": p}
            for (first, second), p in pairs.items()
        ]
        if rows:
            self.write(lambda conn: insert_missing(conn, t.challenge_pair, rows))


def _next_number(conn: Connection, row: Row[Any], run: NewRun, team: int | None) -> int:
    """The number of a team's next run, or why there is none."""
    runs = t.challenge_run
    if team is not None and row.state != "open":
        raise RefusedError("challenge-frozen", "the challenge takes no more runs")
    mine = (runs.c.challenge == row.id) & (runs.c.language == run.language)
    mine &= runs.c.team.is_(None) if team is None else runs.c.team == team
    there = conn.execute(select(runs.c.number, runs.c.name, runs.c.digest).where(mine)).all()
    if same := next((known for known in there if known.digest == run.digest), None):
        raise RefusedError("same-run", f"has the same answers as {same.name!r}, and was not kept again")
    allowed = _plan(row).runs
    if team is not None and len(there) >= allowed:
        raise RefusedError(
            "too-many-runs", f"this team has handed in its {allowed} runs for {run.language!r}"
        )
    if run.name is not None and any(known.name == run.name for known in there):
        raise RefusedError("run-name", f"there is a run {run.name!r} already")
    return max((int(known.number) for known in there), default=0) + 1


def _keep_documents(conn: Connection, challenge: int, documents: Sequence[GoldDocument]) -> None:
    contents, rows = [], []
    for position, gold in enumerate(documents):
        name, content = check_storable(gold.document.id, "words-document-id"), to_json(gold.document)
        digest = digest_of(content)
        contents.append({"digest": digest, "id": name, "content": check_storable(content, "words-document")})
        rows.append(
            {
                "challenge": challenge,
                "position": position,
                "name": name,
                "digest": digest,
                "language": check_storable(gold.language, "words-language"),
                "votes": check_storable(to_json(gold.votes), "words-votes"),
            }
        )
    insert_missing(conn, t.document, contents)
    insert_rows(conn, t.challenge_document, rows)


def _row(conn: Connection, name: str, *, lock: bool = False) -> Row[Any]:
    """A challenge's row. Locked, nobody else hands in a run until the transaction ends."""
    query = select(t.challenge).where(t.challenge.c.name == name)
    row = (
        conn.execute(query.with_for_update() if lock else query).one_or_none() if is_storable(name) else None
    )
    if row is None:
        names: list[str] = list(conn.scalars(select(t.challenge.c.name).order_by(t.challenge.c.id)))
        raise UnknownNameError(
            "no-challenge-called",
            hint=did_you_mean(name, names) if names else Notice("lapsus-challenge-create-makes"),
            name=name,
        )
    return row


def _plan(row: Row[Any]) -> ChallengePlan:
    return decoder(ChallengePlan).decode(row.plan)


def _challenge(row: Row[Any]) -> Challenge:
    return record(Challenge, row, plan=_plan(row))


def _run_query() -> Any:
    runs, team = t.challenge_run, t.challenge_team
    columns = (runs.c.id, runs.c.language, runs.c.number, runs.c.name, runs.c.at, runs.c.scores)
    return select(*columns, team.c.name.label("team")).join(team, team.c.id == runs.c.team, isouter=True)


def _run(challenge: str, row: Row[Any]) -> StoredRun:
    return record(StoredRun, row, challenge=challenge)
