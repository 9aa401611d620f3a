"""How far annotators agree. Measures are asked for as one writes them: `fleiss`, `alpha(ordinal)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.agreement.merging import merge_labels
from lapsus.measures.declare import Measure, parse_measure
from lapsus.measures.resample import USUAL, Bootstrap
from lapsus.measures.score import Score
from lapsus.model.votes import Votes
from lapsus.registry import Registry

__all__ = ["ALIASES", "COEFFICIENTS", "coefficient", "merge_labels"]

_ROOM = "lapsus.measures.agreement"

COEFFICIENTS: Registry[Callable[..., Score]] = Registry(
    "measure of agreement",
    _ROOM,
    {
        "percent": f"{_ROOM}.percent:percent_agreement",
        "fleiss": f"{_ROOM}.fleiss:fleiss_kappa",
        "cohen": f"{_ROOM}.cohen:cohen_kappa",
        "scott": f"{_ROOM}.scott:scott_pi",
        "alpha": f"{_ROOM}.krippendorff:krippendorff_alpha",
        "ac1": f"{_ROOM}.gwet:gwet_ac1",
        "ac2": f"{_ROOM}.gwet:gwet_ac2",
        "icc": f"{_ROOM}.icc:icc",
        "kendall_w": f"{_ROOM}.kendall_w:kendall_w",
        "weighted_fleiss": f"{_ROOM}.weighted_fleiss:weighted_fleiss_kappa",
    },
)
"""Each is a function `(votes, *arguments, plan=…, **parameters)`: what is in brackets, what is after `@`."""

ALIASES = {
    "percent_agreement": "percent",
    "fleiss_kappa": "fleiss",
    "cohen_kappa": "cohen",
    "kappa": "cohen",
    "scott_pi": "scott",
    "pi": "scott",
    "krippendorff": "alpha",
    "krippendorff_alpha": "alpha",
    "gwet_ac1": "ac1",
    "gwet_ac2": "ac2",
    "kendall": "kendall_w",
    "weighted_fleiss_kappa": "weighted_fleiss",
}


def coefficient(text: str, votes: Votes | NDArray[np.integer[Any]], plan: Bootstrap | None = USUAL) -> Score:
    """The agreement of votes by a measure as one writes it: `fleiss`, `cohen(linear)`, `alpha(ordinal)`."""
    measure = parse_measure(text)
    plain = measure.name.lower().replace("-", "_")
    function = COEFFICIENTS.get(ALIASES.get(plain, plain))
    bound = _bound(measure, function, votes, plan)
    return function(*bound.args, **bound.kwargs)


def _bound(
    measure: Measure, function: Callable[..., Score], votes: object, plan: Bootstrap | None
) -> inspect.BoundArguments:
    """Fit what was written to what the function takes; where it takes numbers, read them as such."""
    takes = inspect.signature(function)
    try:
        bound = takes.bind(votes, *measure.arguments, plan=plan, **dict(measure.parameters))
    except TypeError:
        names = [name for name in takes.parameters if name not in ("votes", "plan")]
        what = f"only {' and '.join(names)}" if names else "nothing in brackets and no parameters"
        raise UsageError(f"cannot make sense of '{measure}'", hint=f"{measure.name} takes {what}") from None
    for name, given in bound.arguments.items():
        usual = takes.parameters[name].default
        if isinstance(given, str) and type(usual) in (int, float):
            bound.arguments[name] = _number(measure, name, given, type(usual))
    return bound


def _number(measure: Measure, name: str, given: str, kind: type[int] | type[float]) -> int | float:
    try:
        return kind(given)
    except ValueError:
        raise UsageError(f"{name} of {measure.name} must be a number, not {given!r}") from None
