"""Gold with the last word of an adjudicator."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lapsus.errors import InvalidError
from lapsus.measures.gold.result import Gold
from lapsus.model import Answer, UnitKey
from lapsus.notices import Notice
from lapsus.registry import did_you_mean


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
