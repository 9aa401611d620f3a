"""What attacks cost a server and those who use it meanwhile: the first rows of the last table in docs/security.md.

python benchmarks/attacks.py
"""

from __future__ import annotations

import io
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import lapsus
from lapsus.samples import sample_path
from lapsus.store import open_store
from lapsus.web.demo import make_challenge
from workbench_process import Server, free_port

CHALLENGE, DIALOGUE = "sample-challenge", "nobody-knows-it"
FILES = 60
ALIVE = b"GET /alive.json HTTP/1.1\r\nHost: x\r\n\r\n"


def most_megabytes(server: Server) -> int:
    """What the server ever held."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def pipelined(server: Server, _: str) -> str:
    """One connection that sends requests and reads no answer."""
    sent = 0
    with socket.create_connection(("127.0.0.1", server.port)) as conn, suppress(OSError):
        conn.settimeout(10)
        for _ in range(1000):
            conn.sendall(ALIVE * 1000)
            sent += 1000 * len(ALIVE)
    return f"cut off after {sent / 1e6:.1f} MB"


def packed(turn: str) -> bytes:
    """A run of many files of a megabyte, each full of one turn."""
    many = 1_000_000 // len(turn)
    content = f'{{"dialogue-id": "{DIALOGUE}", "turns": [{", ".join([turn] * many)}]}}'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(FILES):
            archive.writestr(f"{number}.labels.json", content)
    return buffer.getvalue()


def hand_in(server: Server, secret: str, run: bytes) -> None:
    """Hand a run in; it is refused."""
    edge = "an-edge-that-is-in-no-run"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="run.zip"\r\n\r\n'
    asked = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/challenge/{CHALLENGE}/submit.json",
        head.encode() + run + f"\r\n--{edge}--\r\n".encode(),
        {"Authorization": f"Bearer {secret}", "Content-Type": f"multipart/form-data; boundary={edge}"},
    )
    try:
        urllib.request.urlopen(asked, timeout=300)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code != 422:
            raise
        return
    raise AssertionError("the run was taken")


def two_bombs(turn: dict[str, object]) -> Callable[[Server, str], str]:
    """Two such runs at a time."""
    run = packed(json.dumps(turn))

    def attack(server: Server, secret: str) -> str:
        begun = time.perf_counter()
        threads = [threading.Thread(target=hand_in, args=(server, secret, run)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return f"{len(run) // 1000} kB each, refused after {time.perf_counter() - begun:.0f} s"

    return attack


ATTACKS = {
    "41 MB of pipelined requests on one connection, answers unread": pipelined,
    "two runs of 60 MB with turns that no dialogue has": two_bombs(
        {"turn-index": 9, "labels": [{"breakdown": "O"}]}
    ),
    "two runs of 60 MB with unknown keys": two_bombs(
        {"turn-index": 9, "x": 1, "labels": [{"breakdown": "O"}]}
    ),
}


def measured(server: Server, attack: Callable[[Server, str], str], secret: str) -> tuple[str, list[float]]:
    """What came of an attack, and how long others waited meanwhile."""
    over, waits = threading.Event(), [0.0]

    def others() -> None:
        while not over.wait(0.05):
            begun = time.perf_counter()
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/session.json") as answer:
                answer.read()
            waits.append(time.perf_counter() - begun)

    watching = threading.Thread(target=others)
    watching.start()
    try:
        return attack(server, secret), waits
    finally:
        over.set()
        watching.join()


def main() -> None:
    """Each attack on a server of its own."""
    print("| what was tried | memory | what came of it; others wait |\n| --- | --- | --- |")
    for name, attack in ATTACKS.items():
        with tempfile.TemporaryDirectory(prefix="lapsus-attacks-") as folder:
            database, port = f"sqlite:///{folder}/a.sqlite", free_port()
            with open_store(database) as store:
                make_challenge(store, [list(lapsus.read(sample_path("dialogues-en")))])
                secret = store.challenges.add_team(CHALLENGE, "Kite")
            command = [sys.executable, "-m", "lapsus", "serve", "--db", database, "--port", str(port)]
            with Server(command, port, "/healthy.json", Path(folder)) as server:
                before = most_megabytes(server)
                came, waits = measured(server, attack, secret)
                after = most_megabytes(server)
        waited = f"{max(waits):.1f} s at most (median {statistics.median(waits):.2f} s)"
        print(f"| {name} | {before} → {after} MB | {came}; {waited} |", flush=True)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
