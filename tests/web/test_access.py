"""Who gets in, who may see what, and what no document and no other site can do."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from lapsus.model import Document, Segment
from lapsus.web.security import RateLimit
from lapsus.web.sessions import DEVICE, SESSION
from tests.web.helpers import PASSWORD, Bench, Browser, chat

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}


def test_strangers_are_led_to_sign_in_and_back(bench: Bench) -> None:
    name = bench.campaign()
    http = bench.stranger()
    answer = http.get(f"/c/{name}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next=/c/{name}")
    bench.store.people.add("Ada", password=PASSWORD)
    token = http.get("/session.json").json()["csrf"]
    form = {"name": "Ada", "password": PASSWORD, "csrf": token, "next": f"/c/{name}"}
    signed = http.post("/sign-in", data=form, follow_redirects=False)
    assert (signed.status_code, signed.headers["location"]) == (303, f"/c/{name}")
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/e", ""]
)
def test_signing_in_leads_nowhere_else(bench: Bench, elsewhere: str) -> None:
    bench.store.people.add("Ada", password=PASSWORD)
    http = bench.stranger()
    token = http.get("/session.json").json()["csrf"]
    form = {"name": "Ada", "password": PASSWORD, "csrf": token, "next": elsewhere}
    assert http.post("/sign-in", data=form, follow_redirects=False).headers["location"] == "/"


def test_the_cookie_is_secure_where_the_page_is(bench: Bench) -> None:
    http = bench.stranger(base_url="https://testserver")
    assert "Secure" in http.get("/session.json").headers["set-cookie"]


@pytest.mark.parametrize(
    "path", ["/.json", "/c/breakdown.json", "/c/breakdown/u/1.json", "/c/breakdown/judge.json"]
)
def test_programs_without_a_session_are_told(bench: Bench, path: str) -> None:
    bench.campaign()
    answer = bench.stranger().get(path)
    assert (answer.status_code, answer.json()["reason"]) == (401, "sign-in")


def test_the_interface_needs_a_session_or_a_token(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    http, root = bench.stranger(), "/api/v1/campaigns"
    assert http.get(root).status_code == 401
    assert http.get(root, headers={"Authorization": "Bearer lapsus_wrong"}).status_code == 401
    token = bench.store.access.add_token(ada.id, "test")
    headers = {"Authorization": f"Bearer {token}"}
    assert http.get(root, headers=headers).json()["campaigns"][0]["name"] == name
    unit = http.get(f"{root}/{name}/next", headers=headers).json()["unit"]
    body = {"key": "k", "answers": {"breakdown": "O"}}
    saved = http.post(f"{root}/{name}/units/{unit}/judgments", json=body, headers=headers)
    assert saved.status_code == 201
    bench.store.access.revoke_token(ada.id, bench.store.access.tokens(ada.id)[0].id)
    assert http.get(root, headers=headers).status_code == 401


def test_changes_need_the_pages_token(bench: Bench) -> None:
    name, ada, bob = bench.campaign(), bench.person("Ada"), bench.person("Bob")
    unit = ada.next(name)["unit"]
    path, body = (
        f"/api/v1/campaigns/{name}/units/{unit}/judgments",
        {"key": "k", "answers": {"breakdown": "O"}},
    )
    for token in ("", "x", "=" * 86, "é", bob.csrf, ada.csrf[:-4] + "AAAA"):
        refused = ada.http.post(path, json=body, headers={b"X-CSRF-Token": token.encode()})
        assert (refused.status_code, refused.json()["reason"]) == (403, "csrf")
    assert ada.http.post("/sign-out.json").status_code == 403
    assert ada.get("/.json").status_code == 200
    assert (
        bench.stranger().post("/sign-in.json", data={"name": "Ada", "password": PASSWORD}).status_code == 403
    )
    assert ada.post(path, body).status_code == 201


def test_a_new_session_has_new_tokens(bench: Bench) -> None:
    ada = bench.person("Ada")
    old, token = dict(ada.http.cookies), ada.csrf
    ada.http.post("/sign-out.json", data={"csrf": token})
    assert ada.get("/.json").status_code == 401
    ada.sign_in("Ada")
    assert dict(ada.http.cookies) != old
    assert ada.http.post("/sign-out.json", data={"csrf": token}).status_code == 403


def test_sessions_that_do_not_hold(bench: Bench) -> None:
    ada = bench.person("Ada")
    name = bench.app.state.web.cookies.name(SESSION)
    cookie = ada.http.cookies[name]
    for forged in (cookie[:-1], cookie + "x", "a.b.c", "", "é"):
        http = bench.stranger()
        assert http.get("/.json", headers={b"Cookie": f"{name}={forged}".encode()}).status_code == 401
    bench.store.people.set_password(ada.id, "another one")
    assert ada.get("/.json").status_code == 401
    ada.sign_in("Ada", "another one")
    assert ada.get("/.json").status_code == 200
    bench.store.people.set_disabled(ada.id, True)
    assert ada.get("/.json").status_code == 401


def test_guessing_passwords_is_slowed_down(bench: Bench) -> None:
    bench.app.state.web.by_name = RateLimit("name", 3, 300)
    bench.store.people.add("Ada", password=PASSWORD)
    bench.store.people.add("Bob", password=PASSWORD)
    browser = Browser(bench.app, 0)
    answers = [browser.sign_in("Ada", f"guess {n}").status_code for n in range(5)]
    assert answers == [401, 401, 401, 429, 429]
    assert browser.sign_in(" ada ").status_code == 429
    assert browser.sign_in("Ada").json()["error"] == "too-many"
    assert browser.sign_in("Bob").status_code == 200


def test_an_address_is_slowed_down_too(bench: Bench) -> None:
    bench.app.state.web.by_address = RateLimit("address", 3, 300)
    browser = Browser(bench.app, 0)
    answers = [browser.sign_in(f"name {n}", "guess").status_code for n in range(4)]
    assert answers == [401, 401, 401, 429]


def test_guessing_locks_no_owner_out(bench: Bench) -> None:
    """A browser in which somebody signed in before has tries of its own, and other names are nobody's concern there."""
    ada, thief = bench.person("Ada"), Browser(bench.app, 0)
    bench.person("Bob")
    bench.app.state.web.by_name = RateLimit("name", 3, 300)
    assert [thief.sign_in("ADA", "a guess").status_code for _ in range(4)][-1] == 429
    ada.http.post("/sign-out.json", data={"csrf": ada.csrf})
    assert ada.sign_in("ada").status_code == 200
    bench.app.state.web.by_device = RateLimit("device", 2, 300)
    assert [ada.sign_in("Ada", "a guess").status_code for _ in range(3)] == [401, 401, 429]
    assert [ada.sign_in("Bob", "a guess").status_code for _ in range(4)][-1] == 429
    name = bench.app.state.web.cookies.name
    for forged in ("x", "a.b.c", ada.http.cookies[name(SESSION)]):
        thief.http.cookies.set(name(DEVICE), forged)
        assert thief.sign_in("Ada").status_code == 429


def test_one_address_locks_a_name_for_itself_only(bench: Bench) -> None:
    bench.store.people.add("Ada", password=PASSWORD)
    thief, ada = Browser(bench.app, 0), Browser(bench.app, 0)
    ada.http = TestClient(bench.app, client=("198.51.100.7", 5000))
    assert [thief.sign_in("Ada", "a guess").status_code for _ in range(12)][-2:] == [429, 429]
    assert ada.sign_in("Ada").status_code == 200


def test_signing_out_ends_the_session_on_the_server(bench: Bench) -> None:
    name = bench.campaign()
    ada = bench.person("Ada")
    unit, copied = ada.next(name)["unit"], dict(ada.http.cookies)
    ada.http.post("/sign-out.json", data={"csrf": ada.csrf})
    thief = Browser(bench.app, ada.id)
    thief.http.cookies.update(copied)
    assert thief.get("/.json").status_code == 401
    thief.csrf = thief.token()
    assert thief.save(name, unit, {"breakdown": "O"}).status_code in (401, 403)
    assert bench.store.judgments.get(name, unit, ada.id) is None


def test_other_peoples_units_and_judgments_are_theirs(bench: Bench) -> None:
    name = bench.campaign()
    ada, bob = bench.person("Ada"), bench.person("Bob")
    theirs, mine = ada.next(name)["unit"], bob.next(name)["unit"]
    ada.save(name, theirs, {"breakdown": "X", "comment": "ada's secret"})
    root = f"/api/v1/campaigns/{name}"
    for path in (f"{root}/units/{theirs}", f"/c/{name}/u/{theirs}.json"):
        answer = bob.get(path)
        assert (answer.status_code, answer.json()["reason"]) == (403, "not-yours")
    assert bob.save(name, theirs, {"breakdown": "O"}).status_code == 403
    assert bob.get(f"{root}/units/999").status_code == 404
    assert bob.save(name, 999, {"breakdown": "O"}).status_code == 404
    for path in ("/.json", f"/c/{name}.json", root, f"{root}/judgments", f"{root}/units/{mine}"):
        text = bob.get(path).text
        assert "secret" not in text
        assert "Ada" not in text


def test_those_who_look_after_it_may_look(bench: Bench) -> None:
    name = bench.campaign()
    ada, manager = bench.person("Ada"), bench.person("Mori", "manager")
    unit = ada.next(name)["unit"]
    page = manager.get(f"/c/{name}/u/{unit}.json").json()
    assert (page["state"], page["position"], page["answers"]) == ("view", 0, {})
    assert manager.save(name, unit, {"breakdown": "O"}).status_code == 403
    assert [row["name"] for row in manager.get(f"/c/{name}.json").json()["people"]] == ["Ada"]
    assert "people" not in ada.get(f"/c/{name}.json").json()


def test_campaigns_of_others_do_not_exist(bench: Bench) -> None:
    ada, bob = bench.person("Ada"), bench.person("Bob")
    name = bench.campaign(who="named", people=("Ada",))
    unit = ada.next(name)["unit"]
    root = f"/api/v1/campaigns/{name}"
    for path in (f"/c/{name}.json", root, f"{root}/next", f"{root}/units/{unit}", f"{root}/judgments"):
        assert (path, bob.get(path).status_code) == (path, 404)
    assert bob.get("/.json").json()["campaigns"] == []
    assert bob.get("/schemes/breakdown/1.0.json").status_code == 404
    assert bob.get(f"/c/{name}/guideline.json").status_code == 404
    assert bob.get("/c/none.json").json() == ada.get("/c/none.json").json()


def test_an_invitation_makes_one_account(bench: Bench) -> None:
    token = bench.store.access.invite("manager")
    browser = Browser(bench.app, 0)
    offer = browser.get(f"/join/{token}.json").json()["invitation"]
    assert offer == {"role": "manager", "campaign": None, "title": None, "needs_password": True}
    form = {"name": "Mori", "password": PASSWORD, "again": "other", "csrf": browser.token()}
    for wrong, error in (
        ({}, "passwords-differ"),
        ({"password": "short", "again": "short"}, "account"),
        ({"password": "", "again": ""}, "account"),
        ({"name": " ", "again": PASSWORD}, "account"),
    ):
        answer = browser.http.post(f"/join/{token}.json", data={**form, **wrong})
        assert (answer.status_code, answer.json()["error"]) == (422, error)
    joined = browser.http.post(f"/join/{token}.json", data={**form, "again": PASSWORD})
    assert joined.json()["person"]["role"] == "manager"
    used = bench.stranger().get(f"/join/{token}.json")
    assert (used.status_code, used.json()["reason"]) == (410, "invitation")


def test_an_invitation_to_a_campaign(bench: Bench) -> None:
    name, ada = bench.campaign(who="named"), bench.person("Ada")
    assert ada.get(f"/c/{name}.json").status_code == 404
    token = bench.store.access.invite(campaign=name, uses=2)
    ada.http.post(f"/join/{token}.json", data={"csrf": ada.csrf})
    assert ada.next(name)["unit"] == 1


def test_without_a_demonstration_no_link_lets_in(bench: Bench) -> None:
    assert bench.stranger().get("/enter/aaaaaaaaaaaaaaaaaaaa.json").status_code == 404


HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}{% raw %}\u2028\u202e\"'&lt;"
)


def test_hostile_documents_come_back_as_data(bench: Bench) -> None:
    segments = (Segment("<b>", "system", HOSTILE), Segment("1", "user", HOSTILE), Segment("2", "system", "x"))
    name = bench.campaign(documents=[Document(HOSTILE, segments, "en")])
    ada = bench.person("Ada")
    answer = ada.get(f"/c/{name}/judge.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = answer.json()
    assert (page["document"], page["target"]["text"], page["target"]["id"]) == (HOSTILE, HOSTILE, "<b>")
    assert ada.save(name, page["number"], {"breakdown": "O", "comment": HOSTILE}).status_code == 201
    assert ada.get(f"/c/{name}.json").json()["judgments"][0]["answers"]["comment"] == HOSTILE


@pytest.mark.parametrize(
    "path", ["/session.json", "/api/v1/none", "/none.json", "/api/v1/openapi.json", "/words/ja.json"]
)
def test_every_answer_is_guarded(bench: Bench, path: str) -> None:
    headers: Any = bench.stranger().get(path).headers
    assert set(headers["content-security-policy"].split("; ")) == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/static/x/../app.py", "/static/x/%2e%2e/app.py", "/static/x//etc/passwd"])
def test_no_file_but_ours_is_sent(bench: Bench, path: str) -> None:
    answer = bench.stranger().get(path)
    assert answer.status_code == 404


def test_trouble_shows_no_traceback(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = bench.person("Ada")

    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(bench.store.campaigns, "of_person", fail)
    http = bench.stranger(raise_server_exceptions=False)
    http.cookies = ada.http.cookies
    answer = http.get("/.json")
    assert (answer.status_code, answer.json()["reason"]) == (500, "trouble")
    assert "secret" not in answer.text


def test_the_language_of_the_reader(bench: Bench) -> None:
    bench.store.people.add("花子", password=PASSWORD, language="ja")
    browser = Browser(bench.app, 0)
    assert (
        browser.get("/session.json", headers={"Accept-Language": "fr,ja;q=0.8,en;q=0.5"}).json()["language"]
        == "ja"
    )
    assert browser.get("/session.json", headers={"Accept-Language": "x;q=y,,"}).json()["language"] == "en"
    browser.sign_in("花子")
    assert browser.get("/session.json").json()["language"] == "ja"
    assert browser.get("/session.json?lang=en").json()["language"] == "en"
    assert browser.get("/session.json").json()["language"] == "en"
    assert browser.get("/session.json?lang=xx").json()["language"] == "en"


def test_a_long_chat_is_one_page(bench: Bench) -> None:
    name, ada = bench.campaign(documents=[chat("long", turns=60)]), bench.person("Ada")
    unit = ada.next(name)["unit"]
    for number in range(unit, unit + 59):
        ada.save(name, number, {"breakdown": "O"})
    answer = ada.get(f"/c/{name}/u/{unit + 59}.json")
    assert len(answer.json()["context"]) == 118
    assert answer.headers["content-encoding"] == "gzip"
