"""Lapsus and Potato as their users get them: each installed into an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from workbench_process import folder_megabytes

POTATO = "2.12.1"
PROJECT = Path(__file__).resolve().parent.parent


def command(folder: Path, name: str) -> str:
    """A command of an environment."""
    return str(folder / ("Scripts" if sys.platform == "win32" else "bin") / name)


def install(folder: Path, *packages: str) -> None:
    """Install packages, into a new environment if there is none yet."""
    if not Path(command(folder, "python")).exists():
        venv.create(folder, with_pip=True)
    pip = [command(folder, "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages], check=True)


def install_lapsus(folder: Path) -> float:
    """Lapsus as it is here, and the driver for PostgreSQL. How large it is without the driver, in megabytes."""
    print("installing Lapsus …", file=sys.stderr)
    install(folder, str(PROJECT))
    # Once more, since a version that is there already is not replaced, though its code may have changed.
    install(folder, "--force-reinstall", "--no-deps", str(PROJECT))
    size = installed_megabytes(folder, without=("psycopg",))
    install(folder, f"{PROJECT}[postgres]")
    return size


def install_potato(folder: Path) -> float:
    """Potato. How large it is, in megabytes."""
    if not list(folder.glob(f"lib/python*/site-packages/potato_annotation-{POTATO}.dist-info")):
        print(f"installing Potato {POTATO} …", file=sys.stderr)
        install(folder, f"potato-annotation=={POTATO}")
    return installed_megabytes(folder)


def installed_megabytes(folder: Path, without: tuple[str, ...] = ()) -> float:
    """What was installed takes, without what every environment has."""
    every = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "__pycache__", *without)
    (packages,) = folder.glob("lib/python*/site-packages")
    return sum(folder_megabytes(path) for path in packages.iterdir() if not path.name.startswith(every))
