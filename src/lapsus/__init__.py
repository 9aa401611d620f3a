"""Lapsus finds, labels and measures the errors of systems that talk.

The names below are loaded when first used, so that `import lapsus` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lapsus.version import __version__

if TYPE_CHECKING:
    from lapsus.analysis.agreement import agree as agree
    from lapsus.analysis.comparison import compare as compare
    from lapsus.analysis.estimate import estimate as estimate
    from lapsus.analysis.gold_standard import gold as gold
    from lapsus.analysis.plan import plan_units as plan_units
    from lapsus.analysis.ranking import rank as rank
    from lapsus.analysis.scores import score as score
    from lapsus.analysis.trust import rank_judges as rank_judges
    from lapsus.analysis.validating import validate as validate
    from lapsus.annotators import detect as detect
    from lapsus.annotators import train as train
    from lapsus.annotators.language_model.align import align as align
    from lapsus.client import Client as Client
    from lapsus.formats import convert as convert
    from lapsus.formats import read as read
    from lapsus.formats.frame import to_frame as to_frame
    from lapsus.guard import Guard as Guard
    from lapsus.log_check import check as check
    from lapsus.mutation.stress import stress as stress
    from lapsus.reports.marked_text import to_html as to_html
    from lapsus.schemes import broken_rules as broken_rules
    from lapsus.schemes import load_scheme as load_scheme
    from lapsus.watching.watch import watch as watch

_FROM = {
    "agree": "lapsus.analysis.agreement",
    "compare": "lapsus.analysis.comparison",
    "gold": "lapsus.analysis.gold_standard",
    "score": "lapsus.analysis.scores",
    "estimate": "lapsus.analysis.estimate",
    "plan_units": "lapsus.analysis.plan",
    "rank": "lapsus.analysis.ranking",
    "rank_judges": "lapsus.analysis.trust",
    "validate": "lapsus.analysis.validating",
    "detect": "lapsus.annotators",
    "train": "lapsus.annotators",
    "check": "lapsus.log_check",
    "align": "lapsus.annotators.language_model.align",
    "stress": "lapsus.mutation.stress",
    "watch": "lapsus.watching.watch",
    "Guard": "lapsus.guard",
    "Client": "lapsus.client",
    "read": "lapsus.formats",
    "convert": "lapsus.formats",
    "to_frame": "lapsus.formats.frame",
    "to_html": "lapsus.reports.marked_text",
    "load_scheme": "lapsus.schemes",
    "broken_rules": "lapsus.schemes",
}

__all__ = ["__version__", *_FROM]


def __getattr__(name: str) -> Any:
    if name in _FROM:
        return getattr(importlib.import_module(_FROM[name]), name)
    raise AttributeError(f"module 'lapsus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_FROM])
