"""How many planted errors `lapsus check` lists first, by kind, beside a plain script of regular expressions.

    LAPSUS_DATA=… python benchmarks/planted.py [--seeds 3] [--languages en,ja] [--hand first|second|third] [--signs]

Errors are put into good logs of modern assistants (`planted_logs.py`), into some dialogues out of two hundred. Found
means among the first 20 and the first 40 turns of the ranking. False alarms are the share of turns called likely in the
same logs before anything was planted. --signs prints what each sign is worth: in how many planted faults of its sort,
and in how many replies of all good logs, it is seen; these are the figures in `evidence.yaml`.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from planted_logs import HANDS, MANY, PLANTS, Talk, drawn, logs, planted


class Ranking(NamedTuple):
    """What a method says of a log: turns, worst first, as (dialogue, text), and how many it calls likely."""

    turns: list[tuple[str, str]]
    likely: int
    judged: int
    seconds: float


# The two methods.


def by_lapsus(talks: list[Talk], language: str) -> Ranking:
    """What `lapsus check` lists."""
    import lapsus

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in talks), encoding="utf-8")
        begun = time.perf_counter()
        found = lapsus.check(path, top=40, language=language)
        took = time.perf_counter() - begun
    ranked = [(one.document, one.turn.text) for one in found.findings]
    return Ranking(ranked, found.likely, found.turns, took)


# fmt: off
PATTERNS = [
    (5, r"^[\W_]*$"),
    (5, r"Traceback|Exception|[Ee]rror[: ]|エラー|timed? ?out|タイムアウト|Bad Gateway|Server Error"),
    (5, r"^\s*[\[{].*[\]}]\s*$"),
    (5, r"<\|.*?\|>|\[/?INST\]|</?s>|<think>|\{\{.*?\}\}|\$\{.*?\}"),
    (5, r"###? ?(Instruction|Response|指示|応答)|system prompt"),
    (5, r"\ufffd|Ã.|â€|ã[\x80-\xbf]|&#\d+;|\\u[0-9a-f]{4}|縺|繧"),
    (4, r"(?i)\b(idiot|stupid|moron|shut up|dumb)\b|バカ|馬鹿|黙れ|クズ|死ね"),
    (4, r"(?i)as an ai|can(no|')t (assist|help|fulfill)|unable to (help|assist)"),
    (4, r"お応えできません|回答できません|お手伝い.*できません"),
    (4, r"(.{12,}?)\s*\1\s*\1"),
    (2, r"[^\W_]$"),
]
# fmt: on


def by_patterns(talks: list[Talk], language: str) -> Ranking:
    """Twenty-five lines of regular expressions, as a team would write them on an afternoon."""
    found, begun = [], time.perf_counter()
    for talk in talks:
        said: set[str] = set()
        asked = ""
        for one in talk["messages"]:
            text = one["content"] or ""
            if one["role"] == "user":
                asked = text
            if one["role"] != "assistant" or one.get("tool_calls"):
                continue
            score = max((weight for weight, pattern in PATTERNS if re.search(pattern, text, re.S)), default=0)
            if text in said:
                score = max(score, 5)
            if _script(text) != _script(asked) and text.strip():
                score = max(score, 3)
            said.add(text)
            found.append((score, (talk["id"], text)))
    ranked = [turn for score, turn in sorted(found, key=lambda item: -item[0]) if score]
    return Ranking(ranked, len(ranked), len(found), time.perf_counter() - begun)


def _script(text: str) -> str:
    letters = Counter(unicodedata.name(sign, "?").split()[0] for sign in text if sign.isalpha())
    return "LATIN" if letters["LATIN"] > 0.8 * letters.total() else "OTHER"


METHODS = {"lapsus check": by_lapsus, "regular expressions": by_patterns}


# The figures.


def measure(language: str, pool: Path, seeds: int, wordings: str, hand: str) -> dict[str, Any]:
    """For each method the shares found by kind, and its false alarms."""
    source = logs(language, pool)
    figures: dict[str, Any] = {name: defaultdict(list) for name in METHODS}
    for seed in range(seeds):
        chance = random.Random(f"{seed} {language}")
        good = drawn(source, language, chance)
        spoilt = copy.deepcopy(good)
        plants = list(planted(spoilt, language, chance, wordings, hand))
        for name, method in METHODS.items():
            clean, ranked = method(good, language), method(spoilt, language)
            rows = figures[name]
            rows["false alarms"].append(clean.likely / clean.judged)
            rows["turns a second"].append(clean.judged / clean.seconds)
            for plant in plants:
                turn = (plant.talk, plant.text)
                place = ranked.turns.index(turn) if turn in ranked.turns else sys.maxsize
                rows[plant.kind].append((place < 20, place < 40))
                if place >= 40 and "-v" in sys.argv and name == "lapsus check":
                    print(f"missed: {plant.kind}: {plant.talk}: {plant.text[:150]!r}", file=sys.stderr)
            known = {(plant.talk, plant.text) for plant in plants}
            rows["others listed"].append(sum(turn not in known for turn in ranked.turns[:40]))
    return figures


def show(language: str, figures: dict[str, Any], wordings: str) -> None:
    table = Table(title=f"{language}: found in the first 20 / 40 of {MANY} dialogues, wordings {wordings}")
    table.add_column("kind")
    for name in figures:
        table.add_column(name, justify="right")
    for kind in PLANTS:
        cells = []
        for rows in figures.values():
            found = rows[kind]
            cells.append(
                f"{_mean([a for a, _ in found]):.0%} / {_mean([b for _, b in found]):.0%}" if found else "–"
            )
        table.add_row(f"{kind} ({len(next(iter(figures.values()))[kind])})", *cells)
    every = [[one for kind in PLANTS for one in rows[kind]] for rows in figures.values()]
    table.add_section()
    table.add_row(
        "all",
        *(f"{_mean([a for a, _ in one]):.0%} / {_mean([b for _, b in one]):.0%}" for one in every),
    )
    table.add_row(
        "good turns listed in the first 40",
        *(f"{_mean(rows['others listed']):.1f}" for rows in figures.values()),
    )
    table.add_row(
        "good turns called likely", *(f"{_mean(rows['false alarms']):.1%}" for rows in figures.values())
    )
    table.add_row("turns a second", *(f"{_mean(rows['turns a second']):,.0f}" for rows in figures.values()))
    Console(width=120).print(table)


SORTS = {
    "empty": ["empty"],
    "cut-off": ["breaks-off", "no-end"],
    "refusal": ["refuses"],
    "other-language": ["other-language"],
    "error-text": ["error-text", "raw-data"],
    "leak": ["special-token", "placeholder", "prompt-leak", "speaks-for-user"],
    "same-again": ["same-again"],
    "looping": ["loops"],
    "abuse": ["abuses"],
    "encoding": ["broken-encoding"],
    "another-chat": ["another-chat"],
    "left": ["request-left"],
    "against-tool": ["against-source", "differs-from-source"],
}
"""The signs that are meant to see a kind of plant."""


def signs_seen(talks: list[Talk], language: str) -> dict[tuple[str, str], set[str]]:
    """For every reply, by dialogue and text, the signs that are seen in it; of equal replies, in the last."""
    from lapsus.annotators.features.evidence import evidence
    from lapsus.formats import read
    from lapsus.log_check.likely_types import unfitting
    from lapsus.model import units
    from lapsus.schemes import load_scheme

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in talks), encoding="utf-8")
        for entry in read(path, language=language):
            judged = list(units(entry.document, load_scheme("breakdown").unit)) if entry.document else []
            apart = unfitting(judged)
            for place, unit in enumerate(judged):
                seen = {one.sign for one in evidence(unit)} | ({"another-chat"} if place in apart else set())
                found[unit.document, unit.target.text if unit.target else ""] = seen
    return found


def worth(languages: list[str], pool: Path, seeds: int) -> None:
    """Print for each sign `found` and `alarms`."""
    hits: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    replies = 0
    for language in languages:
        source = logs(language, pool)
        good = signs_seen(source, language)
        replies += len(good)
        alarms.update(sign for seen in good.values() for sign in seen)
        for seed in range(seeds):
            chance = random.Random(f"{seed} {language}")
            spoilt = copy.deepcopy(drawn(source, language, chance))
            plants = list(planted(spoilt, language, chance, "both"))
            touched = {plant.talk for plant in plants}
            seen = signs_seen([one for one in spoilt if one["id"] in touched], language)
            for plant in plants:
                for sign in SORTS[plant.kind]:
                    faults[sign] += 1
                    hits[sign] += sign in seen.get((plant.talk, plant.text), set())
    for sign in faults:
        print(f"{sign}: found [{hits[sign]}, {faults[sign]}] alarms [{alarms[sign]}, {replies}]")


def _mean(values: list[Any]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--languages", default="en,ja")
    parser.add_argument("--wordings", choices=("known", "held", "both"), default="both")
    parser.add_argument("--hand", choices=HANDS, default="first", help="whose plants")
    parser.add_argument("-v", action="store_true", help="name what was missed")
    parser.add_argument("--signs", action="store_true", help="print what each sign is worth")
    told = parser.parse_args()
    pool = Path(os.environ["LAPSUS_DATA"]) / "pool"
    if told.signs:
        worth(told.languages.split(","), pool, told.seeds)
        return
    for language in told.languages.split(","):
        told_as = told.wordings if told.hand == "first" else f"by the {told.hand} hand"
        show(language, measure(language, pool, told.seeds, told.wordings, told.hand), told_as)


if __name__ == "__main__":
    main()
