"""Where every judge of a question stands among the people: the test, a ranking, floors, a verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from lapsus.kinds.similarity import compared
from lapsus.measures.score import signature
from lapsus.model.votes import Votes
from lapsus.trust.alternative_test import (
    EPSILONS,
    LEAST_UNITS,
    Outcome,
    Trial,
    constant_judge,
    duels,
    random_judge,
    trial,
)
from lapsus.trust.jury import JURY, jury

CONSTANT, RANDOM = "(constant)", "(random)"
"""The floors' names: no annotator needs a name in brackets."""
USUAL_EPSILON = 0.2


class Sight(NamedTuple):
    """Who is who among the annotators of a table of votes."""

    people: tuple[str, ...]
    judges: tuple[str, ...]


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


def standings(
    question: str,
    votes: Votes,
    who: Sight,
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
    trials = {
        name: trial(duels(answers, people, codes), documents, epsilons=epsilons, least_units=least_units)
        for name, codes in seen.items()
    }
    ordered = sorted(judges, key=lambda name: -(trials[name].advantage or -1.0))
    ranks: dict[str, int | None] = {name: place for place, name in enumerate(ordered, 1)}
    floors = [name for name in (CONSTANT, RANDOM) if name in trials]
    return [
        _standing(name, question, trials[name], epsilon, ranks.get(name), least_units)
        for name in [*ordered, *floors]
    ]


def _standing(
    judge: str, question: str, found: Trial, epsilon: float, rank: int | None, least_units: int
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
        )
        for plain, clustered in zip(found.plain, found.clustered, strict=True)
    ]
    plain, clustered = _at(found.plain, epsilon), _at(found.clustered, epsilon)
    low, high = found.interval or (None, None)
    return Standing(
        judge, question, epsilon, plain.winning_rate, found.advantage, low, high,
        len(found.people), found.units, found.documents, plain.passes, verdict(stands, found, least_units),
        {"winning_rate": clustered.winning_rate, "passes": clustered.passes, "more_units": clustered.more_units},
        plain.more_units, found.judge_agreement, found.people_agreement, tuple(stands), len(found.left_out),
        rank is None, rank, signature(test="alt", epsilon=epsilon, fdr="BY,q=0.05", least=least_units),
    )  # fmt: skip


def _at(outcomes: Sequence[Outcome], epsilon: float) -> Outcome:
    return next(one for one in outcomes if one.epsilon == epsilon)


def verdict(stands: Sequence[Stand], found: Trial, least_units: int = LEAST_UNITS) -> str:
    """For whom the judge may stand in. The dearer people are, the more a judge may be worse than they."""
    if not found.people:
        return (
            f"cannot be told: nobody judged {least_units} units that another person and the judge judged too"
        )
    usual = sorted((one for one in stands if one.epsilon in EPSILONS), key=lambda one: -one.epsilon)
    yes = [one.people for one in usual if one.passes]
    no = [one.people for one in usual if not one.passes]
    if not yes:
        return "may not stand in for these people"
    if not no:
        text = "may stand in for these people, whoever they are"
    else:
        text = (
            f"may stand in for these people if they are {' or '.join(yes)}, not if they are {' or '.join(no)}"
        )
    shaky = [one.people for one in usual if one.passes and not one.clustered_passes]
    if shaky:
        text += f"; with documents as clusters it does not hold for {' or '.join(shaky)}"
    return text
