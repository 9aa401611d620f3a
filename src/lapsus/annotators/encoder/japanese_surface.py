"""What can be seen of a Japanese turn without knowing what it means: how it begins and ends, what it takes up.

Vectors of utterances say what is talked about. Whether a question word was answered, whether the tone is kept, whether
an ending is odd or a subject comes back is easier to see in the characters themselves.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import fmean
from typing import Final

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import Passage

_QUESTION_WORDS = (
    r"何",
    r"なに",
    r"なん",
    r"どこ",
    r"誰|だれ",
    r"いつ",
    r"どんな",
    r"どう",
    r"どれ|どの|どっち|どちら",
    r"いくつ|いくら",
    r"なぜ|なんで|どうして",
)
_BEGINNINGS = (
    r"^はい",
    r"^いいえ|^いえ",
    r"^うん|^ええ",
    r"^そう",
    r"^ありがと",
    r"^こんにち|^おは",
    r"^私",
    r"^え[っ?、]?",
    r"^なるほど",
    r"^確かに",
    r"^いい",
)
_ENDINGS = (
    r"です$",
    r"ます$",
    r"か[?。]*$",
    r"ね[。!]*$",
    r"よ[。!]*$",
    r"よね",
    r"た。*$",
    r"か\?\?",
    r"ですか",
    r"ましたか",
    r"ません",
    r"ですね$",
    r"だ$",
    r"な$",
    r"の$",
    r"!",
)
_WORDING = (
    r"私|僕|俺|自分",
    r"あなた",
    r"好き",
    r"嫌い",
    r"たい",
    r"ください",
    r"どうも|ありがと",
    r"すみません|ごめん",
    r"が(?:いい|良い)",
    r"は[^。]{1,6}(?:いい|良い)です",
    r"\(笑\)|w$|笑",
    r"でも|しかし",
    r"思い|思う",
    r"知って|ご存",
    r"です|ます|ました|ません|でしょう|ください",
)
_SIGNS: Final = tuple(map(regex.compile, (*_QUESTION_WORDS, *_BEGINNINGS, *_ENDINGS, *_WORDING)))
_ASKS = regex.compile(r"\?|(?:です|ます|でしょう|んだ|の)か[。!]?$")
_STOP = regex.compile(r"[。!?]+")
_SCRIPTS: Final = tuple(map(regex.compile, (r"\p{Hiragana}", r"[\p{Katakana}ー]", r"\p{Han}")))
_WORD = regex.compile(r"\p{Han}+|[\p{Katakana}ー]{2,}|[A-Za-z0-9]+")


class _Said:
    """An utterance, taken apart."""

    def __init__(self, text: str) -> None:
        plain = unicodedata.normalize("NFKC", text)
        self.size = len(plain)
        self.pairs = frozenset(plain[place : place + 2] for place in range(len(plain) - 1))
        self.words = frozenset(_WORD.findall(plain))
        self.asks = _ASKS.search(plain) is not None
        self.numbers = [
            float(self.asks),
            math.log1p(self.size),
            float(len(_STOP.findall(plain))),
            *(float(sign.search(plain) is not None) for sign in _SIGNS),
            *(len(script.findall(plain)) / max(self.size, 1) for script in _SCRIPTS),
        ]


@lru_cache(maxsize=1 << 11)
def _said(text: str) -> _Said:
    """An utterance is taken apart once, though it is context of all that follow."""
    return _Said(text)


def form_rows(passages: Sequence[Passage]) -> NDArray[np.float32]:
    """Features of the surface form, a row for each passage."""
    return np.array([_row(passage) for passage in passages], dtype=np.float32)


def _row(passage: Passage) -> list[float]:
    this = _said(passage.target)
    turns = [(turn.by_system, _said(turn.text)) for turn in passage.context]
    systems = [said for by_system, said in turns if by_system]
    users = [said for by_system, said in turns if not by_system]
    user, system = users[-1] if users else _NOTHING, systems[-1] if systems else _NOTHING
    return [
        *this.numbers,
        *user.numbers,
        *system.numbers,
        *_taken_up(this, user, system),
        *_so_far(this, systems, users),
        fmean(
            bool(said.words & before.words) for (_, before), (by_system, said) in pairwise(turns) if by_system
        )
        if len(systems) > 1
        else 0.5,
    ]


def _taken_up(this: _Said, user: _Said, system: _Said) -> list[float]:
    """How much of one utterance is in another."""
    return [
        _share(this.pairs, user.pairs),
        _share(user.pairs, this.pairs),
        _share(this.words, user.words),
        _share(user.words, this.words),
        _share(this.pairs, system.pairs),
        _share(this.words, system.words),
        _share(user.pairs, system.pairs),
        _share(user.words, system.words),
    ]


def _so_far(this: _Said, systems: Sequence[_Said], users: Sequence[_Said]) -> list[float]:
    """The target against all that was said, and what the talk has been like."""
    past = frozenset[str]().union(*(said.words for said in (*systems, *users)))
    return [
        len(this.words),
        len(this.words - past),
        _share(this.words, past),
        max((_share(this.pairs, said.pairs) for said in systems), default=0.0),
        max((_share(this.pairs, said.pairs) for said in users), default=0.0),
        float(len(systems) + len(users)),
        fmean(said.size for said in users) if users else 0.0,
        fmean(said.size for said in systems) if systems else 0.0,
        fmean(said.asks for said in users) if users else 0.0,
    ]


def _share(parts: Collection[str], others: frozenset[str]) -> float:
    return len(others.intersection(parts)) / len(parts) if parts else 0.0


_NOTHING = _said("")
