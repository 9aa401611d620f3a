"""Accounts, the audit log and the settings of a campaign, in the browser: for managers and nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.formats.jsonl import Jsonl
from lapsus.model import Entry, Judgment
from lapsus.store.arrivals import PlatformArrival
from tests.web.helpers import PASSWORD, Bench, Browser, chat


def send(who: Browser, path: str, **form: Any) -> Any:
    return who.http.post(path, data={"csrf": who.csrf, **form})


def test_a_manager_changes_roles_resets_passwords_and_shuts_accounts(bench: Bench) -> None:
    mori, ada = bench.person("Mori", "manager"), bench.person("Ada")
    assert send(mori, "/people", do="role", person=ada.id, role="adjudicator").status_code == 200
    assert bench.store.people.get(ada.id).role == "adjudicator"
    made = send(mori, "/people.json", do="reset", person=ada.id).json()
    assert made["whose"] == "Ada"
    assert ada.sign_in("Ada", PASSWORD).status_code == 401
    assert ada.sign_in("Ada", made["password"]).status_code == 200
    send(mori, "/people", do="disable", person=ada.id)
    assert bench.store.people.get(ada.id).disabled is not None
    send(mori, "/people", do="enable", person=ada.id)
    assert bench.store.people.get(ada.id).disabled is None
    link = send(mori, "/people.json", do="invite", role="manager").json()["link"]
    assert "/join/" in link
    events = [event["what"] for event in mori.get("/log.json").json()["events"]]
    assert events[:2] == ["invited", "enabled"]
    assert "invitation made" in mori.get("/log").text


def test_whoever_needs_none_is_given_no_password(bench: Bench) -> None:
    mori, name = bench.person("Mori", "manager"), bench.campaign(who="open")
    token = bench.store.access.invite(campaign=name, uses=None)
    arrival = PlatformArrival("prolific", {"PROLIFIC_PID": "5f0a"})
    worker, program = bench.store.arrivals.arrive(token, arrival), bench.store.programs.add("rules")
    came_with_data = bench.store.people.add("ben")
    offered = {one["name"]: one["may_have_password"] for one in mori.get("/people.json").json()["accounts"]}
    assert offered == {"Mori": True, worker.name: False, "ben": True}
    assert mori.get("/people").text.count('value="reset"') == 2
    for one in (worker, program):
        assert send(mori, "/people", do="reset", person=one.id).status_code == 422
    assert send(mori, "/people", do="reset", person=came_with_data.id).status_code == 200
    assert bench.store.arrivals.arrive(token, arrival) == worker


@pytest.mark.parametrize(
    "form",
    [
        {"do": "role", "role": "king"},
        {"do": "reset", "person": "99"},
        {"do": "x", "person": "1"},
        {"do": "disable"},
    ],
)
def test_what_makes_no_sense_is_told(bench: Bench, form: dict[str, str]) -> None:
    mori = bench.person("Mori", "manager")
    answer = send(mori, "/people", **{"person": str(mori.id), **form} if form["do"] == "role" else form)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text


def test_the_last_manager_stays_one(bench: Bench) -> None:
    mori = bench.person("Mori", "manager")
    assert send(mori, "/people", do="role", person=mori.id, role="annotator").status_code == 422
    assert bench.store.people.get(mori.id).role == "manager"


def test_settings_of_a_campaign_that_is_there(bench: Bench) -> None:
    mori, name = bench.person("Mori", "manager"), bench.campaign(per_unit=2)
    form = {"title-en": "Spring", "title-ja": "春", "per_unit": "3"}
    assert "Spring" in send(mori, f"/c/{name}/settings", **form).text
    plan = bench.store.campaigns.get(name).plan
    assert (dict(plan.title), plan.per_unit) == ({"en": "Spring", "ja": "春"}, 3)
    assert send(mori, f"/c/{name}/settings", **(form | {"per_unit": "0"})).status_code == 422
    assert [event.what for event in bench.store.audit.events(name)][:2] == ["plan changed", "plan changed"]
    assert mori.get(f"/c/{name}/log").status_code == 200


def test_documents_are_added_and_a_bad_file_changes_nothing(bench: Bench, tmp_path: Any) -> None:
    mori, name = bench.person("Mori", "manager"), bench.campaign()
    path = tmp_path / "more.jsonl"
    Jsonl().write([Entry("new", chat("new"))], path)
    before = bench.store.progress.of_campaign(name).documents
    for content, wanted in ((path.read_bytes(), 1), (path.read_bytes(), 1), (b"{broken", 1)):
        files = {"file": ("more.jsonl", content)}
        mori.http.post(f"/c/{name}/documents", data={"csrf": mori.csrf}, files=files)
        assert bench.store.progress.of_campaign(name).documents == before + wanted


def test_votes_that_come_along_choose_the_turns(bench: Bench, tmp_path: Any) -> None:
    mori, name = bench.person("Mori", "manager"), bench.campaign("error-types")
    before = bench.store.progress.of_campaign(name).units
    labels = {"0": "O", "2": "X", "4": "O"}
    votes = [
        Judgment("new", turn, "ada", "breakdown", "1.0", {"breakdown": label})
        for turn, label in labels.items()
    ]
    path = tmp_path / "more.jsonl"
    Jsonl().write([Entry("new", chat("new"), tuple(votes))], path)
    files = {"file": ("more.jsonl", path.read_bytes())}
    mori.http.post(f"/c/{name}/documents", data={"csrf": mori.csrf}, files=files)
    assert bench.store.progress.of_campaign(name).units == before + 1


def test_tokens_are_made_listed_and_revoked(bench: Bench) -> None:
    mori, ada = bench.person("Mori", "manager"), bench.person("Ada")
    made = send(mori, "/tokens.json", do="make", person=ada.id, name="nightly").json()
    assert made["whose"] == "Ada"
    program = bench.stranger(headers={"Authorization": f"Bearer {made['token']}"})
    assert program.get("/session.json").json()["person"]["name"] == "Ada"
    listed = mori.get("/tokens.json").json()["tokens"]
    assert [(one["owner"], one["name"], one["revoked"]) for one in listed] == [("Ada", "nightly", None)]
    assert made["token"] not in mori.get("/tokens").text
    for form in ({"do": "make", "name": ""}, {"do": "revoke", "token": "99"}, {"do": "x"}, {"do": "revoke"}):
        assert send(mori, "/tokens", person=ada.id, **form).status_code == 422
    # A token is its owner's: under another name it is not found.
    assert send(mori, "/tokens", do="revoke", person=mori.id, token=listed[0]["id"]).status_code == 422
    assert "revoked" in send(mori, "/tokens", do="revoke", person=ada.id, token=listed[0]["id"]).text
    assert program.get("/session.json").json()["person"] is None


def test_what_was_downloaded_is_remembered(bench: Bench) -> None:
    mori, name = bench.person("Mori", "manager"), bench.campaign()
    send(mori, f"/c/{name}/export", what="names", to="jsonl")
    send(mori, f"/c/{name}/units", do="export", unit=["1", "2"], what="pseudonyms", to="csv")
    assert send(mori, f"/c/{name}/export", what="names", to="nonsense").status_code == 400
    bench.store.audit.exported(name, what="gold", format="dbdc")
    found = mori.get(f"/c/{name}/exports.json").json()["events"]
    told = [(one["by"], *(one["details"][key] for key in ("data", "format", "units"))) for one in found]
    assert told == [
        (None, "gold", "dbdc", None),
        ("Mori", "pseudonyms", "csv", 2),
        ("Mori", "names", "jsonl", None),
    ]
    assert mori.get("/exports").text.count("<tr>") == 4


def test_an_archived_campaign_is_closed_and_out_of_the_lists(bench: Bench) -> None:
    mori, ada, name = bench.person("Mori", "manager"), bench.person("Ada"), bench.campaign()

    def listed(who: Browser) -> list[str]:
        return [one["name"] for one in who.get("/.json").json()["campaigns"]]

    assert listed(mori) == listed(ada) == [name]
    send(mori, f"/c/{name}/archive", archived="yes")
    assert listed(mori) == listed(ada) == []
    assert [one["name"] for one in mori.get("/archive.json").json()["campaigns"]] == [name]
    assert ada.save(name, 1, {"breakdown": "O"}).status_code == 409
    assert mori.get(f"/c/{name}/insight").status_code == 200
    send(mori, f"/c/{name}/archive", archived="no")
    assert (listed(mori), bench.store.campaigns.get(name).state) == ([name], "closed")
    send(mori, f"/c/{name}/archive", archived="yes")
    bench.store.campaigns.set_state(name, "open")
    assert bench.store.campaigns.get(name).archived is None


@pytest.mark.parametrize(
    "path",
    [
        "/people",
        "/log",
        "/c/breakdown/log",
        "/people.json",
        "/log.json",
        "/tokens.json",
        "/exports",
        "/archive",
    ],
)
@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_nobody_else_sees_them(bench: Bench, path: str, role: Any) -> None:
    bench.campaign()
    ada = bench.person("Ada", role)
    assert ada.get(path).status_code == 403
    assert send(ada, "/people", do="disable", person=ada.id).status_code == 403
    assert send(ada, "/c/breakdown/settings", per_unit="9").status_code == 403
    assert send(ada, "/tokens", do="make", person=ada.id, name="x").status_code == 403
    assert send(ada, "/c/breakdown/archive", archived="yes").status_code == 403
    assert send(ada, "/c/breakdown/copy").status_code == 403


def test_the_guideline_leads_back_and_to_the_other_language(bench: Bench) -> None:
    name = bench.campaign()
    page = bench.person("Ada").get(f"/c/{name}/guideline?lang=en").text
    assert f'href="/c/{name}"' in page
    assert 'href="?lang=ja" lang="ja"' in page
