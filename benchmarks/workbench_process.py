"""A server in a process of its own: when it answers, what memory it takes, and how it ends."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from workbench_load import Outcome

STARTING = 120.0
"""Seconds after which a server that does not answer is given up."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Server:
    """A process that listens on a port of this machine."""

    def __init__(self, command: Sequence[str], port: int, path: str, folder: Path) -> None:
        self.port, self.log = port, folder / "server.log"
        begun = time.perf_counter()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        while not self._answers(path):
            if self.process.poll() is not None or time.perf_counter() - begun > STARTING:
                self.stop()
                raise RuntimeError(f"the server did not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.01)
        self.start_seconds = time.perf_counter() - begun

    def _answers(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return int(answer.status) == 200
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    @property
    def megabytes(self) -> float:
        """Memory in use, of the process and whatever it started."""
        return sum(megabytes_of(pid) for pid in family(self.process.pid))

    @property
    def processor_seconds(self) -> float:
        """What the server has computed so far, without whatever it waited for."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End it and all that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(20)
        except ProcessLookupError:
            pass
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def send(self, clients: Sequence[Sequence[bytes]], seconds: float = 600.0) -> Outcome:
        """Let clients send their requests, in a process of its own."""
        plan = {
            "host": "127.0.0.1",
            "port": self.port,
            "clients": [[base64.b64encode(one).decode() for one in requests] for requests in clients],
            "seconds": seconds,
        }
        command = [sys.executable, str(Path(__file__).with_name("workbench_load.py"))]
        done = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the clients failed: {done.stderr[-2000:]}{self.log.read_text()[-2000:]}")
        outcome: Outcome = json.loads(done.stdout)
        return outcome


def family(pid: int) -> list[int]:
    """A process and all that came from it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += family(int(child))
    return found


def megabytes_of(pid: int) -> float:
    """What a process has of its own, and its share of what several use together. Nothing, if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")) / 1e6


def request(
    method: str, path: str, headers: dict[str, str], body: bytes = b"", kind: str = "application/json"
) -> bytes:
    """A request as it goes over the wire."""
    all_headers = {"Host": "127.0.0.1", "Connection": "keep-alive", **headers}
    if method == "POST":
        all_headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def folder_megabytes(folder: Path) -> float:
    """What a folder takes, without what Python compiled later."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6
