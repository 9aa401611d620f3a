"""A step of a scale."""

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.kinds.base import Cells, Control, ControlTag, Flaw, Floats, Kind
from lapsus.kinds.messages import BrokenRule
from lapsus.model import Answer, Document, Label, Question, in_language
from lapsus.model.votes import MISSING, ScaleVotes, VoteTable, row_shares
from lapsus.notices import Notice


class ScaleKind(Kind):
    """The answer is a whole number, one of the scale's steps."""

    name = "scale"
    keys = frozenset({"levels", "calculator"})
    is_counted = True
    agreement = ("alpha(ordinal)", "alpha(interval)", "ac2")
    pair_measure = "cohen"
    gold_methods = ("mean", "median")
    typical_method = "median"
    scores = ("ratings",)
    comparison = "rmse"
    controls = ("rating", "number")
    is_packed = True
    missing = math.nan
    packed_type = "<f8"

    def __init__(self, question: Question, labels: Sequence[Label] = ()) -> None:
        super().__init__(question, labels)
        self.steps = tuple(level.value for level in question.levels)
        self.numbers = tuple(map(float, self.steps))

    @property
    def conditions(self) -> tuple[int | str, ...]:
        return self.steps

    @classmethod
    def holds(cls, answer: object) -> bool:
        return isinstance(answer, int) and not isinstance(answer, bool)

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        if answer not in self.steps:
            ends = {"least": str(self.steps[0]), "most": str(self.steps[-1])}
            yield self._rule("off-scale", **ends, value=str(answer))

    def flaws(self) -> Iterator[Flaw]:
        steps = self.steps
        if len(steps) < 2 or list(steps) != list(range(steps[0], steps[0] + len(steps))):
            yield ("levels",), "levels", Notice("scale-two-more-levels")

    def code(self, answer: Answer) -> float:
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            raise self._unfit(answer)
        return float(answer)

    def votes(
        self, table: VoteTable, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Any
    ) -> ScaleVotes:
        values = np.full((len(table.units), len(table.annotators)), np.nan)
        values[rows, columns] = codes
        return ScaleVotes(table.units, table.annotators, values, self.numbers or ())

    def places(self, codes: Any) -> NDArray[np.intp]:
        levels = np.array(self.steps, dtype=np.float64)
        order = np.argsort(levels)
        found = np.searchsorted(levels, codes, sorter=order).clip(max=len(levels) - 1)
        places = order[found]
        return np.where(levels[places] == codes, places, MISSING)

    def totals(self, votes: Any) -> tuple[Floats, float]:
        counts = self._counts(votes).sum(axis=0)
        return counts, float(counts.sum())

    def of_unit(self, votes: Any, row: int) -> list[Answer]:
        return [self._plain(value) for value in votes.values[row].tolist() if not math.isnan(value)]

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(map(str, self.steps))

    def shares(self, votes: Any) -> Floats:
        return row_shares(self._counts(votes))

    def best(self, shares: Floats) -> Answer:
        """The step nearest to the mean: the one that the squared difference punishes least."""
        mean = float(np.dot(shares, self.steps) / max(float(np.sum(shares)), 1e-12))
        return min(self.steps, key=lambda step: abs(step - mean))

    def compare(self, one: Any, other: Any) -> float:
        return float((one - other) ** 2)

    def compared(self, values: Sequence[float]) -> float:
        return math.sqrt(float(np.mean(values)))

    def same(self, answer: Any) -> Hashable:
        return float(answer)

    def settled(
        self,
        proposed: Any,
        shares: Floats | None,
        given: Sequence[Any],
        *,
        share: float = 0.5,
        document: Document | None = None,
    ) -> Answer | None:
        """The step nearest to the mean or median; undecided exactly between two."""
        if proposed is None or not self.steps:
            return None
        near = min(abs(step - proposed) for step in self.steps)
        nearest = [step for step in self.steps if math.isclose(abs(step - proposed), near, abs_tol=1e-9)]
        return nearest[0] if len(nearest) == 1 else None

    @classmethod
    def item(cls, row: Cells) -> Any:
        return row.number("answer")

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        yield f"{in_language(self.question.name, language)} {answer}"

    def choice_names(self, language: str) -> dict[str, str]:
        return {choice: choice for choice in self.choices}

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer", "enum": list(self.steps)}

    def prompt_values(self) -> dict[str, object]:
        return {"least": self.steps[0], "most": self.steps[-1]}

    def control_tag(self, language: str) -> ControlTag:
        hint = "; ".join(
            f"{level.value}: {in_language(level.meaning, language)}" for level in self.question.levels
        )
        ends = {"min": str(self.steps[0]), "max": str(self.steps[-1]), "step": "1"}
        return ControlTag("Number", {**ends, "hint": hint.replace("\n", " ")})

    def control_value(self, answer: Any) -> tuple[str, dict[str, Any]]:
        return "number", {"number": answer}

    def from_control(self, control: Control) -> Answer:
        return control.number()

    def _counts(self, votes: Any) -> NDArray[np.int64]:
        places = self.places(votes.values.ravel()).reshape(votes.values.shape)
        return np.stack([(places == place).sum(axis=1) for place in range(len(self.steps))], axis=1)

    def _plain(self, value: float) -> int | float:
        return int(value) if value.is_integer() else value
