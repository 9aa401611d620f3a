"""A neural conversational model: an encoder that reads what was said and a decoder that says the reply.

It is fitted on replies that people found good, and tells how likely a reply is after what was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.challenge.network_fitting import FittingSchedule, minimise
from lapsus.annotators.challenge.vocabulary import PAD, UNKNOWN, pad
from lapsus.annotators.features.network_layers import Arrays, dense, last, log_softmax, recurrent
from lapsus.annotators.progress import Progress

START = UNKNOWN
"""What the decoder reads first. It stands for no word, as unknown words do."""
LIKELIHOODS = 3
_BLOCK = 256
"""Replies read at a time: each of their words is weighed against the whole vocabulary."""


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


def build(torch: Any, words: int, width: int, hidden: int) -> Any:
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


def run(torch: Any, model: Any, pairs: Sequence[Any], dropout: float) -> tuple[Any, Any]:
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


def fit(
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
        _, states = run(torch, model, some, dropout)
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
