"""Commands as a user runs them, without the time that a process of their own takes to begin."""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from tests.docs_blocks import exit_code


def lapsus(*arguments: str, cwd: Path, **environment: str) -> CompletedProcess[str]:
    """A command in a folder: what it prints, what it remarks, and the code that it ends with."""
    out, errors = io.StringIO(), io.StringIO()
    with (
        chdir(cwd),
        mock.patch.dict(os.environ, {"LC_ALL": "C.UTF-8", **environment}),
        mock.patch.object(sys, "argv", ["lapsus", *arguments]),
        redirect_stdout(out),
        redirect_stderr(errors),
    ):
        code = exit_code(list(arguments))
    return CompletedProcess(["lapsus", *arguments], code, out.getvalue(), errors.getvalue())
