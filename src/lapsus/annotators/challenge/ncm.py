"""A neural conversational model, and a classifier over its states and likelihoods.

An encoder reads what was said and a decoder says the reply.
It is fitted on replies that people found good, and tells how likely a reply is after what was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress, part_of
from lapsus.annotators.cases import Example, by_document, folds
from lapsus.annotators.challenge.network import (
    PAD,
    UNKNOWN,
    FittingSchedule,
    Inputs,
    NetworkAnnotator,
    Vocabulary,
    minimise,
    pad,
    take_weights,
    torch_for,
    weights_of,
)
from lapsus.annotators.features.cues import target
from lapsus.annotators.features.network_layers import Arrays, dense, last, log_softmax, recurrent
from lapsus.annotators.library import need_at_least
from lapsus.annotators.model_files import State
from lapsus.model import Segment, Unit

_FOLDS = 2
_KEPT = "model."
_SPOKE = {"system": "<system>", "user": "<user>"}
"""Words that stand before each utterance of the history; nobody says them."""
START = UNKNOWN
"""What the decoder reads first. It stands for no word, as unknown words do."""
LIKELIHOODS = 3
_BLOCK = 256
"""Replies read at a time: each of their words is weighed against the whole vocabulary."""


@dataclass(kw_only=True, eq=False)
class Ncm(NetworkAnnotator):
    """Learns to say good replies, and judges a reply by how likely it finds it and how it reads it."""

    method = "ncm"
    preparing = 0.5
    title = "a neural conversational model: encoder, decoder, bags of words, likelihood"

    hidden: int = 64
    epochs: int = 6
    members: int = 2
    vocabulary: int = 2000
    width: int = 48
    words: int = 30
    history: int = 0
    """How many utterances before the one replied to are read too: the extended model. 0: the plain one."""
    replies: int = 4
    """How many times the replies are gone through before judging is learned."""

    def __post_init__(self) -> None:
        super().__post_init__()
        need_at_least(1, vocabulary=self.vocabulary, width=self.width, words=self.words, replies=self.replies)
        need_at_least(0, history=self.history)

    def _prepare(self, examples: Sequence[Example], progress: Progress) -> Inputs:
        dialogues = [group[-1].unit for group in by_document(examples)]
        utterances = [self.words_(turn.text, unit.language) for unit in dialogues for turn in unit.visible]
        known = Vocabulary.of(utterances, most=self.vocabulary, at_least=2)
        self.vocabulary_ = Vocabulary([*_SPOKE.values(), *known.words]) if self.history else known
        self.model_ = self._converse(examples, part_of(progress, 0.0, 0.5))
        fold = folds(examples, _FOLDS, self.seed)
        rows = np.zeros((len(examples), LIKELIHOODS), dtype=np.float32)
        pairs = self._pairs([example.unit for example in examples])
        for place in range(_FOLDS):
            # A model finds the replies that it learned from too likely, so another one reads each.
            outside = [examples[row] for row in np.flatnonzero(fold != place).tolist()]
            tell = part_of(progress, (place + 2) / 4, (place + 3) / 4)
            other = self._converse(outside, tell) if outside else self.model_
            inside = fold == place
            rows[inside] = likelihoods(other, Pairs(*(array[inside] for array in pairs)))
        self.middle_, self.spread_ = rows.mean(axis=0), rows.std(axis=0) + 1e-3
        return *pairs, self._scaled(rows)

    def _converse(self, examples: Sequence[Example], progress: Progress) -> Arrays:
        """A conversational model of good system turns, and of all that users replied."""
        replies = [(self._pair(unit), counts[0] / sum(counts)) for unit, counts in examples]
        replies += [(pair, 1.0) for group in by_document(examples) for pair in self._of_users(group[-1].unit)]
        with torch_for(self.seed) as torch:
            model = build_conversation(torch, len(self.vocabulary_), self.width, self.hidden)
            fit_conversation(
                torch,
                model,
                Pairs.of([pair for pair, _ in replies]),
                np.array([weight for _, weight in replies], dtype=np.float32),
                FittingSchedule(self.replies, self.rate, 0.0, self.seed),
                self.dropout / 2,
                progress,
            )
            return weights_of(model)

    def _of_users(self, unit: Unit) -> list[tuple[list[int], list[int]]]:
        turns = unit.context
        return [
            (self._said(turns[:place], place - 1, unit), self._encode(turns[place], unit))
            for place in range(1, len(turns))
            if turns[place].role == "user"
        ]

    def _encode(self, turn: Segment, unit: Unit) -> list[int]:
        return self.vocabulary_.encode(self.words_(turn.text, unit.language)[: self.words])

    def _pair(self, unit: Unit) -> tuple[list[int], list[int]]:
        users = [place for place, turn in enumerate(unit.context) if turn.role == "user"]
        return self._said(unit.context, users[-1] if users else -1, unit), self._encode(target(unit), unit)

    def _said(self, turns: Sequence[Segment], place: int, unit: Unit) -> list[int]:
        """What the encoder reads: the utterance at a place; the extended model reads those before it first, each
        behind a mark of who spoke.
        """
        if place < 0:
            return []
        if not self.history:
            return self._encode(turns[place], unit)
        read = turns[max(0, place - self.history) : place + 1]
        spoken = [turn for turn in read if turn.role in _SPOKE]
        marks = [self.vocabulary_.numbers[_SPOKE[turn.role]] for turn in spoken]
        return [
            n for mark, turn in zip(marks, spoken, strict=True) for n in (mark, *self._encode(turn, unit))
        ]

    def _pairs(self, units: Sequence[Unit]) -> Pairs:
        return Pairs.of([self._pair(unit) for unit in units])

    def _inputs(self, units: Sequence[Unit]) -> Inputs:
        pairs = self._pairs(units)
        return *pairs, self._scaled(likelihoods(self.model_, pairs))

    def _scaled(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        scaled: NDArray[np.float32] = np.clip((rows - self.middle_) / self.spread_, -5, 5)
        return scaled

    def _build(self, torch: Any, inputs: Inputs) -> Any:
        model = build_conversation(torch, len(self.vocabulary_), self.width, self.hidden)
        take_weights(torch, model, self.model_)
        del model["say"]
        width = 2 * self.hidden + 3 * self.width + LIKELIHOODS
        model["mix"] = torch.nn.Linear(width, self.hidden)
        model["out"] = torch.nn.Linear(self.hidden, 3)
        return model

    def _forward(self, torch: Any, network: Any, inputs: Sequence[Any]) -> Any:
        *given, likely = inputs
        pairs = said, _, reply, reply_lengths = trimmed(given)
        heard, states = run_conversation(torch, network, pairs, self.dropout)
        spoken = states[torch.arange(len(states)), reply_lengths - 1]
        bags = [_bag(network["words"](numbers), numbers > UNKNOWN) for numbers in (said, reply)]
        features = torch.cat([heard, spoken, *bags, bags[0] * bags[1], likely], dim=1)
        drop = torch.nn.functional.dropout
        mixed = torch.tanh(network["mix"](drop(features, self.dropout, network.training)))
        return network["out"](drop(mixed, self.dropout, network.training))

    def _judge(self, arrays: Arrays, inputs: Inputs) -> NDArray[Any]:
        *given, likely = inputs
        pairs = Pairs(*trimmed(given))
        words = arrays["words.weight"]
        states, memories = recurrent(arrays, "encoder", words[pairs.said], "lstm")
        start = last(states, pairs.said_lengths), last(memories, pairs.said_lengths)
        decoded, _ = recurrent(arrays, "decoder", words[pairs.reply], "lstm", start)
        spoken = last(decoded, pairs.reply_lengths)
        bags = [_bag(words[numbers], numbers > UNKNOWN) for numbers in (pairs.said, pairs.reply)]
        features = np.concatenate([start[0], spoken, *bags, bags[0] * bags[1], likely], axis=1)
        return dense(arrays, "out", np.tanh(dense(arrays, "mix", features)))

    def _state(self) -> State:
        kept = {f"{_KEPT}{name}": array for name, array in self.model_.items()}
        scale = {"middle": self.middle_, "spread": self.spread_}
        return State({"words": self.vocabulary_.words}, {**kept, **scale, **self._network_arrays()})

    def _restore(self, state: State) -> None:
        self.vocabulary_ = Vocabulary(state.data["words"])
        self.model_ = {
            name.removeprefix(_KEPT): array for name, array in state.arrays.items() if name.startswith(_KEPT)
        }
        self.middle_, self.spread_ = state.arrays["middle"], state.arrays["spread"]
        self._take_network_arrays(state)


def _bag(vectors: Any, known: Any) -> Any:
    """The mean vector of known words. Numpy and torch spell this alike."""
    marks = known[..., None] * 1.0
    return (vectors * marks).sum(1) / (marks.sum(1) + 1e-6)


class Pairs(NamedTuple):
    """What was said and the reply, as numbers of words, with lengths."""

    said: NDArray[np.int64]
    said_lengths: NDArray[np.int64]
    reply: NDArray[np.int64]
    reply_lengths: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Pairs:
        """A padded batch of pairs, each of the word numbers of what was said and of the reply."""
        said, said_lengths = pad([said or [START] for said, _ in pairs])
        reply, reply_lengths = pad([[START, *reply] for _, reply in pairs])
        return cls(said, said_lengths, reply, reply_lengths)


def trimmed(pairs: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """Pairs without the filling that none of them needs. Numpy and torch spell this alike."""
    said, said_lengths, reply, reply_lengths = pairs
    return (
        said[:, : int(said_lengths.max())], said_lengths, reply[:, : int(reply_lengths.max())], reply_lengths,
    )  # fmt: skip


def build_conversation(torch: Any, words: int, width: int, hidden: int) -> Any:
    """The parts of the model as one torch module."""
    nn = torch.nn
    return nn.ModuleDict(
        {
            "words": nn.Embedding(words, width, padding_idx=PAD),
            "encoder": nn.LSTM(width, hidden, batch_first=True),
            "decoder": nn.LSTM(width, hidden, batch_first=True),
            "say": nn.Linear(hidden, words),
        }
    )


def run_conversation(torch: Any, model: Any, pairs: Sequence[Any], dropout: float) -> tuple[Any, Any]:
    """The encoder's last state and all of the decoder's, in torch."""
    said, said_lengths, reply, _ = pairs
    drop = torch.nn.functional.dropout
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        drop(model["words"](said), dropout, model.training),
        said_lengths,
        batch_first=True,
        enforce_sorted=False,
    )
    _, (state, memory) = model["encoder"](packed)
    read = drop(model["words"](reply), dropout, model.training)
    states, _ = model["decoder"](read, (state, memory))
    return state[0], states


def fit_conversation(
    torch: Any,
    model: Any,
    pairs: Pairs,
    weights: NDArray[np.float32],
    plan: FittingSchedule,
    dropout: float,
    progress: Progress,
) -> None:
    """Learn to say good replies; a reply counts as much as people found it good."""
    tensors = [torch.from_numpy(array) for array in pairs]
    worth = torch.from_numpy(weights)

    def loss(chosen: NDArray[np.intp]) -> Any:
        rows = torch.from_numpy(chosen)
        some = trimmed([tensor[rows] for tensor in tensors])
        _, states = run_conversation(torch, model, some, dropout)
        logs = torch.log_softmax(model["say"](states[:, :-1]), dim=-1)
        following = some[2][:, 1:]
        told = logs.gather(2, following.unsqueeze(2)).squeeze(2)
        known = (following > UNKNOWN).float() * worth[rows].unsqueeze(1)
        return -(told * known).sum() / known.sum().clamp(min=1)

    minimise(torch, model, loss, len(weights), plan, progress)


def likelihoods(arrays: Arrays, pairs: Pairs) -> NDArray[np.float32]:
    """Of each reply, per known word: its log-likelihood after what was said, how much that is above the
    likelihood of the reply alone, and the log-likelihood of its least likely word.
    """
    found = np.zeros((len(pairs.said), LIKELIHOODS), dtype=np.float32)
    for start in range(0, len(found), _BLOCK):
        rows = slice(start, start + _BLOCK)
        found[rows] = _likelihoods(arrays, Pairs(*trimmed([array[rows] for array in pairs])))
    return found


def _likelihoods(arrays: Arrays, pairs: Pairs) -> NDArray[Any]:
    said, replies = arrays["words.weight"][pairs.said], arrays["words.weight"][pairs.reply]
    states, memories = recurrent(arrays, "encoder", said, "lstm")
    start = last(states, pairs.said_lengths), last(memories, pairs.said_lengths)
    known = pairs.reply[:, 1:] > UNKNOWN
    after = _told(arrays, replies, pairs.reply, known, start)
    alone = _told(arrays, replies, pairs.reply, known, None)
    count = np.maximum(known.sum(axis=1), 1)
    mean, gain = after.sum(axis=1) / count, (after - alone).sum(axis=1) / count
    return np.stack([mean, gain, after.min(axis=1, initial=0)], axis=1)


def _told(
    arrays: Arrays,
    replies: NDArray[Any],
    numbers: NDArray[np.int64],
    known: NDArray[np.bool_],
    start: tuple[NDArray[Any], NDArray[Any]] | None,
) -> NDArray[Any]:
    """The log-likelihood of each known word after those before it, and 0 for what is no known word."""
    states, _ = recurrent(arrays, "decoder", replies, "lstm", start)
    logs = log_softmax(dense(arrays, "say", states[:, :-1][known]))
    told = np.zeros(known.shape, dtype=logs.dtype)
    told[known] = logs[np.arange(len(logs)), numbers[:, 1:][known]]
    return told
