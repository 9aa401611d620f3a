"""Which differences between runs are more than chance."""

from __future__ import annotations

from typing import Any

import msgspec

from lapsus.analysis.corpus import Announce, choose_scheme, load_corpus
from lapsus.analysis.scores import SHOWN, breakdown_runs, is_challenged
from lapsus.analysis.validating import with_broken
from lapsus.errors import UsageError
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.comparison import TRIALS, Comparison, Test, compare_runs
from lapsus.measures.scores import BREAKDOWN_MEASURES, LOWER_IS_BETTER
from lapsus.reports import Table


def compare(
    gold: Any,
    *runs: Any,
    baseline: str | None = None,
    threshold: float = 0.0,
    test: Test = "randomization",
    only: str | None = None,
    drop_broken: bool = False,
    bootstrap: Bootstrap = TRIALS,
    announce: Announce = lambda reading: None,
) -> Table:
    """Compare breakdown runs on the same gold, document by document."""
    truth = load_corpus(gold, only=only, drop_broken=drop_broken, announce=announce)
    said = [load_corpus(run, drop_broken=drop_broken, announce=announce) for run in runs]
    scheme = choose_scheme([truth, *said], None, is_challenged)
    aligned = breakdown_runs(truth, said, scheme)
    if len(aligned) < 2:
        raise UsageError("it takes two runs to compare")
    tallies = {name: run.tally(threshold) for name, run in aligned.items()}
    found = compare_runs(tallies, baseline=baseline, test=test, bootstrap=bootstrap)
    rows = tuple(_row(comparison) for comparison in found)
    columns = ("runs", *(str(BREAKDOWN_MEASURES[name]) for name in SHOWN))
    notes = (
        found[0].signature,
        "second minus first; * p < .05, ** p < .01, *** p < .001, two-sided, by Holm's method for all pairs",
        f"lower is better: {', '.join(str(BREAKDOWN_MEASURES[n]) for n in SHOWN if n in LOWER_IS_BETTER)}",
    )
    data = {"gold": truth.name, "comparisons": msgspec.to_builtins(found)}
    return with_broken(Table(columns, rows, notes=notes, data=data), [truth, *said], scheme)


def _row(comparison: Comparison) -> tuple[Any, ...]:
    differences = (comparison.difference(str(BREAKDOWN_MEASURES[name])) for name in SHOWN)
    return (f"{comparison.first} → {comparison.second}", *differences)
