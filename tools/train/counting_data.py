"""What the judge of English responses learns of statements that could go, and what it is measured by.

Experts marked what is beside the point in answers to questions (HaluQuestQA). Into replies of people talking to each
other (Topical-Chat) statements of other dialogues are put, which could go, while the replies' own could not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from guideline_data import Example, unit_of
from numpy.typing import NDArray
from pool import records, talks

from lapsus.annotators.judge.counting import statement_rows, statements
from lapsus.model import Unit

MEASURED: Final = "d2t_en_haluquestqa"
_MARK: Final = "irrelevance"
_BEFORE: Final = 8
_MOST_PUT: Final = 3
_LEAST, _HIGHEST = 1, 5


class Statements(NamedTuple):
    """Statements of replies: a row of numbers for each, whether it could go, and which reply it is of."""

    said: Sequence[str]
    rows: NDArray[np.float64]
    spare: NDArray[np.bool_]
    replies: NDArray[np.intp]
    examples: Sequence[Example]
    """The replies, with the level that follows from how many statements could go."""


def spare_statements(answers: int, replies: int) -> Statements:
    """So many answers to questions with what experts marked, and so many replies with statements put into them."""
    texts: list[str] = []
    rows, spare, places, examples = [], [], [], []
    for unit, told, corpus, group in [*_marked(answers), *_put(replies)]:
        said, found = statement_rows(unit)
        if len(said) != len(told):
            continue
        texts += said
        rows.append(found)
        spare += told
        places += [len(examples)] * len(told)
        level = max(_LEAST, _HIGHEST - sum(told))
        examples.append(Example(unit, {"conciseness": [level]}, corpus, group, measured=corpus == MEASURED))
    return Statements(texts, np.vstack(rows), np.array(spare), np.array(places), examples)


def _marked(count: int) -> Iterator[tuple[Unit, list[bool], str, str]]:
    found = list(records(MEASURED))
    for record in random.Random(0).sample(found, min(count, len(found))):
        turns = [
            {"role": "user", "text": record["data"]["question"]},
            {"role": "system", "text": record["text"]},
        ]
        marks = [(one["start"], one["end"]) for one in record["spans"] if one["label"] == _MARK]
        told = [_is_in(place, marks) for place in _places(record["text"])]
        yield unit_of({"id": record["id"], "turns": turns}), told, MEASURED, record["data"]["question"]


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where each statement stands: it begins as it does in the text, and ends about as far on as it is long."""
    at = 0
    for one in statements(text.strip()):
        at = max(at, text.find(one.split(", ")[0], at))
        yield at, at + len(one)


def _is_in(place: tuple[int, int], marks: Sequence[tuple[int, int]]) -> bool:
    begin, end = place
    return any(2 * (min(end, last) - max(begin, first)) > end - begin for first, last in marks)


def _put(count: int) -> Iterator[tuple[Unit, list[bool], str, str]]:
    rng = random.Random(0)
    found = [talk for talk in talks("topical-chat") if len(talk.turns) > 4]
    said = [one for talk in found for turn in talk.turns for one in statements(turn.text) if "?" not in one]
    for _ in range(count):
        talk = rng.choice(found)
        place = rng.randrange(1, len(talk.turns))
        by, own = (
            talk.turns[place].by_system,
            [f"{one.rstrip('.!? ')}." for one in statements(talk.turns[place].text)],
        )
        told = [False] * len(own)
        for _ in range(rng.randrange(_MOST_PUT + 1)):
            at = rng.randrange(len(own) + 1)
            own.insert(at, f"{rng.choice(said).rstrip('.!? ')}.")
            told.insert(at, True)
        before = talk.turns[max(0, place - _BEFORE) : place]
        turns: list[dict[str, Any]] = [
            {"role": "system" if turn.by_system == by else "user", "text": turn.text} for turn in before
        ]
        record = {"id": talk.id, "turns": [*turns, {"role": "system", "text": " ".join(own)}]}
        yield unit_of(record), told, "topical-chat", talk.id
