"""Scores of runs against what people said."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
    with_broken,
)
from lapsus.errors import InputError, UsageError
from lapsus.kinds import Kind, kind_of
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.score import Score
from lapsus.measures.scores import SCORES
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, BreakdownScores, constant_floor, half_floor
from lapsus.measures.scores.breakdown_labels import RULES, Rule, check_rule
from lapsus.measures.scores.runs import AlignedRun, align_run, match_run
from lapsus.model import Judgment, Question, Scheme, UnitKey, latest
from lapsus.model.votes import Votes
from lapsus.notices import Notice, as_text
from lapsus.reports import Table
from lapsus.schemes import AnyScheme

SHOWN = (
    "accuracy", "precision_b", "recall_b", "f1_b", "precision_pb_b", "recall_pb_b", "f1_pb_b",
    "jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b",
)  # fmt: skip
"""The columns of the challenge's tables; the JSON has more."""
COLUMNS = ("run", "system", "question", "measure", "score", "n")
CHALLENGE = "challenge"
"""The challenge's scores, by their name among SCORES."""


@dataclass(frozen=True)
class Setting:
    """How runs are scored."""

    threshold: float | None = None
    rule: Rule = "program"
    by: str | None = None
    bootstrap: Bootstrap | None = USUAL
    questions: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()

    @property
    def t(self) -> float:
        """The share that a breakdown label needs."""
        return self.threshold or 0.0


def score(
    gold: Any,
    *runs: Any,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    measures: Sequence[str] = (),
    threshold: float | None = None,
    rule: Rule = "program",
    by: str | None = None,
    only: str | None = None,
    drop_broken: bool = False,
    bootstrap: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """Score runs against votes. GOLD and runs may be in any format, as files, folders or zips.

    `measures` are names of scores (`ratings`, `likeness`) or of single figures (`pearson`); without them, what is
    usual for each question. A breakdown's gold label needs a share of at least `threshold`, as the challenge's program
    has it, or one above it (`rule="paper"`).
    """
    check_rule(rule)
    if not runs:
        raise UsageError("no-run-score")
    truth = load_corpus(gold, only=only, scheme=scheme, drop_broken=drop_broken, announce=announce)
    said = [load_corpus(run, scheme=scheme, drop_broken=drop_broken, announce=announce) for run in runs]
    chosen = choose_scheme([truth, *said], scheme)
    setting = Setting(threshold, rule, by, bootstrap, tuple(questions), tuple(measures))
    make = _challenge_table if not measures and is_challenged(chosen) else _long_table
    return with_broken(make(truth, said, chosen, setting), [truth, *said], chosen)


def is_challenged(scheme: Scheme) -> bool:
    """Whether the guideline's first question is scored as in the breakdown challenge, with a table of its own."""
    return CHALLENGE in kind_of(scheme.questions[0]).score_names


def breakdown_runs(truth: Corpus, said: Sequence[Corpus], scheme: Scheme) -> dict[str, AlignedRun]:
    """Every run beside the votes, by its name."""
    votes: Any = truth.votes(scheme, scheme.questions[0])
    known = truth.units()
    aligned: dict[str, AlignedRun] = {}
    for corpus in said:
        name = corpus.name if corpus.name not in aligned else f"{corpus.name} ({len(aligned) + 1})"
        try:
            aligned[name] = align_run(
                votes, corpus.under(scheme.id), known_units=known, question=scheme.questions[0].id
            )
        except InputError as error:
            raise error.at(Notice("run", name=name)) from error
    return aligned


def _challenge_table(truth: Corpus, said: Sequence[Corpus], scheme: Scheme, setting: Setting) -> Table:
    aligned = breakdown_runs(truth, said, scheme)
    first = next(iter(aligned.values()))
    gold_rule: dict[str, Any] = {"t": setting.t, "rule": setting.rule, "bootstrap": setting.bootstrap}
    floors = {
        "constant prior": constant_floor(first.gold, first.groups, **gold_rule),
        "half against half": half_floor(first.gold, first.groups, **gold_rule),
    }
    rows: list[tuple[Any, ...]] = []
    data: list[dict[str, Any]] = []
    for name, run in aligned.items():
        scores = run.scores(**gold_rule)
        rows.append(_row(name, "all", scores))
        groups = _by_system(run, truth) if setting.by else {}
        parts = {system: part.scores(**gold_rule) for system, part in groups.items()}
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
    said_rule = f"a gold label needs a share of {RULES[setting.rule]} (rule:{setting.rule})"
    notes = [*signatures, said_rule, *_warnings(aligned), *truth.version_warnings(scheme)]
    if not setting.by:
        columns, rows = _without_column(columns, rows, "system")
    return Table(columns, tuple(rows), notes=tuple(notes), data=_wrapped(truth, scheme, setting, data))


def _wrapped(truth: Corpus, scheme: Scheme, setting: Setting, runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "gold": truth.name,
        "scheme": scheme.id,
        "threshold": setting.threshold,
        "rule": setting.rule,
        "runs": runs,
    }


def _without_column(
    columns: tuple[str, ...], rows: list[tuple[Any, ...]], name: str
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    place = columns.index(name)
    return columns[:place] + columns[place + 1 :], [row[:place] + row[place + 1 :] for row in rows]


def _row(name: str, system: str, scores: BreakdownScores) -> tuple[Any, ...]:
    return (name, system, *(scores[measure] for measure in SHOWN), scores["accuracy"].n)


def _as_json(scores: BreakdownScores) -> dict[str, Any]:
    first = scores["accuracy"]
    return {
        "scores": {name: value.value for name, value in scores.items()} | {"n": first.n},
        "intervals": {name: list(value.interval) for name, value in scores.items() if value.interval},
        "signature": first.signature,
    }


def _warnings(aligned: Mapping[str, AlignedRun]) -> list[str]:
    notes: list[str] = []
    for name, run in aligned.items():
        if run.out_of_place:
            told = Notice("answers-out-of-place", name=name, count=len(run.out_of_place))
            notes.append(Notice("warning", text=told))
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


def _long_table(truth: Corpus, said: Sequence[Corpus], scheme: Scheme, setting: Setting) -> Table:
    """One row a run, system, question and measure."""
    questions = countable_questions(scheme, setting.questions)
    if setting.threshold is not None and not any(map(_takes_threshold, questions)):
        raise UsageError("nothing-take-threshold", hint="breakdown-several-labels")
    rows: list[tuple[Any, ...]] = []
    data: list[dict[str, Any]] = []
    for corpus in said:
        found = _question_table(truth, corpus, scheme, questions, setting)
        rows += [(corpus.name, "all", *line) for line in _lines(found)]
        if not found and setting.measures:
            wanted = ", ".join(setting.measures)
            raise UsageError("no-score-answers-called", hint=_known_scores(questions), wanted=wanted)
        if not found:
            raise UsageError("answers-no-question-gold", name=corpus.name, id=scheme.id)
        made: dict[str, Any] = {"run": corpus.name, "questions": msgspec.to_builtins(found, enc_hook=as_text)}
        for system, part in (by_system(truth, setting.by) if setting.by else {}).items():
            of_system = _question_table(part, corpus.among(part.documents), scheme, questions, setting)
            rows += [(corpus.name, system, *line) for line in _lines(of_system)]
            made.setdefault("by", {})[system] = msgspec.to_builtins(of_system, enc_hook=as_text)
        data.append(made)
    columns: tuple[str, ...] = COLUMNS
    signatures = dict.fromkeys(row[4].signature for row in rows)
    if not setting.by:
        columns, rows = _without_column(columns, rows, "system")
    notes = (*signatures, *truth.version_warnings(scheme))
    return Table(columns, tuple(rows), notes=notes, data=_wrapped(truth, scheme, setting, data))


def _known_scores(questions: Sequence[Question]) -> str:
    names = [
        name for question in questions for name in (*kind_of(question).score_names, *kind_of(question).scores)
    ]
    return Notice("known-one-their-figures", names=", ".join(dict.fromkeys((*names, "likeness"))))


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
    gold = truth.votes(scheme, question)
    if not (matched := matched_answers(truth, gold, run, scheme, question)):
        return {}
    kind = kind_of(question, scheme)

    def family(name: str) -> dict[str, Score]:
        own: dict[str, Any] = {}
        if setting.threshold is not None and (parameter := kind.thresholds.get(name)):
            own = {parameter: setting.threshold}
        if name == CHALLENGE:
            own["rule"] = setting.rule
        return SCORES.get(name)(matched, gold, kind, setting.bootstrap, **own)

    if not setting.measures:
        return {name: score for one in kind.score_names for name, score in family(one).items()}
    return _chosen(setting.measures, kind, family)


def matched_answers(
    truth: Corpus, gold: Votes, run: Corpus, scheme: Scheme, question: Question
) -> list[Judgment]:
    """What a run says of each unit that people answered a question about; nothing where either has no answers."""
    if not gold.units or not run.votes(scheme, question, strict=True).units:
        return []
    judgments = [j for j in latest(run.under(scheme.id)) if question.id in j.answers]
    known = truth.units() | frozenset(UnitKey(id, None) for id in truth.documents) | frozenset(gold.units)
    return match_run(gold.units, judgments, known_units=known)


def _chosen(
    measures: Sequence[str], kind: Kind, family: Callable[[str], dict[str, Score]]
) -> dict[str, Score]:
    """The scores asked for, as far as they are made for such answers: whole families, or single figures of them."""
    found: dict[str, Score] = {}
    usual: dict[str, Score] | None = None
    for measure in measures:
        if measure in SCORES.names():
            with suppress(UsageError):
                found |= family(measure)
            continue
        if usual is None:
            names = dict.fromkeys((*kind.score_names, *kind.scores))
            usual = {name: score for one in names for name, score in family(one).items()}
        plain = {_plain(name): name for name in usual} | {
            key: str(shown) for key, shown in BREAKDOWN_MEASURES.items() if str(shown) in usual
        }
        if (name := plain.get(_plain(measure))) is not None:
            found[name] = usual[name]
    return found


def _plain(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "_")


def _takes_threshold(question: Question) -> bool:
    kind = kind_of(question)
    return any(name in kind.thresholds for name in kind.score_names)
