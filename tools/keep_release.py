"""Keeps a database and a model as this release writes them, in tests/releases/VERSION.

    .venv/bin/python -m tools.keep_release

Run once for every release: tests/test_releases.py opens what each of them left.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tests.test_releases import RELEASES, answers, judgments

from lapsus import __version__, train
from lapsus.samples import sample_path
from lapsus.store import open_store
from lapsus.web.demo import make_demo


def keep(folder: Path) -> None:
    """The database of `lapsus demo`, a judge learned from the sample dialogues, and what the test finds in both."""
    folder.mkdir(parents=True)
    judge = train("judge", sample_path("dialogues-en"), scheme="breakdown", out=folder / "judge.lapsus")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "demo.sqlite"
        with open_store(path) as store:
            make_demo(store)
            held = {"judgments": judgments(store), "answers": answers(store, judge)}
        with closing(sqlite3.connect(path)) as database:
            database.execute("VACUUM")
        (folder / "demo.sqlite.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9))
    (folder / "held.json").write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    keep(RELEASES / __version__)
