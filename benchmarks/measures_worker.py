"""One side of a race in a process of its own, asked over a pipe, so that two sides can take turns.

As a program (`measures_worker.py LIBRARY MODULE TASK FOLDER`) it imports the library, prepares the task that the
module knows under that name, and then does what it is asked, line by line. It runs under any Python that has
the library; the data are arrays in the folder.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

Results: TypeAlias = dict[str, Any]
"""What an action found: named numbers or arrays."""


class WorkerError(Exception):
    """A worker ended before it answered; the message is its last word."""


class Worker:
    """A worker process, for as long as it is needed."""

    def __init__(self, python: Path, library: str, module: str, task: str, folder: Path) -> None:
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- closed with the worker
        self._results = folder / f"{module}-{task}.npz"
        self._process = subprocess.Popen(
            [python, __file__, library, module, task, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        self.import_seconds = self._answer()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        self._complaints.close()

    def seconds(self) -> float:
        """Act once: how long it took."""
        return self._ask("time")

    def peak_bytes(self) -> float:
        """Act once: how many bytes were in use at most, on top of the data."""
        return self._ask("memory")

    def results(self) -> Results:
        """What the last action found."""
        import numpy as np

        self._ask("results")
        with np.load(self._results) as found:
            return dict(found)

    def _ask(self, what: str) -> float:
        # One that has ended is found out when there is no answer.
        with contextlib.suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(f"{what}\n")
                self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> float:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if line:
            return float(json.loads(line))
        self._process.wait()
        self._complaints.seek(0)
        words = self._complaints.read().strip().splitlines() or ["it ended without a word"]
        raise WorkerError(words[-1])


def _serve(library: str, module: str, task: str, folder: Path) -> None:
    # Whatever a library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    start = time.perf_counter()
    importlib.import_module(library)
    answers.write(f"{time.perf_counter() - start}\n")
    prepare = importlib.import_module(module).TASKS[task]
    action = prepare(folder)
    found: Results = {}
    for line in sys.stdin:
        if line == "results\n":
            _save(folder / f"{module}-{task}.npz", found)
            answers.write("0\n")
            continue
        if line == "memory\n":
            tracemalloc.start()
        start = time.perf_counter()
        found = action()
        figure = time.perf_counter() - start
        if line == "memory\n":
            figure = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        answers.write(f"{figure}\n")


def _save(path: Path, found: Results) -> None:
    # Here, not above: importing it is part of what importing a library costs.
    import numpy as np

    np.savez(path, **found)


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
