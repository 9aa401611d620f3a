"""Whether two groups of judgments, such as under the English and the Japanese text of a guideline, answer alike."""

from collections.abc import Sequence
from typing import Any

from lapsus.analysis.corpus import Announce, choose_scheme, countable_questions, load_corpus
from lapsus.errors import UsageError
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.differential import Shift, shifts
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.schemes import AnyScheme

COLUMNS = ("question", "label", "first", "second", "difference", "odds ratio", "n")


def dif(
    first: Any,
    second: Any,
    *,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    matched: bool = False,
    bootstrap: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """For each label its share in both groups, the difference within units, or within systems where `matched`."""
    one, other = (load_corpus(data, scheme=scheme, announce=announce) for data in (first, second))
    chosen = choose_scheme([one, other], scheme, lambda scheme: True)
    systems = {id: facts.system for corpus in (one, other) for id, facts in corpus.documents.items()}
    found: dict[str, list[Shift]] = {}
    for question in countable_questions(chosen, questions):
        votes = [corpus.votes(chosen, question) for corpus in (one, other)]
        stratum = (lambda unit: systems.get(unit.document, "?")) if matched else None
        if made := shifts(votes[0], votes[1], stratum, bootstrap=bootstrap):
            found[question.id] = made
    if not found:
        if matched:
            raise UsageError("no-systems-in-common", first=one.name, second=other.name)
        raise UsageError("no-units-in-common", hint="dif-matched", first=one.name, second=other.name)
    rows = tuple(
        (id, one.label, one.first, one.second, one.difference, one.odds, one.difference.n)
        for id, made in found.items()
        for one in made
    )
    moved = [f"{id}: {one.label}" for id, made in found.items() for one in made if _is_moved(one)]
    told = Notice("dif-moved", labels=", ".join(moved)) if moved else Notice("dif-not-shown")
    notes = (next(iter(found.values()))[0].difference.signature, Notice("dif-meaning"), told)
    data = {
        "scheme": chosen.id,
        "matched": matched,
        "moved": moved,
        "labels": [
            {
                "question": id,
                "label": one.label,
                "first": one.first,
                "second": one.second,
                "difference": one.difference.value,
                "interval": one.difference.interval,
                "odds_ratio": one.odds.value,
                "odds_interval": one.odds.interval,
                "n": one.difference.n,
            }
            for id, made in found.items()
            for one in made
        ],
    }
    return Table(COLUMNS, rows, notes=notes, data=data)


def _is_moved(one: Shift) -> bool:
    around = one.difference.interval
    return around is not None and not around.low <= 0 <= around.high
