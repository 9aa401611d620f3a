"""Several judges as one: of what each said, a judgment that stands beside theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lapsus.kinds import countable
from lapsus.kinds.quantities import quantities
from lapsus.kinds.similarity import compared
from lapsus.kinds.votes import scheme_votes
from lapsus.model import Answer, Judgment, Scheme, UnitKey
from lapsus.model.judgment import PROGRAM
from lapsus.model.notes import LEARNED, learned_from
from lapsus.trust.jury import jury

JURY = "jury"
"""Who is named as annotator."""


def jury_of(judgments: Sequence[Judgment], scheme: Scheme) -> list[Judgment]:
    """A judgment a unit: for each question the answer nearest to all members', with the shares of their votes.

    For single labels that is what most said; of equals, what the member said who comes first. What nobody answered
    stays open.
    """
    answers: dict[UnitKey, dict[str, Answer]] = {}
    shares: dict[UnitKey, dict[str, dict[str, float]]] = {}
    by = {(one.unit, one.annotator): one for one in judgments}
    for question in countable(scheme.questions):
        given = [one for one in judgments if question.id in one.answers]
        if not given:
            continue
        votes = scheme_votes(given, scheme, question)
        seen = compared(votes)
        chosen = jury(seen, range(len(votes.annotators)))
        for row, code in enumerate(chosen.tolist()):
            if code >= 0:
                member = votes.annotators[int(np.argmax(seen.codes[row] == code))]
                unit = votes.units[row]
                answers.setdefault(unit, {})[question.id] = by[unit, member].answers[question.id]
        for quantity in quantities(votes):
            if quantity.is_share:
                said = np.isfinite(quantity.values)
                mean = np.nansum(quantity.values, axis=1) / np.maximum(said.sum(axis=1), 1)
                for unit, share in zip(votes.units, mean.tolist(), strict=True):
                    shares.setdefault(unit, {}).setdefault(question.id, {})[quantity.label] = share
    members = list(dict.fromkeys(one.annotator for one in judgments))
    metadata: dict[str, Any] = {PROGRAM: True, "members": members}
    learned = {one.unit for one in judgments if learned_from(one)}
    units = dict.fromkeys(one.unit for one in judgments)
    return [
        Judgment(*unit, JURY, scheme.id, scheme.version, answers[unit], shares.get(unit, {}), metadata=about)
        for unit in units
        if unit in answers
        for about in [{**metadata, LEARNED: True} if unit in learned else metadata]
    ]
