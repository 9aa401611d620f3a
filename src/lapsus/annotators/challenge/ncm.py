"""A classifier over the states and likelihoods of a neural conversational model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.challenge import conversation_model
from lapsus.annotators.challenge.conversation_model import LIKELIHOODS, Pairs, likelihoods, trimmed
from lapsus.annotators.challenge.network import Inputs, NetworkAnnotator
from lapsus.annotators.challenge.network_fitting import FittingSchedule, take_weights, torch_for, weights_of
from lapsus.annotators.challenge.vocabulary import UNKNOWN, Vocabulary
from lapsus.annotators.features.earlier_turns import target
from lapsus.annotators.features.network_layers import Arrays, dense, last, recurrent
from lapsus.annotators.model_files import State
from lapsus.annotators.parameter_bounds import need_at_least
from lapsus.annotators.progress import Progress, part_of
from lapsus.annotators.training_examples import Example, by_document, folds
from lapsus.model import Segment, Unit

_FOLDS = 2
_KEPT = "model."
_SPOKE = {"system": "<system>", "user": "<user>"}
"""Words that stand before each utterance of the history; nobody says them."""


class Ncm(NetworkAnnotator):
    """Learns to say good replies, and judges a reply by how likely it finds it and how it reads it."""

    method = "ncm"
    preparing = 0.5
    title = "a neural conversational model: encoder, decoder, bags of words, likelihood"

    usual: ClassVar[Mapping[str, Any]] = {"hidden": 64, "epochs": 6, "members": 2}

    def __init__(
        self,
        *,
        vocabulary: int = 2000,
        width: int = 48,
        words: int = 30,
        history: int = 0,
        replies: int = 4,
        **network: Any,
    ) -> None:
        super().__init__(**network)
        need_at_least(1, vocabulary=vocabulary, width=width, words=words, replies=replies)
        need_at_least(0, history=history)
        self.vocabulary = vocabulary
        self.width = width
        self.words = words
        self.history = history
        """How many utterances before the one replied to are read too: the extended model. 0: the plain one."""
        self.replies = replies
        """How many times the replies are gone through before judging is learned."""

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
            model = conversation_model.build(torch, len(self.vocabulary_), self.width, self.hidden)
            conversation_model.fit(
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
        model = conversation_model.build(torch, len(self.vocabulary_), self.width, self.hidden)
        take_weights(torch, model, self.model_)
        del model["say"]
        width = 2 * self.hidden + 3 * self.width + LIKELIHOODS
        model["mix"] = torch.nn.Linear(width, self.hidden)
        model["out"] = torch.nn.Linear(self.hidden, 3)
        return model

    def _forward(self, torch: Any, network: Any, inputs: Sequence[Any]) -> Any:
        *given, likely = inputs
        pairs = said, _, reply, reply_lengths = trimmed(given)
        heard, states = conversation_model.run(torch, network, pairs, self.dropout)
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
