"""The Ladder against a team that hands in 3 or 3,000 runs: what it reads of the labels.

The attacker is stronger than a team can be: no limit of runs holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.feedback import MOST_ANSWERED, _Ladder, grain, secret_shift
from lapsus.challenge.run_scores import Answers, RunScores, ScoredRun, ScoreValue, ScoreValues
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, LOWER_IS_BETTER, breakdown_tally
from lapsus.measures.scores.breakdown_labels import LABELS, strict_labels

TURNS, VOTERS, RUNS = 400, 10, 3000
Codes = NDArray[np.int8]
Answer = Callable[[ScoredRun], RunScores | None]
"""What a team is told of a run."""


@cache
def votes() -> NDArray[np.int64]:
    rng = np.random.default_rng(11)
    return np.array([rng.multinomial(VOTERS, rng.dirichlet((0.6, 0.4, 0.5))) for _ in range(TURNS)])


@cache
def truth() -> Codes:
    return strict_labels(votes() / VOTERS, 0.0).astype(np.int8)


def scored(labels: Codes, shares: NDArray[np.float64] | None = None) -> ScoredRun:
    """A run as it is kept, without intervals."""
    shares = np.eye(3)[labels] if shares is None else shares
    tally = breakdown_tally(votes(), labels, shares, np.arange(TURNS) // 10, t=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = tally.value(tally.sums.sum(axis=0))
    values = {
        name: ScoreValue(None if np.isnan(value) else float(value))
        for name, value in zip(BREAKDOWN_MEASURES, np.ravel(found), strict=True)
    }
    figures = RunScores(ScoreValues(TURNS, values, "exact"), {}, 0, 0)
    answers = Answers("".join(LABELS[code] for code in labels), [(o, t, x) for o, t, x in shares.tolist()])
    return ScoredRun(answers, tally.sums, figures)


def exactly(run: ScoredRun) -> RunScores:
    return run.figures


def by_ladder() -> Answer:
    return _Ladder(secret_shift("nobody knows", 1, "en")).answer


def told(found: RunScores | None, measure: str = "accuracy") -> float | None:
    return None if found is None else found.all.values[measure].value


def right(read: Codes) -> int:
    return int((read == truth()).sum())


def averaging(answer: Answer, runs: int) -> Codes:
    """Random runs; of each turn the label of the runs that scored best. Silence is taken as the mean."""
    rng = np.random.default_rng(5)
    weights = np.zeros((TURNS, 3))
    said = rng.integers(0, 3, (runs, TURNS)).astype(np.int8)
    scores = np.array([told(answer(scored(labels))) or np.nan for labels in said])
    for labels, score in zip(said, np.nan_to_num(scores - np.nanmean(scores)), strict=True):
        weights[np.arange(TURNS), labels] += score
    return weights.argmax(axis=1).astype(np.int8)


def climbing(answer: Answer, runs: int, changed: int) -> Codes:
    """From O everywhere: changes `changed` labels at random, and goes on from whatever betters all before."""
    rng = np.random.default_rng(6)
    best = np.zeros(TURNS, dtype=np.int8)
    reached = told(answer(scored(best))) or 0.0
    for _ in range(runs - 1):
        tried = best.copy()
        tried[rng.choice(TURNS, changed, replace=False)] = rng.integers(0, 3, changed)
        score = told(answer(scored(tried)))
        if score is not None and score > reached:
            best, reached = tried, score
    return best


def digits(answer: Answer, runs: int) -> int:
    """Each run after the first gives ten turns the shares 11^-n: from exact scores MSE spells their votes for O."""
    nothing = np.tile([0.0, 1.0, 0.0], (TURNS, 1))
    labels = np.zeros(TURNS, dtype=np.int8)
    before, hit = told(answer(scored(labels, nothing)), "mse_nb_vs_rest"), 0
    for turns in np.arange((runs - 1) * 10).reshape(-1, 10):
        weights = float(VOTERS + 1) ** -np.arange(10)
        shares = nothing.copy()
        shares[turns, 0], shares[turns, 1] = weights, 1 - weights
        after = told(answer(scored(labels, shares)), "mse_nb_vs_rest")
        if before is None or after is None:
            continue
        left = ((weights**2).sum() - (after - before) * TURNS) / 2 * VOTERS
        for turn, weight in zip(turns, weights, strict=True):
            digit = int(left / weight + 1e-3)
            left -= digit * weight
            hit += digit == votes()[turn, 0]
    return hit


def test_three_runs_spell_votes_from_exact_scores_alone() -> None:
    assert digits(exactly, 3) >= 18
    assert digits(by_ladder(), 3) == 0


def test_three_thousand_runs_teach_hardly_more_than_a_guess() -> None:
    """In turns of 400: always the commonest label, averaging 3,000 runs, climbing in 3,000 steps of 1, 20 and 100."""
    commonest = int(np.bincount(truth()).max())
    assert right(averaging(exactly, RUNS)) >= 0.95 * TURNS
    assert right(climbing(exactly, RUNS, 1)) >= 0.95 * TURNS
    read = [right(averaging(by_ladder(), RUNS))]
    read += [right(climbing(by_ladder(), RUNS, changed)) for changed in (1, 20, 100)]
    assert max(read) <= commonest


def test_a_best_changes_only_by_more_than_noise() -> None:
    """What an answered value stands for betters the one before by more than a grain."""
    ladder = by_ladder()
    best: dict[str, float] = {}
    answered = 0
    for run in _better_and_better():
        found = ladder(run)
        answered += found is not None
        for name in SHOWN:
            value, exact = told(found, name), run.figures.all.values[name].value
            if value is None or exact is None:
                continue
            sign = -1 if name in LOWER_IS_BETTER else 1
            if name == "accuracy" or name in LOWER_IS_BETTER:
                assert name not in best or sign * (exact - best[name]) > grain(TURNS) / TURNS
            best[name] = exact
    assert 2 < answered <= MOST_ANSWERED
    assert ladder(scored(truth())) is None or answered < MOST_ANSWERED


def _better_and_better() -> Iterator[ScoredRun]:
    rng = np.random.default_rng(2)
    for share in np.linspace(0, 1, 60):
        known = rng.random(TURNS) < share
        yield scored(np.where(known, truth(), rng.integers(0, 3, TURNS)).astype(np.int8))


def test_an_answer_has_only_what_is_better() -> None:
    ladder = by_ladder()
    first, same = ladder(scored(np.zeros(TURNS, np.int8))), ladder(scored(np.zeros(TURNS, np.int8)))
    assert told(first) == pytest.approx(right(np.zeros(TURNS, np.int8)) / TURNS, abs=grain(TURNS) / TURNS)
    assert same is None
    best = ladder(scored(truth(), votes() / VOTERS))
    assert all(told(best, name) is not None for name in ("accuracy", "f1_b", "jsd", "mse"))
