"""The report as a page."""

from __future__ import annotations

from lapsus.annotators.features.evidence import kind_name, kinds
from lapsus.log_check.ranking import LogCheck
from lapsus.log_check.report_words import (
    group_about,
    group_name,
    groups_title,
    headline,
    interval,
    label_name,
    likely_types,
    percent,
    points,
    says,
    system_name,
    unseen,
    word,
)
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.reports.html_page import page


def check_page(check: LogCheck, *, by: str, language: str) -> str:
    """What was found, as one self-contained page."""
    return page(
        "lapsus.log_check",
        "check.html",
        language,
        check=check,
        by=by,
        headline=headline(check, language),
        apart=check.differences(),
        groups_title=lambda groups: groups_title(groups, language),
        group_name=lambda group: group_name(group, language),
        group_about=lambda group: group_about(group, language),
        unseen=lambda groups: unseen(groups, language),
        percent=percent,
        interval=interval,
        points=points,
        system_name=lambda name: system_name(name, language),
        labels=LABELS,
        kinds=kinds(),
        word=lambda name, **values: word(name, language, **values),
        kind=lambda name: kind_name(name, language),
        label_name=lambda label: label_name(label, language),
        says=lambda finding: says(finding, language),
        likely_types=lambda finding: likely_types(finding, language),
    )
