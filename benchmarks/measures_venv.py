"""The libraries to race against, in a virtual environment of their own."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

PEERS = {
    "krippendorff": "0.9.0",
    "statsmodels": "0.15.0",
    "nltk": "3.10.4",
    "crowd-kit": "1.4.2",
    "pygamma-agreement": "0.5.9",
}
# What they all stand on, the same for each of them.
_BASE = {"numpy": "2.4.6", "pandas": "3.1.1"}
_VERSIONS = """
import sys
from importlib.metadata import PackageNotFoundError, version
for name in sys.argv[1:]:
    try:
        print(version(name))
    except PackageNotFoundError:
        print("none")
"""


def python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install_peers(folder: Path) -> dict[str, str]:
    """See to it that the libraries are there. What could not be installed comes back with the reason."""
    if not python_of(folder).exists():
        venv.create(folder, with_pip=True)
    there = _versions(folder, [*_BASE, *PEERS])
    base_is_there = _BASE.items() <= there.items()
    failures = {}
    for name, version in PEERS.items():
        if base_is_there and there[name] == version:
            continue
        print(f"installing {name} {version} …", file=sys.stderr)
        if (reason := _install(folder, {name: version, **_BASE})) is not None:
            failures[name] = reason
    return failures


def _versions(folder: Path, names: list[str]) -> dict[str, str]:
    command = [str(python_of(folder)), "-c", _VERSIONS, *names]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return dict(zip(names, told, strict=True))


def _install(folder: Path, packages: dict[str, str]) -> str | None:
    """None, or why it did not work."""
    wanted = [f"{name}=={version}" for name, version in packages.items()]
    pip = [str(python_of(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *wanted], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return lines[-1].removeprefix("ERROR: ") if lines else f"pip ended with {done.returncode}"
