"""The labeller: token classification over a pair of data and text.

Pieces of the data are said or left out (2 classes); pieces of the text are said, added or repeated (3 classes).
Rules then mend what it gets wrong of numbers, amounts and phrases that come twice.

What a text says twice in the same words though the data give it once is told by rule.
The labeller learned from whole sentences that come again. A phrase that comes again within a sentence it hardly sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.encoder.chat_reader import shared_lower
from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.features.network_layers import softmax
from lapsus.annotators.triples.pair import Pair, Pairs, Window, ends_sentence, spoken
from lapsus.annotators.triples.rules import Settled, places_of, plain_word, settled
from lapsus.annotators.triples.values import mentions, same_amount, value_of
from lapsus.errors import InputError
from lapsus.model import ELEMENTS, Segment

Shares = NDArray[np.float64]

GRAPH, LONG_GRAPH = "labeller.onnx", "long.onnx"
"""The names of its ONNX graphs among a model's files."""
_BESIDE: Final = 2
"""Threads: pairs that are read at the same time."""
_BY_RULE: Final = 0.95
"""The probability of what a rule tells."""
_ADDED: Final = 0.5
"""From which probability of `added` on the rule for repetitions leaves a word alone."""
_HALF: Final = 0.5
_KEPT, _SAID = slice(0, 2), slice(2, 5)
"""Columns of the logits: kept or omitted, for pieces of the data; said, added, repeated, for those of the text."""
Phrase = tuple[str, ...]
_SHORTEST: Final = 3
"""Letters of a value that is told from the little words of a text; digits are always."""


class Reading(NamedTuple):
    """Probabilities for a pair. What was beyond the windows, and so was not read, is NaN."""

    pair: Pair
    omitted: Shares
    """That an element is left out, for each of the three elements of each triple, in order."""
    added: Shares
    """That a word says what the data do not, for each word of the text."""
    repeated: Shares
    """That it says what was said before."""
    pieces: Shares
    """Added and repeated for each piece of the text: a row a piece, two columns."""
    short: tuple[float, float] = (np.nan, np.nan)
    """How far coverage and relevance fall short of the best, 0 to 1; NaN where no graph says so, or there was more than
    one window."""
    is_long: bool = False
    """Whether it took several windows, and the graph for long data read them."""
    network: Reading | None = None
    """What the network said, with values in other forms settled and no further rules."""

    @property
    def is_selection(self) -> bool:
        """Whether the text leaves out most of long data: then it was to choose, and leaving out is no error."""
        # What is beyond the windows is that for having least in common with the text.
        return self.is_long and float(np.mean(np.nan_to_num(self.omitted, nan=1.0) >= _HALF)) > _HALF


class Labeller:
    """Classifies the pieces of pairs.

    `graph` is the upper part of the network as ONNX; `lower` names the shipped model whose lower layers feed it.
    `long_graph` reads what does not fit one window, since it learned from texts that choose from their data; of a pair
    in one window it says how far it falls short.
    """

    def __init__(self, graph: bytes, lower: str, long_graph: bytes) -> None:
        self.graph, self.long_graph = graph, long_graph
        self.lower = lower
        subwords, self._lower = lower_of(lower)
        self._pairs = Pairs(subwords)
        self._session = make_session(graph)
        self._long_session = make_session(long_graph)
        self._pool: ThreadPoolExecutor | None = None

    def read(self, items: Sequence[tuple[Sequence[Segment], Sequence[Segment], str | None]]) -> list[Reading]:
        """A reading for each item, which is the triples, the texts and the language of a pair."""
        pairs = [self._pairs.pair(*item) for item in items]
        if len(pairs) < 2:
            return [self._reading(pair) for pair in pairs]
        self._pool = self._pool or ThreadPoolExecutor(_BESIDE, "lapsus-triples")
        return list(self._pool.map(self._reading, pairs))

    def _reading(self, pair: Pair) -> Reading:
        omitted = np.full(len(pair.elements), np.nan)
        said = np.full((len(pair.pieces), 3), np.nan)
        windows = list(self._pairs.windows(pair))
        is_long, short = len(windows) > 1, (np.nan, np.nan)
        for window in windows:
            data, text, of_window = self._shares(window, is_long=is_long)
            short = of_window if len(windows) == 1 else short
            for element, start, end in window.elements:
                # Said in one stretch of the text is said.
                omitted[element] = np.fmin(omitted[element], data[start:end].mean() if end > start else 0.0)
            rows = said[window.first : window.first + window.size]
            # What one window of triples says is said: of several the one counts that takes it for added least.
            better = ~(rows[:, 1] <= text[:, 1])
            rows[better] = text[better]
        added, repeated = _by_word(pair, said[:, 1:]).T
        reading = Reading(pair, omitted, added, repeated, said[:, 1:], short, is_long)
        # Long data has nearly every number somewhere: there rules tell nothing.
        reading = reading if is_long else with_rules(reading, settled(pair))
        # A long text comes back to what it said: there the rule was not tried.
        return with_repeats(reading) if len(windows) == 1 else reading

    def _shares(self, window: Window, *, is_long: bool) -> tuple[Shares, Shares, tuple[float, float]]:
        """Of a window: the probability of `omitted` for all pieces; of said, added, repeated for the text's; short."""
        ids, segment = (np.array([numbers], dtype=np.int64) for numbers in (window.ids, window.segment))
        (rows,) = self._lower.run(None, {"ids": ids, "segment": segment})
        given, wanted = {"rows": rows, "segment": segment}, ["logits"] if is_long else ["short"]
        (said,) = self._long_session.run(wanted, given)
        short = (np.nan, np.nan)
        if not is_long:
            short = tuple(said[0].tolist())
            (said,) = self._session.run(None, {"rows": rows})
        found = np.asarray(said[0], dtype=np.float64).reshape(len(window.ids), 5)
        if not np.isfinite(found).all():
            raise ValueError("the labeller says what is no number")
        text = softmax(found[window.at : window.at + window.size, _SAID])
        return softmax(found[:, _KEPT])[:, 1], text, short


@lru_cache(maxsize=2)
def lower_of(model: str) -> tuple[Subwords, Any]:
    """The tokenizer of a shipped model, and a session of its lower layers."""
    try:
        session, tokenizer = shared_lower(model)
    except InputError as error:
        raise ValueError(f"its lower layers are those of {model!r}, which cannot be read: {error}") from error
    return Subwords(tokenizer), session


def with_rules(reading: Reading, found: Settled) -> Reading:
    """The reading in which what rules tell stands, and a triple of which nothing is said is left out whole."""
    reading.omitted[list(found.of_values)] = 0.0
    for word in (reading.pair.words[place] for place in found.values):
        reading.pieces[word.first : word.last, 0] = 0.0
    reading.added[list(found.values)] = 0.0
    copies = (reading.omitted, reading.added, reading.repeated, reading.pieces)
    omitted, added, repeated, pieces = (shares.copy() for shares in copies)
    network, reading = (
        reading,
        reading._replace(omitted=omitted, added=added, repeated=repeated, pieces=pieces),
    )
    for place in found.said:
        omitted[place] = 0.0
    for place in found.left_out:
        omitted[place] = max(omitted[place], _BY_RULE)
    for words, share in ((found.from_data, 0.0), (found.added, _BY_RULE)):
        for place in words:
            word = reading.pair.words[place]
            added[place] = pieces[word.first : word.last, 0] = share
    for place in found.named:
        reading.repeated[place] = reading.pieces[
            reading.pair.words[place].first : reading.pair.words[place].last, 1
        ] = 0.0
    for place, triple in enumerate(omitted.reshape(-1, 3)):
        if triple[1:].min() >= _HALF:
            triple[0] = max(triple[0], triple[1:].min())
        elif 3 * place in found.subjects:
            triple[0] = 0.0
    return reading._replace(network=network)


def with_repeats(reading: Reading) -> Reading:
    """Change the reading in place: words that come again by rule are repeated and not added.

    Not where they are part of something that is added: there a value serves to say something new.
    """
    for place in said_again(reading.pair):
        if reading.added[list(with_neighbours(reading.pair, place))].max() < _ADDED:
            reading.repeated[place] = np.maximum(reading.repeated[place], _BY_RULE)
            reading.added[place] = 0.0
    return reading


def _by_word(pair: Pair, shares: Shares) -> Shares:
    """The mean over the pieces of each word, punctuation left out unless there is nothing else; without pieces 0."""
    found = np.zeros((len(pair.words), shares.shape[1]))
    spoken = np.array(pair.spoken, dtype=bool)
    for n, word in enumerate(pair.words):
        own, loud = shares[word.first : word.last], spoken[word.first : word.last]
        if len(own):
            found[n] = own[loud].mean(axis=0) if loud.any() else own.mean(axis=0)
    return found


def said_again(pair: Pair) -> list[range]:
    """Where words say a value once more: all that is the same around it, too.

    A value is the object of one triple and stands nowhere else in the data: subjects are named as often as one likes.
    """
    words = [plain_word(word.text) for word in pair.words]
    given, values = _given(pair)
    taken: set[int] = set()
    found: list[range] = []
    # Longest first: a name within a longer name is not said by itself.
    for phrase in sorted(given, key=lambda one: -len(one)):
        places = [at for at in _places(words, phrase) if taken.isdisjoint(at)]
        taken.update(chain.from_iterable(places))
        if phrase in values and given[phrase] == 1 and len(places) > 1:
            found += [_wider(pair, words, places[0], place) for place in places[1:]]
    return found


def with_neighbours(pair: Pair, place: range) -> range:
    """A place with the word before it and the word after it, within the sentence."""
    words = pair.words
    before = place.start > 0 and not ends_sentence(words[place.start - 1].text)
    after = place.stop < len(words) and not ends_sentence(words[place.stop - 1].text)
    return range(place.start - before, place.stop + after)


def _given(pair: Pair) -> tuple[Counter[Phrase], set[Phrase]]:
    """How often the data give each phrase, within others too, and which of them are values."""
    parts = [
        tuple(filter(None, map(plain_word, spoken(part, name).split())))
        for triple in pair.triples
        for name, part in zip(ELEMENTS, triple.parts or (), strict=True)
    ]
    names, texts = {*parts[0::3], *parts[2::3]} - {()}, [" ".join(part) for part in parts]
    given = Counter({name: sum(" ".join(name) in text for text in texts) for name in names})
    return given, {value for value in parts[2::3] if _tells(value)}


def _tells(value: Phrase) -> bool:
    return any(len(word) >= _SHORTEST or word[:1].isdigit() for word in value)


def _places(words: Sequence[str], phrase: Phrase) -> list[range]:
    """Where a phrase is said, or an amount in another unit."""
    found, amount = list(places_of(words, phrase)), value_of(" ".join(phrase))
    if amount is not None and amount.unit is not None and not found:
        for n in range(len(words) - 1):
            match mentions(" ".join(words[n : n + 2])):
                case [one] if one.start == 0 and one.unit is not None and same_amount(one, amount):
                    found.append(range(n, n + 2))
    return found


def _wider(pair: Pair, words: Sequence[str], first: range, second: range) -> range:
    """The second place with the words before and after it that are those of the first, within a sentence."""
    start, stop, back = second.start, second.stop, second.start - first.start
    while _same(words, start - 1, back) and start - 1 - back >= 0 and start - 1 >= stop - back:
        if ends_sentence(pair.words[start - 1].text):
            break
        start -= 1
    while stop < len(words) and stop - back < start and _same(words, stop, back):
        if ends_sentence(pair.words[stop - 1].text):
            break
        stop += 1
    return range(start, stop)


def _same(words: Sequence[str], place: int, back: int) -> bool:
    return place >= back and words[place] != "" and words[place] == words[place - back]
