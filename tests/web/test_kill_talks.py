"""The server is killed in the middle of talks: no turn that was acknowledged is missing, none is doubled."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import httpx
import pytest

from lapsus.store import Plan, open_store
from lapsus.store.collect_plan import Collect
from tests.web.server_process import Running

pytestmark = pytest.mark.kill
ROUNDS = 50
PEOPLE = 4
API = "/api/v1/campaigns/talk/talks"


class Chatter:
    """Talks without a pause, and after a restart sends again what was not acknowledged."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.acknowledged: dict[tuple[int, int], str] = {}
        """What was acknowledged, by talk and position."""
        self.waiting: dict[str, Any] | None = None
        self.wrong: list[str] = []

    def work(self, address: str, gone: threading.Event) -> None:
        """Go on until nobody answers any more."""
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=address, headers=headers, timeout=60) as http:
            while not gone.is_set():
                try:
                    self._turn(http)
                except httpx.TransportError:
                    continue

    def _turn(self, http: httpx.Client) -> None:
        if self.waiting is None:
            talk = http.post(API, json={}).json()
            where = f"{API}/{talk['talk']}"
            while talk["awaits"] == "other":
                talk = http.get(where, params={"after": len(talk["turns"])}).json()
            if talk["state"] != "open":
                return
            position = len(talk["turns"])
            key = f"{talk['talk']}-{position}"
            self.waiting = {"talk": talk["talk"], "key": key, "position": position, "text": f"I like {key}"}
        known = self.waiting
        body = {name: known[name] for name in ("key", "position", "text")}
        answer = http.post(f"{API}/{known['talk']}/turns", json=body)
        if answer.status_code == 201:
            self.acknowledged[known["talk"], known["position"]] = answer.json()["text"]
            self.waiting = None
        else:
            self.wrong.append(answer.text)


def kill_midway(url: str, people: list[Chatter], chance: random.Random) -> int:
    """One round; how many turns were acknowledged in it."""
    gone = threading.Event()

    def acknowledged() -> int:
        return sum(len(one.acknowledged) for one in people)

    before = acknowledged()
    with Running("serve", "--db", url, "--port", "0") as server:
        threads = [threading.Thread(target=one.work, args=(server.address, gone)) for one in people]
        for thread in threads:
            thread.start()
        patience = time.monotonic() + 60
        while acknowledged() == before and time.monotonic() < patience:
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.6))
        gone.set()
        server.kill()
        for thread in threads:
            thread.join(60)
    return acknowledged() - before


def test_killed_in_the_middle_of_talks_nothing_is_lost_and_nothing_is_doubled(either: str) -> None:
    chance = random.Random(11)
    with open_store(either) as store:
        store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=Collect(("bot",), exchanges=4)))
        ids = [store.people.add(f"p{place}").id for place in range(PEOPLE)]
        people = [Chatter(store.access.add_token(id, "test")) for id in ids]
    said = [kill_midway(either, people, chance) for _ in range(ROUNDS)]
    assert min(said) > 0
    stored = 0
    with open_store(either) as store:
        for one in people:
            assert one.wrong == []
            for (number, position), text in one.acknowledged.items():
                assert store.talks.get(number).turns[position].text == text
        for number in {number for one in people for number, _ in one.acknowledged}:
            talk = store.talks.get(number)
            assert [turn.position for turn in talk.turns] == list(range(len(talk.turns)))
            mine = [turn.text for turn in talk.turns if turn.side == "user"]
            assert len(set(mine)) == len(mine)
            stored += len(mine)
            is_whole = len(talk.turns) == talk.collect.length
            assert (talk.state == "done") == is_whole
        done = sum(figures.done for figures in store.talk_figures.of_campaign("talk"))
        assert store.progress.of_campaign("talk").documents == done
    acknowledged = sum(len(one.acknowledged) for one in people)
    assert acknowledged <= stored <= acknowledged + PEOPLE
    print(f"\n{ROUNDS} kills: {acknowledged:,} turns acknowledged, {stored:,} stored, 0 missing, 0 doubled")
