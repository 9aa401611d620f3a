"""How far annotators agree. Measures are asked for as one writes them: `fleiss`, `alpha(ordinal)`."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import merge_labels
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.score import Score, compute, parse_measure
from lapsus.model.votes import Votes
from lapsus.notices import Notice
from lapsus.registry import Registry

__all__ = ["ALIASES", "COEFFICIENTS", "coefficient", "merge_labels"]

_ROOM = "lapsus.measures.agreement"

COEFFICIENTS: Registry[Callable[..., Score]] = Registry(
    Notice("measure-agreement"),
    _ROOM,
    {
        "percent": f"{_ROOM}.fleiss:percent_agreement",
        "fleiss": f"{_ROOM}.fleiss:fleiss_kappa",
        "cohen": f"{_ROOM}.pairs:cohen_kappa",
        "scott": f"{_ROOM}.pairs:scott_pi",
        "alpha": f"{_ROOM}.krippendorff:krippendorff_alpha",
        "ac1": f"{_ROOM}.fleiss:gwet_ac1",
        "ac2": f"{_ROOM}.fleiss:gwet_ac2",
        "icc": f"{_ROOM}.icc:icc",
        "kendall_w": f"{_ROOM}.icc:kendall_w",
        "weighted_fleiss": f"{_ROOM}.fleiss:weighted_fleiss_kappa",
        "span_f1": f"{_ROOM}.spans:span_f1",
        "unitizing": f"{_ROOM}.unitizing:unitizing_alpha",
        "gamma": f"{_ROOM}.gamma:gamma",
    },
)
"""Each is a function `(votes, *arguments, bootstrap=…, **parameters)`: what is in brackets, what is after `@`."""

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
    "unitizing_alpha": "unitizing",
    "alpha_u": "unitizing",
}


def coefficient(
    text: str,
    votes: Votes | NDArray[np.integer[Any]] | Patterns,
    bootstrap: Bootstrap | None = USUAL,
    lengths: Mapping[str, Mapping[str, int]] | None = None,
) -> Score:
    """The agreement of votes by a measure as one writes it: `fleiss`, `cohen(linear)`, `alpha(ordinal)`.

    `lengths` are those of each document's segments, which measures of spans on a continuum want to know.
    """
    measure = parse_measure(text)
    plain = measure.name.lower().replace("-", "_")
    function = COEFFICIENTS.get(ALIASES.get(plain, plain))
    return compute(measure, function, votes, bootstrap=bootstrap, lengths=lengths)
