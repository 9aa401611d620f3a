"""The example package: installed as a user would, then used through the commands, without a change to Lapsus."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from lapsus.formats import Format, ReadOptions, Source, read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry, Judgment, Segment

PACKAGE = Path(__file__).parent.parent / "examples" / "lapsus-politeness"
COMMAND = "from lapsus.cli import main; main()"
TALK = """U: Where is my parcel?
S: Shut up, you idiot.

U: It has come.
S: Thank you for telling us. Would you rate us, please?
"""
Command = Callable[..., str]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package in a folder of its own, built here and without the network."""
    target = tmp_path_factory.mktemp("installed")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
    ]
    options = ["--disable-pip-version-check", "--no-cache-dir", "--target", str(target)]
    done = subprocess.run([*pip, *options, str(PACKAGE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def lapsus(installed: Path, tmp_path: Path) -> Command:
    """Runs a command in a process that finds the package, in a folder of its own."""
    inherited = filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *inherited])}

    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    return run


def test_all_four_work_through_the_commands(lapsus: Command, tmp_path: Path) -> None:
    (tmp_path / "shop.transcript.txt").write_text(TALK)
    assert "2 documents" in lapsus("convert", "shop.transcript.txt", "chats.jsonl")
    lapsus("detect", "chats.jsonl", "--with", "polite-words", "-o", "judged.jsonl", "--keep")
    judged = list(read(tmp_path / "judged.jsonl"))
    (rude,), (polite,) = (entry.judgments for entry in judged)
    assert (rude.scheme, rude.annotator, rude.answers) == ("politeness", "polite-words", {"manner": "rude"})
    assert polite.answers == {"manner": "polite"}
    # Somebody judges the same, and agrees on one of the two units.
    another = [
        msgspec.structs.replace(one, annotator="ann", answers={"manner": "rude"}) for one in (rude, polite)
    ]
    both = zip(judged, another, strict=True)
    entries = [Entry(entry.id, entry.document, (*entry.judgments, one)) for entry, one in both]
    Jsonl().write(entries, tmp_path / "both.jsonl")
    shown = lapsus("agree", "both.jsonl", "-m", "unanimity", "--resamples", "0", "--json")
    assert '"unanimity": 0.5,' in shown


def test_what_it_does_not_know_is_said(lapsus: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.transcript.txt").write_text("U: hi\nX: ho\n")
    said = lapsus("convert", "bad.transcript.txt", "out.jsonl", code=1)
    assert "bad.transcript.txt, line 2: 'X: ho' does not say who speaks" in said
    assert not (tmp_path / "out.jsonl").exists()


def test_the_format_keeps_what_it_promises(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `tests/contracts` asks of every format: what is not reported as lost comes back."""
    monkeypatch.syspath_prepend(str(installed))
    from lapsus_politeness.transcript import Transcript  # type: ignore[import-not-found]

    format: Format = Transcript()
    document = Document("x-1", (Segment("0", "user", "hi"), Segment("1", "system", "ho")), "en")
    judged = Entry("x-1", document, (Judgment("x-1", "1", "a", "politeness", "1.0", {"manner": "rude"}),))
    assert [loss.what for loss in format.losses(judged) if loss.severe] == ["judgments"]
    path = tmp_path / "x.transcript.txt"
    format.write([Entry("x-1", document)], path)
    assert format.recognises(Source(path))
    assert [entry.document for entry in format.read(Source(path), ReadOptions())] == [document]
