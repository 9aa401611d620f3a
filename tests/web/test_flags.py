"""The talk about a flagged unit: its author and those who look after the campaign, and nobody else."""

from __future__ import annotations

from typing import Any

from tests.web.helpers import PASSWORD, Bench, Browser, new_key


def talk(browser: Browser, name: str, **form: str) -> Any:
    answer = browser.http.post(
        f"/c/{name}/flags.json", data={"csrf": browser.csrf, **form}, follow_redirects=False
    )
    return answer.status_code


def on_home(browser: Browser) -> list[int]:
    return [campaign["talk"] for campaign in browser.get("/.json").json()["campaigns"]]


def test_a_flag_is_answered_read_and_settled(bench: Bench) -> None:
    name = bench.campaign(per_unit=2)
    ada, bob, mori = bench.person("Ada"), bench.person("Bob"), bench.person("Mori", "manager")
    unit = ada.next(name)["unit"]
    path = f"/api/v1/campaigns/{name}/units/{unit}/flags"
    ada.post(path, {"key": new_key(), "text": "what is this?"})
    (flag,) = ada.get(f"/c/{name}/u/{unit}.json").json()["flags"]
    assert (flag["own"], flag["settled"], flag["replies"]) == (True, False, [])
    assert (on_home(ada), on_home(mori)) == ([0], [1])
    reply = {"key": new_key(), "text": "a joke", "flag": flag["id"]}
    assert mori.post(path, reply).status_code == mori.post(path, reply).status_code == 201
    (flag,) = ada.get(f"/c/{name}/u/{unit}.json").json()["flags"]
    assert [(one["name"], one["text"], one["own"]) for one in flag["replies"]] == [("Mori", "a joke", False)]
    assert flag["unread"]
    assert on_home(ada) == [1]
    assert "Flags answered: 1" in ada.get("/").text
    this = {"flag": str(flag["id"])}
    assert talk(ada, name, do="seen", **this) == 303
    assert on_home(ada) == [0]
    assert talk(mori, name, do="settle", **this) == talk(mori, name, do="settle", **this) == 303
    assert on_home(mori) == [0]
    assert talk(ada, name, do="reply", text="not quite", **this) == 303
    assert on_home(mori) == [1], "whoever asked goes on, so it is open again"
    # Others learn nothing of it, not even that it is there.
    bob.next(name)
    assert bob.get(f"/c/{name}.json").json()["flags"] == []
    assert bob.post(path, reply | {"key": new_key()}).status_code == 404
    assert talk(bob, name, do="settle", **this) == talk(bob, name, do="settle", flag="99") == 404
    assert talk(ada, name, do="dance", **this) == 422
    assert talk(ada, name, do="reply", flag="x") == 404


def test_a_thread_needs_our_own_page(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    bench.store.flags.add("k", name, 1, ada.id, "so?")
    answer = ada.http.post(f"/c/{name}/flags", data={"flag": "1", "do": "settle"}, follow_redirects=False)
    assert answer.status_code == 403
    assert bench.store.flags.all(name)[0].settled is None


def test_messages_name_their_campaign_and_stay_in_it(bench: Bench) -> None:
    tea, rain = (
        bench.campaign(name=name, title={"en": f"About {name}", "ja": f"{name}の話"})
        for name in ("tea", "rain")
    )
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    for name in (tea, rain):
        ada.next(name)
    bench.store.messages.send(tea, "Mind the gap.", by=mori.id)
    for path in ("/", f"/c/{tea}"):
        page = ada.get(path).text
        assert "Mind the gap." in page
        assert "About tea · from Mori" in page
        assert "Got it" in page
    assert "teaの話・Mori さんから" in ada.get(f"/c/{tea}?lang=ja").text
    for path in (f"/c/{rain}", "/account", "/challenges"):
        assert "Mind the gap." not in ada.get(path).text


def test_an_account_is_changed_by_who_knows_the_password(bench: Bench) -> None:
    ada, elsewhere = bench.person("Ada"), Browser(bench.app, 0)
    elsewhere.sign_in("Ada")

    def change(**form: str) -> Any:
        return ada.http.post("/account", data={"csrf": ada.csrf, **form}, follow_redirects=False)

    new = "quite another one"
    assert change(do="password", now="not it", new=new, again=new).status_code == 401
    assert change(do="password", now=PASSWORD, new=new, again="a third").status_code == 422
    assert change(do="password", now=PASSWORD, new="short", again="short").status_code == 422
    assert elsewhere.get("/.json").status_code == 200
    assert change(do="password", now=PASSWORD, new=new, again=new).status_code == 303
    assert ada.get("/.json").status_code == 200, "who changed it stays signed in"
    assert elsewhere.get("/.json").status_code == 401
    assert elsewhere.sign_in("Ada", new).status_code == 200
    ada.csrf = ada.token()
    assert change(do="looks", language="ja", theme="dark").headers["location"] == "/account?told=looks"
    assert '<html lang="ja" data-theme="dark">' in ada.get("/").text
    assert bench.store.people.get(ada.id).language == "ja"
    assert 'data-theme="dark"' in ada.get(f"/c/{bench.campaign()}/guideline").text
    change(do="looks", language="en", theme="")
    assert '<html lang="en">' in ada.get("/").text
    assert change(do="dance").status_code == 422
    for _ in range(11):
        last = change(do="password", now="a guess", new=new, again=new)
    assert last.status_code == 429
