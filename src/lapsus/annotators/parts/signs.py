"""Signs of breakdown, and of its absence, that a reader can check: what is repeated, which question is left.

They need no model, no dictionary and no other library. What they mean is said in `signs.yaml`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from lapsus.annotators.parts.scene import Scene
from lapsus.annotators.parts.sign_rules import RULES
from lapsus.model import Unit, in_language


class Sign(NamedTuple):
    """Something seen in a turn, and the words it was seen in."""

    rule: str
    quote: str


def signs(unit: Unit) -> list[Sign]:
    """Every sign seen in a turn, in the order of the rules."""
    scene = Scene.of(unit)
    found = ((name, rule(scene)) for name, rule in RULES.items())
    return [Sign(name, quote) for name, quote in found if quote is not None]


def meaning(sign: Sign, language: str) -> str:
    """What a sign means, in the reader's language."""
    # Not str.format: a quote may hold braces of its own.
    return in_language(_texts()[sign.rule], language).replace("{quote}", sign.quote)


@cache
def _texts() -> dict[str, dict[str, str]]:
    text = (files("lapsus.annotators.parts") / "signs.yaml").read_text(encoding="utf-8")
    texts: dict[str, dict[str, str]] = yaml.safe_load(text)
    return texts
