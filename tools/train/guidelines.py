"""Makes the judges of error types and of response quality that are shipped.

    LAPSUS_DATA=/path/to/corpora python tools/train/guidelines.py [error-types] [response-quality-en] [--out FOLDER]

Minutes on a processor. A judge of response quality looks at what the shipped reader of English says, so it is made anew
whenever that reader changes. What each was measured at stands in the model, and is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import brief
import numpy as np
from counting_data import MEASURED, Statements, spare_statements
from guideline_data import Example, emotions, rated, typed
from numpy.typing import NDArray
from types_network import Network, trained

from lapsus.annotators.cases import Case, Origin
from lapsus.annotators.judge.agreement import agreement
from lapsus.annotators.judge.counting import POINTS, STATEMENTS, WORDINGS, SpareStatements
from lapsus.annotators.judge.counting import spare_statements as spare_counted
from lapsus.annotators.judge.decisions import Decision, decide, fitted_decision
from lapsus.annotators.judge.feature_sets import FeatureSets
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.learning import Model, Point, Report, exclusive
from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.annotators.judge.ranking import ranking, ranking_value
from lapsus.annotators.judge.regression import Projection, Weights, fit, predict
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.annotators.model_files import SHIPPED
from lapsus.annotators.optional_libraries import one_thread
from lapsus.kinds import Kind, kinds_of
from lapsus.measures.scores.ratings import spearman
from lapsus.schemes import load_scheme

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.intp]

FOLDS: Final = 5
PARTS: Final = (0.5, 1.0)
_AT_ONCE: Final = 256
_SCALES_PENALTY, _EMOTIONS_PENALTY, _GRADING_PENALTY = 0.3, 0.003, 0.001
_COMMENTS: Final = brief.least(1_500, 100)
"""Comments of GoEmotions: of a part that the reader has not learned from, or it would be trusted too far."""
_ANSWERS, _REPLIES = brief.least(500, 60), brief.least(300, 40)
"""Answers with experts' marks, and replies with statements put into them, from which spare statements are learned."""
_SPARE_PENALTY: Final = 0.01
_EMOTIONS: Final = 28
"""The last of the numbers that the reader says: an emotion each."""


class Learner(NamedTuple):
    """How a question is learned: what of a row it looks at, how strongly it is held back, and how weights come back."""

    ready: Callable[[Rows], Rows]
    penalty: float
    whole: Callable[[Weights], Weights]
    """Weights for whole rows that give what those for ready ones give."""


Said: TypeAlias = Callable[[Rows], Matrix]
"""What was learned: from rows to shares."""


def main() -> None:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="which; all by default")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where they are put")
    asked = parser.parse_args()
    for name in asked.models or MAKERS:
        with one_thread():
            judge = MAKERS[name]()
        judge.name = name
        judge.save(asked.out / f"{name}.lapsus")
        sys.stdout.write("\n".join([name, *map(str, judge.account()), ""]) + "\n")


def make_types() -> Judge:
    """The judge of error types, for every language."""
    judge = judge_of("error-types", "signs,moves,words,reader,hidden", ("en", "ja"))
    examples = typed()
    rows = features(judge, examples)
    judge.projection_ = Projection.of(repeated(rows, examples), 3 * sentence_vectors().width)
    kind, ready = kinds_of(judge.scheme)["types"], judge.projection_.rows(rows)
    shares = shares_of(kind, examples)

    def learned(kept: Places) -> Network:
        return trained(ready[kept], shares[kept], [examples[one] for one in kept], kind.choices)

    report, decision, said = measured(kind, examples, ready, lambda kept: learned(kept).shares, evenly_cut)
    judge.reports_ = (report,)
    network = learned(np.flatnonzero([one.times > 0 for one in examples]))
    judge.hidden_ = judge.projection_.turned_back(network.hidden)
    judge.models_["types"] = Model(network.types, decision, competing=True)
    told = [one for one in examples if one.measured]
    held = [place for place, one in enumerate(examples) if not one.times]
    answers = [decide(kind, row, decision) for row in network.shares(ready[held])]
    sys.stdout.write(in_figures(kind, told, said) + held_back([examples[one] for one in held], answers))
    return finished(judge, examples, ("en", "ja"))


def evenly_cut(given: PeopleAnswers, shares: Matrix) -> Decision:
    """As many labels in all as people give, and one at least: the same cut for each, since some are rare here alone."""
    wanted = min(round(given.shares.sum()), shares.size - 1)
    cut = float(np.sort(shares, axis=None)[-wanted])
    return Decision(np.full(shares.shape[1], np.log((1 - cut) / cut)), least=1)


def held_back(examples: Sequence[Example], answers: Sequence[Any]) -> str:
    """Of dialogues of topics held back: how often the type is named that fits, and not the one that nearly does."""
    lines = []
    for corpus in ("invented-en", "invented-ja"):
        here = [pair for pair in zip(examples, answers, strict=True) if pair[0].corpus == corpus]
        fits = [str(one.votes["types"][0][0]) in said for one, said in here if not one.beside]  # type: ignore[index]
        left = [one.beside not in said for one, said in here if one.beside]
        lines.append(
            f"{corpus}: {sum(fits)} of {len(fits)} that fit, {sum(left)} of {len(left)} near misses\n"
        )
    return "".join(lines)


def make_quality() -> Judge:
    """The judge of English responses."""
    judge = judge_of("response-quality", "words,reader", ("en",))
    examples = rated()
    rows = features(judge, examples)
    begin, end = 3 * sentence_vectors().width, rows.shape[1]
    judge.projection_ = Projection.of(repeated(rows, examples), begin)
    plain = columns_of(judge.projection_, range(begin, end - _EMOTIONS), _SCALES_PENALTY)
    for id in ("soundness", "completeness", "relevance", "clarity", "coherence"):
        take(judge, id, examples, rows, plain)
    for id in ("dialogue-act", "communicative-goal"):
        take(judge, id, examples, rows, plain)
    take(judge, "emotion", examples, rows, columns_of(judge.projection_, range(begin, end), _SCALES_PENALTY))
    said = emotions("dev", _COMMENTS)
    felt = columns_of(judge.projection_, range(end - _EMOTIONS, end), _EMOTIONS_PENALTY)
    take(judge, "shown-emotions", said, features(judge, said), felt)
    counted = spare_statements(_ANSWERS, _REPLIES)
    take_spare(judge, counted)
    judge.counted_ = {"conciseness": STATEMENTS, "brevity": WORDINGS, "completeness": POINTS}
    return finished(judge, [*examples, *said, *counted.examples], ("en",))


def take_spare(judge: Judge, told: Statements) -> None:
    """Learn which statements could go, and measure the levels that follow on answers that were not learned from."""
    kind = kinds_of(judge.scheme)["conciseness"]
    own = np.flatnonzero([one.measured for one in told.examples])
    given = given_by(kind, [told.examples[place] for place in own])
    documents = int(given.groups.max()) + 1
    order = np.random.default_rng(0).permutation(documents)[given.groups]
    found = {part: np.zeros(given.shares.shape) for part in PARTS}
    answers: list[Any] = [None] * len(own)
    for fold in range(FOLDS):
        test = np.flatnonzero(order % FOLDS == fold)
        for part in PARTS:
            left = own[(order % FOLDS == fold) | (order // FOLDS >= part * documents / FOLDS)]
            spare = spare_learned(told, ~np.isin(told.replies, left))
            for place in test:
                here = np.flatnonzero(told.replies == own[place])
                said = [told.said[one] for one in here]
                counted = spare_counted(said, told.rows[here], kind.numbers or (), spare)
                found[part][place] = counted.shares
                answers[place] = kind.best((np.array(kind.numbers) == counted.level).astype(float))
    ranked, share = ranking(given, found[1.0], answers), (1 - 1 / FOLDS) * len(own)
    curve = tuple(Point(round(part * share), round(ranking_value(given, found[part]), 4)) for part in PARTS)
    agreed = agreement(given, answers)
    judge.reports_ = (
        *judge.reports_,
        Report("conciseness", len(own), documents, agreed, curve, ranked.is_above_chance, ranked),
    )
    sys.stdout.write(in_figures(kind, [told.examples[place] for place in own], found[1.0]))
    judge.spare_ = spare_learned(told, np.ones(len(told.replies), dtype=bool))


def spare_learned(told: Statements, kept: NDArray[np.bool_]) -> SpareStatements:
    """The weights for rows as they are, and the cut that as many statements reach as experts marked."""
    rows, spare = told.rows[kept], told.spare[kept]
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    weights = fit(
        ((rows - mean) / spread).astype(np.float32),
        np.column_stack([~spare, spare]).astype(float),
        _SPARE_PENALTY,
        exclusive=True,
    )
    slopes = weights.slopes / spread[:, None]
    known = SpareStatements(Weights(slopes, weights.bias - mean @ slopes), 1.0)
    marked = np.isin(told.replies[kept], [n for n, one in enumerate(told.examples) if one.corpus == MEASURED])
    chances = np.sort(known.chances(rows[marked]))[::-1]
    return known._replace(cut=float(chances[int(spare[marked].sum())]))


MAKERS: dict[str, Callable[[], Judge]] = {"error-types": make_types, "response-quality-en": make_quality}


def judge_of(scheme: str, features: str, languages: Sequence[str]) -> Judge:
    """A judge that has learned nothing yet."""
    judge = Judge(features=features)
    judge.scheme = load_scheme(scheme)
    judge.features_ = FeatureSets(features, languages)
    return judge


def features(judge: Judge, examples: Sequence[Example]) -> Rows:
    """A row an example."""
    cases = [Case(one.unit) for one in examples]
    return np.vstack([judge.feature_rows(cases[at : at + _AT_ONCE]) for at in range(0, len(cases), _AT_ONCE)])


def columns_of(projection: Projection, columns: Sequence[int], penalty: float) -> Learner:
    """Looks at some columns alone, scaled."""
    chosen = np.array(columns)

    def whole(weights: Weights) -> Weights:
        slopes = np.zeros((len(projection.mean), weights.slopes.shape[1]))
        slopes[chosen] = weights.slopes
        return Weights(slopes, weights.bias)

    return Learner(lambda rows: projection.scaled(rows)[:, chosen], penalty, whole)


def take(judge: Judge, id: str, examples: Sequence[Example], rows: Rows, learner: Learner) -> None:
    """Learn a question and measure it; where it is no better than chance, it gives shares alone."""
    kind = kinds_of(judge.scheme)[id]
    places = [place for place, one in enumerate(examples) if id in one.votes]
    told = [examples[place] for place in places]
    shares, ready = shares_of(kind, told), learner.ready(rows[places])

    def learned(kept: Places) -> Weights:
        return fitted(kind, [told[one] for one in kept], shares[kept], ready[kept], learner.penalty)

    def said_by(kept: Places) -> Said:
        weights = learned(kept)
        return lambda rows: predict(rows, weights, exclusive=exclusive(kind))

    report, decision, said = measured(kind, told, ready, said_by, fitted_decision)
    judge.reports_ = (*judge.reports_, report)
    sys.stdout.write(in_figures(kind, [one for one in told if one.measured], said))
    judge.models_[id] = Model(learner.whole(learned(np.arange(len(told)))), decision)


def measured(
    kind: Kind,
    examples: Sequence[Example],
    ready: Rows,
    learned: Callable[[Places], Said],
    decided: Callable[[PeopleAnswers, Matrix], Decision],
) -> tuple[Report, Decision, Matrix]:
    """How well documents that were not learned from are judged, how answers are taken from shares, and these."""
    own = np.flatnonzero([one.measured for one in examples])
    given = given_by(kind, [examples[place] for place in own])
    documents = int(given.groups.max()) + 1
    order = np.random.default_rng(0).permutation(documents)[given.groups]
    found = {part: np.zeros(given.shares.shape) for part in PARTS}
    for fold in range(FOLDS):
        test = order % FOLDS == fold
        for part in PARTS:
            kept = np.array([one.times > 0 for one in examples])
            kept[own[test | (order // FOLDS >= part * documents / FOLDS)]] = False
            found[part][test] = learned(np.flatnonzero(kept))(ready[own[test]])
    decision = decided(given, found[1.0])
    judged = [decide(kind, row, decision) for row in found[1.0]]
    ranked, share = ranking(given, found[1.0], judged), (1 - 1 / FOLDS) * len(own)
    curve = tuple(Point(round(part * share), round(ranking_value(given, found[part]), 4)) for part in PARTS)
    report = Report(
        kind.question.id, len(own), documents, agreement(given, judged), curve, ranked.is_above_chance, ranked
    )
    return report, decision, found[1.0]


def in_figures(kind: Kind, examples: Sequence[Example], said: Matrix) -> str:
    """For several labels how often the likeliest is among those given, by corpus; for scales the order of means."""
    if kind.numbers:
        steps, given = np.array(kind.numbers, dtype=np.float64), shares_of(kind, examples)
        like = spearman(said @ steps, given @ steps)
        off = 1.96 * (1 - like**2) / np.sqrt(len(examples))
        return f"{kind.question.id}: {len(examples)} units, Spearman {like:.3f} ± {off:.3f}\n"
    if exclusive(kind):
        return ""
    given, lines = shares_of(kind, examples) > 0, []
    hit = given[np.arange(len(given)), said.argmax(axis=1)]
    for corpus in sorted({one.corpus for one in examples}):
        here = np.array([one.corpus == corpus for one in examples])
        off = 1.96 * np.sqrt(hit[here].mean() * (1 - hit[here].mean()) / here.sum())
        constant = given[here].mean(axis=0).max()
        lines.append(
            f"{corpus}: {here.sum()} units, first {hit[here].mean():.3f} ± {off:.3f}, constant {constant:.3f}"
        )
    return "\n".join([*lines, ""])


def fitted(kind: Kind, examples: Sequence[Example], shares: Matrix, ready: Rows, penalty: float) -> Weights:
    """The weights, every example counted as often as it says.

    Where one of several grades is given, all corpora together say what speaks for a better one, and those that are
    measured how people grade: other corpora have other shares of good replies.
    """
    counts = np.array([one.times for one in examples], dtype=np.float64)
    if not exclusive(kind):
        return fit(ready, shares, penalty, exclusive=False, counts=counts)
    own = np.array([one.measured for one in examples])
    better = _ridge(ready.astype(np.float64), shares @ np.linspace(0, 1, shares.shape[1]), counts, penalty)
    worth = (ready[own] @ better.astype(np.float32))[:, None]
    better, worth = better / worth.std(), worth / worth.std()
    grading = fit(worth, shares[own], _GRADING_PENALTY, exclusive=True)
    return Weights(np.outer(better, grading.slopes[0]), grading.bias)


def _ridge(rows: Matrix, wanted: Matrix, counts: Matrix, penalty: float) -> Matrix:
    """Slopes of a linear regression, held back by so much a row."""
    weight = counts / counts.sum()
    rows, wanted = rows - weight @ rows, wanted - weight @ wanted
    held = penalty * np.eye(rows.shape[1])
    slopes: Matrix = np.linalg.solve((rows.T * weight) @ rows + held, (rows.T * weight) @ wanted)
    return slopes


def repeated(rows: NDArray[Any], examples: Sequence[Example]) -> NDArray[Any]:
    """Each row as often as its example counts."""
    return np.repeat(rows, [one.times for one in examples], axis=0)


def shares_of(kind: Kind, examples: Sequence[Example]) -> Matrix:
    """The share of people who gave each of the choices."""
    places = {choice: place for place, choice in enumerate(kind.choices)}
    shares = np.zeros((len(examples), len(places)))
    for row, one in zip(shares, examples, strict=True):
        votes = one.votes[kind.question.id]
        for answer in votes:
            for choice in answer if isinstance(answer, tuple) else (answer,):
                row[places[str(choice)]] += 1 / len(votes)
    return shares


def given_by(kind: Kind, examples: Sequence[Example]) -> PeopleAnswers:
    """What people answered, as agreement is told from it."""
    answers = {kind.same(answer): answer for one in examples for answer in one.votes[kind.question.id]}
    codes = {key: place for place, key in enumerate(answers)}
    counts = np.zeros((len(examples), len(codes)))
    for row, one in zip(counts, examples, strict=True):
        for answer in one.votes[kind.question.id]:
            row[codes[kind.same(answer)]] += 1
    documents: Mapping[str, int] = {
        name: place for place, name in enumerate(dict.fromkeys(one.group for one in examples))
    }
    return PeopleAnswers(
        kind,
        np.arange(len(examples)),
        np.array([documents[one.group] for one in examples]),
        shares_of(kind, examples),
        tuple(answers.values()),
        counts,
    )


def finished(judge: Judge, examples: Sequence[Example], languages: tuple[str, ...]) -> Judge:
    """The judge with where it comes from."""
    hashed = hashlib.blake2b(digest_size=12)
    for one in examples:
        hashed.update(f"{one.unit.key} {one.votes}".encode())
    judge.origin_ = Origin(
        version=judge.scheme.version,
        documents=len({one.group for one in examples}),
        units=len(examples),
        votes=sum(len(votes) for one in examples for votes in one.votes.values()),
        digest=hashed.hexdigest(),
        languages=languages,
        words={},
    )
    return judge


if __name__ == "__main__":
    main()
