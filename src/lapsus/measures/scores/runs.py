"""A run beside the gold: each scored turn with what the run said of it, by its index and not its position."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError, InvalidError
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.scores.breakdown import BreakdownScores, bad_distribution, breakdown_tally, scores_of
from lapsus.measures.scores.breakdown_labels import LABELS, Codes, Rule, breakdown_counts
from lapsus.measures.scores.tally import Tally
from lapsus.model import Judgment, UnitKey, latest
from lapsus.model.votes import LabelVotes
from lapsus.notices import Notice

QUESTION = "breakdown"


@dataclass(frozen=True)
class AlignedRun:
    """The scored turns, in the gold's order, with the gold and the run's answers as arrays."""

    units: tuple[UnitKey, ...]
    gold: NDArray[np.int64]
    labels: Codes
    distributions: Floats
    groups: NDArray[np.intp]
    one_hot: int
    """How many turns came without a distribution; theirs is 1 for the label and 0 for the others."""
    out_of_place: tuple[str, ...]
    """Documents of which the challenge's own program, which pairs by position, would compare wrong turns."""

    def tally(self, t: float = 0.0, rule: Rule = "program") -> Tally:
        """The sums from which scores and comparisons follow."""
        own = {"onehot": self.one_hot} if self.one_hot else {}
        return breakdown_tally(
            self.gold, self.labels, self.distributions, self.groups, t=t, rule=rule, own=own
        )

    def scores(
        self, *, t: float = 0.0, rule: Rule = "program", bootstrap: Bootstrap | None = USUAL
    ) -> BreakdownScores:
        """The challenge's scores."""
        return scores_of(self.tally(t, rule), bootstrap)


def align_run(
    gold: LabelVotes,
    run: Iterable[Judgment],
    *,
    known_units: Collection[UnitKey] | None = None,
    question: str = QUESTION,
) -> AlignedRun:
    """Put a run's breakdown labels beside the votes. Scored are the turns with a vote for O, T or X.

    `known_units` are all turns that the documents have. What the run says of those without votes is passed
    over; an answer about any other turn is an error, as are missing and doubled answers.
    """
    counts = breakdown_counts(gold)
    scored = counts.sum(axis=1) > 0
    units = tuple(unit for unit, is_scored in zip(gold.units, scored, strict=True) if is_scored)
    answers = [judgment for judgment in _latest(run) if question in judgment.answers]
    matched = match_run(units, answers, known_units=frozenset(known_units or ()).union(gold.units))
    labels = np.array([_code(judgment, question) for judgment in matched], dtype=np.int8)
    distributions, one_hot = _distributions(matched, labels, question)
    return AlignedRun(
        units,
        counts[scored],
        labels,
        distributions,
        gold.document_groups()[scored],
        one_hot,
        _out_of_place(units, answers),
    )


def match_run(
    units: Sequence[UnitKey], run: Iterable[Judgment], *, known_units: Collection[UnitKey]
) -> list[Judgment]:
    """The run's judgment of each unit, in the order of the units."""
    answers: dict[UnitKey, Judgment] = {}
    for judgment in run:
        unit = judgment.unit
        if unit not in known_units:
            raise InputError("run-answers-about-turn", where=_place(unit), hint="run-dialogues")
        if unit in answers:
            who = ", ".join(dict.fromkeys((answers[unit].annotator, judgment.annotator)))
            raise InputError("run-answers-twice", where=_place(unit), hint="choose-one-answer-turn", who=who)
        answers[unit] = judgment
    if missing := [unit for unit in units if unit not in answers]:
        more = Notice("and-more-2", count=len(missing) - 1) if len(missing) > 1 else ""
        raise InputError(
            "run-does-not-answer", where=_place(missing[0]), hint="every-scored-turn-counts", more=more
        )
    return [answers[unit] for unit in units]


def _latest(run: Iterable[Judgment]) -> list[Judgment]:
    try:
        return latest(run)
    except InvalidError as error:
        raise InputError(error.what, where=error.where, hint=error.hint) from error


def _place(unit: UnitKey) -> str:
    return Notice("document", document=unit.document) + (
        "" if unit.segment is None else f", turn {unit.segment!r}"
    )


def _code(judgment: Judgment, question: str) -> int:
    answer = judgment.answers[question]
    if answer not in LABELS:
        raise InputError("unknown-label", where=_place(judgment.unit), hint="known-o-t-x", label=answer)
    return LABELS.index(answer)


def _distributions(matched: Sequence[Judgment], labels: Codes, question: str) -> tuple[Floats, int]:
    """The distributions as given, and how many had to be made from the label alone."""
    rows = np.zeros((len(matched), 3))
    one_hot = 0
    for place, judgment in enumerate(matched):
        shares = judgment.distributions.get(question)
        if shares:
            rows[place] = _row(shares, judgment)
        else:
            rows[place, labels[place]] = 1.0
            one_hot += 1
    if (bad := bad_distribution(rows)) is not None:
        given = ", ".join(
            f"{label} {share:g}" for label, share in zip(LABELS, rows[bad].tolist(), strict=True)
        )
        raise InputError(
            "no-distribution", where=_place(matched[bad].unit), hint="three-numbers-0-sum", tolist=given
        )
    return rows, one_hot


def _row(shares: Mapping[str, Any], judgment: Judgment) -> list[float]:
    if strange := shares.keys() - set(LABELS):
        raise InputError(
            "distribution-label", where=_place(judgment.unit), hint="known-o-t-x", strange=min(strange)
        )
    return [float(shares.get(label, 0.0)) for label in LABELS]


def _out_of_place(units: Sequence[UnitKey], answers: Iterable[Judgment]) -> tuple[str, ...]:
    """Documents whose nth answer is not about their nth scored turn."""
    scored: dict[str, list[str | None]] = {}
    for unit in units:
        scored.setdefault(unit.document, []).append(unit.segment)
    said: dict[str, list[str | None]] = {}
    for judgment in answers:
        said.setdefault(judgment.document, []).append(judgment.segment)
    return tuple(document for document, turns in scored.items() if said[document][: len(turns)] != turns)
