"""Gold by MACE (Hovy, Berg-Kirkpatrick, Vaswani and Hovy, 2013): whom to trust.

Each annotator either knows the true label and gives it, or is not looking and answers by habit. How often an
annotator knows is the competence; the habit is a distribution over labels. All labels are alike beforehand.
"""

from typing import Literal, NamedTuple

import numpy as np

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import choose, require_names
from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.dawid_skene import VoteCodes, likeliest, normalised, spread_out
from lapsus.measures.gold.result import NOBODY, Gold, label_answers, raters
from lapsus.measures.score import signature
from lapsus.model.votes import LabelVotes
from lapsus.notices import Notice

KNOWING_PRIOR = 0.5
"""Both parameters of the Beta prior of the competence, as in the paper."""
HABIT_PRIOR = 10.0
"""The parameter of the symmetric Dirichlet prior of the habit, as in the paper."""
_SMOOTHING = 0.01
_NOISE = 0.5
"""How uneven the first guess is: numbers from 1 to 1.5, made to add up to 1."""
_LEAST = np.finfo(np.float64).tiny


class _Fit(NamedTuple):
    posterior: Floats
    competence: Floats
    habit: Floats
    log_likelihood: float


def mace(
    votes: LabelVotes,
    variant: Literal["vb", "em"] = "vb",
    *,
    restarts: int = 10,
    iterations: int = 50,
    seed: int = 0,
) -> Gold:
    """The likeliest label of each unit, and how far each annotator can be trusted.

    `vb` is the paper's variational Bayes: a Beta(0.5, 0.5) prior on the competence and a Dirichlet(10) prior
    on the habit, so that annotators are taken to be either good or bad. `em` is plain EM, with 0.01 spread
    over the counts so that nothing becomes impossible. Of several starts, drawn from the seed, the one with
    the best log likelihood is kept. The reliability is the competence: under `vb` its posterior mean. The
    details give each unit's entropy in nats: how unsure the label is. Ties go to the earlier label.
    """
    choose(Notice("variant-mace"), variant, ("vb", "em"))
    if restarts < 1 or iterations < 1 or seed < 0:
        raise UsageError("mace-needs-least-one")
    require_names(votes, "mace", "majority or distribution")
    line = signature(
        method="mace",
        variant=variant,
        priors=f"{KNOWING_PRIOR:g},{HABIT_PRIOR:g}" if variant == "vb" else None,
        restarts=restarts,
        iterations=iterations,
        seed=seed,
        raters=raters(votes.answered.sum(axis=1)),
    )
    packed = VoteCodes(votes)
    if not packed.votes:
        return Gold(votes.units, "mace", line, (None,) * len(votes.units), votes.labels, note=NOBODY)
    generator = np.random.default_rng(seed)
    fits = (_fit(packed, variant, iterations, generator) for _ in range(restarts))
    return _gold(votes, packed, max(fits, key=lambda fit: fit.log_likelihood), line)


def _gold(votes: LabelVotes, packed: VoteCodes, fit: _Fit, line: str) -> Gold:
    distributions = spread_out(fit.posterior, packed.voted)
    logs = np.log(np.where(distributions > 0, distributions, 1.0))
    return Gold(
        votes.units,
        "mace",
        line,
        label_answers(votes.labels, likeliest(distributions), packed.voted),
        votes.labels,
        distributions,
        {
            name: float(fit.competence[place])
            for place, name in enumerate(votes.annotators)
            if packed.active[place]
        },
        details={
            "entropy": -(distributions * logs).sum(axis=1),
            "habits": dict(zip(votes.annotators, fit.habit, strict=True)),
            "log_likelihood": fit.log_likelihood,
        },
    )


def _fit(packed: VoteCodes, variant: str, iterations: int, generator: np.random.Generator) -> _Fit:
    """One start. Under `vb`, what stands in for the probabilities need not add up to 1."""
    knowing = _guess(generator, packed.annotators, 2)
    habit = _guess(generator, packed.annotators, packed.labels)
    for _ in range(iterations):
        posterior, _ = _likely(packed, knowing, habit)
        knew, spread = _expected(packed, posterior, knowing, habit)
        tried = np.stack([knew, spread.sum(axis=1)], axis=1)
        knowing, habit = (_variational if variant == "vb" else _plain)(tried, spread)
    posterior, log_likelihood = _likely(packed, knowing, habit)
    added = (KNOWING_PRIOR, HABIT_PRIOR) if variant == "vb" else (_SMOOTHING / 2, _SMOOTHING / packed.labels)
    return _Fit(posterior, _shares(tried + added[0])[:, 0], _shares(spread + added[1]), log_likelihood)


def _guess(generator: np.random.Generator, annotators: int, answers: int) -> Floats:
    return _shares(generator.uniform(1, 1 + _NOISE, (annotators, answers)))


def _likely(packed: VoteCodes, knowing: Floats, habit: Floats) -> tuple[Floats, float]:
    """How likely each label of each unit is, and the log likelihood of the votes."""
    by_habit = (knowing[:, 1:] * habit)[:, None, :]
    answers = by_habit + knowing[:, :1, None] * np.eye(packed.labels)
    joint = packed.added_up(np.log(np.maximum(answers, _LEAST)))
    joint -= np.log(packed.labels)
    return normalised(joint)


def _expected(packed: VoteCodes, posterior: Floats, knowing: Floats, habit: Floats) -> tuple[Floats, Floats]:
    """How often each annotator seems to have known, and answered what by habit."""
    counts = packed.expected_answers(posterior)
    right = np.diagonal(counts, axis1=1, axis2=2)
    by_habit = knowing[:, 1:] * habit
    knew = right * knowing[:, :1] / np.maximum(knowing[:, :1] + by_habit, _LEAST)
    return knew.sum(axis=1), counts.sum(axis=1) - knew


def _plain(tried: Floats, spread: Floats) -> tuple[Floats, Floats]:
    return _shares(tried + _SMOOTHING / 2), _shares(spread + _SMOOTHING / spread.shape[1])


def _variational(tried: Floats, spread: Floats) -> tuple[Floats, Floats]:
    return _in_place_of(tried + KNOWING_PRIOR), _in_place_of(spread + HABIT_PRIOR)


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _in_place_of(counts: Floats) -> Floats:
    """What stands in for probabilities with a Dirichlet posterior: e to their expected logarithm."""
    result: Floats = np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))
    return result


def digamma(x: Floats) -> Floats:
    """The derivative of the logarithm of the gamma function, for numbers above 0, to about twelve digits."""
    moved = np.asarray(x, dtype=np.float64)
    below = np.zeros(moved.shape)
    # The series is for large numbers; psi(x) = psi(x + 1) - 1/x leads there.
    for _ in range(8):
        below += 1 / moved
        moved = moved + 1
    square = 1 / moved**2
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    result: Floats = np.log(moved) - 0.5 / moved - series - below
    return result
