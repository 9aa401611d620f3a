"""Units to rows of numbers: what is judged, what it answers, how alike they are, and votes of an earlier scheme."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.cases import Case
from lapsus.model import BACKGROUND, Segment, Unit

Matrix: TypeAlias = NDArray[np.float32]

EARLIER: Final = 12
"""Earlier turns that a turn is compared with."""
_SAYS: Final = ("system", "text")
"""Where a whole document is judged: the roles of the segments that are judged; the others are what those answer."""
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{2}|[\p{L}\p{M}]+|\p{N}+")
_NUMBER = regex.compile(r"\p{N}+")
_LONGEST: Final = 4_000
"""Characters of a text that are looked at."""
NUMBERS: Final = 24
"""How many hand-made features (`_numbers`) stand in a row beside the vectors."""


class Vectors(Protocol):
    """A sentence encoder: a unit vector for each text."""

    @property
    def name(self) -> str:
        """Which encoder it is."""

    @property
    def width(self) -> int:
        """How long its vectors are."""

    def of(self, texts: Sequence[str]) -> Matrix:
        """A row for each text; zeros for an empty one."""

    def forget(self) -> None:
        """Empty its cache of vectors."""


class _Texts(NamedTuple):
    """The texts of a unit: those judged, those they answer, and earlier ones of the same and of other speakers."""

    said: tuple[str, ...]
    answered: tuple[str, ...]
    own_before: tuple[str, ...] = ()
    others_before: tuple[str, ...] = ()
    position: int = 0


def feature_rows(cases: Sequence[Case], vectors: Vectors, earlier: Sequence[str] = ()) -> Matrix:
    """A row for each case: vectors of what is said and answered and their product, features, shares of earlier votes.

    `earlier` are the labels of the scheme that was judged before; without votes on a unit their cells are NaN.
    """
    texts = [_texts(case.unit) for case in cases]
    names = list(dict.fromkeys(text for one in texts for part in one[:4] for text in part))
    known = dict(zip(names, vectors.of(names), strict=True))
    nothing = np.zeros(vectors.width, dtype=np.float32)
    rows = np.zeros((len(cases), row_width(vectors.width, earlier)), dtype=np.float32)
    for row, case, one in zip(rows, cases, texts, strict=True):
        said, answered = (_mean([known[text] for text in part], nothing) for part in (one.said, one.answered))
        # A product of unit vectors is small; times the root of the width its entries are as large as theirs.
        product = said * answered * np.float32(np.sqrt(vectors.width))
        votes = [case.earlier.get(label, 0.0) if case.earlier else np.nan for label in earlier]
        row[:] = np.concatenate([said, answered, product, _numbers(one, known), votes])
    return rows


def texts_of(unit: Unit) -> tuple[str, str]:
    """What is said, and what it answers."""
    found = _texts(unit)
    return " ".join(found.said), " ".join(found.answered)


def row_width(width: int, earlier: Collection[str]) -> int:
    """How long a row is."""
    return 3 * width + NUMBERS + len(earlier)


def _texts(unit: Unit) -> _Texts:
    if unit.target is None:
        said = tuple(_text(segment) for segment in unit.context if segment.role in _SAYS)
        others = tuple(_text(segment) for segment in unit.context if segment.role not in _SAYS)
        return _Texts(said, others, position=len(unit.context))
    place = next((n for n, segment in enumerate(unit.context) if segment == unit.target), len(unit.context))
    before = unit.context[:place]
    role = unit.target.role
    own = [_text(segment) for segment in before if segment.role == role]
    others = tuple(_text(segment) for segment in before if segment.role not in {role, *BACKGROUND})
    return _Texts(
        (_text(unit.target),),
        others[-1:],
        tuple(own[-EARLIER:]),
        others[-1 - EARLIER : -1],
        len(before),
    )


def _text(segment: Segment) -> str:
    return segment.text[:_LONGEST]


def _mean(vectors: Sequence[Matrix], nothing: Matrix) -> Matrix:
    if len(vectors) < 2:
        return vectors[0] if vectors else nothing
    return np.asarray(np.mean(vectors, axis=0), dtype=np.float32)


def _numbers(texts: _Texts, known: Mapping[str, Matrix]) -> Matrix:
    """The hand-made features of a unit, in the order that models in files know. `known`: the vectors by text."""
    said, answered = " ".join(texts.said), " ".join(texts.answered)
    words, answered_words = (_WORD.findall(text.lower()) for text in (said, answered))
    own_words = [word for text in texts.own_before for word in _WORD.findall(text.lower())]
    # Cosines of what is said with what it answers, with its own speaker's earlier turns, with others' earlier turns.
    to_answered, to_own, to_others = (
        _likeness(texts.said, part, known) for part in (texts.answered, texts.own_before, texts.others_before)
    )
    to_itself = _likeness(texts.said, texts.said, known) - np.eye(len(texts.said), dtype=np.float32)
    asked_numbers = set(_NUMBER.findall(answered))
    found = [
        # Lengths, questions and exclamations, and where in the document it stands.
        np.log1p(len(said)),
        np.log1p(len(answered)),
        np.log1p(len(said)) - np.log1p(len(answered)),
        _asks(said),
        _asks(answered),
        said.count("!") + said.count("！") > 0,
        np.log1p(texts.position),
        not texts.answered,
        # Likeness in meaning: of what is answered covered, of what is said founded, and said before.
        _best(to_answered.T, np.mean),
        _best(to_answered.T, np.min),
        _best(to_answered, np.mean),
        _best(to_own, np.max),
        float(to_own[0, -1]) if to_own.size else 0.0,
        float(to_own.mean()) if to_own.size else 0.0,
        _best(to_others, np.max),
        # The very same text again, and texts of a document that are alike.
        any(text in texts.own_before for text in texts.said),
        any(text in texts.answered for text in texts.said),
        _best(to_itself, np.max),
        # Words and numbers in common, and words that come twice.
        _covered(words, answered_words),
        _covered(answered_words, words),
        _covered(words, own_words),
        1 - len(set(words)) / len(words) if words else 1.0,
        _covered(_NUMBER.findall(said), asked_numbers) if asked_numbers else 0.5,
        np.log1p(len(texts.said)),
    ]
    return np.array(found, dtype=np.float32)


def _likeness(some: Sequence[str], others: Sequence[str], known: Mapping[str, Matrix]) -> Matrix:
    """Cosines: a row for each of `some`, a column for each of `others`."""
    if not some or not others:
        return np.zeros((len(some), len(others)), dtype=np.float32)
    cosines: Matrix = np.array([known[text] for text in some]) @ np.array([known[text] for text in others]).T
    return cosines


def _best(likeness: Matrix, over: Callable[[Matrix], Any]) -> float:
    """The maximum of each row, reduced over the rows by `over` (mean, min or max); 0 where there are none."""
    return float(over(likeness.max(axis=1))) if likeness.size else 0.0


def _asks(text: str) -> float:
    """1 for a question, by its signs; else 0."""
    return float("?" in text or "？" in text or text.rstrip("。 ").endswith("か"))


def _covered(words: Sequence[str], others: Collection[str]) -> float:
    """The share of words that are among `others`; 0 without words."""
    known = set(others)
    return sum(word in known for word in words) / len(words) if words else 0.0
