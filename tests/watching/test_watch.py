"""Watching a folder that fills: nothing is judged twice, nothing is lost, people correct, events are told."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lapsus.annotators import Annotator
from lapsus.annotators.base import Opinion
from lapsus.annotators.cases import Case
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.formats.traces.calls import CallStore
from lapsus.store import Store, open_store
from lapsus.watching.state import WatchState
from lapsus.watching.watch import DAY, Rules, watch
from lapsus.watching.webhooks import Webhook, is_genuine, signature
from tests.annotators.language_model.stub import completion, serving
from tests.cli.in_process import lapsus
from tests.http_server import Handler, listening
from tests.store.helpers import judge_all

ALL = Rules(sample=1.0, flagged=True, doubt=0.0)


class Judge(Annotator):
    """Calls every turn with "bad" in it a breakdown, and counts what it was asked."""

    method, title, needs_fit, any_language = "counting", "a judge made for a test", False, True

    def __init__(self, dies_after: int = 10**9) -> None:
        super().__init__()
        self.name, self.asked, self._dies_after = "counting", Counter[str](), dies_after

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        for case in cases:
            assert case.unit.target is not None
            if self.asked.total() >= self._dies_after:
                raise KeyboardInterrupt
            self.asked[f"{case.unit.document} {case.unit.target.id}"] += 1
        texts = [case.unit.target.text for case in cases if case.unit.target]
        return [Opinion({"breakdown": "X" if "bad" in text else "O"}) for text in texts]


def write(folder: Path, name: str, *turns: str) -> None:
    folder.mkdir(exist_ok=True)
    messages = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": one} for n, one in enumerate(turns)
    ]
    (folder / f"{name}.jsonl").write_text(
        json.dumps({"id": name, "messages": messages}) + "\n", encoding="utf-8"
    )


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for number in range(6):
        reply = "this is a bad reply" if number == 3 else "this is a fine reply"
        write(tmp_path / "logs", f"chat-{number}", "how are you today?", f"{reply} {number}")
    return tmp_path / "logs"


def test_what_was_judged_is_not_judged_again_and_what_is_new_is(logs: Path, tmp_path: Path) -> None:
    judge = Judge()
    first = watch(logs, tmp_path / "w.state", judge=judge, rules=ALL)
    again = watch(logs, tmp_path / "w.state", judge=judge, rules=ALL)
    assert (first.new, first.judged, first.errors) == (6, 6, 1)
    assert (again.new, again.judged) == (0, 6)
    write(logs, "chat-0", "how are you today?", "this is a fine reply 0", "and then?", "a bad end")
    grown = watch(logs, tmp_path / "w.state", judge=judge, rules=ALL)
    assert (grown.new, grown.errors) == (1, 2)
    assert set(judge.asked.values()) == {1}


def test_a_last_line_that_is_being_written_is_read_once_it_is_whole(logs: Path, tmp_path: Path) -> None:
    judge, one, growing = Judge(), tmp_path / "one", tmp_path / "logs" / "grows.jsonl"
    write(one, "a", "how are you today?", "this is a fine reply")
    write(one, "b", "what is it?", "nothing at all")
    whole, last = ((one / f"{name}.jsonl").read_bytes() for name in "ab")
    counts = []
    for written in (
        b"",
        whole[:9],
        whole + last[:-9],
        whole + last.strip(),
        whole + last,
    ):
        growing.write_bytes(written)
        counts.append(watch(logs, tmp_path / "w.state", judge=judge, rules=ALL).new)
    assert counts == [6, 0, 1, 1, 0]
    growing.write_bytes(whole[:9] + b"\n" + last)
    with pytest.raises(InputError, match="line 1"):
        watch(logs, tmp_path / "w.state", judge=judge, rules=ALL)


def test_a_last_line_without_an_end_is_read_in_any_encoding_and_however_it_is_cut(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "こんにちは"}, {"role": "assistant", "content": "表をご覧ください"}]
    line = json.dumps({"id": "a", "messages": turns}, ensure_ascii=False)
    for codec in ("utf-8-sig", "cp932", "utf-16"):
        path = tmp_path / f"{codec}.jsonl"
        path.write_bytes(line.encode(codec))
        assert [entry.id for entry in read(path, growing=True)] == ["a"]
        path.write_bytes((line + "\n" + line[:40]).encode(codec))
        assert [entry.id for entry in read(path, growing=True)] == ["a"]


def test_a_kill_loses_nothing_that_was_noted(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapsus.watching.watch.CHUNK", 2)
    with pytest.raises(KeyboardInterrupt):
        watch(logs, tmp_path / "w.state", judge=Judge(dies_after=4), rules=ALL)
    after = Judge()
    found = watch(logs, tmp_path / "w.state", judge=after, rules=ALL)
    assert found.judged == 6
    assert after.asked.total() == 2


def test_the_queue_fills_the_campaign_once_even_if_it_dies_between_two_files(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(str(tmp_path / "db.sqlite")) as store:
        with monkeypatch.context() as broken:
            broken.setattr(WatchState, "queued", _dies)
            with pytest.raises(KeyboardInterrupt):
                _watched(logs, tmp_path, store)
        _watched(logs, tmp_path, store)
        assert store.progress.of_campaign("standing").units == 6


def test_only_what_the_rules_say_goes_to_people(logs: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "db.sqlite")) as store:
        _watched(logs, tmp_path, store, rules=Rules(sample=0.0, doubt=0.0))
        names = [name for name, _ in store.exports.documents("standing")]
    assert len(names) == 1
    assert names[0].startswith("chat-3")


def test_people_correct_the_judge_and_a_finished_campaign_is_told(logs: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "db.sqlite")) as store, receiver() as (url, received):
        hook = Webhook(url, "s3cret", tries=1)
        _watched(logs, tmp_path, store)
        person = store.people.add("ann").id
        judge_all(store, person, "standing", "X")
        found = _watched(logs, tmp_path, store, webhook=hook)
        _watched(logs, tmp_path, store, webhook=hook)
    assert found.answered == 6
    assert found.share is not None
    assert found.interval is not None
    # Five of six turns that the judge passed are breakdowns for people.
    assert found.share == pytest.approx(1.0)
    kinds = Counter(headers["Lapsus-Event"] for headers, _ in received)
    assert kinds == {"flags": 1, "finished": 1}


def test_a_limit_and_a_drift_raise_one_alarm_each(tmp_path: Path) -> None:
    folder, state = tmp_path / "logs", tmp_path / "w.state"
    rules = Rules(sample=1.0, limit=0.5, window=1.0)
    for number in range(150):
        write(folder, f"a{number}", "how are you today?", f"this is a fine reply {number}")
    watch(folder, state, judge=Judge(), rules=rules, now=0.0)
    _agree(state)
    assert watch(folder, state, judge=Judge(), rules=rules, now=10.0).alarms == ()
    for number in range(150):
        write(folder, f"b{number}", "how are you today?", f"this is a bad reply {number}")
    watch(folder, state, judge=Judge(), rules=rules, now=DAY * 1.5)
    _agree(state)
    found = watch(folder, state, judge=Judge(), rules=rules, now=DAY * 1.6)
    assert {one.kind for one in found.alarms} == {"limit", "drift"}
    assert watch(folder, state, judge=Judge(), rules=rules, now=DAY * 1.7).alarms == ()


def test_events_wait_until_the_webhook_takes_them_and_carry_a_signature(logs: Path, tmp_path: Path) -> None:
    with receiver(refuses=1) as (url, received):
        hook = Webhook(url, "s3cret", tries=1)
        first = watch(logs, tmp_path / "w.state", judge=Judge(), rules=ALL, webhook=hook, now=1000.0)
        again = watch(logs, tmp_path / "w.state", judge=Judge(), rules=ALL, webhook=hook, now=1001.0)
        watch(logs, tmp_path / "w.state", judge=Judge(), rules=ALL, webhook=hook, now=1002.0)
    assert len(first.unsent) == 1
    assert again.unsent == ()
    (refused, _), (headers, body) = received
    assert refused["Lapsus-Delivery"] == headers["Lapsus-Delivery"]
    assert json.loads(body)["document"].startswith("chat-3")
    assert is_genuine("s3cret", body, headers["Lapsus-Signature"], 1100.0)
    assert not is_genuine("other", body, headers["Lapsus-Signature"], 1100.0)
    assert not is_genuine("s3cret", body + b" ", headers["Lapsus-Signature"], 1100.0)
    assert not is_genuine("s3cret", body, headers["Lapsus-Signature"], 9000.0)
    assert not is_genuine("s3cret", body, "t=x,v1=", 0.0)
    assert signature("s3cret", b"{}", 1) != signature("s3cret", b"{}", 2)


def test_judgments_that_the_data_hold_are_taken(tmp_path: Path) -> None:
    document = {"id": "c", "language": "en", "segments": [
        {"id": "0", "role": "user", "text": "hello"}, {"id": "1", "role": "system", "text": "what?"}]}  # fmt: skip
    judgment = {"document": "c", "segment": "1", "annotator": "guard", "scheme": "breakdown", "version": "1.0",
                "answers": {"breakdown": "X"}, "metadata": {"program": True}}  # fmt: skip
    path = tmp_path / "guard.jsonl"
    lines: list[object] = [{"lapsus": 1}, {"document": document}, {"judgment": judgment}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = watch(path, tmp_path / "w.state", rules=ALL)
    assert (found.new, found.errors, found.to_people) == (1, 1, 1)


def test_another_sample_or_guideline_is_refused(logs: Path, tmp_path: Path) -> None:
    watch(logs, tmp_path / "w.state", judge=Judge(), rules=ALL)
    with pytest.raises(UsageError, match="sample was 1"):
        watch(logs, tmp_path / "w.state", judge=Judge(), rules=Rules(sample=0.5))


def test_the_command_passes_once_and_tells(logs: Path, tmp_path: Path) -> None:
    given = ["watch", str(logs), "--state", "w.state", "--judge", "breakdown-en", "--once"]
    assert lapsus(*given, cwd=tmp_path).returncode == 0
    assert json.loads(lapsus(*given, "--json", cwd=tmp_path).stdout)["new"] == 0


def test_texts_go_to_another_machine_only_where_that_was_said(logs: Path, tmp_path: Path) -> None:
    given = ["watch", str(logs), "--state", "w.state", "--judge", "openai:m", "--once"]
    told = lapsus(*given, "--endpoint", "https://models.example/v1", cwd=tmp_path, LAPSUS_API_KEY="k")
    assert told.returncode == 2
    assert "--yes" in told.stderr


def test_what_a_model_refuses_goes_to_people_and_is_not_asked_again(logs: Path, tmp_path: Path) -> None:
    with serving(lambda body: completion("I would rather not.")) as stub:
        given = {"judge": "openai:m", "rules": Rules(sample=0.0), "endpoint": stub.endpoint}
        first = watch(logs, tmp_path / "w.state", **given)  # type: ignore[arg-type]
        asked = len(stub.asked)
        again = watch(logs, tmp_path / "w.state", **given)  # type: ignore[arg-type]
        assert len(stub.asked) == asked
    assert (first.judged, first.errors, first.to_people) == (6, 0, 6)
    assert again.new == 0


def _dies(*_: Any) -> None:
    raise KeyboardInterrupt


def _watched(
    logs: Path, tmp_path: Path, store: Store, rules: Rules = ALL, webhook: Webhook | None = None
) -> Any:
    state = tmp_path / "w.state"
    return watch(logs, state, judge=Judge(), rules=rules, store=store, campaign="standing", webhook=webhook)


def _agree(state: Path) -> None:
    """People say what the judge says."""
    kept = WatchState(state)
    with kept.step():
        for name, (window, _) in kept.unlabelled().items():
            kept.label(name, window, 0.0)
    kept.close()


@contextmanager
def receiver(refuses: int = 0) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A server that keeps what it is sent, and refuses the first so many."""
    received: list[tuple[dict[str, str], bytes]] = []

    class Receiver(Handler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((dict(self.headers), body))
            self.send_response(503 if len(received) <= refuses else 204)
            self.end_headers()

    with listening(Receiver) as address:
        yield f"{address}/hook", received


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE setting SET value = 'nan' WHERE name = 'begun'",
        "ALTER TABLE judged RENAME COLUMN error TO other",
        "UPDATE setting SET value = CAST(x'ff' AS TEXT) WHERE name = 'scheme'",
        "UPDATE observed SET share = 'much'",
        "UPDATE observed SET share = 9e999",
        "INSERT INTO labels VALUES (1, 'x', 0, 'little')",
        "UPDATE queue SET document = '{}'",
    ],
)
def test_a_state_that_was_changed_is_told(logs: Path, tmp_path: Path, damage: str) -> None:
    state = tmp_path / "w.state"
    watch(logs, state, judge=Judge(), rules=ALL)
    file = sqlite3.connect(state)
    file.execute(damage)
    file.commit()
    file.close()
    with (
        open_store(tmp_path / "db.sqlite") as store,
        pytest.raises(InputError, match="no file of a watch"),
    ):
        _watched(logs, tmp_path, store)


def test_no_room_for_what_is_read_is_not_told_as_damage_of_the_state(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(store: CallStore) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(CallStore, "conversations", full)
    with pytest.raises(InputError, match="temporary files: database or disk is full"):
        watch(logs, tmp_path / "watch.sqlite", judge=Judge(), rules=ALL)


def test_two_watches_at_once_are_told(logs: Path, tmp_path: Path) -> None:
    state = tmp_path / "watch.sqlite"
    watch(logs, state, judge=Judge(), rules=ALL)
    other = sqlite3.connect(state, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="another watch"):
        watch(logs, state, judge=Judge(), rules=ALL)
    other.execute("ROLLBACK")
    other.close()
    assert watch(logs, state, judge=Judge(), rules=ALL).new == 0
