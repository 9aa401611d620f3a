"""The workbench as a process: it starts quickly and ends cleanly."""

from __future__ import annotations

import json
import signal
import socket
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import UsageError
from lapsus.store import open_store
from lapsus.web.server import listen
from tests.patience import LONG
from tests.web.server_process import Running


def opened(address: str, browser: urllib.request.OpenerDirector | None = None) -> Any:
    opener = browser or urllib.request.build_opener()
    with opener.open(address, timeout=LONG) as answer:
        return json.load(answer)


def test_the_demo_starts_and_its_links_work() -> None:
    with Running("demo", "--port", "0", lines=4) as demo:
        links = demo.links("enter")
        assert len(links) == 3
        for link, (role, language) in zip(
            links, (("manager", None), ("annotator", "en"), ("annotator", "ja")), strict=True
        ):
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            home = opened(f"{link}.json", browser)
            assert (home["person"]["role"], home["person"]["language"]) == (role, language)
            finished = [campaign for campaign in home["campaigns"] if campaign["state"] == "closed"]
            assert len(finished) == (2 if role == "manager" else 0)
            for campaign in finished:
                assert campaign["everybody"]["done"] == campaign["everybody"]["wanted"] > 1000
            collecting = [campaign for campaign in home["campaigns"] if campaign["collects"]]
            assert len(collecting) == 2
            judged = [one for one in home["campaigns"] if one not in finished and one not in collecting]
            assert len(judged) == 8
            assert all(campaign["total"] for campaign in judged)
            for campaign in judged:
                unit = opened(f"{demo.address}/c/{campaign['name']}/judge.json", browser)
                assert unit["number"] in unit["unjudged"]
        assert demo.end() == (0, "Nothing of it is kept. Ctrl-C ends it.\n")


def test_the_first_start_makes_a_manager_and_later_ones_do_not(tmp_path: Path) -> None:
    database = str(tmp_path / "first.sqlite")
    with Running("serve", "--db", database, "--port", "0", lines=2) as server:
        (link,) = server.links("join")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        assert opened(f"{link}.json", browser)["invitation"]["role"] == "manager"
        token = opened(f"{server.address}/session.json", browser)["csrf"]
        form = f"name=Mori&password=correct+horse&again=correct+horse&csrf={token}".encode()
        with browser.open(f"{link}.json", form, timeout=LONG) as answer:
            assert json.load(answer)["person"]["name"] == "Mori"
        assert server.end()[0] == 0
    with open_store(database) as store:
        assert store.people.has_manager()
    with Running("serve", "--db", database, "--port", "0") as server:
        server.end()
        assert server.process.stdout is not None
        assert "join" not in server.said[0]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM)])
def test_it_ends_cleanly_while_somebody_is_connected(tmp_path: Path, how: signal.Signals, code: int) -> None:
    with Running("serve", "--db", str(tmp_path / "a.sqlite"), "--port", "0", lines=2) as server:
        host, _, port = server.address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as idle:
            idle.sendall(b"GET /session.json HTTP/1.1\r\nHost: x\r\n\r\n")
            assert idle.recv(100).startswith(b"HTTP/1.1 200")
            ended, complaints = server.end(how)
    assert ended == code
    assert "Traceback" not in complaints
    assert not (tmp_path / "a.sqlite-wal").exists()


def test_a_taken_port_is_said_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="--port"):
        listen("127.0.0.1", taken.getsockname()[1])
