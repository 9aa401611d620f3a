"""A workbench in a process of its own, as people start it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import regex

_COMMAND = "import typer; from lapsus.cli.{name} import {name}_command; typer.run({name}_command)"
_ADDRESS = regex.compile(r"https?://[^\s.]+(?:\.\d+)*:\d+")


class Running:
    """`lapsus serve` or `lapsus demo`, up and listening."""

    def __init__(self, name: str, *arguments: str, lines: int = 1) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND.format(name=name), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
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
        _, complaints = self.process.communicate(timeout=20)
        return self.process.returncode, complaints

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
