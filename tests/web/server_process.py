"""A workbench in a process of its own, as people start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import regex

from tests.patience import LONG

_COMMAND = "from lapsus.cli import main; main()"
_ADDRESS = regex.compile(r"https?://[^\s.]+(?:\.\d+)*:\d+")


class Running:
    """`lapsus serve` or `lapsus demo`, up and listening."""

    def __init__(self, name: str, *arguments: str, lines: int = 1) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.said = [self.process.stdout.readline() for _ in range(lines)]
        self.seconds = time.perf_counter() - begun
        found = _ADDRESS.search(self.said[0])
        assert found is not None, self.process.communicate()
        self.address = found.group()

    def links(self, word: str) -> Sequence[str]:
        """The addresses it printed that go to such a page."""
        return regex.findall(rf"{regex.escape(self.address)}/{word}/\S+", "".join(self.said))

    def end(self, how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; how it ended, and what it complained of."""
        self.process.send_signal(how)
        _, complaints = self.process.communicate(timeout=LONG)
        return self.process.returncode, complaints

    def workers(self) -> list[int]:
        """The processes that answer, where several do."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def kill(self) -> None:
        """At once, with all its processes, as when the machine fails."""
        os.killpg(self.process.pid, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()
        self.process.communicate()
