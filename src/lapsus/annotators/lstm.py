"""Recurrent networks over the turns of the dialogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.decide import ARGMAX
from lapsus.annotators.examples import Example, by_document
from lapsus.annotators.network import Inputs, NetworkAnnotator
from lapsus.annotators.parts.layers import Arrays, dense, recurrent
from lapsus.annotators.parts.vectors import (
    factors,
    mutual_information,
    neighbour_counts,
    pair_counts,
    sentence_weights,
    weighed_means,
)
from lapsus.annotators.parts.vocabulary import PAD, RESERVED, Vocabulary, pad
from lapsus.annotators.progress import Progress
from lapsus.annotators.settings import need_at_least
from lapsus.annotators.storage import State
from lapsus.errors import UsageError
from lapsus.model import Segment, Unit

CELLS = ("lstm", "rnn")


class Lstm(NetworkAnnotator):
    """Reads the last turns one by one, each as word, sentence and co-occurrence vectors."""

    name = "lstm"
    title = "a recurrent network over turns as word, sentence and co-occurrence vectors"

    def __init__(
        self,
        *,
        cell: str = "lstm",
        turns: int = 6,
        vocabulary: int = 3000,
        width: int = 32,
        words: int = 40,
        hidden: int = 48,
        dropout: float = 0.4,
        epochs: int = 8,
        rate: float = 0.003,
        decay: float = 0.01,
        members: int = 3,
        seed: int = 0,
        decide: str = ARGMAX,
    ) -> None:
        super().__init__(
            hidden=hidden,
            dropout=dropout,
            epochs=epochs,
            rate=rate,
            decay=decay,
            members=members,
            seed=seed,
            decide=decide,
        )
        if cell not in CELLS:
            raise UsageError(f"the cell is one of {', '.join(CELLS)}, not {cell!r}")
        need_at_least(0, turns=turns)
        need_at_least(1, vocabulary=vocabulary, width=width, words=words)
        self.cell = cell
        self.turns = turns
        self.vocabulary = vocabulary
        self.width = width
        self.words = words

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
        """For each unit its last turns, the target last: the words of each, and its ready-made vectors."""
        rows = [self._turns(unit) for unit in units]
        ids, _ = pad([turn for row in rows for turn in row])
        ready = self._ready(ids).reshape(len(units), self.turns + 1, -1)
        marks = np.array([self._marks(unit) for unit in units], dtype=np.float32)
        return ids.reshape(len(units), self.turns + 1, -1), np.concatenate([ready, marks], axis=2)

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

    def _ready(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Sentence vectors, and how the words of each turn go with those of the turn before."""
        known = (ids >= RESERVED).astype(np.float32)
        sentence = weighed_means(self.tables_["near"], ids, known * self.tables_["weights"][ids])
        user = weighed_means(self.tables_["user"], ids, known)
        system = weighed_means(self.tables_["system"], ids, known)
        before = np.roll(user.reshape(-1, self.turns + 1, user.shape[1]), 1, axis=1)
        before[:, 0] = 0
        together = before.reshape(user.shape) * system
        return np.hstack([sentence, together, together.sum(axis=1, keepdims=True)])

    def _build(self, torch: Any, inputs: Inputs) -> Any:
        nn = torch.nn
        start = torch.from_numpy(self.tables_["near"].copy())
        kind = nn.LSTM if self.cell == "lstm" else nn.RNN
        width = start.shape[1] + inputs[1].shape[2]
        return nn.ModuleDict(
            {
                "words": nn.Embedding.from_pretrained(start, freeze=False, padding_idx=PAD),
                "cell": kind(width, self.hidden, batch_first=True),
                "out": nn.Linear(self.hidden, 3),
            }
        )

    def _forward(self, torch: Any, network: Any, inputs: Sequence[Any]) -> Any:
        ids, ready = inputs
        known = (ids != PAD).float().unsqueeze(-1)
        words = (network["words"](ids) * known).sum(2) / known.sum(2).clamp(min=1)
        drop = torch.nn.functional.dropout
        states, _ = network["cell"](drop(torch.cat([words, ready], 2), self.dropout, network.training))
        return network["out"](drop(states[:, -1], self.dropout, network.training))

    def _judge(self, arrays: Arrays, inputs: Inputs) -> NDArray[Any]:
        ids, ready = inputs
        known = (ids != PAD).astype(np.float32)[..., None]
        words = (arrays["words.weight"][ids] * known).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
        states, _ = recurrent(arrays, "cell", np.concatenate([words, ready], axis=2), self.cell)
        return dense(arrays, "out", states[:, -1])

    def _state(self) -> State:
        tables = {f"table.{name}": table for name, table in self.tables_.items()}
        return State({"words": self.vocabulary_.words}, {**tables, **self._network_arrays()})

    def _restore(self, state: State) -> None:
        self.vocabulary_ = Vocabulary(state.data["words"])
        self.tables_ = {name: state.arrays[f"table.{name}"] for name in ("near", "user", "system", "weights")}
        self._take_network_arrays(state)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows at a common length, so that rare and frequent words start alike."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = rows / np.maximum(lengths, 1e-6)
    return scaled
