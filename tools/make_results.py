"""Prints the tables of the challenge's paper into docs/results.md anew.

Takes some minutes. The folder with `dbdc2-ja.zip` is named by LAPSUS_DATA.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "docs" / "results.md"
COMMAND = ("challenge", "tables", "--data", "dbdc2-ja.zip", "--markdown")


def main() -> None:
    """Print, and replace the page when all went well."""
    run = [sys.executable, "-m", "lapsus", "--words", "en", *COMMAND]
    printed = subprocess.run(run, cwd=os.environ["LAPSUS_DATA"], capture_output=True, text=True, check=True)
    TARGET.write_text(printed.stdout.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
