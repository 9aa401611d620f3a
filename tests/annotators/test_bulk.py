"""Judging in bulk: the same wherever it is done, in order, and gone on with where it was."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from lapsus.annotators import Annotator, default_model, detect, load_model, make_annotator
from lapsus.annotators.bulk import Here, Journal, JudgeDocuments, KeptChunks, Run, Work, ray_engine, run
from lapsus.annotators.bulk.ray_engine import OnRay, unpack
from lapsus.annotators.floors import Prior
from lapsus.annotators.language_model import LanguageModel, Service, endpoint
from lapsus.annotators.language_model.asking import AskUnits, make_language_model
from lapsus.errors import LapsusError, UsageError
from lapsus.formats.jsonl import Jsonl
from lapsus.log_check import check
from lapsus.model import Document, Entry, Judgment, Segment, Unit, units
from lapsus.schemes import load_scheme
from tests.annotators import invented
from tests.annotators.language_model.helpers import chat
from tests.annotators.language_model.stub import completion, refusal, serving
from tests.command_process import lapsus, refused

UNITS = 7
DOCUMENTS, VOTES = invented.data("en", 20, seed=4)


@cache
def rules() -> Annotator:
    return make_annotator("rules").fit(DOCUMENTS, VOTES)


def fake_ray(cores: int = 2) -> Any:
    """Ray as far as we use it, with threads for nodes: replies come in whatever order."""
    pool = ThreadPoolExecutor(cores)
    chance, alone = random.Random(3), threading.Lock()

    def task(function: Callable[..., bytes]) -> Any:
        def remote(*given: Any) -> Any:
            def run() -> bytes:
                time.sleep(chance.random() / 100)
                with alone:  # a process does one thing at a time
                    return function(*given)

            future = pool.submit(run)
            return SimpleNamespace(future=lambda: future)

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=remote))

    return SimpleNamespace(
        is_initialized=lambda: True,
        cluster_resources=lambda: {"CPU": float(cores)},
        put=lambda content: content,
        get=lambda sent: sent,
        remote=task,
        end=partial(pool.shutdown, cancel_futures=True),
    )


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[OnRay]:
    ray = fake_ray()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(ray_engine, "_WORKS", {})
    yield OnRay()
    # A node that were still at work would look for Ray when this one is no longer there.
    ray.end()


class Counting:
    """An engine that counts what it is given; it dies after so many pieces."""

    def room_for(self, work: Work[Any, Any]) -> int:
        return 3

    def __init__(self, lives: int = 1_000) -> None:
        self.begun = self.now = self.most = 0
        self.lives = lives
        self._pool, self._lock = ThreadPoolExecutor(3), threading.Lock()

    def begin(self, work: Work[Any, Any], things: Sequence[Any]) -> Future[list[Any]]:
        if self.begun == self.lives:
            raise KeyboardInterrupt
        with self._lock:
            self.begun += 1
            self.now += 1
            self.most = max(self.most, self.now)
        return self._pool.submit(self._do, work, things)

    def _do(self, work: Work[Any, Any], things: Sequence[Any]) -> list[Any]:
        try:
            return work.do(things)
        finally:
            with self._lock:
                self.now -= 1


def judged(by: Run, annotator: Annotator, documents: Sequence[Document | Entry]) -> list[Entry]:
    return list(by.entries((annotator, document) for document in documents))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run, "UNITS", UNITS)
    Jsonl().write((Entry(document.id, document) for document in DOCUMENTS), tmp_path / "data.jsonl")
    return tmp_path / "data.jsonl"


@pytest.mark.parametrize("method", ["rules", "majority", "svm"])
def test_a_cluster_says_what_is_said_here_in_order(method: str, cluster: OnRay) -> None:
    annotator = make_annotator(method)
    if annotator.needs_fit:
        annotator.fit(DOCUMENTS, VOTES)
    nothing_to_judge = Document("none", (Segment("0", "user", "Hello?"),), "en")
    documents = [*DOCUMENTS, nothing_to_judge]
    here = judged(Run(units=UNITS), annotator, documents)
    assert [entry.id for entry in here] == [document.id for document in documents]
    with cluster:
        assert judged(Run(cluster, units=UNITS), annotator, documents) == here
    # In chunks of another size sums are worked out in another order: the last bits of shares may differ, nothing else.
    for entry, other in zip(judged(Run(), annotator, documents), here, strict=True):
        for one, same in zip(entry.judgments, other.judgments, strict=True):
            assert one.answers == same.answers
            assert one.distributions["breakdown"] == pytest.approx(same.distributions["breakdown"], abs=1e-12)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_was_judged_before_does_not_show(language: str) -> None:
    """To the last bit, under the profile that remembers most, and in another process too."""
    first, second = invented.data(language, 6, seed=1)[0], invented.data(language, 6, seed=2)[0]
    work = JudgeDocuments(load_model(default_model(language)))
    entries = [[Entry(document.id, document) for document in some] for some in (first, second, first[:2])]
    alone = work.do(entries[1])
    for others in (entries[0], entries[2]):
        work.do(others)
        assert work.do(entries[1]) == alone
    assert unpack(work.pack()).do(entries[1]) == alone


def test_a_trained_judge_judges_the_same_elsewhere(cluster: OnRay) -> None:
    judge = make_annotator("judge", scheme="breakdown").fit(DOCUMENTS, VOTES)
    here = judged(Run(units=UNITS), judge, DOCUMENTS)
    assert judged(Run(cluster, units=UNITS), judge, DOCUMENTS) == here


def test_only_so_much_is_under_way() -> None:
    engine = Counting()
    stream = Run(engine, units=1).entries((rules(), document) for document in DOCUMENTS)
    next(stream)
    assert engine.begun <= run.AHEAD * 3 < len(DOCUMENTS)
    list(stream)
    assert engine.begun == len(DOCUMENTS)
    assert engine.most <= 3


def test_a_killed_run_goes_on_where_it_was(data: Path) -> None:
    whole, out = data.with_name("whole.jsonl"), data.with_name("run.jsonl")
    detect(data, model=rules()).write(whole)
    count = Counting()
    detect(data, model=rules(), engine=count).write(data.with_name("other.jsonl"))
    with pytest.raises(KeyboardInterrupt):
        detect(data, model=rules(), engine=Counting(lives=count.begun - 2)).write(out)
    kept = KeptChunks.beside(out)
    assert not out.exists()
    assert (there := len(kept)) >= 1
    again = Counting()
    detect(data, model=rules(), engine=again).write(out)
    assert again.begun == count.begun - there
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in data.parent.iterdir()) == sorted(
        ("data.jsonl", "whole.jsonl", "other.jsonl", "run.jsonl")
    )


def test_only_what_is_still_true_is_used(tmp_path: Path) -> None:
    kept = KeptChunks(tmp_path / "run.chunks")
    judged(Run(kept=kept, units=UNITS), rules(), DOCUMENTS)
    (kept.folder / "notes.txt").write_text("mine")

    def begun(annotator: Annotator, documents: Sequence[Document]) -> int:
        engine = Counting()
        found = judged(Run(engine, kept, UNITS), annotator, documents)
        assert found == judged(Run(units=UNITS), annotator, documents)
        return engine.begun

    # The last chunk is written at once, and never kept.
    assert begun(rules(), DOCUMENTS) == 1
    changed = msgspec.structs.replace(DOCUMENTS[0], metadata={"system": "another"})
    assert begun(rules(), [changed, *DOCUMENTS[1:]]) == 2
    assert begun(make_annotator("rules", {"decide": "argmax"}).fit(DOCUMENTS[:9], VOTES), DOCUMENTS) > 2
    for path in kept.folder.glob("*.chunk"):
        path.write_bytes(path.read_bytes()[:-3])
    assert begun(rules(), DOCUMENTS) > 2
    kept.remove()
    assert [path.name for path in kept.folder.iterdir()] == ["notes.txt"]


class Homemade(Prior):
    """An annotator of a user's own, which no other process knows."""


def test_what_cannot_be_known_again_is_judged_here_and_not_kept(tmp_path: Path, cluster: OnRay) -> None:
    kept = KeptChunks(tmp_path / "run.chunks")
    own = Homemade().fit(DOCUMENTS, VOTES)
    assert len(judged(Run(kept=kept, units=UNITS), own, DOCUMENTS)) == len(DOCUMENTS)
    assert not kept.folder.exists()
    with pytest.raises(UsageError, match="a method that no other process knows"):
        judged(Run(cluster), own, DOCUMENTS)


def test_a_log_that_is_checked_keeps_chunks_beside_its_page(data: Path) -> None:
    page = data.with_name("page.html")
    with pytest.raises(KeyboardInterrupt):
        check(data, model=rules(), engine=Counting(lives=4), beside=page)
    begun = len(KeptChunks.beside(page))
    engine = Counting()
    found = check(data, model=rules(), engine=engine, beside=page)
    assert begun >= 1
    assert found.to_text() == check(data, model=rules()).to_text()
    assert not KeptChunks.beside(page).folder.exists()


def test_an_error_is_that_of_the_first_document_that_has_one(cluster: OnRay) -> None:
    strangers = [Document(f"s{n}", (Segment("0", "system", "Bonjour."),), "fr") for n in range(9)]
    for engine in (Here(), cluster):
        with pytest.raises(UsageError, match="document 's0': is in 'fr'"):
            judged(Run(engine, units=1), rules(), strangers)


def test_a_node_of_another_version_is_refused(cluster: OnRay, monkeypatch: pytest.MonkeyPatch) -> None:
    # A model of its own: nodes keep what they know, and those of other tests may still be at work.
    work = JudgeDocuments(make_annotator("prior").fit(DOCUMENTS[:3], VOTES))
    monkeypatch.setattr(work, "pack", partial(bytes, work.pack()))
    monkeypatch.setattr("lapsus.annotators.bulk.ray_engine.__version__", "0.0.1")
    with pytest.raises(UsageError, match=r"a node of the cluster has Lapsus 0\.0\.1"):
        cluster.begin(work, []).result()


def test_what_breaks_on_a_node_is_an_error_of_ours(cluster: OnRay, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise MemoryError("no room\nleft on the node")

    monkeypatch.setattr(JudgeDocuments, "do", broken)
    with pytest.raises(LapsusError, match="the cluster could not do it: left on the node"):
        judged(Run(cluster), rules(), DOCUMENTS)


def asked_units() -> list[Unit]:
    rule = load_scheme("breakdown").unit
    return [unit for n in range(4) for unit in units(chat("en", f"c{n}"), rule)]


def plain(judgments: Sequence[Judgment]) -> list[Judgment]:
    """Judgments without when they were made, in the order of their units."""
    same = [msgspec.structs.replace(judgment, at=None, seconds=None) for judgment in judgments]
    return sorted(same, key=lambda judgment: (judgment.document, judgment.segment or ""))


def test_a_language_model_is_asked_from_a_cluster(cluster: OnRay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_A_NODE", "sk-1")
    scheme = load_scheme("breakdown")
    with serving(lambda body: completion({"breakdown": "T", "comment": None})) as stub:
        how: Any = {"endpoint": stub.endpoint, "key_env": "KEY_OF_A_NODE", "parallel": 2}
        here = list(make_language_model("openai:m", scheme, **how).judge_units(asked_units()))
        model = make_language_model("openai:m", scheme, **how)
        assert plain(list(Run(cluster).judgments(model, asked_units()))) == plain(here)
        assert model.form == "json_schema"
        assert model.tokens["prompt"] == 100 * len(here)
        assert cluster.room_for(model.work()) == 4
    assert stub.headers[-1]["Authorization"] == "Bearer sk-1"
    assert b"sk-1" not in AskUnits(model).pack()
    other = make_language_model("openai:n", scheme, **how)
    monkeypatch.delenv("KEY_OF_A_NODE")
    with pytest.raises(UsageError, match="a node of the cluster has no key"):
        judged(Run(cluster), other, [chat("en", "c")])
    own = LanguageModel("m", Service(endpoint(stub.endpoint), "sk-2"), scheme)
    with pytest.raises(UsageError, match="a key that a program gives"):
        judged(Run(cluster), own, [chat("en", "c")])


@pytest.mark.parametrize(
    ("said", "reason", "tokens"),
    [(completion("what?"), "no answer that can be taken", 600), (refusal(400), "answers 400: no", 0)],
)
def test_what_a_language_model_does_not_judge_is_told(
    cluster: OnRay, said: Any, reason: str, tokens: int
) -> None:
    with serving(lambda body: said) as stub:
        model = make_language_model("openai:m", load_scheme("breakdown"), endpoint=stub.endpoint)
        assert list(Run(cluster).judgments(model, asked_units()[:2])) == []
    assert [reason in one.reason for one in model.refused] == [True, True]
    assert model.tokens["prompt"] == tokens


def test_engines_on_the_command_line(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = data.with_name("run.jsonl")
    model = str(data.with_name("rules.lapsus"))
    rules().save(model)
    asked = ("detect", str(data), "-o", str(out), "--with", model)
    assert "no engine is called 'spark'" in refused(*asked, "--engine", "spark")
    assert "--ray is for a cluster" in refused(*asked, "--ray", "auto")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'lapsus-eval[ray]'" in refused(*asked, "--engine", "ray")
    assert not out.exists()
    monkeypatch.setitem(sys.modules, "ray", fake_ray())
    _, remarks = lapsus(*asked, "--engine", "ray", "--ray", "10.0.0.7:6379")
    assert "judged on 2 cores of the Ray cluster at 10.0.0.7:6379" in remarks
    lapsus("detect", str(data), "-o", str(data.with_name("here.jsonl")), "--with", model)
    assert out.read_bytes() == data.with_name("here.jsonl").read_bytes()
    ranked = [lapsus("check", str(data), "--with", model, *more)[0] for more in ((), ("--engine", "ray"))]
    assert ranked[0] == ranked[1]


def test_a_check_on_a_cluster_goes_on_where_it_was_cut_off(
    tmp_path: Path, cluster: OnRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also here: who asked does not matter."""
    monkeypatch.chdir(tmp_path)
    Jsonl().write((Entry(f"c{n}", chat("en", f"c{n}")) for n in range(4)), tmp_path / "chats.jsonl")
    said, left = completion({"breakdown": "T", "comment": None}), iter(range(5))
    with serving(lambda body: refusal(401) if next(left, None) is None else said) as stub:
        asked = ("check", "chats.jsonl", "--with", "openai:m", "--endpoint", stub.endpoint, "--json")
        assert "answers 401" in refused(*asked, "--engine", "ray")
        assert len(Journal(tmp_path / "chats.jsonl.m.answers").judgments) == 5
        stub.answer, before = (lambda body: said), len(stub.asked)
        here, _ = lapsus(*asked)
        assert len(stub.asked) == before + 3
        assert lapsus(*asked, "--engine", "ray")[0] == here
        assert len(stub.asked) == before + 3


def test_an_address_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = fake_ray()
    ray.is_initialized = lambda: False
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with OnRay("127.0.0.1:1") as engine, pytest.raises(UsageError, match="no Ray cluster can be used there"):
        judged(Run(engine), rules(), DOCUMENTS)
