"""Readers: what looks at a turn and the talk before it, in one language.

A reader comes out of the state of a model and goes back into it: weights travel in the model's one file. The models
that are shipped lie in `annotators/models`, where `default_model` finds them.

Features are plain numbers about a turn and what came before it, beside what an encoder reads.
They say directly what an encoder of a few million weights finds hard to see: whether a turn repeats an earlier one,
whether it takes up the user's words, whether a question went before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.model_files import State
from lapsus.model import TALK, Unit

HOME: Final = ""
"""How a reader looks at a turn that is like those of the challenges' corpora."""
GENERAL: Final = "general"
"""How it looks at talk of any kind: between people, with good systems, about tasks."""
_KNOWN = 1 << 10
NAMES = (
    "repeats_exactly",
    "like_earlier_system",
    "like_last_system",
    "like_earlier_user",
    "like_last_user",
    "words_like_earlier_system",
    "words_known",
    "words_of_last_user_taken_up",
    "user_asks",
    "system_asks",
    "length",
    "user_length",
    "position",
    "user_puzzled",
    "user_was_puzzled",
)
_SPACE_OR_SIGN = regex.compile(r"[\s\p{P}\p{S}]+")
_WORD = regex.compile(r"\p{Han}+|\p{Katakana}+|[\p{L}\p{N}&&[^\p{Han}\p{Hiragana}\p{Katakana}]]+", regex.V1)
_ASKS = regex.compile(r"[?？]|(?:です|ます|でしょう|んだ|の)か[。．!！]?\s*$")
_PUZZLED = regex.compile(
    r"\b(?:what do you mean|what\?|huh|pardon|you (?:already|just) (?:said|asked|told)|i (?:already|just) (?:said|told)"
    r"|(?:doesn'?t|does not|don'?t|do not) make sense|makes no sense|random|confus\w+|off topic"
    r"|are you (?:ok|a bot|a robot))\b"
    r"|何の(?:話|こと)|意味(?:が|は)|さっき(?:も|言)|どういう(?:意味|こと)|話(?:が|を)(?:変|聞)|突然|急に|わからない|分からない|え[？?、]",
    regex.IGNORECASE,
)
_COMMON_WORDS = """
a an and are at be but can did do does for from good have how i in is it just know like me my no not of oh ok on or so
some that the them they this to too was we what when where who why will with would yes you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Passage(NamedTuple):
    """A system turn, and the turns before it."""

    context: tuple[TurnWords, ...]
    target: str


class Reader(Protocol):
    """Reads passages. What it says of one must not depend on those that are read along with it."""

    name: ClassVar[str]
    """What it is called in a model's file."""

    def logits(self, passages: Sequence[Passage], view: str = HOME) -> NDArray[np.floating[Any]]:
        """A row a passage: logits of O, T and X, and after them any other numbers for the calibration to weigh.

        `view` is HOME, or GENERAL where the reader has learned that too.
        """

    def state(self) -> State:
        """What it must keep to be what it is."""


@lru_cache(maxsize=_KNOWN)
def numbers_of(passage: Passage) -> tuple[float, ...]:
    """The plain features of a passage. The reader and the calibration both ask for them."""
    return tuple(features(passage.context, passage.target))


def feature_rows(passages: Sequence[Passage]) -> NDArray[np.float64]:
    """The plain features, a row a passage."""
    rows = [numbers_of(passage) for passage in passages]
    return np.array(rows, dtype=np.float64).reshape(-1, len(NAMES))


class TurnWords(NamedTuple):
    """What was said, and whether the system said it."""

    by_system: bool
    text: str


def features(context: Sequence[TurnWords], target: str) -> list[float]:
    """The numbers named in NAMES, each from 0 to about 1."""
    said = [_said(turn) for turn in context]
    this = _said(TurnWords(True, target))
    systems = [turn for turn in said if turn.by_system]
    users = [turn for turn in said if not turn.by_system]
    last_user = users[-1] if users else _NOTHING
    last_system = systems[-1] if systems else _NOTHING
    known = {word for turn in said for word in turn.words}
    return [
        float(any(this.bare == turn.bare for turn in systems)),
        max((_dice(this.grams, turn.grams) for turn in systems), default=0.0),
        _dice(this.grams, last_system.grams),
        max((_dice(this.grams, turn.grams) for turn in users), default=0.0),
        _dice(this.grams, last_user.grams),
        max((_dice(this.words, turn.words) for turn in systems), default=0.0),
        len(this.words & known) / max(len(this.words), 1),
        len(this.words & last_user.words) / max(len(last_user.words), 1),
        float(last_user.asks),
        float(this.asks),
        math.log1p(len(target)) / 5,
        math.log1p(len(last_user.text)) / 5,
        min(len(said), 20) / 20,
        float(last_user.puzzled),
        float(any(turn.puzzled for turn in users)),
    ]


class _Said:
    """A turn taken apart."""

    def __init__(self, turn: TurnWords) -> None:
        self.by_system = turn.by_system
        self.text = turn.text
        lower = turn.text.lower()
        self.bare = _SPACE_OR_SIGN.sub("", lower)
        self.grams = (
            {self.bare[place : place + 3] for place in range(max(len(self.bare) - 2, 1))}
            if self.bare
            else set()
        )
        self.words = {word for word in _WORD.findall(lower) if word not in _COMMON}
        self.asks = bool(_ASKS.search(turn.text))
        self.puzzled = bool(_PUZZLED.search(turn.text))


@lru_cache(maxsize=1 << 10)
def _said(turn: TurnWords) -> _Said:
    """A turn is taken apart once, though it is context of all that follow."""
    return _Said(turn)


def _dice(first: set[str], second: set[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


_NOTHING = _Said(TurnWords(False, ""))


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
