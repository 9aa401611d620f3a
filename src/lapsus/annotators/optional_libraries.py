"""Libraries that not every install has: asked for when they are needed, with a word on how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from lapsus.errors import UsageError


def require(module: str, extra: str, purpose: str) -> Any:
    """A module of an extra. Typed as anything, so that types are checked alike with and without it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UsageError(f"{purpose} needs {package}", hint=f"pip install 'lapsus[{extra}]'") from error
