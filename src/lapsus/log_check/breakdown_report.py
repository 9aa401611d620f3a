"""The report on breakdowns, for a terminal and as a page."""

from collections.abc import Iterator

from lapsus.annotators.features.evidence import kind_name
from lapsus.log_check.finding import Finding
from lapsus.log_check.ranking import LogCheck
from lapsus.log_check.report import check_page, one_line, spoken
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
from lapsus.reports import Table

_COLUMNS = ("system", "dialogues", "turns", "breakdowns", "share", "interval", "above-best", "evidence")
_BEFORE = 2
"""Turns shown before the one that stands out; the page shows more."""
_GROUPS, _QUOTE = 8, 120


def check_lines(check: LogCheck, language: str) -> Iterator[str]:
    """What was found, line by line."""
    yield word("source", language, documents=check.dialogues, turns=check.turns, by=check.by)
    if check.unjudged:
        yield word("unjudged", language, turns=check.unjudged)
    yield from headline(check, language)
    yield ""
    yield _systems(check, language).to_text()
    yield from _groups(check, language)
    for rank, finding in enumerate(check.findings, 1):
        yield ""
        yield from _finding(rank, finding, check.cut, language)
    likely = sum(finding.is_likely(check.cut) for finding in check.findings)
    if not check.likely or check.likely > likely:
        yield ""
        more = check.likely - likely
        yield word("more", language, count=more) if more else word("none", language)


def _groups(check: LogCheck, language: str) -> Iterator[str]:
    """The groups: size, how well they hold, words, quotes."""
    groups = check.grouping
    if not groups.groups:
        return
    yield ""
    yield groups_title(groups, language)
    for group in groups.groups[:_GROUPS]:
        name, about = one_line(group_name(group, language)), group_about(group, language)
        yield f"  {group.size:>4,}  {name}{about and f' · {about}'}"
        yield from (f"        “{one_line(one.text)[:_QUOTE]}”" for one in group.typical[:2])
    yield unseen(groups, language)


def _systems(check: LogCheck, language: str) -> Table:
    rows = []
    apart = check.differences()
    for name, tally in check.systems.items():
        seen = ", ".join(
            f"{kind_name(kind, language)} {count:,}" for kind, count in tally.kinds.most_common()
        )
        share = tally.share
        rows.append(
            (
                one_line(system_name(name, language)),
                tally.dialogues,
                tally.turns,
                tally.likely,
                percent(share.value),
                interval(share),
                points(apart[name]) if name in apart else "",
                seen,
            )
        )
    return Table(tuple(word(name, language) for name in _COLUMNS), tuple(rows))


def _finding(rank: int, finding: Finding, cut: float, language: str) -> Iterator[str]:
    shares = " · ".join(
        f"{label_name(label, language)} {share:.0%}"
        for label, share in zip(LABELS, finding.shares, strict=True)
    )
    dialogue, turn = (
        word("dialogue", language, id=finding.document),
        word("turn", language, id=finding.turn.id),
    )
    shown, colon = (f"（{shares}）", "：") if language == "ja" else (f" ({shares})", ": ")
    why = "likely-by-signs" if finding.rests_on_signs(cut) else "likely-mark"
    mark = f" · {word(why, language)}" if finding.is_likely(cut) else ""
    yield f"{rank}. {one_line(f'{dialogue}, {turn}')}{shown}{mark}"
    yield from (f"     {spoken(segment, language)}" for segment in finding.context[-_BEFORE:])
    yield f"   » {spoken(finding.turn, language)}"
    if types := likely_types(finding, language):
        yield f"   – {types}"
    yield from (f"   – {kind}{colon}{one_line(text)}" for kind, text in says(finding, language))


def breakdown_page(check: LogCheck, language: str) -> str:
    """What was found, as one self-contained page."""
    return check_page(
        check,
        "check.html",
        language,
        by=check.by,
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
        kind=lambda name: kind_name(name, language),
        label_name=lambda label: label_name(label, language),
        says=lambda finding: says(finding, language),
        likely_types=lambda finding: likely_types(finding, language),
    )
