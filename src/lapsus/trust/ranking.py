"""Where every judge of a question stands among the people: the test, a ranking, floors, a verdict in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from lapsus.kinds.votes import compared, quantities
from lapsus.measures.bootstrap import Floats
from lapsus.measures.score import signature
from lapsus.model.votes import Votes, row_means
from lapsus.notices import Notice, listed
from lapsus.trust.alternative_test import (
    EPSILONS,
    JURY,
    LEAST_UNITS,
    Outcome,
    Trial,
    agrees_better,
    constant_judge,
    duels,
    jury,
    people_scores,
    random_judge,
    trial,
)

CONSTANT, RANDOM = "(constant)", "(random)"
"""The floors' names: no annotator needs a name in brackets."""
FLOORS = {CONSTANT: Notice("always-same-answer"), RANDOM: Notice("answering-random")}
"""What the floors do, in words."""
NOTHING = Notice("data-test-tells-nothing")
USUAL_EPSILON = 0.2


class PeopleAndJudges(NamedTuple):
    """Who is who among the annotators of a table of votes."""

    people: tuple[str, ...]
    judges: tuple[str, ...]

    def columns(self, votes: Votes) -> tuple[list[int], list[int]]:
        """The columns of the people, and of the judges, who are among the annotators."""
        place = {name: number for number, name in enumerate(votes.annotators)}
        people, judges = ([place[name] for name in names if name in place] for names in self)
        return people, judges


class Stand(msgspec.Struct, frozen=True):
    """The test at one epsilon, plain and clustered by document."""

    epsilon: float
    people: str
    """For whom one takes this epsilon."""
    winning_rate: float | None
    passes: bool | None
    more_units: int | None
    clustered_winning_rate: float | None
    clustered_passes: bool | None
    clustered_more_units: int | None
    floors: tuple[str, ...] = ()
    """The floors that pass as well, so that to pass tells little."""


class Standing(msgspec.Struct, frozen=True):
    """One judge on one question. Winning rate and verdict are the plain test's, as published."""

    judge: str
    question: str
    epsilon: float
    winning_rate: float | None
    advantage: float | None
    advantage_low: float | None
    advantage_high: float | None
    people: int
    units: int
    documents: int
    passes: bool | None
    verdict: str
    clustered: dict[str, float | bool | int | None]
    more_units: int | None
    """How many more units a person until it is settled at `epsilon`; 0: it is."""
    judge_agreement: float | None
    people_agreement: float | None
    epsilons: tuple[Stand, ...]
    left_out: int
    """People with too few units."""
    floor: bool
    rank: int | None
    """Place among the judges by advantage; floors have none."""
    signature: str
    floors: tuple[str, ...] = ()
    """The floors that pass at `epsilon` as well."""
    beats_constant: bool | None = None
    """Whether it is shown to agree with people better than the usual answer, always; null where it cannot be told."""
    learned_documents: int = 0
    """How many of the documents it learned from: its figures are too good then, and there is no verdict."""
    rates: tuple[JudgeRates, ...] = ()
    """Sensitivity and specificity of each label; none for scales and spans."""
    never_given: tuple[str, ...] = ()
    """Labels that people gave and the judge never did."""


def standings(
    question: str,
    votes: Votes,
    who: PeopleAndJudges,
    *,
    epsilon: float = USUAL_EPSILON,
    least_units: int = LEAST_UNITS,
    seed: int = 0,
    with_jury: bool = False,
) -> list[Standing]:
    """All judges of a question, the greatest advantage first, then the floors.

    `with_jury`: where there are several, also all of them as one.
    """
    answers = compared(votes)
    column = {name: place for place, name in enumerate(votes.annotators)}
    people = [column[name] for name in who.people]
    documents = votes.document_groups()
    epsilons = sorted({*EPSILONS, epsilon})
    seen = {name: answers.codes[:, column[name]] for name in who.judges}
    if with_jury and len(who.judges) > 1:
        seen[JURY] = jury(answers, [column[name] for name in who.judges])
    judges = list(seen)
    if people and (answers.codes[:, people] >= 0).any():
        seen[CONSTANT] = constant_judge(answers, people)
        seen[RANDOM] = random_judge(answers, people, seed)
    among = people_scores(answers, people)
    fought = {name: duels(answers, people, codes, among) for name, codes in seen.items()}
    trials = {
        name: trial(found, documents, epsilons=epsilons, least_units=least_units)
        for name, found in fought.items()
    }
    ordered = sorted(judges, key=lambda name: -(trials[name].advantage or -1.0))
    ranks: dict[str, int | None] = {name: place for place, name in enumerate(ordered, 1)}
    floors = [name for name in (CONSTANT, RANDOM) if name in trials]
    passing = {one: tuple(name for name in floors if _at(trials[name].plain, one).passes) for one in epsilons}

    def beats_constant(name: str) -> bool | None:
        if CONSTANT not in seen or name in floors:
            return None
        where = np.where(seen[name] >= 0, seen[CONSTANT], -1)
        return agrees_better(fought[name], duels(answers, people, where, among), documents)

    shares = [one for one in quantities(votes) if one.is_share]
    found = []
    for name in [*ordered, *floors]:
        one = _standing(
            name, question, trials[name], epsilon, ranks.get(name), least_units, passing, beats_constant(name)
        )
        if name in column and people:
            judged = np.array([quantity.values[:, column[name]] for quantity in shares])
            one = _with_rates(one, judge_rates(votes, people, judged))
        found.append(one)
    return found


def _with_rates(one: Standing, rates: Sequence[JudgeRates]) -> Standing:
    never = tuple(rate.label for rate in rates if not rate.given and rate.sensitivity is not None)
    said = Notice("never-gives", verdict=one.verdict, never=", ".join(never)) if never else one.verdict
    return msgspec.structs.replace(one, rates=tuple(rates), never_given=never, verdict=said)


def without_verdict(one: Standing, learned: int) -> Standing:
    """A judge that learned from documents it is tested on: its figures stay, and prove nothing."""
    if not learned:
        return one
    said = Notice("no-verdict-learned-documents", learned=learned, documents=one.documents)
    return msgspec.structs.replace(one, learned_documents=learned, passes=None, verdict=said)


def _standing(
    judge: str,
    question: str,
    found: Trial,
    epsilon: float,
    rank: int | None,
    least_units: int,
    floors: Mapping[float, tuple[str, ...]],
    better: bool | None,
) -> Standing:
    stands = [
        Stand(
            plain.epsilon,
            EPSILONS.get(plain.epsilon, "people"),
            plain.winning_rate,
            plain.passes,
            plain.more_units,
            clustered.winning_rate,
            clustered.passes,
            clustered.more_units,
            floors[plain.epsilon],
        )
        for plain, clustered in zip(found.plain, found.clustered, strict=True)
    ]
    plain, clustered = _at(found.plain, epsilon), _at(found.clustered, epsilon)
    low, high = found.interval or (None, None)
    return Standing(
        judge, question, epsilon, plain.winning_rate, found.advantage, low, high,
        len(found.people), found.units, found.documents, plain.passes,
        floor_verdict(stands) if rank is None else verdict(stands, found, better, least_units),
        {"winning_rate": clustered.winning_rate, "passes": clustered.passes, "more_units": clustered.more_units},
        plain.more_units, found.judge_agreement, found.people_agreement, tuple(stands), len(found.left_out),
        rank is None, rank, signature(test="alt", epsilon=epsilon, fdr="BY,q=0.05", least=least_units),
        floors[epsilon], better,
    )  # fmt: skip


def _at(outcomes: Sequence[Outcome], epsilon: float) -> Outcome:
    return next(one for one in outcomes if one.epsilon == epsilon)


def verdict(
    stands: Sequence[Stand], found: Trial, better: bool | None, least_units: int = LEAST_UNITS
) -> str:
    """For whom the judge may stand in. The dearer people are, the more a judge may be worse than they.

    Where a floor passes too, or the judge is not shown to be `better` than the constant one, that is said.
    """
    if not found.people:
        return Notice("cannot-told-nobody-judged", least_units=least_units)
    usual = _usual(stands)
    passed = [one for one in usual if one.passes]
    if not passed:
        return Notice("may-not-stand-people")
    easy = [one for one in passed if one.floors]
    floor = "" if not easy else FLOORS[easy[0].floors[0]]
    if len(easy) == len(passed) and not better:
        return Notice("passes-but-does-not", floor=floor, nothing=NOTHING)
    text = _for_whom(usual)
    if easy:
        text = Notice("floor-passes-too", text=text, floor=floor, people=_names(easy))
    if shaky := [one for one in passed if not one.clustered_passes]:
        text = Notice("not-with-clusters", text=text, people=_names(shaky))
    if not better:
        text = Notice("not-better-than-floor", text=text, floor=FLOORS[CONSTANT])
    return text


def floor_verdict(stands: Sequence[Stand]) -> str:
    """What it says of the data where a floor passes."""
    passed = any(one.passes for one in _usual(stands))
    return Notice("floor-passes", nothing=NOTHING) if passed else Notice("floor-does-not-pass")


def _for_whom(usual: Sequence[Stand]) -> str:
    yes, no = ([one for one in usual if bool(one.passes) is passes] for passes in (True, False))
    if not no:
        return Notice("may-stand-people-whoever")
    return Notice("may-stand-people-not", names=_names(yes), names2=_names(no))


def _usual(stands: Sequence[Stand]) -> list[Stand]:
    return sorted((one for one in stands if one.epsilon in EPSILONS), key=lambda one: -one.epsilon)


def _names(stands: Sequence[Stand]) -> str:
    return listed((one.people for one in stands), "or")


class JudgeRates(msgspec.Struct, frozen=True):
    """One label of a judge beside people, each person's answer counting alike within a unit; None where undefined."""

    label: str
    given: int
    """Units to which the judge gave it."""
    sensitivity: float | None
    """Where people gave the label, how often the judge did."""
    specificity: float | None
    """Where people did not, how often the judge did not either."""
    n: int


def judge_rates(votes: Votes, people: list[int], judge: Floats) -> list[JudgeRates]:
    """Sensitivity and specificity of each label; `judge` holds its answers as `quantities` has them, label by label."""
    found = []
    for place, quantity in enumerate(one for one in quantities(votes) if one.is_share):
        said, judged = row_means(quantity.values[:, people]), judge[place]
        both = np.isfinite(said) & np.isfinite(judged)
        y, f = said[both], judged[both]
        yes, no = float(y.sum()), float((1 - y).sum())
        found.append(
            JudgeRates(
                quantity.label,
                int(np.nansum(judged)),
                float((y * f).sum()) / yes if yes else None,
                float(((1 - y) * (1 - f)).sum()) / no if no else None,
                int(both.sum()),
            )
        )
    return found
