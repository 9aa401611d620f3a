"""A workbench for others: proxies, sign-in elsewhere, what operators see, and several processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from lapsus.errors import UsageError
from lapsus.store import Plan, Store, open_store
from lapsus.web.app import create_app
from lapsus.web.deployment import Deployment, OidcProvider, check_deployment
from lapsus.web.observation import pattern
from tests.patience import LONG, until
from tests.web.helpers import PASSWORD, chat

PROXY, STRANGER = ("10.0.0.2", 50000), ("10.0.0.9", 50000)
BEHIND = Deployment(proxies=("10.0.0.0/29",), user_header="X-Remote-User")


def browser(store: Store, deployment: Deployment, peer: tuple[str, int] = PROXY, **more: Any) -> TestClient:
    return TestClient(create_app(store, deployment=deployment), client=peer, **more)


def test_a_proxy_says_who_is_signed_in_and_nobody_else_does(store: Store) -> None:
    store.people.add("Mori", "manager", password=PASSWORD)
    said = {"X-Remote-User": "mori"}
    inside = browser(store, BEHIND)
    page = inside.get("/", headers=said)
    assert page.status_code == 200
    assert "Mori" in page.text
    assert inside.get("/session.json", headers=said).json()["person"]["role"] == "manager"
    # The same cookie is worth nothing with another name, or with none.
    assert inside.get("/session.json", headers={"X-Remote-User": "eve"}).json().get("person") is None
    assert inside.get("/session.json").json().get("person") is None
    outside = browser(store, BEHIND, STRANGER)
    assert (
        outside.get("/", headers=said, follow_redirects=False)
        .headers.get("location", "")
        .startswith("/sign-in")
    )
    assert outside.get("/session.json", headers=said).json().get("person") is None
    twice = browser(store, BEHIND).get(
        "/session.json", headers=[("X-Remote-User", "mori"), ("X-Remote-User", "eve")]
    )
    assert twice.json().get("person") is None


def test_whom_a_proxy_names_first_becomes_an_annotator_and_the_disabled_stay_out(store: Store) -> None:
    said = {"X-Remote-User": "花子"}
    raw = {b"X-Remote-User": "花子".encode()}
    inside = browser(store, BEHIND)
    assert inside.get("/sign-in", headers=raw, follow_redirects=False).status_code == 303
    made = store.people.named("花子")
    assert (made.role, made.has_password) == ("annotator", False)
    store.people.set_disabled(made.id, True)
    assert browser(store, BEHIND).get("/sign-in", headers=raw).status_code == 403
    assert len(store.people.all()) == 1, said


def test_names_of_a_proxy_are_not_cut_off_into_another_ones(store: Store) -> None:
    ada = store.people.add("a" * 200, "manager")
    client = browser(store, BEHIND)
    assert client.get("/sign-in", headers={"X-Remote-User": f"{ada.name}b"}).status_code == 422
    assert client.get("/session.json", headers={"X-Remote-User": f"{ada.name}b"}).json().get("person") is None


def test_a_session_ends_with_the_proxys_even_after_a_new_password(store: Store) -> None:
    said, client = {"X-Remote-User": "ada"}, browser(store, BEHIND)
    client.get("/", headers=said)
    token = client.get("/session.json", headers=said).json()["csrf"]
    form = {"do": "password", "new": PASSWORD, "again": PASSWORD, "csrf": token}
    assert client.post("/account", data=form, headers=said, follow_redirects=False).status_code == 303
    assert client.get("/session.json", headers=said).json()["person"]["name"] == "ada"
    assert client.get("/session.json").json().get("person") is None


def test_what_a_proxy_says_of_the_way_counts_only_from_that_proxy(store: Store) -> None:
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
    for peer, is_secure in ((PROXY, True), (STRANGER, False)):
        cookie = browser(store, BEHIND, peer).get("/sign-in", headers=forwarded).headers["set-cookie"]
        assert ("secure" in cookie.lower()) is is_secure
    plain = browser(store, Deployment(), ("127.0.0.1", 1)).get("/sign-in", headers=forwarded)
    assert "secure" not in plain.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Deployment(proxies=("everybody",)), "no address of a proxy"),
        (Deployment(user_header="X-User"), "proxy that you name"),
        (Deployment(proxies=("10.0.0.2",), user_header="X User"), "no name of a header"),
        (Deployment(oidc=OidcProvider("http://login.example.org", "lapsus")), "no issuer to trust"),
        (Deployment(proxies=("0.0.0.0/0",), user_header="X-User"), "everybody"),
        (Deployment(proxies=("10.0.0.2", "::/0"), user_header="X-User"), "everybody"),
        (Deployment(oidc=OidcProvider("http://localhost.example.org", "lapsus")), "no issuer to trust"),
        (Deployment(oidc=OidcProvider("http://localhost:80@example.org/", "lapsus")), "no issuer to trust"),
        (Deployment(oidc=OidcProvider("https://", "lapsus")), "no issuer to trust"),
        (Deployment(oidc=OidcProvider("https://[", "lapsus")), "no issuer to trust"),
    ],
)
def test_settings_that_let_in_whoever_likes_are_refused(wrong: Deployment, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_deployment(wrong)


def sign_in(client: TestClient, subject: str, back: str = "") -> Any:
    """Go to the provider, say who one is there, and come back."""
    left = client.get(f"/sign-in/provider?next={back}", follow_redirects=False)
    assert left.status_code == 303, left.text
    there = httpx2.post(left.headers["location"], data={"sub": subject}, follow_redirects=False)
    returned = urlsplit(there.headers["location"])
    return client.get(f"{returned.path}?{returned.query}", follow_redirects=False)


def test_people_sign_in_at_a_provider(store: Store, issuer: str) -> None:
    store.people.add("alice", "manager", password=PASSWORD)
    deployment = check_deployment(Deployment(oidc=OidcProvider(issuer, "lapsus", "secret", "Campus")))
    client = browser(store, deployment, base_url="http://testserver")
    assert "Sign in with Campus" in client.get("/sign-in").text
    assert "Campus でサインイン" in client.get("/sign-in?lang=ja").text
    came = sign_in(client, "alice", "/?x=1")
    assert (came.status_code, came.headers["location"]) == (303, "/?x=1")
    me = client.get("/session.json").json()["person"]
    # Whoever calls themselves alice there is not our alice.
    assert me["role"] == "annotator"
    assert me["name"] == "alice (2)"
    again = browser(store, deployment)
    sign_in(again, "alice")
    assert again.get("/session.json").json()["person"]["id"] == me["id"]
    assert len(store.people.all()) == 2


def test_answers_of_a_provider_that_do_not_belong_here_let_nobody_in(store: Store, issuer: str) -> None:
    deployment = Deployment(oidc=OidcProvider(issuer, "lapsus", "secret"))
    client, other = browser(store, deployment), browser(store, deployment)
    left = client.get("/sign-in/provider", follow_redirects=False)
    there = httpx2.post(left.headers["location"], data={"sub": "eve"}, follow_redirects=False)
    returned = urlsplit(there.headers["location"])
    # In a browser that never asked, and in one that asked for something else.
    assert other.get(f"{returned.path}?{returned.query}").status_code == 400
    other.get("/sign-in/provider", follow_redirects=False)
    assert other.get(f"{returned.path}?{returned.query}").status_code == 400
    # A code of another request: the nonce and the verifier do not fit.
    mine = client.get("/sign-in/provider?next=https://evil.example/", follow_redirects=False)
    state = parse_qs(urlsplit(mine.headers["location"]).query)["state"][0]
    code = parse_qs(returned.query)["code"][0]
    assert client.get(f"/sign-in/provider/back?code={code}&state={state}").status_code == 502
    assert client.get(f"/sign-in/provider/back?error=access_denied&state={state}").status_code == 502
    assert store.people.all() == []
    gone = browser(store, Deployment(oidc=OidcProvider("http://127.0.0.1:9", "lapsus")))
    assert gone.get("/sign-in/provider").status_code == 502
    assert browser(store, Deployment()).get("/sign-in/provider").status_code == 404


def test_a_provider_and_a_proxy_below_a_path_do_not_open_each_others_accounts(
    store: Store, issuer: str
) -> None:
    """Whoever may choose a name at the provider waits in vain for the one whom the proxy calls so."""
    provider = OidcProvider(issuer, "lapsus", "secret")
    deployment = check_deployment(
        Deployment(BEHIND.proxies, BEHIND.user_header, provider, path="/tools/lapsus")
    )
    eve, boss = browser(store, deployment), browser(store, deployment)
    came = sign_in(eve, "boss", "/tools/lapsus/account")
    assert (came.status_code, came.headers["location"]) == (303, "/tools/lapsus/account")
    assert "Path=/tools/lapsus;" in came.headers["set-cookie"]
    eves = eve.get("/tools/lapsus/session.json").json()["person"]
    said = {"X-Remote-User": "boss"}
    bosss = boss.get("/tools/lapsus/session.json", headers=said)
    assert bosss.json().get("person") is None
    assert boss.get("/tools/lapsus/", headers=said).status_code == 200
    bosss = boss.get("/tools/lapsus/session.json", headers=said).json()["person"]
    assert (eves["name"], bosss["name"]) == ("boss", "boss (2)")
    assert eves["id"] != bosss["id"]
    # A session that began at the provider ends where a proxy names somebody, and the other way round.
    assert eve.get("/tools/lapsus/session.json", headers=said).json().get("person") is None
    assert boss.get("/tools/lapsus/session.json").json().get("person") is None


def test_no_secret_is_written_of_an_address() -> None:
    scope = {"endpoint": 1, "path": "/join/SECRETSECRET.json", "path_params": {"token": "SECRETSECRET"}}
    assert pattern(scope) == "/join/{token}.json"
    assert (
        pattern({"endpoint": 1, "path": "/c/a/u/7", "path_params": {"name": "a", "unit": 7}})
        == "/c/{name}/u/{unit}"
    )
    assert pattern({"path": "/wp-login.php"}) == "unknown"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, str, subprocess.Popen[str], Path]]:
    """Two processes on one database, as an operator starts them."""
    database = tmp_path / "served.sqlite"
    with open_store(database) as store:
        store.campaigns.create(Plan(name="both", scheme="breakdown", order="given"))
        store.campaigns.add_documents("both", [chat(f"d{number}") for number in range(20)])
        token = store.access.add_token(store.people.add("Ada").id, "test")
    options = [
        "--port",
        "0",
        "--workers",
        "2",
        "--metrics-port",
        "0",
        "--request-log",
        "--backup-to",
        str(tmp_path / "b"),
    ]
    command = [sys.executable, "-m", "lapsus", "serve", "--db", str(database), *options]
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None, (tmp_path / "log").read_text()
        yield address.group(), token, process, tmp_path
    finally:
        process.terminate()
        process.wait(LONG)
        process.stdout.close()
        log.close()


def test_several_processes_answer_and_one_that_dies_comes_back(
    served: tuple[str, str, subprocess.Popen[str], Path],
) -> None:
    root, token, process, folder = served
    headers = {"Authorization": f"Bearer {token}"}
    children = [int(pid) for pid in _children(process.pid)]
    assert len(children) >= 2
    log = folder / "log"
    with ThreadPoolExecutor(8) as many:
        while len(_answering(log)) < 2:
            list(many.map(lambda _: httpx2.get(f"{root}/healthy.json", timeout=LONG), range(8)))
    api = f"{root}/api/v1/campaigns/both"
    done = []
    for number in range(40):
        if number == 20:
            os.kill(max(children), 9)
        with httpx2.Client(headers=headers, timeout=LONG, transport=httpx2.HTTPTransport(retries=5)) as http:
            unit = http.get(f"{api}/next").json()["unit"]
            body = {"key": f"k{number}", "answers": {"breakdown": "O"}}
            saved = http.post(f"{api}/units/{unit}/judgments", json=body)
            assert saved.status_code in (200, 201), saved.text
            done.append(unit)
    assert len(set(done)) == 40
    said = log.read_text()
    figures = re.search(r"http://\S+/metrics", said)
    assert figures is not None
    text = httpx2.get(figures.group()).text
    assert re.search(r'lapsus_requests_total\{.*route="/api/v1/campaigns/\{campaign\}/next".*\} ', text)
    assert token not in said
    until(lambda: list((folder / "b").glob("lapsus-*.zip")))


def test_a_single_process_ends_in_order_when_the_terminal_goes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lapsus", "serve", "--db", str(tmp_path / "a.sqlite"), "--port", "0"]
    told = signal.SIGHUP

    def heeds_it() -> None:
        # Whoever runs the tests may have told their children to ignore it.
        signal.signal(told, signal.SIG_DFL)

    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds_it
    ) as process:
        try:
            assert process.stdout is not None
            assert "Lapsus is at" in process.stdout.readline()
            process.send_signal(told)
            _, complaints = process.communicate(timeout=LONG)
        finally:
            process.kill()
    assert process.returncode == -told
    assert "Traceback" not in complaints


def _answering(log: Path) -> set[int]:
    """The processes that have answered a request."""
    lines = log.read_text().splitlines(keepends=True)
    said = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]
    return {line["process"] for line in said if "route" in line}


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
