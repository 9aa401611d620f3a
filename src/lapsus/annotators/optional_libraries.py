"""Libraries that not every install has: asked for when they are needed, with a word on how to get them."""

import importlib
import os
from typing import Any

from lapsus.errors import UsageError


def require(module: str, extra: str, purpose: str) -> Any:
    """A module of an extra. Typed as anything, so that types are checked alike with and without it."""
    if module.partition(".")[0] == "onnxruntime":
        # From 1.31 on, if not earlier, it tells its makers of each process, unless this is said before it is loaded.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UsageError(
            "needs", hint=f"pip install 'lapsus-eval[{extra}]'", purpose=purpose, package=package
        ) from error
