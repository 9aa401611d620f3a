"""Running a campaign in the browser: draft, pilot, open; who takes part; what managers do and say."""

from __future__ import annotations

import pytest

from lapsus.store import Nothing, Pilot, Plan, Reservation
from tests.web.helpers import ANSWERS, Bench, Browser, chat
from tests.web.wizard import begun, post


@pytest.fixture
def mori(bench: Bench) -> Browser:
    return bench.person("mori", "manager")


def test_a_draft_hands_nothing_out_until_it_is_opened(bench: Bench, mori: Browser) -> None:
    plan = Plan(name="spring", scheme="breakdown", pilot=Pilot(1))
    bench.store.campaigns.set_up(plan, [chat("d0"), chat("d1")], draft=True)
    ada = bench.person("ada")
    assert (ada.get("/c/spring").status_code, ada.get("/.json").json()["campaigns"]) == (404, [])
    assert bench.store.assignment.next_units(ada.id, "spring") == Nothing("draft")
    assert "Not open yet" in mori.get("/c/spring/judge").text
    shown = mori.get("/c/spring/manage")
    assert "Open the pilot" in shown.text
    assert mori.get("/c/spring/manage.json").json()["stages"] == ["draft", "pilot", "open", "closed"]
    assert post(mori, "/c/spring/manage", do="state", state="draft").status_code == 422
    post(mori, "/c/spring/manage", do="state", state="open")
    assert isinstance(bench.store.assignment.next_units(ada.id, "spring"), Reservation)
    paused = post(mori, "/c/spring/manage", do="state", state="paused").text
    assert '<li aria-current="step">pilot</li>' in paused
    assert paused.count('aria-current="step"') == 1
    assert post(mori, "/c/spring/manage", do="state", state="draft").status_code == 422


def test_only_managers_set_up_and_run(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="spring")
    base = begun(mori, "summer")
    for role in ("annotator", "adjudicator"):
        other = bench.person(role, role)  # type: ignore[arg-type]
        for path in ("/new", "/c/spring/manage", "/c/spring/plan", f"{base}/people"):
            assert other.get(path).status_code == 403, path
        for path in ("/new", "/c/spring/manage", f"{base}/people"):
            assert post(other, path, go="next", do="state", state="closed").status_code == 403, path
    second = bench.person("second", "manager")
    assert second.get(f"{base}/people").status_code == 404
    assert bench.store.campaigns.get("spring").state == "open"
    stranger = bench.stranger(follow_redirects=False)
    assert stranger.get("/new").headers["location"] == "/sign-in?next=/new"
    assert stranger.post("/c/spring/manage", data={"do": "state"}).status_code in (401, 403)


def test_forms_need_the_pages_token(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="spring")
    for path in ("/new", "/c/spring/manage", "/messages", "/c/spring/begin"):
        assert mori.http.post(path, data={"do": "state", "state": "closed"}).status_code == 403, path
    assert bench.store.campaigns.get("spring").state == "open"


def test_what_managers_do_with_a_campaign(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="spring", who="open")
    ada = bench.person("ada")
    bench.store.campaigns.add_people("spring", ["ada"])
    units = ada.next("spring")["units"]
    here = "/c/spring/manage"
    assert post(mori, here, do="state", state="paused").url.path == here
    assert bench.store.campaigns.get("spring").state == "paused"
    post(mori, here, do="state", state="open")
    assert post(mori, f"{here}.json", do="state", state="asleep").status_code == 422
    post(mori, here, do="release", person=str(ada.id))
    assert [unit.state for unit in bench.store.assignment.own_units(ada.id, "spring")] == ["released"] * len(
        units
    )
    post(mori, here, do="stop", person=str(ada.id))
    assert ada.next("spring")["reason"] == "stopped"
    post(mori, here, do="resume", person=str(ada.id))
    assert ada.next("spring")["units"] == units
    assert post(mori, f"{here}.json", do="stop", person="999").status_code == 422
    assert post(mori, f"{here}.json", do="dance").status_code == 422
    assert post(mori, f"{here}.json", do="main").status_code == 422
    link = post(mori, f"{here}.json", do="invite", uses="any", platform="prolific").json()["link"]
    assert link.startswith("http://testserver/join/")
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in link
    assert "link" not in mori.get(f"{here}.json").json()
    (row,) = mori.get(f"{here}.json").json()["members"]
    assert (row["name"], row["held"]) == ("ada", len(units))


def test_whoever_is_stopped_is_asked_for_nothing(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="spring")
    ada = bench.person("ada")
    ada.next("spring")
    way = "/c/spring/judge"
    assert way in ada.get("/").text
    assert way in ada.get("/c/spring").text
    post(mori, "/c/spring/manage", do="stop", person=str(ada.id))
    home, page = ada.get("/").text, ada.get("/c/spring").text
    assert way not in home
    assert "nothing more for you" in home
    assert way not in page
    assert "gives you nothing more to judge" in page
    assert way in bench.person("ben").get("/").text
    post(mori, "/c/spring/manage", do="resume", person=str(ada.id))
    assert way in ada.get("/").text


def test_messages_are_on_every_page_until_read(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="spring")
    ada, ben = bench.person("ada"), bench.person("ben")
    ada.next("spring")
    ben.next("spring")
    words = "<script>alert(1)</script>\nPlease read."
    post(mori, "/c/spring/manage", do="message", person=str(ada.id), text=words)
    (message,) = ada.get("/messages.json").json()["messages"]
    assert (message["text"], message["sender"]) == (words, "mori")
    assert ben.get("/messages.json").json()["messages"] == []
    page = ada.get("/").text
    assert "&lt;script&gt;alert(1)" in page
    answer = ada.http.post(
        "/messages",
        data={"csrf": ada.csrf, "message": str(message["id"]), "back": "//evil.example"},
        follow_redirects=False,
    )
    assert answer.headers["location"] == "/"
    assert ada.get("/messages.json").json()["messages"] == []
    assert "alert(1)" not in ada.get("/").text


def test_whoever_is_invited_sees_a_campaign_once_it_can_be_judged_and_why_not_before(
    bench: Bench, mori: Browser
) -> None:
    plan = Plan(name="spring", scheme="breakdown", who="named", pilot=Pilot(1))
    bench.store.campaigns.set_up(plan, [chat("d0"), chat("d1")], draft=True)
    ada = bench.person("ada")
    assert ada.get("/.json").json()["awaited"] == 0
    bench.store.campaigns.add_people("spring", ["ada"])
    shown = ada.get("/.json").json()
    assert (shown["campaigns"], shown["awaited"]) == ([], 1)
    assert "still being prepared: 1." in ada.get("/").text
    assert "as soon as it can be judged" in ada.get("/c/spring").text
    assert "Start judging" not in ada.get("/c/spring").text
    post(mori, "/c/spring/manage", do="state", state="open")
    shown = ada.get("/.json").json()
    assert ([one["name"] for one in shown["campaigns"]], shown["awaited"]) == (["spring"], 0)
    assert "Start judging" in ada.get("/c/spring").text


def test_at_the_end_of_a_pilot_people_are_told_that_more_comes(bench: Bench) -> None:
    name = bench.campaign(documents=[chat("d0", 1), chat("d1", 1)], pilot=Pilot(1))
    ada = bench.person("ada")
    ada.save(name, ada.next(name)["unit"], ANSWERS["breakdown"])
    assert "The pilot is done" in ada.get(f"/c/{name}/judge").text
    assert "The rest follows" in ada.get(f"/c/{name}").text
    bench.store.campaigns.open_main(name)
    ada.save(name, ada.next(name)["unit"], ANSWERS["breakdown"])
    assert "All done" in ada.get(f"/c/{name}/judge").text


def test_a_manager_takes_part_by_a_button(bench: Bench, mori: Browser) -> None:
    name = bench.campaign(who="named")
    page = mori.get(f"/c/{name}").text
    assert "Nobody takes part yet" in page
    assert f'href="/c/{name}/manage#invite"' in page
    assert "Start judging" not in page
    joined = post(mori, f"/c/{name}/manage", do="join")
    assert joined.url.path == f"/c/{name}"
    assert "Start judging" in joined.text
    assert "Take part yourself" not in joined.text
    ada = bench.person("ada")
    assert post(ada, f"/c/{name}/manage", do="join").status_code in (403, 404)


def test_before_there_is_a_manager_the_way_in_is_told(bench: Bench) -> None:
    assert "Nobody manages this workbench yet" in bench.stranger().get("/sign-in").text
    bench.person("mori", "manager")
    assert "Nobody manages this workbench yet" not in bench.stranger().get("/sign-in").text
