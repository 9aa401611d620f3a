"""Requests sent one behind the other without waiting for answers: a few are answered, many end the connection."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.patience import LONG
from tests.web.server_process import Running

MOST_WAITING = 16
_ALIVE = b"GET /alive.json HTTP/1.1\r\nHost: x\r\n\r\n"
_LAST = b"GET /alive.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("pipelining") / "store.sqlite"
    with Running("serve", "--db", f"sqlite:///{path}", "--port", "0") as running:
        yield running


def connect(server: Running) -> socket.socket:
    found = urlsplit(server.address)
    return socket.create_connection((found.hostname or "", found.port or 0), timeout=LONG)


def most_memory(server: Running) -> int:
    """Megabytes that the server ever held."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def test_a_few_requests_are_all_answered(server: Running) -> None:
    with connect(server) as conn:
        conn.sendall(_ALIVE * MOST_WAITING + _LAST)
        found = b"".join(iter(lambda: conn.recv(65536), b""))
    assert found.count(b"HTTP/1.1 200 OK") == MOST_WAITING + 1


@pytest.mark.parametrize(
    "request_bytes",
    [_ALIVE, b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000],
    ids=["small", "with bodies"],
)
def test_many_requests_that_nobody_reads_cost_little(server: Running, request_bytes: bytes) -> None:
    """Forty megabytes on one connection, whose answers are never read."""
    before = most_memory(server)
    with connect(server) as conn:
        conn.settimeout(5)
        # The server hangs up, reads no further, or keeps up with it.
        with suppress(ConnectionError, TimeoutError):
            conn.sendall(request_bytes * (40_000_000 // len(request_bytes)))
    assert most_memory(server) - before < 40
    test_a_few_requests_are_all_answered(server)
