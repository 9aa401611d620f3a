"""From judged data to a sample for people to judge: `lapsus plan`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from lapsus.analysis.corpus import Announce, Corpus, choose_scheme, countable_questions
from lapsus.analysis.estimate import unit_means, weights
from lapsus.analysis.trust import doubts, load_corpora, only_drawn, people_and_judges, sampled_documents
from lapsus.errors import InputError, UsageError
from lapsus.kinds import kinds_of
from lapsus.kinds.votes import Codes, compared, quantities
from lapsus.measures.bootstrap import Floats
from lapsus.model import Document, Scheme, UnitKey
from lapsus.model.unit import WHOLE
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes import AnyScheme
from lapsus.trust.alternative_test import duels
from lapsus.trust.estimators import Sample
from lapsus.trust.ranking import USUAL_EPSILON, PeopleAndJudges
from lapsus.trust.sampling import Drawn, draw, noise_of, strata, units_for_test, units_for_width

USUAL_WIDTH = 0.05


class Wanted(msgspec.Struct, frozen=True):
    """A goal, and the units that it takes."""

    goal: str
    """interval or test"""
    question: str
    label: str
    within: float | None
    epsilon: float | None
    units: int | None
    """None: as it looks, no number of units will do."""
    from_people: bool
    """Whether people's answers so far were used."""
    why: str | None = None
    """Why no number of units will do."""


class Stratum(msgspec.Struct, frozen=True):
    """A part of the units, and how many of it were drawn."""

    name: str
    units: int
    drawn: int
    weight: float


class SamplingPlan(msgspec.Struct, frozen=True):
    """How many units people should judge, and which were drawn."""

    judge: str
    scheme: str
    population: int
    """Units that the judge judged."""
    units: int
    people: int
    goals: tuple[Wanted, ...]
    strata: tuple[Stratum, ...] = ()


class _Population(NamedTuple):
    """The units that the judge judged, with the system of each and how much the judge doubts."""

    units: tuple[UnitKey, ...]
    names: list[str]
    stratum: Codes
    doubt: Floats
    before: Floats | None
    """How many each stands for, where all of them are a sample already."""


def plan_units(
    data: Path | str,
    *more: Path | str,
    judge: str | None = None,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    label: str | None = None,
    within: float | None = None,
    epsilon: float | None = None,
    people: int = 3,
    units: int | None = None,
    seed: int = 0,
    only: str | None = None,
    language: str | None = None,
    announce: Announce = lambda reading: None,
) -> tuple[SamplingPlan, Iterator[Document]]:
    """How many units and people it takes until the interval is ± `within` or the test passes, and the units drawn.

    The documents hold the sample in their metadata: a campaign made from them hands out exactly those units, and
    `estimate` counts each for what it stands for. Without a goal both usual ones are looked at.
    """
    corpus = load_corpora([data, *more], only=only, language=language, scheme=scheme, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    who = people_and_judges(corpus, chosen, [judge] if judge else (), need_people=False)
    corpus = only_drawn(corpus, chosen, who.people)
    if len(who.judges) > 1:
        raise UsageError("plan-one-judge", hint="judge-name", judges=", ".join(who.judges))
    if within is None and epsilon is None:
        within, epsilon = USUAL_WIDTH, USUAL_EPSILON
    goals = tuple(_goals(corpus, chosen, who, questions, label, within, epsilon, people))
    population = _population(corpus, chosen, who.judges[0])
    enough = [goal.units for goal in goals if goal.units is not None]
    size = units or max(enough, default=0)
    size = min(size, len(population.units))
    if not size:
        reasons = "; ".join(dict.fromkeys(goal.why for goal in goals if goal.why)) or Notice(
            "no-question-answered"
        )
        raise InputError(
            "no-number-units-will",
            hint=Notice("say-how-many-draw") if within is None else Notice("say-how-many-draw-units"),
            reasons=reasons,
        )
    drawn = draw(population.stratum, np.nan_to_num(population.doubt), size, seed, population.before)
    plan = SamplingPlan(
        who.judges[0], chosen.id, len(population.units), size, people, goals, _strata(population, drawn)
    )
    sample: dict[str, dict[str, dict[str, Any]]] = {}
    for row, weight in zip(drawn.rows.tolist(), drawn.weight.tolist(), strict=True):
        unit = population.units[row]
        # By number: whoever judges need not know what the judge doubts.
        about = {"weight": weight, "stratum": int(population.stratum[row])}
        sample.setdefault(unit.document, {})[unit.segment if unit.segment is not None else WHOLE] = about
    return plan, sampled_documents([data, *more], sample, chosen, only, language)


def _goals(
    corpus: Corpus,
    scheme: Scheme,
    who: PeopleAndJudges,
    questions: Sequence[str],
    label: str | None,
    within: float | None,
    epsilon: float | None,
    people: int,
) -> Iterator[Wanted]:
    known: list[str] = []
    for question in countable_questions(scheme, questions):
        votes = corpus.votes(scheme, question)
        if who.judges[0] not in votes.annotators:
            why = Notice("left-unanswered", judges=who.judges[0], id=question.id)
            yield Wanted(
                "interval" if epsilon is None else "test", question.id, "", within, epsilon, None, False, why
            )
            continue
        columns, (judge,) = who.columns(votes)
        for quantity in quantities(votes) if within is not None else ():
            known.append(quantity.label)
            if label is not None and quantity.label != label:
                continue
            said, judged = unit_means(quantity, votes, who)
            sample = Sample(said, judged, votes.document_groups(), is_share=quantity.is_share)
            noise = noise_of(quantity.values[:, columns])
            goal = units_for_width(sample, within or USUAL_WIDTH, noise, people)
            yield Wanted("interval", question.id, quantity.label, within, None, *goal)
        if epsilon is not None:
            answers = compared(votes)
            found = duels(answers, columns, answers.codes[:, judge])
            goal = units_for_test(found, people, epsilon)
            why = Notice("worse-people-more", id=question.id, epsilon=epsilon)
            yield Wanted("test", question.id, "", None, epsilon, *goal, why if goal.units is None else None)
    if label is not None and within is not None and label not in known:
        raise UsageError("no-label", hint=did_you_mean(label, sorted(set(known))), label=label)


def _population(corpus: Corpus, scheme: Scheme, judge: str) -> _Population:
    found: dict[UnitKey, float] = {}
    kinds = kinds_of(scheme)
    for judgment in corpus.under(scheme.id):
        if judgment.annotator == judge and judgment.document in corpus.documents:
            unsure = doubts(judgment, kinds)
            found[judgment.unit] = float(np.mean(unsure)) if unsure else float("nan")
    if not found:
        raise InputError("no-document-judged", where=corpus.name, hint="use-data-texts", judge=judge)
    doubt = np.array(list(found.values()))
    groups = [corpus.system_of(unit.document) for unit in found]
    before, first = weights(corpus, scheme, list(found))
    if before is not None and first is not None and np.isfinite(before).all():
        groups = [f"{name}, drawn from {number}" for name, number in zip(groups, first.tolist(), strict=True)]
    else:
        before = None
    return _Population(tuple(found), *strata(groups, doubt), doubt, before)


def _strata(population: _Population, drawn: Drawn) -> tuple[Stratum, ...]:
    own, size = population.stratum[drawn.rows], len(population.names)
    counts = np.bincount(population.stratum, minlength=size)
    taken = np.bincount(own, minlength=size)
    stands_for = np.bincount(own, drawn.weight, minlength=size)
    return tuple(
        Stratum(name, int(many), int(few), float(total / few))
        for name, many, few, total in zip(population.names, counts, taken, stands_for, strict=True)
    )
