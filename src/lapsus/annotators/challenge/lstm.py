"""Recurrent networks over the turns of the dialogue.

Vectors of words come from how often they stand together: a small corpus needs no more.
Counts become positive pointwise mutual information, whose largest directions are the vectors.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.cases import Example, by_document
from lapsus.annotators.challenge.network import PAD, RESERVED, Inputs, NetworkAnnotator, Vocabulary, pad
from lapsus.annotators.features.network_layers import Arrays, dense, recurrent
from lapsus.annotators.library import need_at_least, one_or_more
from lapsus.annotators.model_files import State
from lapsus.errors import UsageError
from lapsus.model import Segment, Unit

CELLS = ("lstm", "rnn")
WORDS, SENTENCE, PAIRS, FREQUENCIES = "words", "sentence", "pairs", "frequencies"
FEATURES = (WORDS, SENTENCE, PAIRS, FREQUENCIES)
_MOST_LAYERS = 3
_SPREAD = 0.1
"""Of the numbers that the layer on word frequencies starts from."""
Matrix = NDArray[np.float32]
_WINDOW = 4
_SMOOTH = 0.75
"""Frequent neighbours count less than they are frequent, as word2vec has it."""
_BLOCK = 2048
"""Rows of words looked up at a time."""
_COMMON = 1e-3
"""Words more frequent than this weigh less in a sentence."""


@dataclass(kw_only=True, eq=False)
class Lstm(NetworkAnnotator):
    """Reads the last turns one by one, each as vectors of the kinds that `features` names."""

    method = "lstm"
    title = "a recurrent network over turns as word, sentence, co-occurrence or frequency vectors"

    cell: str = "lstm"
    layers: int = 1
    features: str = "words,sentence,pairs"
    turns: int = 6
    vocabulary: int = 3000
    width: int = 32
    words: int = 40

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cell not in CELLS:
            raise UsageError("cell-one-not", cells=", ".join(CELLS), cell=self.cell)
        if not 1 <= self.layers <= _MOST_LAYERS:
            raise UsageError("layers-1-not", most_layers=_MOST_LAYERS, layers=self.layers)
        self._features = one_or_more("feature", self.features, FEATURES)
        need_at_least(0, turns=self.turns)
        need_at_least(1, vocabulary=self.vocabulary, width=self.width, words=self.words)

    def _prepare(self, examples: Sequence[Example], progress: Progress) -> Inputs:
        dialogues = [group[-1].unit for group in by_document(examples)]
        texts = [[self.words_(turn.text, unit.language) for turn in unit.visible] for unit in dialogues]
        utterances = [words for turns in texts for words in turns]
        self.vocabulary_ = Vocabulary.of(utterances, most=self.vocabulary, at_least=2)
        size = len(self.vocabulary_)
        coded = [self.vocabulary_.encode(words) for words in utterances]
        pairs = [
            (self.vocabulary_.encode(texts[place][turn - 1]), self.vocabulary_.encode(texts[place][turn]))
            for place, unit in enumerate(dialogues)
            for turn in range(1, len(unit.visible))
            if unit.visible[turn].role == "system" and unit.visible[turn - 1].role == "user"
        ]
        near = factors(mutual_information(neighbour_counts(coded, size)), self.width, self.seed)[0]
        user, system = factors(mutual_information(pair_counts(pairs, size)), self.width // 2, self.seed)
        weights = sentence_weights(coded, size)
        self.tables_ = {"near": _unit(near), "user": user, "system": system, "weights": weights}
        return self._inputs([example.unit for example in examples])

    def _inputs(self, units: Sequence[Unit]) -> Inputs:
        """For each unit its last turns, the target last: the words of each, its ready-made vectors, and the
        length of its word frequencies.
        """
        rows = [self._turns(unit) for unit in units]
        shape = len(units), self.turns + 1
        ids, _ = pad([turn for row in rows for turn in row])
        marks = np.array([self._marks(unit) for unit in units], dtype=np.float32)
        ready = np.concatenate([*(part.reshape(*shape, -1) for part in self._ready(ids)), marks], axis=2)
        lengths = np.array([[_length(turn) for turn in row] for row in rows], dtype=np.float32)
        return ids.reshape(*shape, -1), ready, lengths

    def _turns(self, unit: Unit) -> list[list[int]]:
        seen = self._seen(unit)
        coded = [
            self.vocabulary_.encode(self.words_(turn.text, unit.language)[: self.words]) for turn in seen
        ]
        return [[] for _ in range(self.turns + 1 - len(coded))] + coded

    def _seen(self, unit: Unit) -> Sequence[Segment]:
        return unit.visible[-self.turns - 1 :]

    def _marks(self, unit: Unit) -> list[list[float]]:
        """Who speaks: system, user, or nobody yet."""
        said = [[float(turn.role == "system"), float(turn.role == "user")] for turn in self._seen(unit)]
        return [[0.0, 0.0]] * (self.turns + 1 - len(said)) + said

    def _ready(self, ids: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
        """Sentence vectors, and how the words of each turn go with those of the turn before."""
        known = (ids >= RESERVED).astype(np.float32)
        if SENTENCE in self._features:
            yield weighed_means(self.tables_["near"], ids, known * self.tables_["weights"][ids])
        if PAIRS in self._features:
            user = weighed_means(self.tables_["user"], ids, known)
            before = np.roll(user.reshape(-1, self.turns + 1, user.shape[1]), 1, axis=1)
            before[:, 0] = 0
            together = before.reshape(user.shape) * weighed_means(self.tables_["system"], ids, known)
            yield np.hstack([together, together.sum(axis=1, keepdims=True)])

    def _build(self, torch: Any, inputs: Inputs) -> Any:
        nn = torch.nn
        start = torch.from_numpy(self.tables_["near"].copy())
        parts: dict[str, Any] = {}
        width = inputs[1].shape[2]
        if WORDS in self._features:
            parts[WORDS] = nn.Embedding.from_pretrained(start, freeze=False, padding_idx=PAD)
            width += start.shape[1]
        if FREQUENCIES in self._features:
            # A linear layer on the vector of word frequencies: its columns, looked up by word.
            parts[FREQUENCIES] = nn.Embedding(*start.shape)
            nn.init.normal_(parts[FREQUENCIES].weight, std=_SPREAD)
            width += start.shape[1]
        kind = nn.LSTM if self.cell == "lstm" else nn.RNN
        parts["cell"] = kind(width, self.hidden, num_layers=self.layers, batch_first=True)
        parts["out"] = nn.Linear(self.hidden, 3)
        return nn.ModuleDict(parts)

    def _forward(self, torch: Any, network: Any, inputs: Sequence[Any]) -> Any:
        ids, ready, lengths = inputs
        parts = [ready]
        if WORDS in self._features:
            known = (ids != PAD).float().unsqueeze(-1)
            parts.insert(0, (network[WORDS](ids) * known).sum(2) / known.sum(2).clamp(min=1))
        if FREQUENCIES in self._features:
            counted = (ids >= RESERVED).float().unsqueeze(-1)
            parts.append((network[FREQUENCIES](ids) * counted).sum(2) / lengths.unsqueeze(-1))
        drop = torch.nn.functional.dropout
        states, _ = network["cell"](drop(torch.cat(parts, 2), self.dropout, network.training))
        return network["out"](drop(states[:, -1], self.dropout, network.training))

    def _judge(self, arrays: Arrays, inputs: Inputs) -> NDArray[Any]:
        ids, ready, lengths = inputs
        parts = [ready]
        if WORDS in self._features:
            known = (ids != PAD).astype(np.float32)[..., None]
            parts.insert(
                0, (arrays["words.weight"][ids] * known).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
            )
        if FREQUENCIES in self._features:
            counted = (ids >= RESERVED).astype(np.float32)[..., None]
            parts.append((arrays["frequencies.weight"][ids] * counted).sum(axis=2) / lengths[..., None])
        states: NDArray[Any] = np.concatenate(parts, axis=2)
        for layer in range(self.layers):
            states, _ = recurrent(arrays, "cell", states, self.cell, layer=layer)
        return dense(arrays, "out", states[:, -1])

    def _state(self) -> State:
        tables = {f"table.{name}": table for name, table in self.tables_.items()}
        return State({"words": self.vocabulary_.words}, {**tables, **self._network_arrays()})

    def _restore(self, state: State) -> None:
        self.vocabulary_ = Vocabulary(state.data["words"])
        self.tables_ = {name: state.arrays[f"table.{name}"] for name in ("near", "user", "system", "weights")}
        self._take_network_arrays(state)


def _length(words: Sequence[int]) -> float:
    """Of the vector of how often each known word comes; 1 where none does."""
    counts = Counter(word for word in words if word >= RESERVED)
    return math.sqrt(sum(count * count for count in counts.values())) or 1.0


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows at a common length, so that rare and frequent words start alike."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = rows / np.maximum(lengths, 1e-6)
    return scaled


def neighbour_counts(utterances: Iterable[Sequence[int]], size: int) -> Matrix:
    """How often two words stand near each other."""
    counts = np.zeros((size, size), dtype=np.float32)
    for words in utterances:
        row = np.array(words, dtype=np.intp)
        for distance in range(1, min(_WINDOW, len(row) - 1) + 1):
            np.add.at(counts, (row[:-distance], row[distance:]), 1.0 / distance)
    return counts + counts.T


def pair_counts(pairs: Iterable[tuple[Sequence[int], Sequence[int]]], size: int) -> Matrix:
    """How often a word of the second utterance follows a word of the first."""
    counts = np.zeros((size, size), dtype=np.float32)
    for first, second in pairs:
        if first and second:
            counts[np.ix_(sorted(set(first)), sorted(set(second)))] += 1.0
    return counts


def mutual_information(counts: Matrix) -> Matrix:
    """How much more often than by chance, as a logarithm; less often counts as chance."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0) ** _SMOOTH
    expected = np.outer(rows, columns / max(float(columns.sum()), 1e-9))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(counts / expected)
    return np.where(counts > 0, np.maximum(found, 0), 0).astype(np.float32)


def factors(matrix: Matrix, width: int, seed: int) -> tuple[Matrix, Matrix]:
    """Two sets of vectors, for rows and for columns, whose products come close to the matrix."""
    width = min(width, len(matrix))
    drawn = np.random.default_rng(seed).standard_normal((matrix.shape[1], width + 10)).astype(np.float32)
    basis = np.linalg.qr(matrix @ drawn)[0]
    for _ in range(3):
        basis = np.linalg.qr(matrix @ (matrix.T @ basis))[0]
    left, values, right = np.linalg.svd(basis.T @ matrix, full_matrices=False)
    root = np.sqrt(values[:width])
    return (basis @ left)[:, :width] * root, right[:width].T * root


def sentence_weights(utterances: Iterable[Sequence[int]], size: int) -> Matrix:
    """How much each word tells in a sentence: rare ones most."""
    counts = np.bincount([word for words in utterances for word in words], minlength=size)
    frequency = counts / max(int(counts.sum()), 1)
    return (_COMMON / (_COMMON + frequency)).astype(np.float32)


def weighed_means(vectors: Matrix, ids: NDArray[np.int64], weights: Matrix) -> Matrix:
    """The mean vector of each row of words, each word with its weight; 0 where all weights are."""
    means = np.zeros((len(ids), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(ids), _BLOCK):
        rows = slice(start, start + _BLOCK)
        total = np.maximum(weights[rows].sum(axis=1, keepdims=True), 1e-6)
        means[rows] = np.einsum("ns,nsd->nd", weights[rows], vectors[ids[rows]]) / total
    return means
