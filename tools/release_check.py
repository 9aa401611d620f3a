"""Builds what is published and tries it as a stranger would: `make release-check`.

The wheels are installed into an empty environment, in a folder from which the checkout cannot be seen. There every
command of the README's "In six commands" is run, then `demo`, `detect`, `train judge` and `serve`; sizes are held to
their limits, and a list of what is shipped (CycloneDX) is written beside the wheels.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LARGEST_WHEEL, LARGEST_INSTALL = 90e6, 300e6
PATIENCE = 600.0
"""Seconds that a server may take to answer, on a machine where much else runs."""
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What an empty environment holds before anything is installed."""


def main() -> int:
    wheels = built()
    with tempfile.TemporaryDirectory(prefix="lapsus-release-") as folder:
        away = Path(folder)
        venv.create(away / "environment", with_pip=True)
        run([*python(away), "-m", "pip", "install", "--quiet", str(wheels["lapsus_eval"])], away)
        told("installed", installed_size(away), LARGEST_INSTALL)
        for line in readme_commands():
            run(shlex.split(line, comments=True), away)
        run(shlex.split("lapsus detect dialogues-en.jsonl -o run.zip"), away)
        run(shlex.split("lapsus train judge dialogues-en.jsonl --scheme breakdown -o mine.lapsus"), away)
        run(shlex.split("lapsus detect dialogues-en.jsonl --with mine.lapsus -o own.jsonl"), away)
        answers(["lapsus", "demo", "--port", "8651"], "http://127.0.0.1:8651/", away)
        answers(
            ["lapsus", "serve", "--port", "8652", "--db", "new.sqlite"],
            "http://127.0.0.1:8652/alive.json",
            away,
        )
        run(
            [*python(away), "-m", "pip", "install", "--quiet", "--no-deps", str(wheels["lapsus_large"])], away
        )
        run(["lapsus", "doctor"], away)
        write_parts(away, DIST / "lapsus-eval.cdx.json")
    return 0


def built() -> dict[str, Path]:
    """Wheels and source archives, by the name of their package; each below its limit."""
    for old in DIST.glob("lapsus*"):
        old.unlink()
    for folder in (ROOT, ROOT / "distributions" / "lapsus-large"):
        subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(folder)], check=True)
    wheels = {path.name.partition("-")[0]: path for path in DIST.glob("*.whl")}
    told("base wheel", wheels["lapsus_eval"].stat().st_size, LARGEST_WHEEL)
    for path in sorted(DIST.iterdir()):
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB\n")
    return wheels


def readme_commands() -> list[str]:
    """The commands under "In six commands"."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## In six commands\n+```console\n(.*?)```", text, re.DOTALL)
    if block is None:
        raise SystemExit("README.md has no block of six commands")
    return [line.removeprefix("$ ") for line in block[1].splitlines() if line.startswith("$ ")]


def python(away: Path) -> list[str]:
    return [str(away / "environment" / "bin" / "python")]


def environment(away: Path) -> dict[str, str]:
    """Nothing of the checkout, and a home of its own."""
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http", "HTTP"))
    }
    path = f"{away / 'environment' / 'bin'}:/usr/bin:/bin"
    return kept | {"PATH": path, "HOME": str(away), "LANG": "C.UTF-8"}


def run(command: list[str], away: Path) -> None:
    """Run a command to its end; one that fails ends the check."""
    done = subprocess.run(
        command, cwd=away, env=environment(away), capture_output=True, text=True, check=False
    )
    last = (done.stdout.strip().splitlines() or [""])[-1]
    sys.stdout.write(
        f"$ {shlex.join(Path(word).name if '/' in word else word for word in command)}\n  {last[:100]}\n"
    )
    if done.returncode:
        raise SystemExit(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")


def answers(command: list[str], address: str, away: Path) -> None:
    """A server that must answer, and is ended then."""
    with (away / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=away, env=environment(away), stdout=log, stderr=log)
    try:
        end = time.monotonic() + PATIENCE
        while server.poll() is None and time.monotonic() < end:
            try:
                with urllib.request.urlopen(address, timeout=5) as page:  # noqa: S310  our own server
                    sys.stdout.write(f"$ {' '.join(command)}\n  answers: {page.status}\n")
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise SystemExit(f"{' '.join(command)} does not answer:\n{(away / 'log').read_text()}")
    finally:
        server.terminate()
        server.wait(timeout=30)


def installed_size(away: Path) -> float:
    """Bytes of all files that the install brought, compiled modules included."""
    (packages,) = (away / "environment" / "lib").glob("python*/site-packages")
    brought = (path for path in packages.iterdir() if not path.name.startswith(NOT_OURS))
    return sum(file.stat().st_size for path in brought for file in [path, *path.rglob("*")] if file.is_file())


def told(what: str, size: float, most: float) -> None:
    sys.stdout.write(f"{what}: {size / 1e6:.1f} MB (at most {most / 1e6:.0f})\n")
    if size >= most:
        raise SystemExit(f"{what} is too large")


PARTS = """
import importlib.metadata as m, json
from lapsus.annotators.library import model_file, shipped_models
def licence(d):
    said = d.metadata.get("License-Expression") or d.metadata.get("License")
    kinds = [line.split(" :: ")[-1] for line in d.metadata.get_all("Classifier", []) if line.startswith("License ::")]
    return (said or ", ".join(kinds) or "see its files").splitlines()[0][:80]
packages = [[d.name, d.version, licence(d)] for d in m.distributions() if d.name not in ("pip", "setuptools")]
models = {name: model_file(name).with_suffix(".NOTICE").read_text("utf-8") for name in shipped_models()}
print(json.dumps([sorted(packages), models]))
"""
"""Lists the packages of an environment with their licences, and the models inside with what they say of theirs."""


def write_parts(away: Path, target: Path) -> None:
    """What is shipped and under which licences, as CycloneDX."""
    found = subprocess.run([*python(away), "-c", PARTS], cwd=away, capture_output=True, text=True, check=True)
    packages, models = json.loads(found.stdout)
    parts = [
        {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name.lower()}@{version}",
            "licenses": [{"license": {"name": licence}}],
        }
        for name, version, licence in packages
    ]
    parts += [
        {"type": "machine-learning-model", "name": name, "description": notice}
        for name, notice in models.items()
    ]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": parts}
    target.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target.name}: {len(packages)} packages, {len(models)} models\n")


if __name__ == "__main__":
    sys.exit(main())
