"""Signs of breakdown, and of its absence, that a reader can check: what is repeated, which question is left.

They need no model, no dictionary and no other library. What they mean is said in `signs.yaml`.
"""

from __future__ import annotations

from typing import NamedTuple

from lapsus.annotators.features.sign_rules import RULES
from lapsus.annotators.features.turn_context import TurnContext
from lapsus.model import Unit, in_language
from lapsus.word_files import word_file


class Sign(NamedTuple):
    """Something seen in a turn, and the words it was seen in."""

    rule: str
    quote: str


def signs(unit: Unit) -> list[Sign]:
    """Every sign seen in a turn, in the order of the rules."""
    return signs_in(TurnContext.of(unit))


def signs_in(scene: TurnContext) -> list[Sign]:
    """The same, of a turn that was looked at already."""
    found = ((name, rule(scene)) for name, rule in RULES.items())
    return [Sign(name, quote) for name, quote in found if quote is not None]


def meaning(sign: Sign, language: str) -> str:
    """What a sign means, in the reader's language."""
    words = word_file("lapsus.annotators.features", "signs.yaml")[sign.rule]
    # Not str.format: a quote may hold braces of its own.
    return str(in_language(words, language)).replace("{quote}", sign.quote)
