"""The base stays light: quick to import, small to install."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

HEAVY = {"numpy", "scipy", "pandas", "torch", "arro3", "jinja2", "rich", "typer", "onnxruntime", "sqlalchemy"}


def test_importing_lapsus_loads_nothing_heavy() -> None:
    code = "import sys, json; import lapsus; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert not roots & HEAVY


def test_importing_lapsus_is_quick() -> None:
    """In processor time, the best of several tries: a busy machine does not fail the test."""
    code = "import time; t = time.process_time(); import lapsus; print(time.process_time() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    assert min(float(run.stdout) for run in runs) < 0.150


def _needed(name: str, seen: set[str]) -> None:
    """The packages that a plain install brings, extras left out."""
    if name in seen:
        return
    seen.add(name)
    for line in requires(name) or ():
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            _needed(needed.name.lower(), seen)


def test_a_plain_install_is_under_300_mb() -> None:
    names: set[str] = set()
    _needed("lapsus-eval", names)
    total = 0
    for name in names - {"lapsus-eval"}:
        for file in distribution(name).files or ():
            path = Path(str(file.locate()))
            total += path.stat().st_size if path.is_file() else 0
    own = Path(__file__).parent.parent / "src"
    total += sum(path.stat().st_size for path in own.rglob("*") if path.is_file())
    assert 50e6 < total < 300e6, f"{total / 1e6:.0f} MB with {sorted(names)}"
