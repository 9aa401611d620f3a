"""Waiting for what happens elsewhere, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LONG = 240.0
"""Seconds after which what did not happen never will."""


def until(look: Callable[[], T], every: float = 0.01) -> T:
    """The first look that is true."""
    end = time.monotonic() + LONG
    while not (found := look()):
        assert time.monotonic() < end, "it never came"
        time.sleep(every)
    return found
