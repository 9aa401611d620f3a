"""What every way of making gold gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.measures.bootstrap import Floats
from lapsus.measures.score import spread
from lapsus.model import EMPTY, Answer, UnitKey
from lapsus.notices import Notice
from lapsus.registry import did_you_mean

NOBODY = Notice("nobody-answered")
"""Why a unit, or a whole gold, has no answer."""


@dataclass(frozen=True)
class Gold:
    """Votes put together: for each unit one answer, as an annotator would have given it."""

    units: tuple[UnitKey, ...]
    method: str
    signature: str
    answers: tuple[Answer | None, ...] | None = None
    """One a unit, None where the votes give none; None altogether where gold is only a distribution."""
    labels: tuple[str, ...] = ()
    """What the columns of `distributions` stand for."""
    distributions: Floats | None = None
    """A row a unit, a column a label; NaN where nobody answered."""
    reliability: Mapping[str, float] = field(default=EMPTY)
    """How far each annotator can be trusted, from 0 to 1, where the method tells."""
    decided: frozenset[UnitKey] = frozenset()
    """The units whose answer is an adjudicator's decision."""
    undecided: tuple[UnitKey, ...] = ()
    """The units that somebody answered and that have no answer all the same."""
    details: Mapping[str, Any] = field(default=EMPTY)
    note: str | None = None

    def __post_init__(self) -> None:
        if self.answers is not None and len(self.answers) != len(self.units):
            raise InvalidError("answers-units", count=len(self.answers), count2=len(self.units))
        if self.distributions is not None:
            if self.distributions.shape != (len(self.units), len(self.labels)):
                raise InvalidError(
                    "distributions-shape-units-labels",
                    shape=self.distributions.shape,
                    count=len(self.units),
                    count2=len(self.labels),
                )
            self.distributions.setflags(write=False)

    def by_unit(self) -> dict[UnitKey, Answer]:
        """The answers that there are, by unit."""
        answers = self.answers or (None,) * len(self.units)
        return {unit: answer for unit, answer in zip(self.units, answers, strict=True) if answer is not None}


class LabelRates(NamedTuple):
    """How an annotator uses one label: how often it is given where it is right, and not given where it is not."""

    sensitivity: float
    specificity: float


def label_rates(confusion: Floats, prior: Floats, labels: Sequence[str]) -> dict[str, LabelRates]:
    """From a confusion matrix (true label by answer) and how common the true labels are.

    Both are shown, label by label: where one label is common, being right most of the time says nothing of the others.
    """
    rates = {}
    for place, label in enumerate(labels):
        others = np.delete(prior, place)
        wrongly = np.delete(confusion[:, place], place)
        specificity = 1 - float(wrongly @ others / others.sum()) if others.sum() > 0 else float("nan")
        rates[label] = LabelRates(float(confusion[place, place]), specificity)
    return rates


def informedness(rates: Mapping[str, LabelRates]) -> float:
    """The mean over labels of sensitivity + specificity - 1: 0 for answers without looking, 1 for no mistakes."""
    found = [one.sensitivity + one.specificity - 1 for one in rates.values()]
    return float(np.mean(found)) if found else float("nan")


def label_answers(
    labels: tuple[str, ...], codes: NDArray[np.intp], voted: NDArray[np.bool_]
) -> tuple[str | None, ...]:
    """The labels that the codes stand for; None where nobody voted."""
    names = np.array([*labels, None], dtype=object)
    return tuple(names[np.where(voted, codes, len(labels))].tolist())


def raters(numbers: NDArray[Any]) -> str | None:
    """How many annotators answered a unit, for a signature, units without an answer left out."""
    return spread(numbers[numbers > 0])


def adjudicated(gold: Gold, decisions: Mapping[UnitKey, Answer], adjudicator: str = "adjudicator") -> Gold:
    """The same gold with an adjudicator's answers in place of its own, and the units so decided marked.

    Where the gold holds distributions, a decided unit puts all of its weight on what was decided.
    """
    places = {unit: place for place, unit in enumerate(gold.units)}
    answers = list(gold.answers) if gold.answers is not None else [None] * len(gold.units)
    distributions = gold.distributions.copy() if gold.distributions is not None else None
    for unit, answer in decisions.items():
        if unit not in places:
            raise InvalidError(
                "decision-about-unit-not", where=_place(unit), hint="decide-only-units-somebody"
            )
        answers[places[unit]] = answer
        if distributions is not None:
            distributions[places[unit]] = np.isin(gold.labels, _chosen(gold, unit, answer))
    return replace(
        gold,
        method=f"{gold.method}+adjudicated",
        signature=f"adjudicated:{len(decisions)}|by:{adjudicator}|{gold.signature}",
        answers=tuple(answers),
        distributions=distributions,
        decided=gold.decided | decisions.keys(),
        undecided=tuple(unit for unit in gold.undecided if unit not in decisions),
    )


def _chosen(gold: Gold, unit: UnitKey, answer: Answer) -> list[str]:
    """The labels that were decided on, all of them known."""
    chosen = [
        label for label in (answer if isinstance(answer, tuple) else (answer,)) if isinstance(label, str)
    ]
    for label in chosen or [str(answer)] if answer != () else []:
        if label not in gold.labels:
            raise InvalidError(
                "unknown-label", where=_place(unit), hint=did_you_mean(label, list(gold.labels)), label=label
            )
    return chosen


def _place(unit: UnitKey) -> str:
    return Notice("document", document=unit.document) + (
        f", segment {unit.segment!r}" if unit.segment is not None else ""
    )
