"""Find a Chromium for the tests and screenshots, or install one: `python tools/chromium.py` prints where it is."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "fonts-noto-cjk", "fonts-noto-color-emoji")
"""The fonts so that Japanese and emoji are more than empty boxes."""
PATIENCE = 900
HELP = """There is no Chromium here, and it could not be installed.
The tests of the pages need one. Install it yourself, then try again, by either of
  apt-get install chromium fonts-noto-cjk fonts-noto-color-emoji   (Debian; as root)
  python -m playwright install chromium                               (elsewhere)"""


class NoBrowserError(Exception):
    """No way to a browser was found."""


def chromium() -> Path:
    """Where Chromium is. If there is none it is installed; of several processes that ask, one does it."""
    if (found := find()) is not None:
        return found
    with (Path(tempfile.gettempdir()) / f"lapsus-chromium-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = "" if find() else install()
    if (found := find()) is not None:
        return found
    raise NoBrowserError(f"{HELP}\n\nWhat was tried said:\n{said[-2000:]}")


def find() -> Path | None:
    """A Chromium that starts: the system's, or else Playwright's own."""
    for path in filter(None, map(shutil.which, NAMES)):
        if _starts(path):
            return Path(path)
    return _playwrights_own()


def install() -> str:
    """Install it with the system's packages where we may, else as Playwright does; what that said."""
    said = []
    if shutil.which("apt-get") and os.geteuid() == 0:
        said += [
            _run("apt-get", "update"),
            _run("apt-get", "install", "-y", "--no-install-recommends", *PACKAGES),
        ]
    if find() is None:
        said.append(_run(sys.executable, "-m", "playwright", "install", "chromium"))
    return "\n".join(said)


def _playwrights_own() -> Path | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return Path(path) if _starts(path) else None


def _starts(path: str) -> bool:
    """Some systems have a script of that name that only says how to install it."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(*command: str) -> str:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{' '.join(command)}: {error}"
    return f"{' '.join(command)}: {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}"


if __name__ == "__main__":
    try:
        print(chromium())
    except NoBrowserError as error:
        sys.exit(str(error))
