"""A judge that goes by words alone, and needs to learn nothing."""

from __future__ import annotations

from collections.abc import Sequence

from lapsus.annotators import Annotator
from lapsus.annotators.base import Opinion
from lapsus.annotators.cases import Case

POLITE = ("please", "thank", "sorry", "would you", "ください", "ありがとう", "すみません")
RUDE = ("stupid", "shut up", "idiot", "うるさい", "ばか")


class PoliteWords(Annotator):
    """Says polite or rude where a turn has a word for it, else plain."""

    method = "polite-words"
    title = "polite and rude words, counted"
    made_for = "politeness"
    needs_fit = False
    uses_words = False
    any_language = True

    def _opinions(self, cases: Sequence[Case]) -> Sequence[Opinion]:
        return [_opinion(case) for case in cases]


def _opinion(case: Case) -> Opinion:
    text = case.unit.target.text.lower() if case.unit.target else ""
    polite = sum(word in text for word in POLITE)
    rude = sum(word in text for word in RUDE)
    shares = {"polite": 1 + polite, "plain": 1 + (not polite and not rude), "rude": 1 + 2 * rude}
    total = sum(shares.values())
    answer = max(shares, key=lambda label: shares[label])
    return Opinion({"manner": answer}, {"manner": {label: share / total for label, share in shares.items()}})
