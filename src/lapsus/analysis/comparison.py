"""Which differences are more than chance: between runs on the same gold, and between two groups of judgments."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec

from lapsus.analysis.corpus import (
    Announce,
    Corpus,
    choose_scheme,
    countable_questions,
    load_corpus,
    with_broken,
)
from lapsus.analysis.scores import SHOWN, breakdown_runs, is_challenged, matched_answers
from lapsus.errors import InputError, UsageError
from lapsus.kinds import Kind, kind_of
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.comparison import TRIALS, Comparison, Test, compare_runs
from lapsus.measures.differential import Shift, shifts
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, LOWER_IS_BETTER
from lapsus.measures.scores.breakdown_labels import Rule, check_rule
from lapsus.measures.scores.families import TALLIES
from lapsus.measures.scores.tally import Tally
from lapsus.model import Question, Scheme
from lapsus.notices import Notice, as_text
from lapsus.reports import Table
from lapsus.schemes import AnyScheme

_STARS = Notice("second-minus-first-p")
COLUMNS = ("runs", "question", "measure", "difference", "n")
_LOWER = ("MAE", "likeness(rmse)")
Compared: TypeAlias = Callable[[Mapping[str, Tally]], tuple[Comparison, ...]]
"""How runs are compared, as it was asked for."""


def compare(
    gold: Any,
    *runs: Any,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    baseline: str | None = None,
    threshold: float | None = None,
    rule: Rule = "program",
    test: Test = "randomization",
    only: str | None = None,
    drop_broken: bool = False,
    bootstrap: Bootstrap = TRIALS,
    announce: Announce = lambda reading: None,
) -> Table:
    """Compare runs on the same gold, document by document, by the scores that each kind of question has."""
    check_rule(rule)
    truth = load_corpus(gold, only=only, scheme=scheme, drop_broken=drop_broken, announce=announce)
    said = [load_corpus(run, scheme=scheme, drop_broken=drop_broken, announce=announce) for run in runs]
    chosen = choose_scheme([truth, *said], scheme, is_challenged)
    if len(said) < 2:
        raise UsageError("takes-two-runs-compare")
    compared = partial(compare_runs, baseline=baseline, test=test, bootstrap=bootstrap)
    if is_challenged(chosen) and not questions:
        table = _challenge_table(truth, said, chosen, threshold or 0.0, rule, compared)
    else:
        table = _long_table(truth, said, chosen, questions, threshold, compared)
    return with_broken(table, [truth, *said], chosen)


def _challenge_table(
    truth: Corpus, said: Sequence[Corpus], scheme: Scheme, threshold: float, rule: Rule, compared: Compared
) -> Table:
    """A column a measure of the challenge."""
    aligned = breakdown_runs(truth, said, scheme)
    found = compared({name: run.tally(threshold, rule) for name, run in aligned.items()})
    rows = tuple(_row(comparison) for comparison in found)
    columns = ("runs", *(str(BREAKDOWN_MEASURES[name]) for name in SHOWN))
    notes = (
        found[0].signature,
        _STARS,
        Notice(
            "lower-better",
            shown=", ".join(str(BREAKDOWN_MEASURES[n]) for n in SHOWN if n in LOWER_IS_BETTER),
        ),
    )
    data = {"gold": truth.name, "comparisons": msgspec.to_builtins(found, enc_hook=as_text)}
    return Table(columns, rows, notes=notes, data=data)


def _long_table(
    truth: Corpus,
    said: Sequence[Corpus],
    scheme: Scheme,
    questions: Sequence[str],
    threshold: float | None,
    compared: Compared,
) -> Table:
    """One row a pair of runs, question and measure. Precision and recall are in the JSON only."""
    found: dict[tuple[str, str], tuple[Comparison, ...]] = {}
    for question in countable_questions(scheme, questions):
        tallies = _tallies(truth, said, scheme, question, threshold)
        for name in next(iter(tallies.values()), {}):
            found[question.id, name] = compared({run: by[name] for run, by in tallies.items()})
    if not found:
        raise UsageError("runs-answer-no-question", id=scheme.id)
    rows = tuple(
        (f"{pair.first} → {pair.second}", id, difference.measure, difference, pair.n)
        for (id, _), pairs in found.items()
        for pair in pairs
        for difference in pair.differences
        if not difference.measure.startswith(("P(", "R("))
    )
    lower = [measure for measure in _LOWER if any(row[2] == measure for row in rows)]
    notes = [*dict.fromkeys(pairs[0].signature for pairs in found.values()), _STARS]
    notes += [Notice("lower-better", shown=", ".join(lower))] if lower else []
    data = {
        "gold": truth.name,
        "scheme": scheme.id,
        "questions": [
            {"question": id, "scores": name, "comparisons": msgspec.to_builtins(pairs, enc_hook=as_text)}
            for (id, name), pairs in found.items()
        ],
    }
    return Table(COLUMNS, rows, notes=tuple(notes), data=data)


def _tallies(
    truth: Corpus, said: Sequence[Corpus], scheme: Scheme, question: Question, threshold: float | None
) -> dict[str, dict[str, Tally]]:
    """What each run that answers a question got right, by the scores of its kind."""
    kind, gold = kind_of(question, scheme), truth.votes(scheme, question)
    names = [name for name in kind.score_names if name in TALLIES] or ["likeness"]
    found: dict[str, dict[str, Tally]] = {}
    for corpus in said:
        run = corpus.name if corpus.name not in found else f"{corpus.name} ({len(found) + 1})"
        try:
            matched = matched_answers(truth, gold, corpus, scheme, question)
        except InputError as error:
            raise error.at(Notice("run", name=run)) from error
        if matched:
            found[run] = {
                name: TALLIES[name](matched, gold, kind, **_parameters(kind, name, threshold))
                for name in names
            }
    return found if len(found) > 1 else {}


def _parameters(kind: Kind, name: str, threshold: float | None) -> dict[str, float]:
    parameter = kind.thresholds.get(name)
    return {} if threshold is None or parameter is None else {parameter: threshold}


def _row(comparison: Comparison) -> tuple[Any, ...]:
    differences = (comparison.difference(str(BREAKDOWN_MEASURES[name])) for name in SHOWN)
    return (f"{comparison.first} → {comparison.second}", *differences)


SHIFTS = ("question", "label", "first", "second", "difference", "odds ratio", "n")


def dif(
    first: Any,
    second: Any,
    *,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    matched: bool = False,
    bootstrap: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """For each label its share in both groups, the difference within units, or within systems where `matched`."""
    one, other = (load_corpus(data, scheme=scheme, announce=announce) for data in (first, second))
    chosen = choose_scheme([one, other], scheme, lambda scheme: True)
    systems = {id: facts.system for corpus in (one, other) for id, facts in corpus.documents.items()}
    found: dict[str, list[Shift]] = {}
    for question in countable_questions(chosen, questions):
        votes = [corpus.votes(chosen, question) for corpus in (one, other)]
        stratum = (lambda unit: systems.get(unit.document, "?")) if matched else None
        if made := shifts(votes[0], votes[1], stratum, bootstrap=bootstrap):
            found[question.id] = made
    if not found:
        if matched:
            raise UsageError("no-systems-in-common", first=one.name, second=other.name)
        raise UsageError("no-units-in-common", hint="dif-matched", first=one.name, second=other.name)
    rows = tuple(
        (id, one.label, one.first, one.second, one.difference, one.odds, one.difference.n)
        for id, made in found.items()
        for one in made
    )
    moved = [f"{id}: {one.label}" for id, made in found.items() for one in made if _is_moved(one)]
    told = Notice("dif-moved", labels=", ".join(moved)) if moved else Notice("dif-not-shown")
    notes = (next(iter(found.values()))[0].difference.signature, Notice("dif-meaning"), told)
    data = {
        "scheme": chosen.id,
        "matched": matched,
        "moved": moved,
        "labels": [
            {
                "question": id,
                "label": one.label,
                "first": one.first,
                "second": one.second,
                "difference": one.difference.value,
                "interval": one.difference.interval,
                "odds_ratio": one.odds.value,
                "odds_interval": one.odds.interval,
                "n": one.difference.n,
            }
            for id, made in found.items()
            for one in made
        ],
    }
    return Table(SHIFTS, rows, notes=notes, data=data)


def _is_moved(one: Shift) -> bool:
    around = one.difference.interval
    return around is not None and not around.low <= 0 <= around.high
