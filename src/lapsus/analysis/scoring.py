"""Scores of runs against what people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.analysis.corpus import (
    Announce,
    Corpus,
    by_system,
    choose_scheme,
    countable_questions,
    load_corpus,
)
from lapsus.errors import InputError, UsageError
from lapsus.measures.gold.majority import majority_codes
from lapsus.measures.resample import USUAL, Bootstrap
from lapsus.measures.score import Score
from lapsus.measures.scores import (
    BREAKDOWN_MEASURES,
    AlignedRun,
    BreakdownScores,
    align_run,
    constant_floor,
    half_floor,
    label_set_tally,
    match_run,
    mean_ratings,
    rating_scores,
    span_tally,
)
from lapsus.measures.scores.precision import EMPTY_BOTH
from lapsus.measures.scores.tally import NOTHING, Tally, rater_range
from lapsus.model import Question, Scheme, UnitKey, latest
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes
from lapsus.reports import Table

SHOWN = (
    "accuracy", "precision_b", "recall_b", "f1_b", "precision_pb_b", "recall_pb_b", "f1_pb_b",
    "jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b",
)  # fmt: skip
"""The columns of the challenge's tables; the JSON has more."""


@dataclass(frozen=True)
class Setting:
    """How runs are scored."""

    threshold: float | None = None
    by: str | None = None
    plan: Bootstrap | None = USUAL
    questions: tuple[str, ...] = ()

    @property
    def t(self) -> float:
        """The share that a breakdown label needs."""
        return self.threshold or 0.0


def score(
    gold: Path | str,
    *runs: Path | str,
    scheme: str | None = None,
    questions: Sequence[str] = (),
    threshold: float | None = None,
    by: str | None = None,
    only: str | None = None,
    plan: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """Score runs against votes. GOLD and runs may be in any format, as files, folders or zips."""
    if not runs:
        raise UsageError("there is no run to score")
    truth = load_corpus(gold, only=only, announce=announce)
    said = [load_corpus(run, announce=announce) for run in runs]
    chosen = choose_scheme([truth, *said], scheme)
    setting = Setting(threshold, by, plan, tuple(questions))
    if chosen.id == "breakdown":
        return _breakdown_table(truth, said, chosen, setting)
    return _other_table(truth, said, chosen, setting)


def breakdown_runs(truth: Corpus, said: Sequence[Corpus], scheme: Scheme) -> dict[str, AlignedRun]:
    """Every run beside the votes, by its name."""
    votes = breakdown_votes(truth, scheme)
    known = truth.units()
    aligned: dict[str, AlignedRun] = {}
    for corpus in said:
        name = corpus.name if corpus.name not in aligned else f"{corpus.name} ({len(aligned) + 1})"
        try:
            aligned[name] = align_run(votes, corpus.under(scheme.id), known_units=known)
        except InputError as error:
            raise error.at(f"run {name!r}") from error
    return aligned


def breakdown_votes(truth: Corpus, scheme: Scheme) -> LabelVotes:
    """The votes on the breakdown question."""
    votes = truth.votes(scheme, scheme.questions[0])
    if not isinstance(votes, LabelVotes):
        raise UsageError(f"{scheme.id!r} does not ask for one label")
    return votes


def _breakdown_table(truth: Corpus, said: Sequence[Corpus], scheme: Scheme, setting: Setting) -> Table:
    aligned = breakdown_runs(truth, said, scheme)
    first = next(iter(aligned.values()))
    floors = {
        "constant prior": constant_floor(first.gold, first.groups, t=setting.t, plan=setting.plan),
        "half against half": half_floor(first.gold, first.groups, t=setting.t, plan=setting.plan),
    }
    rows: list[tuple[Any, ...]] = []
    data: list[dict[str, Any]] = []
    for name, run in aligned.items():
        scores = run.scores(t=setting.t, plan=setting.plan)
        rows.append(_row(name, "all", scores))
        groups = _by_system(run, truth) if setting.by else {}
        parts = {system: part.scores(t=setting.t, plan=setting.plan) for system, part in groups.items()}
        rows += [_row(name, system, part) for system, part in parts.items()]
        data.append(
            {
                "run": name,
                **_as_json(scores),
                "floors": {floor: _as_json(found) for floor, found in floors.items()},
                **({"by": {system: _as_json(part) for system, part in parts.items()}} if parts else {}),
                "out_of_place": list(run.out_of_place),
            }
        )
    rows += [_row(f"({floor})", "all", found) for floor, found in floors.items()]
    columns = ("run", "system", *(str(BREAKDOWN_MEASURES[name]) for name in SHOWN), "n")
    signatures = dict.fromkeys(found["signature"] for found in data)
    notes = [*signatures, *_warnings(aligned), *truth.version_warnings(scheme)]
    if not setting.by:
        columns, rows = _without_column(columns, rows, "system")
    return Table(columns, tuple(rows), notes=tuple(notes), data=_wrapped(truth, scheme, setting, data))


def _wrapped(truth: Corpus, scheme: Scheme, setting: Setting, runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {"gold": truth.name, "scheme": scheme.id, "threshold": setting.threshold, "runs": runs}


def _without_column(
    columns: tuple[str, ...], rows: list[tuple[Any, ...]], name: str
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    place = columns.index(name)
    return columns[:place] + columns[place + 1 :], [row[:place] + row[place + 1 :] for row in rows]


def _row(name: str, system: str, scores: BreakdownScores) -> tuple[Any, ...]:
    found = scores.scores()
    return (name, system, *(found[measure] for measure in SHOWN), scores.n)


def _as_json(scores: BreakdownScores) -> dict[str, Any]:
    found = scores.scores()
    return {
        "scores": {name: value.value for name, value in found.items()} | {"n": scores.n},
        "intervals": {name: list(value.interval) for name, value in found.items() if value.interval},
        "signature": scores.accuracy.signature,
    }


def _warnings(aligned: Mapping[str, AlignedRun]) -> list[str]:
    notes = []
    for name, run in aligned.items():
        if run.out_of_place:
            notes.append(
                f"warning: {name}: in {len(run.out_of_place)} dialogues answers are not where the scored turns are; "
                "they were matched by turn-index, where the challenge's own program would pair by position"
            )
    return notes


def _by_system(run: AlignedRun, truth: Corpus) -> dict[str, AlignedRun]:
    systems = [truth.system_of(unit.document) for unit in run.units]
    parts = by_system(truth, "system")
    return {
        system: _part(run, np.array([s == system for s in systems])) for system in parts if system in systems
    }


def _part(run: AlignedRun, wanted: NDArray[np.bool_]) -> AlignedRun:
    units = tuple(unit for unit, is_wanted in zip(run.units, wanted, strict=True) if is_wanted)
    numbers = np.unique(run.groups[wanted], return_inverse=True)[1]
    return replace(
        run,
        units=units,
        gold=run.gold[wanted],
        labels=run.labels[wanted],
        distributions=run.distributions[wanted],
        groups=numbers.astype(np.intp),
    )


def _other_table(truth: Corpus, said: Sequence[Corpus], scheme: Scheme, setting: Setting) -> Table:
    """Scores under any other scheme: one row a run, system, question and measure."""
    questions = countable_questions(scheme, setting.questions)
    if setting.threshold is not None and not any(question.kind == "labels" for question in questions):
        raise UsageError(
            "there is nothing to take a threshold for", hint="it is for breakdown and for several labels"
        )
    rows: list[tuple[Any, ...]] = []
    data: list[dict[str, Any]] = []
    for corpus in said:
        found = _question_table(truth, corpus, scheme, questions, setting)
        rows += [(corpus.name, "all", *line) for line in _lines(found)]
        if not found:
            raise UsageError(f"{corpus.name!r} answers no question of {scheme.id!r} that the gold has")
        made: dict[str, Any] = {"run": corpus.name, "questions": msgspec.to_builtins(found)}
        for system, part in (by_system(truth, setting.by) if setting.by else {}).items():
            mine = Corpus(
                corpus.name, part.documents, [j for j in corpus.judgments if j.document in part.documents]
            )
            of_system = _question_table(part, mine, scheme, questions, setting)
            rows += [(corpus.name, system, *line) for line in _lines(of_system)]
            made.setdefault("by", {})[system] = msgspec.to_builtins(of_system)
        data.append(made)
    columns: tuple[str, ...] = ("run", "system", "question", "measure", "score", "n")
    signatures = dict.fromkeys(row[4].signature for row in rows)
    if not setting.by:
        columns, rows = _without_column(columns, rows, "system")
    notes = (*signatures, *truth.version_warnings(scheme))
    return Table(columns, tuple(rows), notes=notes, data=_wrapped(truth, scheme, setting, data))


def _lines(found: Mapping[str, Mapping[str, Score]]) -> list[tuple[Any, ...]]:
    return [
        (id, measure, value, value.n) for id, scores in found.items() for measure, value in scores.items()
    ]


def _question_table(
    truth: Corpus, run: Corpus, scheme: Scheme, questions: Sequence[Question], setting: Setting
) -> dict[str, dict[str, Score]]:
    found = {question.id: question_scores(truth, run, scheme, question, setting) for question in questions}
    return {id: scores for id, scores in found.items() if scores}


def question_scores(
    truth: Corpus, run: Corpus, scheme: Scheme, question: Question, setting: Setting
) -> dict[str, Score]:
    """The scores of one run's answers to one question; none where either side has no answers."""
    gold, said = truth.votes(scheme, question), run.votes(scheme, question)
    if not gold.units or not said.units:
        return {}
    judgments = [j for j in latest(run.under(scheme.id)) if question.id in j.answers]
    known = truth.units() | frozenset(UnitKey(id, None) for id in truth.documents) | frozenset(gold.units)
    answers = [
        judgment.answers[question.id] for judgment in match_run(gold.units, judgments, known_units=known)
    ]
    plan = setting.plan
    if isinstance(gold, LabelSetVotes):
        predicted = np.array([[label in answer for label in gold.labels] for answer in answers])  # type: ignore[operator]
        return _named(label_set_tally(predicted, gold, least=setting.threshold or 0.5), plan, EMPTY_BOTH)
    if isinstance(gold, ScaleVotes):
        levels = np.array([float(answer) for answer in answers])  # type: ignore[arg-type]
        ratings = rating_scores(levels, mean_ratings(gold), documents=gold.document_groups(), plan=plan)
        return {
            name: value for name, value in msgspec.structs.asdict(ratings).items() if isinstance(value, Score)
        }
    if isinstance(gold, SpanVotes):
        return _span_scores(answers, gold, plan)
    predicted = np.array([[label == answer for label in gold.labels] for answer in answers])
    return _named(label_set_tally(predicted, _majority_sets(gold)), plan, EMPTY_BOTH)


def _named(tally: Tally, plan: Bootstrap | None, note: str = NOTHING) -> dict[str, Score]:
    return {value.measure: value for value in tally.scores(plan, note)}


def _majority_sets(votes: LabelVotes) -> LabelSetVotes:
    """The label that most annotators gave, as a set of one by an annotator called majority."""
    codes = majority_codes(votes.counts() / np.maximum(votes.counts().sum(axis=1, keepdims=True), 1))
    chosen = codes[:, None, None] == np.arange(len(votes.labels))
    return LabelSetVotes(
        votes.units, ("majority",), votes.labels, chosen, np.ones((len(codes), 1), dtype=np.bool_)
    )


def _span_scores(answers: Sequence[Any], gold: SpanVotes, plan: Bootstrap | None) -> dict[str, Score]:
    """A run's spans against each annotator's: hits and misses are added up over annotators."""
    predicted, there, numbers = [], [], []
    for answer, line, group in zip(answers, gold.spans, gold.document_groups().tolist(), strict=True):
        for spans in line:
            if spans is not None:
                predicted.append(answer)
                there.append(spans)
                numbers.append(group)
    tally = span_tally(predicted, there, np.array(numbers, dtype=np.intp))
    raters = rater_range(np.array([sum(spans is not None for spans in line) for line in gold.spans]))
    tally = tally._replace(n=len(gold.units), own={"against": "each", "raters": raters})
    return _named(tally, plan)
