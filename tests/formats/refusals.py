"""What is said of files that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lapsus.errors import LapsusError
from lapsus.model import Entry


def refusal(read: Callable[[], Iterable[Entry]]) -> LapsusError | None:
    """Why entries cannot be read to the end; None where they can."""
    try:
        for _ in read():
            pass
    except LapsusError as error:
        return error
    return None
