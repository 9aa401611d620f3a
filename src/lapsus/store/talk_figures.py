"""Figures of talks by system: count, length, latency and cost."""

from collections import defaultdict
from datetime import timedelta

from sqlalchemy import func, select

from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.chains import followers
from lapsus.store.rows import campaign_row, plan_of
from lapsus.store.talk_records import SystemFigures

LATE = 0.95


class TalkFigures(StorePart):
    """Reads these figures."""

    def of_campaign(self, campaign: str) -> list[SystemFigures]:
        """A row for each system of the plan, in its order."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            plan = plan_of(campaign_row(conn, id))
            talks = conn.execute(select(t.talk).where(t.talk.c.campaign == id)).all()
            turns = conn.execute(
                select(t.talk.c.system, t.talk_turn.c.seconds, t.talk_turn.c.tokens_read, t.talk_turn.c.tokens_written)
                .join(t.talk, t.talk.c.id == t.talk_turn.c.talk)
                .where(t.talk.c.campaign == id, t.talk_turn.c.seconds.is_not(None))
            ).all()  # fmt: skip
        if plan.collect is None:
            return []
        since = self.clock() - timedelta(minutes=plan.minutes)
        least = timedelta(minutes=plan.collect.least_minutes)
        seconds: defaultdict[str, list[float]] = defaultdict(list)
        read: defaultdict[str, int] = defaultdict(int)
        written: defaultdict[str, int] = defaultdict(int)
        for turn in turns:
            seconds[turn.system].append(turn.seconds)
            read[turn.system] += turn.tokens_read
            written[turn.system] += turn.tokens_written
        found = []
        for system in plan.collect.known:
            name = system.called
            mine = [talk for talk in talks if talk.system == name]
            done = [talk for talk in mine if talk.state == "done"]
            left = [talk for talk in mine if talk.state != "done" and talk.last_at < since]
            took = sorted(seconds[name])
            cost = (read[name] * system.price[0] + written[name] * system.price[1]) / 1_000_000
            found.append(
                SystemFigures(
                    name, len(mine), len(done), len(mine) - len(done) - len(left), len(left),
                    sum(talk.last_at - talk.begun < least for talk in done),
                    sum(talk.turns for talk in done) / len(done) if done else None,
                    _share(took, 0.5), _share(took, LATE), sum(talk.failed for talk in mine),
                    read[name], written[name], cost,
                )
            )  # fmt: skip
        return found

    def people(self, campaign: str) -> int:
        """How many people have begun a talk."""
        id = self._campaign_id(campaign)
        return self.scalar(select(func.count(t.talk.c.person.distinct())).where(t.talk.c.campaign == id)) or 0

    def followers(self, campaign: str) -> list[str]:
        """The campaigns in which the talks are judged."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            return [str(row.name) for row in followers(conn, id)]


def _share(ordered: list[float], share: float) -> float | None:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None
