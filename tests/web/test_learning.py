"""A campaign from which a judge learns: some units come with a suggestion, the rest is a program's."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.store import Learn
from lapsus.web import learning
from tests.web.helpers import Bench, Browser
from tests.web.learning import chat, label


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is done in the background here: tests say when."""
    monkeypatch.setattr(learning, "EVERY", 3600.0)


def judge(browser: Browser, documents: int) -> list[dict[str, Any]]:
    """Judge so many documents by what they say; the units as they were seen."""
    seen = []
    for _ in range(documents):
        for unit in browser.next("talk")["units"]:
            shown = browser.get(f"/api/v1/campaigns/talk/units/{unit}").json()
            seen.append(shown)
            said = {"breakdown": label(shown["target"]["text"])}
            saved = browser.save("talk", unit, said, suggested="suggestion" in shown)
            assert saved.status_code == 201, saved.text
    return seen


def figures(manager: Browser) -> Any:
    page = manager.get("/c/talk/insight.json").json()
    return [page[name] for name in ("agreement", "answers", "progress", "differing")]


def test_a_judge_learns_suggests_and_judges_the_rest(bench: Bench) -> None:
    manager, ada, ben = bench.person("Mori", "manager"), bench.person("Ada"), bench.person("Ben")
    plan = Learn(after=44, every=8, without=0.4)
    bench.campaign(name="talk", documents=[chat(n) for n in range(10)], per_unit=2, learn=plan)
    work = learning.Learner(bench.store).work_once
    assert not any("suggestion" in unit for unit in judge(ada, 10))
    judge(ben, 10)
    assert not work()
    page = manager.get("/c/talk/insight/learning.json").json()
    assert (page["judged"], page["next_at"], page["rounds"]) == (40, 44, [])
    bench.store.campaigns.add_documents("talk", [chat(n) for n in range(10, 20)])
    judge(ada, 1)
    assert work()
    assert not work()
    page = manager.get("/c/talk/insight/learning.json").json()
    (row,) = page["rounds"]
    assert row["answered"]
    assert row["judge"] > 0.5
    assert row["people"] == pytest.approx(1)
    assert (page["next_at"], page["left"], page["suggestions"]) == (52, 36, 36)
    # Some units come with its suggestion, some at random without; what was seen is kept with the answer.
    seen = judge(ada, 4)
    aided = [unit for unit in seen if "suggestion" in unit]
    assert 0 < len(aided) < len(seen)
    assert {unit["suggestion"]["by"] for unit in aided} == {"judge-talk"}
    kept = [j for e in bench.store.exports.export("talk") for j in e.judgments if "suggested" in j.metadata]
    assert len(kept) == len(aided)
    assert work()
    page = manager.get("/c/talk/insight/learning.json").json()
    assert len(page["rounds"]) == 2
    assert (page["seen"]["answers"], page["unseen"]["answers"]) == (len(aided), len(seen) - len(aided))
    # The rest is a program's, and no figure of people's changes.
    before = figures(manager)
    assert manager.http.post(
        "/c/talk/learning.json", data={"do": "rest", "csrf": manager.csrf}
    ).status_code in (200, 303)
    assert work()
    assert figures(manager) == before
    page = manager.get("/c/talk/insight/learning.json").json()
    assert (page["left"], page["rest"], page["problem"]) == (0, False, None)
    programs = bench.store.exports.export("talk", programs=True)
    judged = [(e, j) for e in programs for j in e.judgments if j.annotator == "judge-talk"]
    assert len(judged) == 80 - 60
    # It learned from talks in the same words, and from none of these units: no figure of theirs is too good.
    assert not any("learned" in said.metadata for _, said in judged)
    texts = [next(s.text for s in entry.document.segments if s.id == said.segment) for entry, said in judged]
    right = sum(
        said.answers["breakdown"] == label(text) for text, (_, said) in zip(texts, judged, strict=True)
    )
    assert right > 15
    assert not work()


def test_the_switch_on_the_page(bench: Bench) -> None:
    manager, ada = bench.person("Mori", "manager"), bench.person("Ada")
    bench.campaign(name="talk", documents=[chat(0)])
    form = {"do": "set", "learn": "yes", "after": "4", "every": "9", "without": "30", "csrf": manager.csrf}
    assert ada.http.post("/c/talk/learning.json", data=form | {"csrf": ada.csrf}).status_code == 403
    manager.http.post("/c/talk/learning", data=form)
    assert bench.store.campaigns.get("talk").plan.learn == Learn(4, 9, 0.3, uncertain_first=False)
    for wrong in ({"after": "0"}, {"every": "x"}, {"without": "2"}, {"do": "dance"}, {"do": "rest"}):
        answer = manager.http.post("/c/talk/learning.json", data=form | wrong)
        assert answer.status_code == 422, wrong
        assert answer.json()["error"]
    # A failure is said in words, in the reader's language.
    judge(ada, 1)
    assert learning.Learner(bench.store).work_once()
    page = manager.get("/c/talk/insight/learning", headers={"Accept-Language": "ja"}).text
    assert "前回はうまくいきませんでした" in page
    assert (
        manager.get("/c/talk/insight/learning.json")
        .json()["problem"]
        .startswith("too little to learn from: 1 judged document")
    )
    form.pop("learn")
    manager.http.post("/c/talk/learning", data=form)
    assert bench.store.campaigns.get("talk").plan.learn is None
