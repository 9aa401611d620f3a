from __future__ import annotations

import numpy as np
import pytest

from lapsus.annotators.breakdown import decision, tune_cuts
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


def test_tuned_cuts_do_at_least_as_well_as_the_likeliest_label() -> None:
    """Where O is everywhere the likeliest label but never the majority, only a cut finds the breakdowns."""
    counts = np.array([[4, 3, 3], [9, 1, 0]] * 10)
    rows = np.array([[0.4, 0.25, 0.35], [0.8, 0.1, 0.1]] * 10)
    rule = tune_cuts(counts, rows)
    assert "".join("OTX"[code] for code in decision(rule)(rows[:2]))[1] == "O"
    assert decision(rule)(rows[:1])[0] > 0
    assert tune_cuts(counts, rows) == rule
