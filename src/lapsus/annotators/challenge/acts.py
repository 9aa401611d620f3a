"""A network over dialogue acts, the act that should come next, and how usual the words are."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.cases import Example, folds
from lapsus.annotators.challenge.network import Inputs, NetworkAnnotator
from lapsus.annotators.features.cues import SurfaceCues, last_said, look, target
from lapsus.annotators.features.network_layers import Arrays, dense
from lapsus.annotators.library import need_at_least
from lapsus.annotators.model_files import State
from lapsus.model import Unit

_FOLDS = 5
_FEELING, _SELF = "feeling", "self"
_BY_CUE: Final = ("request", "greeting", "farewell", "thanks", "apology", "unsure", "deny", "agree")
ACTS: Final = (
    "none", "ask-open", "ask-yes-no", "lost", *_BY_CUE, "own-feeling", "own-fact", "opinion", "about-you", "fact",
)  # fmt: skip
"""Every act; `none` where nobody spoke. `act_of` says which goes before which."""
QUESTIONS: Final = (
    "none", "how-many", "when", "where", "who", "why", "which", "how", "what", "yes-no", "other",
)  # fmt: skip
_START, _END = "\x02", "\x03"
_PLACES = 3
"""Decimals of counts: the same in memory and in a file."""


class TurnModel(NamedTuple):
    """What is learned from good turns: which act comes next, and which words are usual."""

    acts: NextActs
    words: Ngrams


@dataclass(kw_only=True, eq=False)
class Acts(NetworkAnnotator):
    """Asks whether the turn does what should be done here, in words that are usual."""

    method = "acts"
    title = "a network over dialogue acts, the act due next, perplexity and question type"

    hidden: int = 32
    dropout: float = 0.2
    epochs: int = 20
    rate: float = 0.005
    order: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        need_at_least(1, order=self.order)

    def _prepare(self, examples: Sequence[Example], progress: Progress) -> Inputs:
        self.known_ = self._learn(examples)
        rows = self._crossed(examples)
        self.middle_, self.spread_ = rows.mean(axis=0), rows.std(axis=0) + 1e-3
        return (self._scaled(rows),)

    def _learn(self, examples: Sequence[Example]) -> TurnModel:
        """From turns as far as people found them good, and from what users say."""
        pairs, texts = [], []
        for unit, counts in examples:
            good = counts[0] / sum(counts)
            user, system = self._looks(unit)
            pairs.append((act_of(user), act_of(system), good))
            texts.append((self.words_(target(unit).text, unit.language), good))
            if users := self.words_(last_said(unit, "user"), unit.language):
                texts.append((users, 1.0))
        return TurnModel(NextActs.learn(pairs), Ngrams(self.order).add(texts))

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

    def _features(self, units: Sequence[Unit], known: TurnModel) -> NDArray[np.float32]:
        return np.array([self._row(unit, known) for unit in units], dtype=np.float32).reshape(-1, _width())

    def _row(self, unit: Unit, known: TurnModel) -> list[float]:
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
        self.known_ = TurnModel(acts, Ngrams.from_data(state.data["ngrams"]))
        self.middle_, self.spread_ = state.arrays["middle"], state.arrays["spread"]
        self._take_network_arrays(state)


def _one_of(names: Sequence[str], name: str) -> list[float]:
    return [float(name == known) for known in names]


def _width() -> int:
    return 3 * len(ACTS) + 2 + len(QUESTIONS) + 3 + 1


def act_of(seen: SurfaceCues | None) -> str:
    """The act that an utterance most looks like."""
    if seen is None:
        return "none"
    if "confused" in seen.does:
        return "lost"
    if seen.asks is not None:
        return "ask-yes-no" if seen.asks in ("yes-no", "other") else "ask-open"
    for cue in _BY_CUE:
        if cue in seen.does:
            return cue
    if _SELF in seen.does:
        return "own-feeling" if _FEELING in seen.does else "own-fact"
    if _FEELING in seen.does:
        return "opinion"
    return "about-you" if "you" in seen.does else "fact"


class NextActs:
    """Which act should come after which, learned from turns that people found good."""

    def __init__(self, shares: NDArray[np.float64]) -> None:
        self.shares = shares
        """A row an act of the user, a column an act of the system."""

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str, float]]) -> NextActs:
        """From acts of user and system, with how good the turn was."""
        counts = np.zeros((len(ACTS), len(ACTS)))
        for user, system, weight in pairs:
            counts[ACTS.index(user), ACTS.index(system)] += weight
        usual = (counts.sum(axis=0) + 1) / (counts.sum() + len(ACTS))
        # Acts seldom seen lean on what is usual after any act.
        return cls((counts + 5 * usual) / (counts.sum(axis=1, keepdims=True) + 5))

    def after(self, user: str) -> NDArray[np.float64]:
        """How likely each act is to come next."""
        row: NDArray[np.float64] = self.shares[ACTS.index(user)]
        return row


class Usualness(NamedTuple):
    """Natural logarithms of how likely the words of an utterance were, each after those before it."""

    mean: float
    worst: float
    unknown: float
    """The share of words never seen."""


class Ngrams:
    """Counts of runs of words. Runs may count in part, where an utterance was valid to some only."""

    def __init__(self, order: int = 3) -> None:
        self.order = order
        self.counts: list[dict[tuple[str, ...], float]] = [defaultdict(float) for _ in range(order)]
        self._after: dict[tuple[str, ...], tuple[float, int]] = {}

    def add(self, utterances: Iterable[tuple[Sequence[str], float]]) -> Ngrams:
        """Count the runs of utterances, each with its weight."""
        for words, weight in utterances:
            if weight > 0:
                row = self._row(words)
                for place in range(self.order - 1, len(row)):
                    for size in range(self.order):
                        self.counts[size][row[place - size : place + 1]] += weight
        for counts in self.counts:
            counts.update({run: round(count, _PLACES) for run, count in counts.items()})
        self._index()
        return self

    def usualness(self, words: Sequence[str]) -> Usualness:
        """How usual an utterance is."""
        row = self._row(words)
        logs = [math.log(self._share(row[: place + 1])) for place in range(self.order - 1, len(row))]
        unknown = sum((word,) not in self.counts[0] for word in words) / max(len(words), 1)
        return Usualness(sum(logs) / len(logs), min(logs), unknown)

    def to_data(self) -> list[list[list[Any]]]:
        """As plain JSON: for each length the runs, each with its count at the end."""
        return [[[*run, count] for run, count in sorted(counts.items())] for counts in self.counts]

    @classmethod
    def from_data(cls, data: Sequence[Sequence[Sequence[Any]]]) -> Ngrams:
        """The counts that `to_data` wrote."""
        made = cls(len(data))
        for counts, kept in zip(made.counts, data, strict=True):
            counts.update({tuple(words): float(count) for *words, count in kept})
        made._index()
        return made

    def _row(self, words: Sequence[str]) -> tuple[str, ...]:
        return (*[_START] * (self.order - 1), *words, _END)

    def _index(self) -> None:
        """For each run how often something followed it, and how many different things."""
        after: dict[tuple[str, ...], tuple[float, int]] = {}
        for counts in self.counts:
            for run, count in counts.items():
                total, kinds = after.get(run[:-1], (0.0, 0))
                after[run[:-1]] = (total + count, kinds + 1)
        self._after = after

    def _share(self, row: tuple[str, ...]) -> float:
        """How likely the last word is after the others: longer runs as far as they are known, then shorter ones."""
        total, kinds = self._after.get((), (0.0, 0))
        share = 1.0 / (kinds + 1)
        for size in range(self.order):
            run = row[len(row) - 1 - size :]
            total, kinds = self._after.get(run[:-1], (0.0, 0))
            if kinds:
                share = (self.counts[size].get(run, 0.0) + kinds * share) / (total + kinds)
        return share
