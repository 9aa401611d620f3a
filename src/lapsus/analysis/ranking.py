"""Systems ranked by what annotators prefer."""

from collections.abc import Iterator, Sequence
from typing import Any

from lapsus.analysis.corpus import Announce, Corpus, choose_scheme, load_corpus
from lapsus.errors import InputError
from lapsus.kinds import KINDS, kinds_of
from lapsus.kinds.preference import FIRST, ORDERS, SECOND, TIES, PreferenceKind, split
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.bradley_terry import Comparison, Ranking
from lapsus.measures.bradley_terry import rank as rank_systems
from lapsus.model import Question, Scheme, latest
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.schemes import AnyScheme

COLUMNS = ("question", "system", "strength", "win rate", "ties", "n")
_WON = {FIRST: 1.0, SECOND: 0.0, **dict.fromkeys(TIES, 0.5)}


def rank(
    data: Any,
    *,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    bootstrap: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """For each preference question the systems by strength, with win rates, ties, and what their place did.

    The replies compared are the segments A and B of each document; their metadata names the system. Documents whose
    metadata name the same `dialogue` are resampled together.
    """
    corpus = load_corpus(data, scheme=scheme, announce=announce)
    chosen = choose_scheme([corpus], scheme, lambda one: bool(_asked(one)))
    found = {
        question.id: rank_systems(made, bootstrap=bootstrap)
        for question in _asked(chosen)
        if (not questions or question.id in questions)
        and (made := list(comparisons(corpus, chosen, question)))
    }
    if not found:
        raise InputError("rank-nothing-compared", where=corpus.name, hint="rank-names-systems")
    return _table(found)


def _asked(scheme: Scheme) -> list[Question]:
    return [question for question in scheme.questions if issubclass(KINDS.get(question.kind), PreferenceKind)]


def comparisons(corpus: Corpus, scheme: Scheme, question: Question) -> Iterator[Comparison]:
    """What was said of the replies of two systems; answers that the question does not know are left out."""
    kind = kinds_of(scheme)[question.id]
    for judgment in latest(corpus.under(scheme.id)):
        facts, answer = corpus.documents.get(judgment.document), judgment.answers.get(question.id)
        if facts is None or facts.replies is None or not isinstance(answer, str):
            continue
        label, order = split(kind.spelt(answer))
        first, second = facts.replies
        if label in _WON and first != second:
            shown = None if order not in ORDERS else order == ORDERS[0]
            yield Comparison(first, second, _WON[label], facts.dialogue or judgment.document, shown)


def _table(found: dict[str, Ranking]) -> Table:
    rows = tuple(
        (id, one.system, one.strength, one.win_rate, one.ties, one.n)
        for id, ranking in found.items()
        for one in ranking.systems
    )
    notes = [next(iter(found.values())).systems[0].strength.signature, Notice("rank-meaning")]
    for id, ranking in found.items():
        if ranking.position.value is not None:
            share = str(ranking.position).removeprefix(f"{ranking.position.measure} ")
            notes.append(f"{id}: {Notice('rank-position', share=share)}")
    return Table(COLUMNS, rows, notes=tuple(notes), data={id: _as_data(one) for id, one in found.items()})


def _as_data(ranking: Ranking) -> dict[str, Any]:
    return {
        "systems": [
            {
                "system": one.system,
                "strength": one.strength.value,
                "strength_interval": one.strength.interval,
                "win_rate": one.win_rate.value,
                "win_rate_interval": one.win_rate.interval,
                "ties": one.ties,
                "n": one.n,
            }
            for one in ranking.systems
        ],
        "wins": ranking.wins.tolist(),
        "shown_first": ranking.position.value,
        "shown_first_interval": ranking.position.interval,
    }
