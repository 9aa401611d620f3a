"""Threads that meet a class for the first time, all at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import regex

import lapsus
from tests.patience import LONG

_THREADS = """
import sys, threading
import msgspec
from lapsus.model.frozen import converted, decoder

sys.setswitchinterval(1e-6)
data = b'{"inner": {"a": 1, "b": "x"}, "many": [{"a": 1}], "named": {"x": [{"a": 2}]}, "c": 1.5, "d": 3}'
for number in range(300):
    inner = msgspec.defstruct("Inner", [("a", int, 0), ("b", str, "")])
    fields = [("inner", inner), ("many", tuple[inner, ...]), ("named", dict[str, list[inner]] | None)]
    outer = msgspec.defstruct("Outer", [*fields, ("c", float, 0.0), ("d", int, 1)])
    ready = threading.Barrier(8)

    def work():
        ready.wait()
        assert READ(outer).inner.a == 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("all through")
"""
_TYPED = regex.compile(r"json\.decode\([^\n]*type=(?!dict\b)")


@pytest.mark.parametrize("read", ["decoder(kind).decode(data)", "converted(msgspec.json.decode(data), kind)"])
def test_all_get_through_alive(read: str) -> None:
    """In a process of its own, for what this is about ends a process without a word."""
    work = f"READ = lambda kind: {read}\n{_THREADS}"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stdout) == (0, "all through\n"), done.stderr


def test_what_runs_in_many_threads_takes_its_decoders_there() -> None:
    """The store and the workbench, and what reads the files that people upload."""
    source = Path(lapsus.__file__).parent
    rooms = ("store", "web", "formats", "schemes", "annotators")
    files = [file for room in rooms for file in (source / room).rglob("*.py")]
    assert len(files) > 20
    assert [str(file) for file in files if _TYPED.search(file.read_text(encoding="utf-8"))] == []
