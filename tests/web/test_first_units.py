"""What people meet on the way to their first units: consent, a platform's link, practice, suggestions."""

from __future__ import annotations

from lapsus.model import Entry, Judgment
from lapsus.store import Completion, KnownUnit, KnownUnits, Plan, Store
from tests.web.helpers import Bench, Browser, chat
from tests.web.test_campaign_setup import post


def test_consent_comes_before_the_first_unit(bench: Bench) -> None:
    plan = {
        "consent": {"en": "You may <b>stop</b>.", "ja": "いつでもやめられます。"},
        "instructions": {"en": "Read."},
    }
    bench.campaign(name="spring", **plan)
    ada = bench.person("ada")
    assert ada.next("spring")["reason"] == "begin"
    page = ada.get("/c/spring/judge")
    assert page.url.path == "/c/spring/begin"
    assert "You may &lt;b&gt;stop&lt;/b&gt;." in page.text
    assert "いつでも" in ada.get("/c/spring/begin?lang=ja").text
    assert post(ada, "/c/spring/begin").status_code == 422
    assert ada.next("spring")["reason"] == "begin"
    assert post(ada, "/c/spring/begin", agree="yes").url.path == "/c/spring/u/1"
    assert ada.get("/c/spring/begin").url.path == "/c/spring/u/1"


def test_a_worker_from_a_platform_gets_in_back_in_and_a_code(bench: Bench) -> None:
    bench.campaign(
        name="spring",
        who="open",
        documents=[chat("d0", 1)],
        completion=Completion("C1", "https://p.example/"),
    )
    token = bench.store.access.invite(campaign="spring", uses=None)
    link = f"/join/{token}?PROLIFIC_PID=5f0a&STUDY_ID=s1&SESSION_ID=x1"
    worker = Browser(bench.app, 0)
    assert worker.get(f"/join/{token}.json?PROLIFIC_PID=5f0a").json()["known_as"] == "prolific-5f0a"
    worker.csrf = worker.token()
    assert post(worker, link).url.path == "/c/spring/u/1"
    worker.csrf = worker.token()
    assert worker.get("/session.json").json()["person"]["name"] == "prolific-5f0a"
    assert worker.save("spring", 1, {"breakdown": "O"}).status_code == 201
    state = worker.get("/c/spring/judge.json").json()
    assert (state["reason"], state["completion"]) == ("done", {"code": "C1", "url": "https://p.example/"})
    again = Browser(bench.app, 0)
    again.csrf = again.token()
    assert post(again, link).url.path == "/c/spring/judge"
    (member,) = bench.store.members.all("spring")
    assert member.origin == {"PROLIFIC_PID": "5f0a", "STUDY_ID": "s1", "SESSION_ID": "x1"}
    assert (member.name, member.submitted) == ("prolific-5f0a", 1)


def test_practice_tells_and_other_units_do_not(bench: Bench) -> None:
    told = {"en": "Nobody can go on.", "ja": "続けられません。"}
    practice = KnownUnits((KnownUnit("d0", {"breakdown": "X"}, "0", told),))
    plan = Plan("spring", "breakdown", order="given", training=practice)
    bench.store.campaigns.set_up(plan, [chat("d0", 1), chat("d1", 1)])
    ada = bench.person("ada")
    unit = ada.get("/api/v1/campaigns/spring/units/1")
    assert unit.status_code == 403
    ada.next("spring")
    unit = ada.get("/api/v1/campaigns/spring/units/1").json()
    assert unit["part"] == "training"
    assert "feedback" not in unit
    assert ada.save("spring", 1, {"breakdown": "O"}).status_code == 201
    unit = ada.get("/api/v1/campaigns/spring/units/1?lang=ja").json()
    assert unit["feedback"] == {"right": False, "answers": [{"breakdown": "X"}], "text": "続けられません。"}
    ada.next("spring")
    unit = ada.get("/api/v1/campaigns/spring/units/2").json()
    assert "part" not in unit
    assert "feedback" not in unit


def test_suggestions_are_shown_only_where_the_plan_says_so(bench: Bench, store: Store) -> None:
    for name, suggest in (("with", "rules"), ("without", None)):
        bench.campaign(name=name, documents=[chat("d0", 1)], suggest=suggest)
        program = store.programs.add("rules")
        said = Judgment("d0", "0", "x", "breakdown", "1.0", {"breakdown": "T"})
        assert sum(store.programs.add_judgments(name, program, [Entry("d0", chat("d0", 1), (said,))])) == 1
        ada = bench.person(f"ada-{name}")
        ada.next(name)
        unit = ada.get(f"/api/v1/campaigns/{name}/units/1").json()
        expected = {"by": "rules", "answers": {"breakdown": "T"}} if suggest else None
        assert unit.get("suggestion") == expected
