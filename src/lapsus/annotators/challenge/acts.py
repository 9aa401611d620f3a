"""A network over dialogue acts, the act that should come next, and how usual the words are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.challenge.dialogue_acts import ACTS, QUESTIONS, NextActs, act_of
from lapsus.annotators.challenge.network import Inputs, NetworkAnnotator
from lapsus.annotators.challenge.ngrams import Ngrams
from lapsus.annotators.features.cues import look
from lapsus.annotators.features.earlier_turns import last_said, target
from lapsus.annotators.features.network_layers import Arrays, dense
from lapsus.annotators.model_files import State
from lapsus.annotators.parameter_bounds import need_at_least
from lapsus.annotators.progress import Progress
from lapsus.annotators.training_examples import Example, folds
from lapsus.model import Unit

_FOLDS = 5


class Known(NamedTuple):
    """What is learned from good turns: which act comes next, and which words are usual."""

    acts: NextActs
    words: Ngrams


class Acts(NetworkAnnotator):
    """Asks whether the turn does what should be done here, in words that are usual."""

    method = "acts"
    title = "a network over dialogue acts, the act due next, perplexity and question type"

    usual: ClassVar[Mapping[str, Any]] = {"hidden": 32, "dropout": 0.2, "epochs": 20, "rate": 0.005}

    def __init__(self, *, order: int = 3, **network: Any) -> None:
        super().__init__(**network)
        need_at_least(1, order=order)
        self.order = order

    def _prepare(self, examples: Sequence[Example], progress: Progress) -> Inputs:
        self.known_ = self._learn(examples)
        rows = self._crossed(examples)
        self.middle_, self.spread_ = rows.mean(axis=0), rows.std(axis=0) + 1e-3
        return (self._scaled(rows),)

    def _learn(self, examples: Sequence[Example]) -> Known:
        """From turns as far as people found them good, and from what users say."""
        pairs, texts = [], []
        for unit, counts in examples:
            good = counts[0] / sum(counts)
            user, system = self._looks(unit)
            pairs.append((act_of(user), act_of(system), good))
            texts.append((self.words_(target(unit).text, unit.language), good))
            if users := self.words_(last_said(unit, "user"), unit.language):
                texts.append((users, 1.0))
        return Known(NextActs.learn(pairs), Ngrams(self.order).add(texts))

    def _crossed(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        """Features of examples from what the *other* examples taught: their own words would look too usual."""
        fold = folds(examples, _FOLDS, self.seed)
        rows = np.zeros((len(examples), _width()), dtype=np.float32)
        for place in range(_FOLDS):
            inside = np.flatnonzero(fold == place).tolist()
            outside = [examples[row] for row in np.flatnonzero(fold != place).tolist()]
            if inside:
                known = self._learn(outside) if outside else self.known_
                rows[inside] = self._features([examples[row].unit for row in inside], known)
        return rows

    def _features(self, units: Sequence[Unit], known: Known) -> NDArray[np.float32]:
        return np.array([self._row(unit, known) for unit in units], dtype=np.float32).reshape(-1, _width())

    def _row(self, unit: Unit, known: Known) -> list[float]:
        user, system = self._looks(unit)
        said, done = act_of(user), act_of(system)
        due = known.acts.after(said)
        place = ACTS.index(done)
        usual = known.words.usualness(self.words_(target(unit).text, unit.language))
        return [
            *_one_of(ACTS, done),
            *_one_of(ACTS, said),
            *due.tolist(),
            float(np.log(due[place])),
            float(due[place] == due.max()),
            *_one_of(QUESTIONS, user.asks if user and user.asks else "none"),
            *usual,
            float(np.log1p(len(system.words))),
        ]

    def _looks(self, unit: Unit) -> tuple[Any, Any]:
        users = last_said(unit, "user")
        return (look(users, unit.language) if users else None), look(target(unit).text, unit.language)

    def _inputs(self, units: Sequence[Unit]) -> Inputs:
        return (self._scaled(self._features(units, self.known_)),)

    def _scaled(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        # Features that hardly vary in fitting must not blow up when they do later.
        scaled: NDArray[np.float32] = np.clip((rows - self.middle_) / self.spread_, -5, 5)
        return scaled

    def _build(self, torch: Any, inputs: Inputs) -> Any:
        nn = torch.nn
        return nn.ModuleDict({"hidden": nn.Linear(_width(), self.hidden), "out": nn.Linear(self.hidden, 3)})

    def _forward(self, torch: Any, network: Any, inputs: Sequence[Any]) -> Any:
        drop = torch.nn.functional.dropout
        hidden = torch.tanh(network["hidden"](drop(inputs[0], self.dropout, network.training)))
        return network["out"](drop(hidden, self.dropout, network.training))

    def _judge(self, arrays: Arrays, inputs: Inputs) -> NDArray[Any]:
        return dense(arrays, "out", np.tanh(dense(arrays, "hidden", inputs[0])))

    def _state(self) -> State:
        arrays = {"next": self.known_.acts.shares, "middle": self.middle_, "spread": self.spread_}
        return State({"ngrams": self.known_.words.to_data()}, {**arrays, **self._network_arrays()})

    def _restore(self, state: State) -> None:
        acts = NextActs(state.arrays["next"].reshape(len(ACTS), len(ACTS)))
        self.known_ = Known(acts, Ngrams.from_data(state.data["ngrams"]))
        self.middle_, self.spread_ = state.arrays["middle"], state.arrays["spread"]
        self._take_network_arrays(state)


def _one_of(names: Sequence[str], name: str) -> list[float]:
    return [float(name == known) for known in names]


def _width() -> int:
    return 3 * len(ACTS) + 2 + len(QUESTIONS) + 3 + 1
