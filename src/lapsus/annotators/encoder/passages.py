"""What a unit lets be seen, as passages: the turn itself, and the earlier system turns of its dialogue."""

from collections.abc import Iterable
from itertools import islice
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import HOME, Passage, Reader, TurnWords
from lapsus.model import TALK, Unit

WINDOW: Final = 64
"""Turns that are looked back on. More would make long logs slow, and change nothing."""
LONGEST: Final = 1000
"""Characters of a turn that are looked at."""
_REMEMBERED = 1 << 11


def passages_of(unit: Unit) -> tuple[Passage, list[Passage]]:
    """The turn to judge, and the system turns before it as they were when they were said.

    A turn that opens the dialogue answers nothing, and does not count among them.
    """
    turns = _turns(unit)
    own = Passage(turns[-WINDOW:], _cut(unit.target.text if unit.target is not None else ""))
    earlier = [
        Passage(turns[max(0, place - WINDOW) : place], turns[place].text)
        for place in range(max(1, len(turns) - WINDOW), len(turns))
        if turns[place].by_system
    ]
    return own, earlier


def _turns(unit: Unit) -> tuple[TurnWords, ...]:
    """The turns before the target, as many as any passage can hold. Instructions and the like are no turns."""
    talk = islice((segment for segment in reversed(unit.context) if segment.role in TALK), 2 * WINDOW)
    return tuple(TurnWords(segment.role == "system", _cut(segment.text)) for segment in reversed([*talk]))


def _cut(text: str) -> str:
    """The beginning of a text. Halves of characters, which no tokenizer takes, become question marks."""
    text = text[:LONGEST]
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


class Memory:
    """Reads each passage once: a turn is judged itself, and then comes before all that follow. For many threads."""

    def __init__(self, reader: Reader, view: str = HOME) -> None:
        self.reader = reader
        self.view = view
        self._known: dict[Passage, NDArray[np.float64]] = {}
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock, which is this process's own."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def forget(self) -> None:
        """Read everything anew, as if nothing had been read before."""
        with self._lock:
            self._known.clear()

    def readings(self, passages: Iterable[Passage]) -> dict[Passage, NDArray[np.float64]]:
        """What the reader says of each passage."""
        asked = dict.fromkeys(passages)
        with self._lock:
            found = {passage: self._known[passage] for passage in asked if passage in self._known}
        new = [passage for passage in asked if passage not in found]
        if new:
            rows = np.asarray(self.reader.logits(new, self.view), dtype=np.float64)
            read = dict(zip(new, rows, strict=True))
            found |= read
            with self._lock:
                self._known.update(read)
                for passage in list(self._known)[: max(0, len(self._known) - _REMEMBERED)]:
                    del self._known[passage]
        return found
