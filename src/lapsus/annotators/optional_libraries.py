"""Libraries that not every install has: asked for when they are needed, with a word on how to get them."""

import importlib
import os
from typing import Any

from lapsus.errors import UsageError
from lapsus.notices import Notice


def require(module: str, extra: str | None, purpose: str) -> Any:
    """A module of an extra, or of every install. Typed as anything: types are checked alike with and without it.

    `purpose` is the id of a notice that says what needs it.
    """
    if module.partition(".")[0] == "onnxruntime":
        # From 1.31 on, if not earlier, it tells its makers of each process, unless this is said before it is loaded.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        command = f"pip install 'lapsus-eval[{extra}]'" if extra else "pip install lapsus-eval"
        raise UsageError("needs", hint=command, purpose=Notice(purpose), package=package) from error
