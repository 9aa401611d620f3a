"""A short run of `benchmarks/trust.py`: intervals hold the truth about as often as they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "trust.py"
    spec = importlib.util.spec_from_file_location("benchmark_trust", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PAIRWISE = [
    (judge, size, (place + other) % 2 == 1)
    for place, judge in enumerate(("good", "poor", "useless"))
    for other, size in enumerate((50, 300))
]
"""Every judge with few and many units, drawn at random and by a plan."""


@pytest.mark.parametrize(("judge", "size", "planned"), PAIRWISE)
def test_intervals_hold_the_truth(judge: str, size: int, planned: bool) -> None:
    """Of 200 draws 95% are 190; four standard errors to either side are 12."""
    simulation = benchmark()
    line = simulation.simulate(simulation.World(documents=150, planned=planned), judge, size, 200, seed=7)
    assert 0.89 <= line.held["corrected"] <= 0.995
    assert 0.89 <= line.held["people"] <= 0.995
    ratio = line.width["corrected"] / line.width["people"]
    assert ratio < 0.85 if judge == "good" else ratio < 1.03
    assert line.held["judge"] < 0.8, "the judge alone is off"
