"""Judges on the pages: added, run beside the answers, stopped, gone on with; nothing but what the operator allows."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lapsus.annotators import detect, documents_and_votes, make_annotator
from lapsus.annotators.language_model import endpoint
from lapsus.campaign_stats.report import campaign_report
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.schemes import load_scheme
from lapsus.store import Store, open_store
from lapsus.web import judge_work
from lapsus.web.app import create_app
from lapsus.web.judge_sources import JudgeSources
from tests.annotators.language_model.stub import Said, Stub, completion, serving
from tests.patience import until
from tests.web.helpers import Bench, Browser

KEY = "sk-very-secret-0123456789"


def talk(number: int) -> Document:
    """A chat of four system turns; every other one is about cheese."""
    said = [f"cheese {number}" if place % 2 else f"trains {number}" for place in range(4)]
    segments = [Segment(str(2 * n), "system", text) for n, text in enumerate(said)]
    return Document(f"d{number}", tuple(segments), "en", {"system": f"s{number % 2}"})


def right(document: Document, segment: str) -> str:
    return "X" if int(segment) // 2 % 2 else "O"


def trained(folder: Path) -> Path:
    """A small judge that has learned nothing but how often each answer comes, in a file."""
    scheme = load_scheme("breakdown")
    entries = [
        Entry(d.id, d, tuple(
            Judgment(d.id, s.id, f"p{p}", "breakdown", scheme.version, {"breakdown": "O"})
            for s in d.segments for p in range(3)))
        for d in map(talk, range(6))
    ]  # fmt: skip
    kept, votes = documents_and_votes(entries, scheme)
    model = make_annotator("majority").fit(kept, votes)
    model.name = "mine"
    model.save(folder / "mine.lapsus")
    return folder


@pytest.fixture
def stub() -> Iterator[Stub]:
    def answer(body: dict[str, Any]) -> Said:
        return completion({"breakdown": "X" if "cheese" in said_of(body) else "O", "comment": None})

    with serving(answer) as found:
        yield found


def said_of(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"]).rpartition('"target"')[2]


@pytest.fixture
def sources(tmp_path: Path, stub: Stub) -> JudgeSources:
    folder = tmp_path / "judges"
    folder.mkdir()
    return JudgeSources(trained(folder), (endpoint(stub.endpoint),))


@pytest.fixture
def bench(store: Store, sources: JudgeSources, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(judge_work, "EVERY", 0.2)
    monkeypatch.setattr(judge_work, "BEAT", 0.2)
    made = Bench(store)
    made.app = create_app(store, judges=sources)
    made._starting.app = made.app
    with made:
        yield made


@pytest.fixture
def judged(bench: Bench) -> tuple[str, Browser]:
    """Three people judged sixty turns of twenty chats, as one should but for a slip here and there; a manager."""
    documents = [talk(number) for number in range(20)]
    name = bench.campaign(documents=documents, per_unit=3)
    entries = [
        Entry(d.id, d, tuple(
            Judgment(d.id, s.id, who, "breakdown", "1.0", {"breakdown": "T" if (n + p) % 9 == 0 else right(d, s.id)})
            for s in d.segments for p, who in enumerate(("Ada", "Ben", "Cyd"))))
        for n, d in enumerate(documents[:15])
    ]  # fmt: skip
    bench.store.imports.add_judgments(name, entries)
    return name, bench.person("Mori", "manager")


Judged = tuple[str, Browser]


def page(mori: Browser, name: str) -> dict[str, Any]:
    return dict(mori.get(f"/c/{name}/judges.json").json())


def add(mori: Browser, campaign: str, /, **form: str) -> Any:
    data = {"csrf": mori.csrf, "do": "add", **form}
    return mori.http.post(f"/c/{campaign}/judges.json", data=data)


def done(mori: Browser, name: str) -> dict[str, Any]:
    """The page when the program is through and the figures are of now: what takes long may be shown as it was."""

    def look() -> dict[str, Any] | None:
        found = page(mori, name)
        is_through = bool(found["runs"]) and found["runs"][-1]["state"] == "done"
        return found if is_through and not (found["as_of"] or found["pending"]) else None

    return dict(until(look))


def ask(stub: Stub) -> dict[str, str]:
    return {"kind": "openai", "endpoint": stub.endpoint, "language_model": "tiny"}


def test_a_language_model_is_added_judges_and_stands_beside_people(
    bench: Bench, judged: Judged, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mori = judged
    monkeypatch.setenv("LAPSUS_API_KEY_LAB", KEY)
    monkeypatch.setenv("PGPASSWORD", "not for pages")
    before = page(mori, name)
    assert (before["judges"], before["keys"]) == ([], ["LAPSUS_API_KEY_LAB"])
    assert add(mori, name, **ask(stub), key="LAPSUS_API_KEY_LAB").status_code == 200
    found = done(mori, name)
    assert [(run["judged"], run["total"]) for run in found["runs"]] == [(80, 80)]
    judge, constant, random = found["judges"]
    assert judge["name"] == "openai:tiny"
    assert (judge["units"], judge["compared"], judge["tokens"]) == (80, 60, 80 * 110)
    assert judge["advantage"] > constant["advantage"]
    assert [stand["passes"] for stand in judge["stands"]] == [True, True, True]
    assert (judge["beats_constant"], found["cautions"]) == (True, [])
    assert random["id"] is None
    assert [one["name"].partition(":")[0] for one in found["estimates"]] == ["s0"] * 3 + ["s1"] * 3
    share = found["estimates"][0]
    assert share["corrected"]["low"] <= share["corrected"]["value"] <= share["corrected"]["high"]
    assert {headers.get("Authorization") for headers in stub.headers} == {f"Bearer {KEY}"}
    html = mori.get(f"/c/{name}/judges").text
    kept = bench.store.program_runs.of_campaign(name)[0].spec
    assert KEY not in html + str(kept) + mori.get(f"/c/{name}/judges.json").text
    assert html.count("<svg") >= 2 * 3
    for chart in ("advantage", "shares", "confusion"):
        assert mori.get(f"/c/{name}/judges/charts/{chart}.svg").text.startswith("<svg")
    assert mori.get(f"/c/{name}/judges/charts/nothing.svg").status_code == 404
    report = campaign_report(bench.store, name)
    (part,) = [part for part in report.parts if part.id == "judges"]
    assert [row[0] for row in part.tables[0].rows][:2] == ["openai:tiny", "always the same answer"]
    assert [chart.kind for chart in part.charts] == ["intervals", "intervals", "matrix"]
    assert "判定者だけ" in campaign_report(bench.store, name, "ja").to_html()


def test_the_log_names_the_program_and_who_started_it(bench: Bench, judged: Judged) -> None:
    name, mori = judged
    program = bench.store.programs.add("rules")
    run = bench.store.program_runs.add(name, program, {"kind": "nowhere"}, by=mori.id)
    assert bench.store.program_runs.started_by(bench.store.program_runs.get(run)) == mori.id
    said = [Entry("d0", None, (Judgment("d0", "0", "rules", "breakdown", "1.0", {"breakdown": "O"}),))]
    for _ in bench.store.programs.add_judgments(name, program, said, by=mori.id, once=True):
        pass
    event = mori.get(f"/c/{name}/log.json").json()["events"][0]
    assert (event["by"], event["what"], event["details"]["program"]) == ("Mori", "program judged", "rules")
    assert "judged by a program: rules" in mori.get(f"/c/{name}/log").text


def test_the_biggest_disagreements_come_first(bench: Bench, judged: Judged, stub: Stub) -> None:
    name, mori = judged
    stub.answer = lambda body: completion({"breakdown": "O", "comment": None})
    add(mori, name, **ask(stub))
    (judge, *_) = done(mori, name)["judges"]
    found = mori.get(judge["disagreements_at"].replace("/units?", "/units.json?")).json()
    assert found["total"] == 30
    assert {str(unit["answers"][0]["people"]) for unit in found["units"][:20]} == {"['Ada', 'Ben', 'Cyd']"}


def test_a_judge_that_does_not_read_the_documents_is_not_started(bench: Bench, judged: Judged) -> None:
    _, mori = judged
    name = bench.campaign(
        name="in-japanese", documents=[Document("ja", (Segment("0", "system", "どうも"),), "ja-JP")]
    )
    models = {one["model"]: one["unread"] for one in page(mori, name)["models"]}
    assert models["breakdown-ja"] == []
    assert models["breakdown-en"] == ["ja"]
    # One's own judge reads what its method reads: it may be tried.
    assert models["mine"] == []
    refused = add(mori, name, model="shipped:breakdown-en")
    assert refused.status_code == 422
    assert "has learned en, and documents here are in ja" in refused.text
    assert bench.store.program_runs.of_campaign(name) == []


def test_a_detector_judges_as_the_command_does(bench: Bench, judged: Judged) -> None:
    """Documents of a campaign are talk of any kind, not the challenge's dialogues."""
    name, mori = judged
    add(mori, name, model="shipped:breakdown-en")
    done(mori, name)
    kept = list(bench.store.exports.export(name, programs=True, names="names"))
    wanted = [
        said for entry in detect([Entry(one.id, one.document) for one in kept]) for said in entry.judgments
    ]
    found = [said for entry in kept for said in entry.judgments if said.annotator == "breakdown-en"]
    assert [said.distributions for said in found] == [said.distributions for said in wanted]


def test_a_trained_judge_comes_from_the_folder_and_from_nowhere_else(
    bench: Bench, judged: Judged, tmp_path: Path
) -> None:
    name, mori = judged
    choices = {(one["kind"], one["model"]) for one in page(mori, name)["models"]}
    assert ("file", "mine") in choices
    assert ("shipped", "breakdown-en") in choices
    (tmp_path / "outside.lapsus").write_bytes((tmp_path / "judges" / "mine.lapsus").read_bytes())
    for wrong in (
        "file:../outside",
        f"file:{tmp_path / 'outside'}",
        "file:judges/../mine",
        "file:",
        "openai:mine",
        "",
    ):
        assert add(mori, name, model=wrong).status_code == 422
    assert bench.store.program_runs.of_campaign(name) == []
    assert add(mori, name, model="file:mine", name="our judge").status_code == 200
    found = done(mori, name)
    assert found["runs"][0]["name"] == "our judge"
    assert found["judges"][0]["seconds"] is not None
    assert (
        "our judge learned from 6 of these 15 documents: these figures are too good" in found["cautions"][0]
    )
    again = add(mori, name, model="file:mine", name="our judge")
    assert again.status_code == 422
    assert "is there already" in again.json()["error"]


def test_a_judge_that_passes_as_a_floor_does_is_not_praised(bench: Bench, stub: Stub) -> None:
    documents = [talk(number) for number in range(20)]
    name = bench.campaign(documents=documents, per_unit=3)
    said = [
        Entry(d.id, d, tuple(
            Judgment(d.id, s.id, who, "breakdown", "1.0", {"breakdown": "X" if (n + 5 * p) % 17 == 0 else "O"})
            for s in d.segments for p, who in enumerate(("Ada", "Ben", "Cyd"))))
        for n, d in enumerate(documents)
    ]  # fmt: skip
    bench.store.imports.add_judgments(name, said)
    mori = bench.person("Mori", "manager")
    stub.answer = lambda body: completion({"breakdown": "O", "comment": None})
    add(mori, name, **ask(stub))
    found = done(mori, name)
    assert [stand["passes"] for stand in found["judges"][0]["stands"]] == [True, True, True]
    (caution,) = found["cautions"]
    assert caution.startswith("openai:tiny: passes, but so does always the same answer")
    html = mori.get(f"/c/{name}/judges").text
    assert html.count("so does a floor") == 3
    assert "on these data the test tells nothing" in html
    assert "on these data the test tells nothing" in campaign_report(bench.store, name).to_html()
    assert "検定からは何も言えません" in campaign_report(bench.store, name, "ja").to_html()


def test_only_endpoints_that_the_operator_named_are_asked(
    bench: Bench, judged: Judged, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mori = judged
    monkeypatch.setenv("PGPASSWORD", "not for pages")
    for wrong in ("http://127.0.0.1:1/v1", "http://169.254.169.254/latest", "file:///etc/passwd", ""):
        assert add(mori, name, **{**ask(stub), "endpoint": wrong}).status_code == 422
    for wrong in ("PGPASSWORD", "PATH", "LAPSUS_API_KEY"):
        assert add(mori, name, **ask(stub), key=wrong).status_code == 422
    for wrong in ("", "a b", "x" * 300):
        assert add(mori, name, **{**ask(stub), "language_model": wrong}).status_code == 422
    assert add(mori, name, **ask(stub), samples="1000").status_code == 422
    assert (stub.asked, bench.store.program_runs.of_campaign(name)) == ([], [])


def test_nothing_goes_to_another_machine_unasked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPSUS_API_KEY", KEY)
    far, plain = "https://models.example/v1", "http://models.example/v1"
    made = Bench(store)
    made.app = create_app(store, judges=JudgeSources.named(None, (far, plain)))
    # Nothing runs here: the application was not started.
    name, mori = made.campaign(), made.person("Mori", "manager")
    asked = {"kind": "openai", "language_model": "tiny"}
    first = add(mori, name, **asked, endpoint=far).json()
    assert "another machine" in first["error"]
    assert "units; about" in first["hint"]
    assert "the price is not known" in first["hint"]
    refused = add(mori, name, **asked, endpoint=plain, key="LAPSUS_API_KEY", leave="yes")
    assert "unencrypted" in refused.json()["error"]
    assert add(mori, name, **asked, endpoint=far, key="LAPSUS_API_KEY", leave="yes").status_code == 200
    (run,) = page(mori, name)["runs"]
    assert run["state"] == "waiting"


def test_a_model_of_any_provider_is_added_with_its_price_told_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPSUS_API_KEY", KEY)
    far = "https://api.anthropic.com/v1"
    made = Bench(store)
    made.app = create_app(store, judges=JudgeSources.named(None, (far,)))
    name, mori = made.campaign(), made.person("Mori", "manager")
    asked = {"kind": "openai", "provider": "anthropic", "language_model": "claude-haiku-4-5", "endpoint": far}
    first = add(mori, name, **asked, key="LAPSUS_API_KEY")
    assert re.search(r"about \d+\.\d\d USD", first.json()["hint"])
    assert "may be sent to another machine" not in mori.get(f"/c/{name}/judges").text, "asked once it is told"
    assert add(mori, name, **asked, key="LAPSUS_API_KEY", leave="yes").status_code == 200
    (run,) = page(mori, name)["runs"]
    assert run["name"] == "anthropic:claude-haiku-4-5"


def test_it_is_stopped_goes_on_and_outlives_the_server(
    bench: Bench, judged: Judged, stub: Stub, sources: JudgeSources, url: str
) -> None:
    name, mori = judged
    usual, go_on = stub.answer, threading.Event()

    def held(body: dict[str, Any]) -> Said:
        """The first twenty at once, the others not before the test says so."""
        if len(stub.asked) > 20:
            go_on.wait(60)
        return usual(body)

    stub.answer = held
    add(mori, name, **ask(stub))
    run = until(lambda: (found := page(mori, name)["runs"][0])["judged"] and found)
    mori.http.post(f"/c/{name}/judges.json", data={"csrf": mori.csrf, "do": "stop", "run": run["id"]})
    go_on.set()
    until(lambda: not bench.store.program_runs.get(run["id"]).is_held)
    stopped = page(mori, name)["runs"][0]
    assert stopped["state"] == "stopped"
    assert 0 < stopped["judged"] < 80
    go_on.clear()
    mori.http.post(f"/c/{name}/judges.json", data={"csrf": mori.csrf, "do": "go", "run": run["id"]})
    until(lambda: bench.store.program_runs.get(run["id"]).is_held)
    work = bench.app.state.web.judge_work
    threading.Thread(target=lambda: work._end.wait(60) and go_on.set()).start()
    work.close()
    left = bench.store.program_runs.get(run["id"])
    assert (left.state, left.is_held) == ("running", False)
    # Another two servers on the same database: one goes on, and no unit is asked about twice.
    stub.answer, asked = usual, len(stub.asked)
    with open_store(url) as one, open_store(url) as two:
        workers = [judge_work.JudgeWork(store, sources) for store in (one, two)]
        for worker in workers:
            worker.start()
        until(lambda: bench.store.program_runs.get(run["id"]).state == "done")
        for worker in workers:
            worker.close()
    assert len(stub.asked) - asked == left.left
    assert bench.store.program_runs.get(run["id"]).judged == 80


def test_it_says_why_it_stopped(bench: Bench, judged: Judged, stub: Stub) -> None:
    name, mori = judged
    stub.answer = lambda body: Said(401, {"error": {"message": "who are you?"}})
    add(mori, name, **ask(stub))
    run = until(lambda: (found := page(mori, name)["runs"][0])["state"] == "failed" and found)
    assert "who are you?" in run["note"]
    japanese = mori.get(f"/c/{name}/judges?lang=ja").text
    assert "途中で止まりました" in japanese


def test_managers_alone_start_judges(bench: Bench, judged: Judged, stub: Stub) -> None:
    name, _ = judged
    adjudicator, annotator = bench.person("Ida", "adjudicator"), bench.person("Avery")
    assert adjudicator.get(f"/c/{name}/judges.json").json()["may_add"] is False
    assert annotator.get(f"/c/{name}/judges.json").status_code == 403
    for browser in (adjudicator, annotator):
        assert add(browser, name, **ask(stub)).status_code == 403
    stranger = bench.stranger()
    assert stranger.post(f"/c/{name}/judges.json", data={"do": "add", **ask(stub)}).status_code in (401, 403)
    assert stub.asked == []


def test_workers_outlive_any_error(judged: Judged, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors that are not ours, wherever the store is asked: the next look finds the work again."""
    name, mori = judged
    runs = bench.store.program_runs
    failed: list[str] = []
    for what in ("claim", "release"):
        whole = getattr(runs, what)

        def breaking(*given: Any, what: str = what, whole: Any = whole) -> Any:
            if failed.count(what) < 2 * judge_work.AT_ONCE:
                failed.append(what)
                raise RuntimeError("the driver broke")
            return whole(*given)

        monkeypatch.setattr(runs, what, breaking)
    monkeypatch.setattr("lapsus.store.program_runs.HELD", timedelta(seconds=0.3))
    add(mori, name, model="file:mine")
    done(mori, name)
    assert failed.count("claim") == failed.count("release") == 2 * judge_work.AT_ONCE
