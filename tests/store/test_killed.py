"""The process is killed in the middle of a stream of saves: what it acknowledged is there, and nothing is doubled."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from lapsus.store import SaveRequest, open_store
from tests.patience import LONG
from tests.store.helpers import campaign, people
from tests.store.test_concurrency import check_counts, start

ROUNDS = 6


def acknowledged(url: str, person: int, number: int) -> tuple[set[str], set[str]]:
    """Run a process that saves, kill it midway, and return what it sent and what it was told is kept."""
    worker = start("stream", url, person, number * 1000)
    assert worker.stdout is not None
    lines = [worker.stdout.readline() for _ in range(50 + 13 * number)]
    worker.send_signal(signal.SIGKILL)
    lines += worker.stdout.readlines()
    worker.communicate(timeout=LONG)
    whole = [line.split() for line in lines if line.endswith("\n")]
    sent = {key for words in whole if words[0] == "sent" for key in words[1:]}
    kept = {words[1] for words in whole if words[0] == "kept"}
    return sent, kept


@pytest.mark.kill
def test_nothing_acknowledged_is_lost_and_nothing_is_doubled(url: str) -> None:
    with open_store(url) as store:
        campaign(store, documents=1, turns=4)
        (me,) = people(store, "avery")
    sent: set[str] = set()
    kept: set[str] = set()
    for number in range(ROUNDS):
        more_sent, more_kept = acknowledged(url, me, number)
        sent |= more_sent
        kept |= more_kept
        with open_store(url) as store:
            stored = Counter(
                str(judgment.answers["comment"])
                for unit in range(1, 5)
                for judgment in store.judgments.history("chat", unit)
            )
            for unit in range(1, 5):
                revisions = [judgment.revision for judgment in store.judgments.history("chat", unit)]
                assert revisions == list(range(1, len(revisions) + 1))
            check_counts(store)
        assert set(stored.values()) <= {1}
        assert kept <= stored.keys() <= sent
    assert len(kept) > 30 * ROUNDS


def test_a_save_sent_again_after_the_kill_is_stored_once(url: str) -> None:
    """The client cannot know whether its last save was kept, so it sends it again."""
    with open_store(url) as store:
        campaign(store, documents=1, turns=4)
        (me,) = people(store, "avery")
    sent, kept = acknowledged(url, me, 1)
    with open_store(url) as store:
        for key in sorted(sent):
            _, number, place = key.split("-")
            answers = {"breakdown": "OTX"[int(number) % 3], "comment": key}
            store.saves.save(SaveRequest(key, "chat", int(place) + 1, me, answers, submitted=False))
        stored = Counter(
            j.answers["comment"] for unit in range(1, 5) for j in store.judgments.history("chat", unit)
        )
        assert stored == Counter(sent)
        assert kept <= sent
        check_counts(store)


def test_a_killed_process_leaves_its_reservation_to_come_back(url: str) -> None:
    with open_store(url) as store:
        campaign(store, documents=1, turns=4)
        (me,) = people(store, "avery")
    acknowledged(url, me, 0)
    with open_store(url) as store:
        assert store.assignment.give_back(me, "chat") == 4
        check_counts(store)
