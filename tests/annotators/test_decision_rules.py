from __future__ import annotations

import numpy as np
import pytest

from lapsus.annotators.breakdown import decision
from lapsus.errors import UsageError

ROWS = np.array([[0.4, 0.3, 0.3], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.1, 0.5, 0.4], [0.6, 0.0, 0.4]])


def labels(rule: str) -> str:
    return "".join("OTX"[code] for code in decision(rule)(ROWS))


def test_the_likeliest_label_and_ties_by_order() -> None:
    assert labels("argmax") == "OOTTO"


def test_cuts() -> None:
    # O needs .5; X needs 0.9 of T's share.
    assert labels("cuts(0.5,0.9)") == "XTXTO"
    assert labels("cuts(0.4, 1.01)") == "OOTTO"


@pytest.mark.parametrize("rule", ["", "max", "cuts", "cuts(1)", "cuts(a,b)", "cuts(1..2,3)", "cuts(1,2,3)"])
def test_no_rule(rule: str) -> None:
    with pytest.raises(UsageError, match="is no decision rule"):
        decision(rule)
