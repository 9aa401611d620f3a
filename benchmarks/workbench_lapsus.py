"""Lapsus, filled and started as a user would, and the requests that a browser sends it."""

from __future__ import annotations

import gzip
import http.cookiejar
import json
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import regex

from lapsus.model import Entry, Judgment
from lapsus.schemes import load_scheme
from lapsus.store import Plan, Reservation, Store, open_store
from workbench_material import CLIENTS, PEOPLE, TURNS, Sizes, answer, chats, person
from workbench_process import Server, free_port, request

CAMPAIGN, READING = "chats", "reading"
PASSWORD = "a word for all of them"  # noqa: S105
_ADDRESSES = regex.compile(r"""(?<=["'])/(?:static|words|schemes)/[^"'\s<>]+(?=["'])""")
_IMPORTS = regex.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+\.js)["']""")
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "*/*",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br",
}


def fill(database: str, sizes: Sizes, level: int) -> dict[str, list[int]]:
    """A campaign with so many judgments. Who has which units to judge next."""
    with open_store(database) as store:
        for name in PEOPLE:
            store.people.add(name, password=PASSWORD)
        for campaign, batch in ((CAMPAIGN, sizes.free), (READING, 1)):
            plan = Plan(
                name=campaign, scheme="breakdown", per_unit=CLIENTS, batch=batch, order="given",
                minutes=100_000,
            )  # fmt: skip
            store.campaigns.create(plan)
        store.imports.add_judgments(CAMPAIGN, _entries(sizes, level), check=False)
        store.campaigns.add_documents(READING, [entry.document for entry in _entries(sizes, 0)][: sizes.free])
        return {name: _reserve(store, name, sizes) for name in PEOPLE}


def _entries(sizes: Sizes, level: int) -> Iterator[Entry]:
    """All chats, those judged first."""
    version, left = load_scheme("breakdown").version, level
    for number, document in enumerate(chats(sizes)):
        said = []
        for place in range(TURNS):
            for who in range(min(CLIENTS, left)):
                answers = {"breakdown": answer(who, number * TURNS + place)}
                said.append(
                    Judgment(document.id, str(2 * place + 1), person(who), "breakdown", version, answers)
                )
                left -= 1
        yield Entry(document.id, document, tuple(said))


def _reserve(store: Store, name: str, sizes: Sizes) -> list[int]:
    given = store.assignment.next_units(store.people.named(name).id, CAMPAIGN)
    if not isinstance(given, Reservation):
        raise TypeError(f"no units for {name}: {given}")
    return [unit.number for unit in given.units]


class Lapsus:
    """A running one, with everybody signed in as in a browser: with cookie and token."""

    def __init__(self, command: str, folder: Path, database: str, units: dict[str, list[int]]) -> None:
        self.units = units
        port = free_port()
        arguments = [command, "serve", "--db", database, "--port", str(port)]
        self.server = Server(arguments, port, "/healthy.json", folder)
        self._headers: dict[str, dict[str, str]] = {}

    def headers(self, name: str) -> dict[str, str]:
        """What the browser of somebody sends along."""
        if name not in self._headers:
            self._headers[name] = {**_HEADERS, **self._sign_in(name)}
        return self._headers[name]

    def _sign_in(self, name: str) -> dict[str, str]:
        root = f"http://127.0.0.1:{self.server.port}"
        jar = http.cookiejar.CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        token = _json(browser, f"{root}/session.json")["csrf"]
        form = urllib.parse.urlencode({"name": name, "password": PASSWORD, "csrf": token}).encode()
        _json(browser, f"{root}/sign-in.json", form)
        token = _json(browser, f"{root}/session.json")["csrf"]
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)
        return {"Cookie": cookies, "X-CSRF-Token": str(token)}

    def saves(self, number: int, first: int, count: int) -> list[bytes]:
        """What a client sends to save some of its units."""
        name = person(number)
        headers = self.headers(name)
        return [
            request(
                "POST",
                f"/api/v1/campaigns/{CAMPAIGN}/units/{unit}/judgments",
                headers,
                _body(f"{name}-{unit}", answer(number, unit)),
            )
            for unit in self.units[name][first : first + count]
        ]

    def views(self, number: int) -> list[bytes]:
        """A client opens each of its chats at its first turn, as everybody does before judging."""
        name = person(number)
        return [
            request("GET", f"/api/v1/campaigns/{CAMPAIGN}/units/{unit}", self.headers(name))
            for unit in self.units[name][::TURNS]
        ]

    def reading_unit(self) -> int:
        """A unit of the first client in the campaign whose pages are looked at."""
        name = person(0)
        address = f"http://127.0.0.1:{self.server.port}/api/v1/campaigns/{READING}/next"
        # Our own server, on this machine.
        asked = urllib.request.Request(address, headers=self.headers(name))  # noqa: S310
        with urllib.request.urlopen(asked, timeout=30) as found:  # noqa: S310
            return int(json.load(found)["unit"])

    def wire_bytes(self, path: str) -> int:
        """What goes over the wire when the page is opened for the first time, with all that it asks for."""
        wanted, total = [path], 0
        for address in wanted:
            head, body = self._get(address)
            total += len(head) + len(body)
            if b"content-encoding: gzip" in head.lower():
                body = gzip.decompress(body)
            found = _ADDRESSES.findall(body.decode("utf-8", "replace"))
            imports = _IMPORTS.findall(body.decode("utf-8", "replace")) if address.endswith(".js") else []
            more = [*found, *(urllib.parse.urljoin(address, name) for name in imports)]
            wanted += [name for name in dict.fromkeys(more) if name not in wanted]
        return total

    def _get(self, path: str) -> tuple[bytes, bytes]:
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as connection:
            headers = {**self.headers(person(0)), "Connection": "close"}
            connection.sendall(request("GET", path, headers))
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{path}: {head[:40]!r}")
        return head, body

    def pages(self, number: int, path: str, count: int) -> list[bytes]:
        """The same page asked for several times."""
        return [request("GET", path, self.headers(person(number)))] * count


def _json(browser: urllib.request.OpenerDirector, address: str, form: bytes | None = None) -> dict[str, str]:
    with browser.open(address, form, timeout=30) as found:
        result: dict[str, str] = json.load(found)
    return result


def _body(key: str, label: str) -> bytes:
    return msgspec.json.encode(
        {
            "key": key,
            "answers": {"breakdown": label},
            "submitted": True,
            "given_at": "2026-01-01T00:00:00Z",
            "seconds": 2.5,
            "client": "browser",
            "base_revision": 0,
        }
    )
