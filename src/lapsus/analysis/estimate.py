"""From files to shares and means that can be defended: `lapsus estimate`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from lapsus.analysis.corpus import Announce, Corpus, choose_scheme, countable_questions
from lapsus.analysis.trust import learned_warnings, load_corpora, only_drawn, people_and_judges
from lapsus.errors import UsageError
from lapsus.kinds.votes import Quantity, quantities
from lapsus.measures.bootstrap import Floats
from lapsus.measures.score import Interval, Score, signature
from lapsus.model import Question, Scheme, UnitKey
from lapsus.model.unit import WHOLE
from lapsus.model.votes import Votes, row_means
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.reports.table import Cell
from lapsus.schemes import AnyScheme
from lapsus.trust.alternative_test import JURY
from lapsus.trust.estimators import Estimate, Estimates, Sample, difference, estimates
from lapsus.trust.ranking import PeopleAndJudges

COLUMNS = ("", "judge alone", "people alone", "corrected", "Rogan–Gladen", "λ", "judged", "judge only")
SIGNATURE = signature(
    interval="clopper-pearson,effective-n/t,level=0.95", clusters="documents", corrected="ppi++"
)


class Bounds(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value with its interval, None where it cannot be told."""

    value: float | None
    low: float | None
    high: float | None
    note: str | None = None


class Estimated(msgspec.Struct, frozen=True):
    """One quantity: of all documents, of one system, or the difference between two."""

    by: str
    """The judge whose answers were used."""
    question: str
    measure: str
    label: str
    system: str | None
    minus: str | None
    """The system that is taken off, where this is a difference."""
    judge: Bounds
    people: Bounds
    corrected: Bounds
    rogan_gladen: Bounds | None
    power: float | None
    judged_units: int
    judge_units: int
    weighted: bool
    signature: str


def estimate(
    data: Path | str,
    *more: Path | str,
    judges: Sequence[str] = (),
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    by: str | None = None,
    jury: bool = False,
    only: str | None = None,
    language: str | None = None,
    announce: Announce = lambda reading: None,
) -> Table:
    """Shares of labels, means of scales, marks a text: the judge alone, people alone, and corrected.

    With `jury` also from the mean of what all judges said: their shares of votes.
    """
    corpus = load_corpora([data, *more], only=only, language=language, scheme=scheme, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    found = all_estimates(corpus, chosen, judges, questions=questions, by=by, jury=jury)
    several = len({one.question for one in found}) > 1, len({one.by for one in found}) > 1
    rows = tuple(_row(one, *several) for one in found)
    notes = [SIGNATURE, *corpus.version_warnings(chosen)]
    if any(one.weighted for one in found):
        notes.insert(0, Notice("units-drawn-different-chances"))
    rates = [one.rogan_gladen for one in found if one.rogan_gladen]
    notes += dict.fromkeys(f"Rogan–Gladen: {rate.note}" for rate in rates if rate.note)
    notes += _reasons(found)
    notes += _warnings(found)
    who = people_and_judges(corpus, chosen, judges, by_name=False)
    notes += [Notice("warning", text=told) for told in learned_warnings(corpus, chosen, who)]
    return Table(COLUMNS, rows, notes=tuple(notes), data=found)


def _reasons(found: Sequence[Estimated]) -> list[str]:
    """Why corrected figures are people's own; of some systems only, with their names."""
    told: dict[str, dict[str | None, None]] = {}
    for one in found:
        if one.power is None and one.minus is None and one.corrected.note:
            told.setdefault(one.corrected.note, {})[one.system] = None
    return [
        why if None in systems else Notice("prefixed", name=", ".join(map(str, systems)), text=why)
        for why, systems in told.items()
    ]


def _warnings(found: Sequence[Estimated]) -> list[str]:
    """Where the judged units are unlike the rest; the first of them stands for all."""
    told = [one for one in found if one.corrected.note and one.power is not None and one.minus is None]
    if not told:
        return []
    one = told[0]
    name = ", ".join(filter(None, (one.question, one.label, one.system)))
    text = Notice("prefixed", name=name, text=one.corrected.note)
    more = Notice("and-more-like-it", text=text, count=len(told) - 1) if len(told) > 1 else text
    return [Notice("warning", text=more)]


def all_estimates(
    corpus: Corpus,
    scheme: Scheme,
    judges: Sequence[str] = (),
    *,
    questions: Sequence[str] = (),
    by: str | None = None,
    jury: bool = False,
) -> list[Estimated]:
    """Every quantity of every question, with `by` also system by system and system against system."""
    if by not in (None, "system"):
        raise UsageError("cannot-group", hint="known-system", by=by)
    if by and not corpus.documents:
        raise UsageError("cannot-group-system-documents", hint="use-format")
    who = people_and_judges(corpus, scheme, judges, by_name=False)
    corpus = only_drawn(corpus, scheme, who.people)
    found: list[Estimated] = []
    for question in countable_questions(scheme, questions):
        votes = corpus.votes(scheme, question)
        for judge in who.judges:
            if judge in votes.annotators:
                found += question_estimates(
                    corpus, scheme, question, votes, PeopleAndJudges(who.people, (judge,)), by
                )
        if jury and len(here := [name for name in who.judges if name in votes.annotators]) > 1:
            found += question_estimates(
                corpus, scheme, question, votes, PeopleAndJudges(who.people, tuple(here)), by
            )
    return found


def question_estimates(
    corpus: Corpus, scheme: Scheme, question: Question, votes: Votes, who: PeopleAndJudges, by: str | None
) -> Iterator[Estimated]:
    """Every quantity of one question; without a judge in sight people's alone."""
    systems = np.array([corpus.system_of(unit.document) for unit in votes.units])
    groups: list[str | None] = [None, *(sorted(set(systems.tolist())) if by else ())]
    document = votes.document_groups()
    weight, stratum = weights(corpus, scheme, votes.units)
    for quantity in quantities(votes):
        people, judge = unit_means(quantity, votes, who)
        parts: dict[str | None, Estimates] = {}
        for group in groups:
            rows = np.ones(len(systems), dtype=bool) if group is None else systems == group
            drawn = None if weight is None else weight[rows]
            strata = None if stratum is None else stratum[rows]
            sample = Sample(people[rows], judge[rows], document[rows], drawn, strata, quantity.is_share)
            parts[group] = estimates(sample)
        name = who.judges[0] if len(who.judges) == 1 else JURY
        about = (name, question.id, quantity.measure, quantity.label)
        for group, made in parts.items():
            yield _estimated(about, group, None, made, weight is not None)
        for one, other in combinations([group for group in groups if group is not None], 2):
            yield _estimated(about, one, other, _difference(parts[one], parts[other]), weight is not None)


def unit_means(quantity: Quantity, votes: Votes, who: PeopleAndJudges) -> tuple[Floats, Floats]:
    """The means of what people said of each unit and of what the judges said, NaN where nobody did."""
    people, judges = (row_means(quantity.values[:, columns]) for columns in who.columns(votes))
    return people, judges


def weights(
    corpus: Corpus, scheme: Scheme, units: Sequence[UnitKey]
) -> tuple[Floats | None, np.ndarray[Any, np.dtype[np.intp]] | None]:
    """How many units each drawn one stands for, and its stratum; None where no sample was drawn."""
    found = np.full(len(units), np.nan)
    names: dict[str, int] = {}
    stratum = np.zeros(len(units), dtype=np.intp)
    for row, unit in enumerate(units):
        facts = corpus.documents.get(unit.document)
        sample = facts.sample if facts else {}
        if sample.get("role") != scheme.unit.role:
            continue
        drawn = sample.get("units", {}).get(unit.segment if unit.segment is not None else WHOLE)
        if isinstance(drawn, Mapping):
            found[row] = float(drawn.get("weight", 1.0))
            stratum[row] = names.setdefault(str(drawn.get("stratum", "")), len(names))
    return (found, stratum) if np.isfinite(found).any() else (None, None)


def _difference(one: Estimates, other: Estimates) -> Estimates:
    return Estimates(
        difference(one.judge, other.judge),
        difference(one.people, other.people),
        difference(one.corrected, other.corrected),
        None,
        None,
        one.judged + other.judged,
        one.alone + other.alone,
    )


def _estimated(
    about: tuple[str, str, str, str], system: str | None, minus: str | None, made: Estimates, weighted: bool
) -> Estimated:
    rates = None if made.rogan_gladen is None else _bounds(made.rogan_gladen)
    ways = (_bounds(made.judge), _bounds(made.people), _bounds(made.corrected), rates)
    return Estimated(
        *about, system, minus, *ways, made.power, made.judged, made.alone, weighted, SIGNATURE
    )  # fmt: skip


def _bounds(found: Estimate) -> Bounds:
    return Bounds(found.value, found.low, found.high, found.note)


def _row(one: Estimated, with_question: bool, with_judge: bool) -> tuple[Cell, ...]:
    name = {"share": one.label, "mean": "mean", "marks": f"marks {one.label}".strip()}[one.measure]
    if with_question:
        name = f"{one.question}: {name}"
    if one.system is not None:
        name += f", {one.system}" + (f" − {one.minus}" if one.minus else "")
    if with_judge:
        name = f"{one.by}: {name}"
    cells = (_cell(one.judge), _cell(one.people), _cell(one.corrected), _cell(one.rogan_gladen))
    return (name, *cells, one.power, one.judged_units, one.judge_units)


def _cell(found: Bounds | None) -> Cell:
    if found is None:
        return None
    interval = None if found.low is None else Interval(found.low, found.high or 0.0)
    return Score("estimate", found.value, 0, interval)
