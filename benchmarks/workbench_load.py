"""Clients in a process of their own: each sends its requests one after the other and notes how long each took.

Started by `workbench.py` with a plan on standard input; says on standard output what happened. One thread and bare
sockets, so that the client is never what one measures: it does a tenth of a millisecond of work for a request.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from typing import TypedDict


class Plan(TypedDict):
    """What to send."""

    host: str
    port: int
    clients: list[list[str]]
    """For each client its requests, whole and in base64."""
    seconds: float
    """After this long nothing more is sent."""


class Outcome(TypedDict):
    """What came back."""

    seconds: float
    """From the first request to the last answer."""
    latencies: list[float]
    """Of the requests that were answered as they should be."""
    sizes: list[int]
    """Bytes of each of these answers, headers and all."""
    refused: list[str]
    """The first line of all other answers."""


class Client(asyncio.Protocol):
    """One connection. It stays open as long as the server lets it."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.answer: asyncio.Future[bytes] | None = None
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  it is one of ours
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if is_whole(self.buffer):
            self._finish()

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self._finish()

    def _finish(self) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(bytes(self.buffer))

    async def send(self, host: str, port: int, request: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        if self.transport is None or self.transport.is_closing():
            await loop.create_connection(lambda: self, host, port)
        assert self.transport is not None  # noqa: S101  just connected
        self.buffer.clear()
        self.answer = loop.create_future()
        self.transport.write(request)
        answer = await self.answer
        if b"\r\nconnection: close\r\n" in answer[:2000].lower() and self.transport is not None:
            self.transport.close()
            self.transport = None
        return answer


def is_whole(answer: bytes | bytearray) -> bool:
    """Whether an answer is there to its end; one without a length ends with its connection."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = bytes(answer[:end]).lower()
    _, found, rest = head.partition(b"\r\ncontent-length:")
    if found:
        return len(answer) >= end + 4 + int(rest.split(b"\r\n", 1)[0])
    return b"\r\ntransfer-encoding: chunked" in head and answer.endswith(b"0\r\n\r\n")


async def run(plan: Plan) -> Outcome:
    """All clients at once."""
    outcome = Outcome(seconds=0.0, latencies=[], sizes=[], refused=[])
    begun = time.perf_counter()

    async def work(requests: list[bytes]) -> None:
        client = Client()
        for request in requests:
            sent = time.perf_counter()
            if sent - begun > plan["seconds"]:
                break
            answer = await client.send(plan["host"], plan["port"], request)
            taken = time.perf_counter() - sent
            first = answer.partition(b"\r\n")[0]
            if first[9:10] == b"2":
                outcome["latencies"].append(taken)
                outcome["sizes"].append(len(answer))
            else:
                outcome["refused"].append(first.decode("latin-1") or "no answer")
        if client.transport is not None:
            client.transport.close()

    ready = [[base64.b64decode(request) for request in requests] for requests in plan["clients"]]
    begun = time.perf_counter()
    await asyncio.gather(*(work(requests) for requests in ready))
    outcome["seconds"] = time.perf_counter() - begun
    return outcome


def main() -> None:
    json.dump(asyncio.run(run(json.load(sys.stdin))), sys.stdout)


if __name__ == "__main__":
    main()
