"""A pipe in place of a file: what comes through it is read where that can be, and nobody waits for ever."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from lapsus import text_files
from lapsus.schemes import load_scheme
from tests.cli.in_process import lapsus

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")


@pytest.mark.parametrize(
    "command",
    [
        "scheme check pipe.yaml",
        "scheme show pipe.yaml",
        "agree chats.jsonl --scheme pipe.yaml",
        "campaign create chat --plan pipe.yaml --db campaigns.db",
        "trust chats.jsonl --gate pipe.yaml",
        "look chats.jsonl --map pipe.yaml",
        "restore pipe.yaml --db restored.db",
        "verify pipe.yaml",
        "detect chats.jsonl --with pipe.yaml --out judged.jsonl",
        "validate pipe.yaml",
    ],
)
def test_a_pipe_that_nobody_writes_to_is_an_error(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "PATIENCE", 0.01)
    (tmp_path / "chats.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello?"}]}\n')
    os.mkfifo(tmp_path / "pipe.yaml")
    found = lapsus(*command.split(), cwd=tmp_path)
    assert found.returncode in (1, 2)
    assert "pipe.yaml" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_guideline_that_comes_through_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    own = Path(text_files.__file__).parent / "schemes" / "data" / "breakdown.yaml"
    writer = threading.Thread(target=pipe.write_bytes, args=(own.read_bytes(),))
    writer.start()
    assert load_scheme(pipe) == load_scheme("breakdown")
    writer.join()
