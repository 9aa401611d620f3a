"""Sensitivity and specificity of a judge, label by label: one figure for all labels hides what it does to rare ones."""

from __future__ import annotations

import msgspec
import numpy as np

from lapsus.kinds.quantities import quantities
from lapsus.measures.bootstrap import Floats
from lapsus.model.votes import Votes


class JudgeRates(msgspec.Struct, frozen=True):
    """One label of a judge beside people, each person's answer counting alike within a unit; None where undefined."""

    label: str
    given: int
    """Units to which the judge gave it."""
    sensitivity: float | None
    """Where people gave the label, how often the judge did."""
    specificity: float | None
    """Where people did not, how often the judge did not either."""
    n: int


def judge_rates(votes: Votes, people: list[int], judge: Floats) -> list[JudgeRates]:
    """Sensitivity and specificity of each label; `judge` holds its answers as `quantities` has them, label by label."""
    found = []
    for place, quantity in enumerate(one for one in quantities(votes) if one.is_share):
        said, judged = people_mean(quantity.values[:, people]), judge[place]
        both = np.isfinite(said) & np.isfinite(judged)
        y, f = said[both], judged[both]
        yes, no = float(y.sum()), float((1 - y).sum())
        found.append(
            JudgeRates(
                quantity.label,
                int(np.nansum(judged)),
                float((y * f).sum()) / yes if yes else None,
                float(((1 - y) * (1 - f)).sum()) / no if no else None,
                int(both.sum()),
            )
        )
    return found


def people_mean(said: Floats) -> Floats:
    """What people said of each unit, on average: (units, people) to (units,); NaN where nobody did."""
    count = np.isfinite(said).sum(axis=1)
    found: Floats = np.where(count > 0, np.nansum(said, axis=1) / np.maximum(count, 1), np.nan)
    return found
