"""Scores by name: each takes a run's judgments beside the votes on a question, and gives its figures by name."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lapsus.kinds import Kind
from lapsus.measures.agreement.answer_codes import ratio, require
from lapsus.measures.bootstrap import Bootstrap, Floats, group_sums
from lapsus.measures.gold.counts import majority_codes
from lapsus.measures.score import Score, spread
from lapsus.measures.scores.breakdown_labels import Rule
from lapsus.measures.scores.label_sets import label_set_tally
from lapsus.measures.scores.ratings import rating_scores
from lapsus.measures.scores.runs import align_run
from lapsus.measures.scores.spans import span_tally
from lapsus.measures.scores.tally import Tally
from lapsus.model import Judgment
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes, VoteTable, row_means


def label_f1_tally(run: Sequence[Judgment], votes: LabelVotes, kind: Kind) -> Tally:
    """Precision, recall and F of each label against the label that most annotators gave."""
    codes = majority_codes(votes.counts() / np.maximum(votes.counts().sum(axis=1, keepdims=True), 1))
    chosen = codes[:, None, None] == np.arange(len(votes.labels))
    answered = np.ones((len(codes), 1), dtype=np.bool_)
    gold = LabelSetVotes(votes.units, ("majority",), votes.labels, chosen, answered)
    predicted = np.array([[label == answer for label in votes.labels] for answer in _answers(run, kind)])
    return label_set_tally(predicted, gold)


def label_sets_f1_tally(
    run: Sequence[Judgment], votes: LabelSetVotes, kind: Kind, *, least: float = 0.5
) -> Tally:
    """Overlap of sets, and precision, recall and F of each label, against labels that a share of annotators chose."""
    predicted = np.array([[label in answer for label in votes.labels] for answer in _answers(run, kind)])
    return label_set_tally(predicted, votes, least=least)


def ratings(
    run: Sequence[Judgment], votes: ScaleVotes, kind: Kind, bootstrap: Bootstrap | None
) -> dict[str, Score]:
    """Correlations with the mean of people's ratings, mean error and weighted kappas."""
    require(votes, "ratings", ScaleVotes)
    levels = np.array([float(answer) for answer in _answers(run, kind)])
    found = rating_scores(
        levels, row_means(votes.values), documents=votes.document_groups(), bootstrap=bootstrap
    )
    return {name.lower().replace("(", "_").removesuffix(")"): score for name, score in found.items()}


def ratings_tally(run: Sequence[Judgment], votes: ScaleVotes, kind: Kind) -> Tally:
    """The sums by document behind those of `ratings` that follow from sums; ranks and kappas do not."""
    said, gold = np.array([float(answer) for answer in _answers(run, kind)]), row_means(votes.values)
    given = np.isfinite(gold)
    x, y = said[given], gold[given]
    columns = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y, np.abs(x - y)], axis=1)
    groups = np.unique(votes.document_groups()[given], return_inverse=True)[1]
    return Tally(("MAE", "pearson"), group_sums(columns, groups), _rating_values, len(x))


def _rating_values(sums: Floats) -> Floats:
    """The mean error, and Pearson's correlation: NaN where one of the two never varies."""
    n, x, y, xx, yy, xy, error = np.moveaxis(sums, -1, 0)
    varied = (n * xx - x * x).clip(min=0) * (n * yy - y * y).clip(min=0)
    # Rounding leaves a trace of spread where there is none.
    steady = varied <= 1e-9 * n**4
    correlation = np.where(steady, np.nan, (n * xy - x * y) / np.sqrt(np.where(steady, 1.0, varied)))
    return np.stack([ratio(error, n), correlation], axis=-1)


def span_f1_tally(run: Sequence[Judgment], votes: SpanVotes, kind: Kind) -> Tally:
    """A run's spans against each annotator's: hits and misses are added up over annotators."""
    predicted, there, numbers = [], [], []
    groups = votes.document_groups().tolist()
    for answer, line, group in zip(_answers(run, kind), votes.spans, groups, strict=True):
        for spans in line:
            if spans is not None:
                predicted.append(answer)
                there.append(spans)
                numbers.append(group)
    tally = span_tally(predicted, there, np.array(numbers, dtype=np.intp))
    raters = spread(votes.answered.sum(axis=1))
    return tally._replace(n=len(votes.units), own={"against": "each", "raters": raters})


def likeness_tally(run: Sequence[Judgment], votes: Votes, kind: Kind) -> Tally:
    """How like the run's answers are to each annotator's, as the kind compares two answers; for any kind."""
    rows, numbers, raters = [], [], []
    for row, (said, group) in enumerate(
        zip(_answers(run, kind), votes.document_groups().tolist(), strict=True)
    ):
        given = kind.of_unit(votes, row)
        if given:
            rows.append((sum(kind.compare(said, answer) for answer in given), len(given)))
            numbers.append(group)
            raters.append(len(given))
    sums = group_sums(
        np.array(rows, dtype=np.float64).reshape(-1, 2), np.unique(numbers, return_inverse=True)[1]
    )
    name = f"likeness({kind.comparison})"
    setting = {"against": "each", "raters": spread(np.array(raters))}
    value = partial(_mean, is_root=kind.comparison == "rmse")
    return Tally((name,), sums, value, len(rows), setting)


def challenge(
    run: Sequence[Judgment],
    votes: LabelVotes,
    kind: Kind,
    bootstrap: Bootstrap | None,
    *,
    t: float = 0.0,
    rule: Rule = "program",
) -> dict[str, Score]:
    """The breakdown challenge's scores of O, T and X and of their distributions."""
    require(votes, "challenge", LabelVotes)
    aligned = align_run(votes, run, question=kind.question.id)
    return aligned.tally(t, rule).scores(bootstrap)


def _scored(tally: Callable[..., Tally], *kinds: type) -> Callable[..., dict[str, Score]]:
    """The scores that follow from a tally, of votes of the kinds that it is for."""

    def scores(
        run: Sequence[Judgment], votes: Votes, kind: Kind, bootstrap: Bootstrap | None, **parameters: Any
    ) -> dict[str, Score]:
        require(votes, tally.__name__.removesuffix("_tally"), *kinds)
        return tally(run, votes, kind, **parameters).scores(bootstrap)

    return scores


label_f1 = _scored(label_f1_tally, LabelVotes)
label_sets_f1 = _scored(label_sets_f1_tally, LabelSetVotes)
span_f1 = _scored(span_f1_tally, SpanVotes)
likeness = _scored(likeness_tally, VoteTable)
TALLIES: dict[str, Callable[..., Tally]] = {
    "label_f1": label_f1_tally,
    "label_sets_f1": label_sets_f1_tally,
    "ratings": ratings_tally,
    "span_f1": span_f1_tally,
    "likeness": likeness_tally,
}
"""Scores by which runs are compared, `(run, votes, kind, **parameters)`; `likeness` for what is not among them."""


def _mean(sums: Floats, is_root: bool) -> Floats:
    means = ratio(sums[..., :1], sums[..., 1:])
    return np.sqrt(means) if is_root else means


def _answers(run: Sequence[Judgment], kind: Kind) -> list[Any]:
    return [judgment.answers[kind.question.id] for judgment in run]
