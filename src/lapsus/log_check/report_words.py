"""The words of the report, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lapsus.annotators.features.evidence import kind_name
from lapsus.log_check.finding import Finding
from lapsus.log_check.grouping import Group, Grouping
from lapsus.model import in_language
from lapsus.reports.html_page import plain
from lapsus.schemes import load_scheme
from lapsus.trust.estimators import Estimate
from lapsus.word_files import word_file

if TYPE_CHECKING:
    from lapsus.log_check.ranking import LogCheck


def says(finding: Finding, language: str) -> list[tuple[str, str]]:
    """The evidence in words: its kind with the error types that it points to, and what is seen where."""
    lines = []
    for one in finding.evidence:
        places = ", ".join(word("turn", language, id=id) for id in one.segments)
        brackets = "（{}）" if language == "ja" else " ({})"
        types = word("types", language, names=_type_names(one.types, language))
        says = one.says(language) + (brackets.format(places) if places else "")
        lines.append((kind_name(one.kind, language) + brackets.format(types), says))
    return lines


def likely_types(finding: Finding, language: str) -> str:
    """The likely error types in words, with shares; empty where none are known."""
    between = "、" if language == "ja" else ", "
    names = between.join(f"{_type_names([type], language)} {share:.0%}" for type, share in finding.types)
    return word("likely-types", language, names=names) if names else ""


def headline(check: LogCheck, language: str) -> list[str]:
    """What is wrong most, in whose replies, and how sure that is: a few sentences."""
    whole = check.whole.share
    counts = {"likely": check.likely, "turns": check.turns, "share": percent(whole.value)}
    if whole.low is None:
        lines = [word("headline-one", language, **counts)]
    else:
        bounds = {"low": percent(whole.low), "high": percent(whole.high)}
        lines = [word("headline", language, **counts, **bounds)]
    between = "、" if language == "ja" else ", "
    if most := check.kinds.most_common(3):
        seen = between.join(f"{kind_name(kind, language)} {count:,}" for kind, count in most)
        lines.append(word("most", language, kinds=seen))
    apart = check.differences()
    if apart and check.likely:
        worst = max(check.systems, key=lambda name: check.systems[name].share.value or 0.0)
        share = percent(check.systems[worst].share.value)
        is_sure = worst in apart and (apart[worst].low or 0) > 0
        name = "whose" if is_sure else "whose-unsure"
        lines.append(word(name, language, system=system_name(worst, language), share=share))
    return lines


def groups_title(groups: Grouping, language: str) -> str:
    """What the groups are of."""
    name = "groups" if groups.turns == groups.flagged else "groups-of-some"
    return word(name, language, count=len(groups.groups), turns=groups.turns, flagged=groups.flagged)


def group_name(group: Group, language: str) -> str:
    """What the turns of a group have in common."""
    return group.name(language) if group.kind is not None else word("unexplained", language)


def group_about(group: Group, language: str) -> str:
    """How well a group holds, and its words."""
    between = "、" if language == "ja" else ", "
    told = [] if group.holds is None else [word("group-holds", language, share=f"{group.holds:.0%}")]
    told += [word("group-words", language, words=between.join(group.words))] if group.words else []
    return " · ".join(plain(one, 200) for one in told)


def unseen(groups: Grouping, language: str) -> str:
    """What Good and Turing say of kinds that were not seen."""
    share, kinds = groups.unseen_share, groups.unseen_kinds
    return word("unseen", language, share=f"{share or 0:.0%}", kinds=round(kinds or 0))


def system_name(name: str | None, language: str) -> str:
    """A system's name, or that it has none."""
    return plain(name, 80) if name is not None else word("unnamed", language)


def percent(share: float | None) -> str:
    """A share in per cent."""
    return "–" if share is None else f"{share:.1%}"


def interval(estimate: Estimate) -> str:
    """The bounds of an estimate, in per cent."""
    return "–" if estimate.low is None else f"{percent(estimate.low)}–{percent(estimate.high)}"


def points(estimate: Estimate) -> str:
    """A difference in points of per cent, with its bounds."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"{100 * estimate.value:+.1f} ({100 * estimate.low:+.1f}…{100 * estimate.high:+.1f})"


def label_name(label: str, language: str) -> str:
    """What the guideline calls a breakdown label."""
    found = load_scheme("breakdown").questions[0].label(label)
    return in_language(found.name, language) if found else label


def label_definition(label: str, language: str) -> str:
    """What the guideline says that a breakdown label means."""
    found = load_scheme("breakdown").questions[0].label(label)
    return in_language(found.definition, language) if found else ""


def _type_names(types: Sequence[str], language: str) -> str:
    """Error types as the guideline numbers and names them."""
    question = load_scheme("error-types").questions[0]
    found = [label for id in types if (label := question.label(id))]
    between = "、" if language == "ja" else ", "
    return between.join(f"{label.number} {in_language(label.name, language)}" for label in found)


def word(name: str, language: str, **values: Any) -> str:
    """A word of the report."""
    text: str = in_language(word_file("lapsus.log_check", "report_words.yaml")[name], language)
    for key, value in values.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        text = text.replace(f"{{{key}}}", shown)
    return text
