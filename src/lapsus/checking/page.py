"""The report as a page."""

from __future__ import annotations

from lapsus.annotators.parts.evidence import kind_name, kinds
from lapsus.checking.checking import Check
from lapsus.checking.words import says, word
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.reports.page import page


def check_page(check: Check, *, by: str, language: str) -> str:
    """What was found, as one self-contained page."""
    return page(
        "lapsus.checking",
        "check.html",
        language,
        check=check,
        by=by,
        labels=LABELS,
        kinds=kinds(),
        word=lambda name, **values: word(name, language, **values),
        kind=lambda name: kind_name(name, language),
        says=lambda finding: says(finding, language),
    )
