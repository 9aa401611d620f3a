"""Annotators of dialogue breakdown: they say how people's votes for O, T and X would fall, turn by turn."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

import msgspec
import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.base import Annotator, Opinion, Progress, TrainingData
from lapsus.annotators.cases import (
    Case,
    Example,
    Origin,
    digest,
    origin_of,
    require_examples,
    voted_examples,
)
from lapsus.errors import UsageError
from lapsus.measures.scores.breakdown_labels import LABELS, Codes, breakdown_votes, strict_labels
from lapsus.model import FrozenDict, Unit
from lapsus.notices import Notice

Decision: TypeAlias = Callable[[NDArray[np.float64]], Codes]
"""From rows of O, T and X to places in O, T, X."""

ARGMAX = "argmax"
_CUTS = regex.compile(r"cuts\(\s*([0-9.]+)\s*,\s*([0-9.]+)\s*\)")


def decision(rule: str) -> Decision:
    """A rule by its name.

    `argmax`: the likeliest label; ties go to O, then T, then X.
    `cuts(o,x)`: O where p(O) is at least o, else X unless p(X) is below x times p(T).
    """
    if rule == ARGMAX:
        return strict_labels
    match = _CUTS.fullmatch(rule.strip())
    if match is None:
        raise UsageError("no-decision-rule", hint="argmax-cuts-o-x", rule=rule)
    try:
        o, x = map(float, match.groups())
    except ValueError:
        raise UsageError("no-decision-rule", hint="cuts-takes-two-numbers", rule=rule) from None
    return lambda rows: _cut(rows, o, x)


def _cut(rows: NDArray[np.float64], o: float, x: float) -> Codes:
    broken = np.where(rows[:, 2] < x * rows[:, 1], 1, 2)
    return np.where(rows[:, 0] >= o, 0, broken).astype(np.int8)


SCHEME: Final = "breakdown"
QUESTION: Final = "breakdown"
_TRIED = 32
"""Turns on which a model is tried once it has learned."""

_ANSWERS = tuple(FrozenDict({QUESTION: label}) for label in LABELS)


@dataclass(kw_only=True, eq=False)
class BreakdownAnnotator(Annotator):
    """A program that judges system turns for breakdown and for nothing else: the challenge's methods.

    A method writes `_fit`, `_distributions`, `_state` and `_restore`. Its parameters are the fields of the class;
    `__post_init__` checks them.
    """

    made_for: ClassVar[str | None] = SCHEME

    decide: str = ARGMAX

    def __post_init__(self) -> None:
        super().__init__()
        self._rule = decision(self.decide)

    @abstractmethod
    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        """Learn."""

    def _adapt(self, examples: Sequence[Example], progress: Progress) -> None:
        """Go on learning; asked for only where `adapts` is set."""
        raise UsageError("cannot-go-learning", name=self.name)

    @abstractmethod
    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        """How likely O, T and X are: a row a unit. What a unit gets must not depend on the others."""

    def _evidence(self, unit: Unit) -> Any:
        """What the judgment rests on, as a JSON value, where the method can tell."""
        return None

    def _learn_from(self, training: TrainingData, languages: Sequence[str], progress: Progress) -> Origin:
        examples = _examples(training)
        self._fit(examples, progress)
        self._must_judge(examples)
        return self._origin(examples, languages)

    def _learn_more_from(self, training: TrainingData, before: Origin, progress: Progress) -> Origin:
        examples = _examples(training)
        self._adapt(examples, progress)
        self._must_judge(examples)
        return self._origin(examples, before.languages, before.digest)

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        units = [case.unit for case in cases]
        with np.errstate(
            all="ignore"
        ):  # A model from elsewhere may hold any numbers; what comes of them is checked.
            rows = _checked(self._distributions(units), len(units), self.name)
        labels = self._rule(rows).tolist()
        return [
            Opinion(
                _ANSWERS[label],
                FrozenDict({QUESTION: FrozenDict(zip(LABELS, row, strict=True))}),
                evidence=self._evidence(unit),
            )
            for unit, row, label in zip(units, rows.tolist(), labels, strict=True)
        ]

    def _must_judge(self, examples: Sequence[Example]) -> None:
        """Complain about what was learned at once: a model whose numbers ran away is not to be kept."""
        some = examples[:: -(-len(examples) // _TRIED)]
        with np.errstate(all="ignore"):
            rows = np.asarray(self._distributions([example.unit for example in some]), dtype=np.float64)
        if not np.isfinite(rows).all():
            what = Notice("learned-nothing-can-used", name=self.name)
            raise UsageError(what, hint="set-parameters-nearer-their")

    def _origin(
        self, examples: Sequence[Example], languages: Sequence[str], before: str | None = None
    ) -> Origin:
        votes = sum(sum(example.counts) for example in examples)
        units = (example.unit for example in examples)
        found = origin_of(self.scheme, units, votes, digest(examples), languages)
        return msgspec.structs.replace(found, words=self.words_.ways, before=before)


def _examples(training: TrainingData) -> list[Example]:
    votes = breakdown_votes(training.votes[QUESTION])
    found = list(voted_examples((case.unit for case in training.cases), votes))
    require_examples(found)
    return found


def _checked(rows: NDArray[Any], count: int, who: str) -> NDArray[np.float64]:
    """Distributions that sum to 1; a method that gives anything else is broken, and the user is told which."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.shape == (count, len(LABELS)) and (rows >= 0).all():
        normal: NDArray[np.float64] = rows / rows.sum(axis=1, keepdims=True)
        if np.isfinite(normal).all():
            return normal
    raise UsageError("gave-something-no-distribution", hint="fit-again", who=who)
