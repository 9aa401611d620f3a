"""A command that is told to end leaves nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WAITS = """
import signal, time
from pathlib import Path
from lapsus import cli
import lapsus.cli.app
from lapsus.formats.sink import put_in_place

# Whoever runs the tests may have had these ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

def work():
    with put_in_place(Path("out.jsonl")) as draft:
        draft.write_text("half")
        print("ready", flush=True)
        time.sleep(300)

lapsus.cli.app.app = work
cli.main()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_nothing_half_written_is_left(name: str, tmp_path: Path) -> None:
    number = getattr(signal, name)
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert len(list(tmp_path.iterdir())) == 1
        os.kill(process.pid, number)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        # As a service manager wants it: ended by the signal, not failed.
        assert process.returncode == -number or (name == "SIGINT" and process.returncode not in (None, 0))
        assert list(tmp_path.iterdir()) == []
    finally:
        process.kill()
        process.communicate()
