"""The reader of the shipped models: a small transformer whose lower layers all views share, with upper layers for each.

Every turn is read alone. Then nothing hangs on what else is read along with it, no time goes into filling up shorter
ones, and two turns are read side by side on two cores.

Beside it stands a linear map from the words of a turn, and of the user's one before, to votes.
Words and pairs of words are hashed into a table of weights, so that the table holds no text.
"""

import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.encoder.reader import GENERAL, HOME, Passage, numbers_of
from lapsus.annotators.encoder.tokens import TOKENIZERS, Tokens
from lapsus.annotators.model_files import SHIPPED, State, read_model

TOKENIZER, LOWER = "tokenizer.json", "lower.onnx"
UPPER: Final = {HOME: "home.onnx", GENERAL: "general.onnx"}
LANGUAGE: Final = "language"
OPENINGS: Final = "openings"
"""In the reader's data: the view by which turns that open a dialogue are judged, where HOME learned nothing of them."""
IN_GENERAL: Final = 6
"""Numbers of the view GENERAL that go to the calibration."""
WORDS, USUAL = "words", "usual"
WORDS_COUNT: Final = 3.0
"""The scale of the words' shares beside logits: what is larger is held less when the calibration is fitted."""
_READ_BESIDE: Final = 2
_ROWS, _SEGMENT, _FEATURES = "rows", "segment", "features"
BITS: Final = 14
SIZE: Final = 1 << BITS
_SIGN = 1 << 31
_WORD = regex.compile(r"[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]")
_START, _END = "^", "$"


class ChatReader:
    """Reads dialogue in one language."""

    name: ClassVar[str] = "chat"

    def __init__(self, state: State) -> None:
        self._state = state
        self._tokens: Tokens = TOKENIZERS[state.data[LANGUAGE]](state.files[TOKENIZER])
        self._openings: str = state.data.get(OPENINGS, HOME)
        self._lower = make_session(state.files[LOWER])
        self._upper = {view: make_session(state.files[name]) for view, name in UPPER.items()}
        self._takes = {
            view: {given.name for given in upper.get_inputs()} for view, upper in self._upper.items()
        }
        self._words: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
        if WORDS in state.arrays:
            table, usual = (np.asarray(state.arrays[name], dtype=np.float32) for name in (WORDS, USUAL))
            self._words = table.reshape(SIZE, 3), usual.reshape(3)
        self._pool: ThreadPoolExecutor | None = None

    def logits(self, passages: Sequence[Passage], view: str = HOME) -> NDArray[np.float64]:
        """A row a passage: logits of O, T and X, and at home in English the shares that the words alone would give.

        In general: whether it belongs here, how such replies are rated, and whether it contradicts, as far as the
        language's model has learned that.
        """
        if view == GENERAL:
            return self.said(passages, GENERAL)[:, :IN_GENERAL]
        rows = self.said(passages, HOME)
        opening = [place for place, passage in enumerate(passages) if not passage.context]
        if opening and self._openings != HOME:
            rows[opening] = self.said([passages[place] for place in opening], self._openings)[:, :3]
        if self._words is None:
            return rows
        words = [word_shares(passage, *self._words) for passage in passages]
        return np.hstack([rows, WORDS_COUNT * np.array(words).reshape(-1, 3)])

    def said(self, passages: Sequence[Passage], view: str) -> NDArray[np.float64]:
        """A row a passage: all that the upper layers of a view have to say."""
        return self.read(passages, view)[0]

    def read(self, passages: Sequence[Passage], view: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same, and beside it what the lower layers make of each reply: the mean over its pieces."""
        if len(passages) < 2:
            rows = [self._row(passage, view) for passage in passages]
        else:
            self._pool = self._pool or ThreadPoolExecutor(_READ_BESIDE, "lapsus-reader")
            rows = list(self._pool.map(lambda passage: self._row(passage, view), passages))
        widths = self._upper[view].get_outputs()[0].shape[1], self._lower.get_outputs()[0].shape[2]
        said, inside = (
            np.array([row[part] for row in rows], dtype=np.float64).reshape(len(rows), width)
            for part, width in enumerate(widths)
        )
        return said, inside

    def state(self) -> State:
        """What it must keep to be what it is."""
        return self._state

    def _row(self, passage: Passage, view: str) -> tuple[NDArray[Any], NDArray[Any]]:
        tokens, own = self._tokens.encode(passage)
        ids, segment = (np.array([numbers], dtype=np.int64) for numbers in (tokens, own))
        (rows,) = self._lower.run(None, {"ids": ids, _SEGMENT: segment})
        given = {_ROWS: rows, _SEGMENT: segment}
        if _FEATURES in self._takes[view]:
            given[_FEATURES] = np.array([numbers_of(passage)], dtype=np.float32)
        (said,) = self._upper[view].run(None, given)
        return said[0], rows[0][segment[0] > 0].mean(axis=0)


def shared_lower(model: str = "breakdown-en") -> tuple[Any, bytes]:
    """The lower layers of a shipped model as a session (`ids`, `segment` to `rows`), and its tokenizer.

    Judges of other guidelines whose own layers go on from there ship no weights twice.
    """
    files = read_model(SHIPPED / f"{model}.lapsus")[1].files
    return make_session(files[LOWER]), files[TOKENIZER]


def places(passage: Passage) -> list[tuple[list[int], list[int], float]]:
    """For each side where its words fall in the table: the places to add, those to subtract, and by how much."""
    user = next((turn.text for turn in reversed(passage.context) if not turn.by_system), "")
    return [_side("s", passage.target), _side("u", user)]


def _side(mark: str, text: str) -> tuple[list[int], list[int], float]:
    words = _WORD.findall(text.lower().replace("’", "'"))
    pairs = pairwise((_START, *words, _END))
    grams = {f"{mark}{word}" for word in words} | {f"{mark}{first} {second}" for first, second in pairs}
    hashes = [zlib.crc32(gram.encode()) for gram in grams]
    plus = [number & SIZE - 1 for number in hashes if number & _SIGN]
    minus = [number & SIZE - 1 for number in hashes if not number & _SIGN]
    return plus, minus, len(grams) ** -0.5


def word_shares(
    passage: Passage, table: NDArray[np.floating], usual: NDArray[np.floating]
) -> NDArray[np.floating]:
    """About how the votes would fall if words were all that counts. It need not be a distribution."""
    found = usual.copy()
    for plus, minus, weight in places(passage):
        found += weight * (table[plus].sum(axis=0) - table[minus].sum(axis=0))
    return found
