"""What other libraries do in the races, each with the input that it is fastest with. Nothing of Lapsus is here."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from measures_worker import Results

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def _krippendorff(folder: Path) -> Callable[[], Results]:
    krippendorff: Any = import_module("krippendorff")
    codes = np.load(folder / "codes.npy")
    # A row a rater and nan for no answer; laid out in memory the other way round it takes half as long again.
    data = np.ascontiguousarray(np.where(codes < 0, np.nan, codes).T)
    return lambda: {"alpha": krippendorff.alpha(data, level_of_measurement="nominal")}


def _statsmodels(folder: Path) -> Callable[[], Results]:
    inter_rater: Any = import_module("statsmodels.stats.inter_rater")
    counts = np.load(folder / "counts.npy")
    return lambda: {"kappa": inter_rater.fleiss_kappa(counts, method="fleiss")}


def _nltk(folder: Path) -> Callable[[], Results]:
    agreement: Any = import_module("nltk.metrics.agreement")
    codes = np.load(folder / "listed_codes.npy")
    unit, rater = np.nonzero(codes >= 0)
    columns = rater.tolist(), unit.tolist(), codes[unit, rater].tolist()
    task = agreement.AnnotationTask(data=list(zip(*columns, strict=True)))
    return lambda: {"alpha": task.alpha()}


def _crowd_kit(folder: Path) -> Callable[[], Results]:
    aggregation: Any = import_module("crowdkit.aggregation")
    pandas: Any = import_module("pandas")
    codes, iterations = np.load(folder / "modelled_codes.npy"), int(np.load(folder / "iterations.npy"))
    task, worker = np.nonzero(codes >= 0)
    frame = pandas.DataFrame({"task": task, "worker": worker, "label": codes[task, worker].astype(np.int64)})

    def action() -> Results:
        # With this tolerance it never stops early.
        model = aggregation.DawidSkene(n_iter=iterations, tol=-np.inf).fit(frame)
        posteriors = model.probas_.sort_index()[[0, 1, 2]].to_numpy()
        return {"posteriors": posteriors, "iterations": len(model.loss_history_)}

    return action


def _pygamma(folder: Path) -> Callable[[], Results]:
    library: Any = import_module("pygamma_agreement")
    segment: Any = import_module("pyannote.core").Segment
    rows, precision = np.load(folder / "marks.npy"), float(np.load(folder / "precision.npy"))
    continuum = library.Continuum()
    for annotator, start, end, label in rows.tolist():
        continuum.add(f"a{annotator}", segment(float(start), float(end)), "abcd"[label])
    # The line begins at 0, not at the first mark, as it does for Lapsus.
    continuum.bound_inf, continuum.bound_sup = 0.0, float(rows[:, 2].max())

    def action() -> Results:
        np.random.seed(0)  # the library draws from there
        found = continuum.compute_gamma(
            library.CombinedCategoricalDissimilarity(alpha=1, beta=1, delta_empty=1.0),
            precision_level=precision,
            sampler=library.ShuffleContinuumSampler(),
        )
        return {
            "gamma": found.gamma,
            "observed disorder": found.observed_disorder,
            "random continua": found.n_samples,
        }

    return action


TASKS = {
    "alpha": _krippendorff,
    "alpha of lists": _nltk,
    "fleiss": _statsmodels,
    "dawid-skene": _crowd_kit,
    "gamma": _pygamma,
}
