"""A guideline drafted from findings: a label for each group of flagged turns, with its quotes as fitting examples."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lapsus.annotators.features.evidence import sign_table
from lapsus.errors import InputError
from lapsus.formats.records import records
from lapsus.formats.source import Source
from lapsus.log_check.grouping import Flagged, Group, Grouping, grouped, quoted
from lapsus.log_check.report_words import word

_LONG = 300


def flagged_turns(path: Path) -> list[Flagged]:
    """The turns called likely in a ranking that `lapsus check --out` wrote."""
    found = []
    for member in Source(path).members(".csv", ".jsonl", ".parquet"):
        for record in records(member):
            row = record.value
            if "likely" not in row or "score" not in row:
                raise InputError("no-ranking-of-check", where=record.where, hint="check-out-writes-ranking")
            if row["likely"] in (True, "True"):
                found.append(_flagged(row))
    if not found:
        raise InputError("no-turn-called-likely", where=str(path), hint="check-more-logs")
    return found


def _flagged(row: Mapping[str, Any]) -> Flagged:
    known, given = sign_table(), str(row.get("signs") or "").split()
    signs = tuple(sign for sign in given if sign in known)
    return Flagged(str(row.get("text") or ""), str(row.get("asked") or ""), signs, str(row.get("says") or ""))


def draft(path: Path, name: str, language: str) -> tuple[dict[str, Any], Grouping]:
    """A scheme, as its file holds it, and the groups that it was made from."""
    groups = grouped(flagged_turns(path))
    labels = list(_labels(groups, language))
    labels.append(
        {
            "id": "other",
            "name": {language: word("draft-other", language)},
            "definition": {language: word("draft-other-means", language)},
        }
    )
    question = {
        "id": "fault",
        "kind": "labels",
        "name": {language: word("draft-question", language)},
        "ask": {language: word("draft-ask", language)},
        "required": False,
        "labels": labels,
    }
    scheme = {
        "scheme": name,
        "version": "0.1",
        "title": {language: word("draft-title", language)},
        "summary": {language: word("draft-summary", language)},
        "unit": {"role": "system", "context": "before"},
        "questions": [question],
    }
    return scheme, groups


def _labels(groups: Grouping, language: str) -> Iterator[dict[str, Any]]:
    """A label for each kind; groups of one kind are put together, those that nothing explains stay apart."""
    kinds: dict[str, list[Group]] = {}
    for number, group in enumerate(groups.groups, 1):
        kinds.setdefault(group.kind or f"group-{number}", []).append(group)
    for id, together in kinds.items():
        first = together[0]
        between = "、" if language == "ja" else ", "
        words = between.join(dict.fromkeys(said for group in together for said in group.words[:3]))
        known = first.kind is not None
        size = sum(group.size for group in together)
        means = word("draft-means" if known else "draft-unexplained", language, size=size, words=words or "–")
        turns = [one for group in together for one in group.typical][:4]
        yield {
            "id": id,
            "name": {language: first.name(language) if known else _title(id, words)},
            "definition": {language: means},
            "examples": {language: [_example(one, language) for one in turns]},
        }


def _title(id: str, words: str) -> str:
    return f"{id}: {words}" if words else id


def _example(turn: Flagged, language: str) -> dict[str, Any]:
    said = [f"U: {quoted(turn.asked, _LONG)}"] if turn.asked.strip() else []
    why = turn.says or word("draft-why", language)
    return {
        "turns": [*said, f"S: {quoted(turn.text, _LONG) or '–'}"],
        "fits": True,
        "why": quoted(why, _LONG),
    }
