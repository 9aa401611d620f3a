"""Levels that a guideline works out by counting: statements that could go, needless wordings, points dealt with.

In English alone. What cannot be counted in a unit, such as points where the user asks for one thing or nothing, gives
no count, and the question is answered as it was learned, or left open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import GENERAL, Passage, passages_of
from lapsus.annotators.features.cues import look
from lapsus.annotators.judge.feature_sets import shipped_reader
from lapsus.annotators.judge.regression import Weights, predict
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.language import plain_language
from lapsus.model import Unit
from lapsus.word_files import word_file

Matrix: TypeAlias = NDArray[np.float64]

STATEMENTS, WORDINGS, POINTS = "statements", "wordings", "points"
"""What is counted: statements that could go, needless wordings, points that are dealt with."""
LANGUAGE: Final = "en"
_LONGEST: Final = 4_000
_MOST: Final = 40
"""Statements of a reply that are looked at."""
_SURE: Final = 0.9
"""How sure one is of a wording or a point that a rule finds."""
_FEWEST_WORDS: Final = 3
"""Words that a statement has at least, where a comma alone parts it from another."""
_CONTENT: Final = 2
"""Words with content that a wording has at least for a short form to be missed."""
_SEVERAL: Final = 2
"""Points that a user asks for at least where they are counted."""
_BROKEN: Final = 3
"""Places at which the grammar is broken, from which one can hardly tell what is meant."""


class Count(NamedTuple):
    """What was counted in one unit for one question."""

    level: float
    shares: Matrix
    """Of the question's levels."""
    found: tuple[str, ...]
    """The words that lower the level: statements that could go, needless wordings, points left out."""


class SpareStatements(NamedTuple):
    """What was learned of statements that could go: weights for rows of `statement_rows`."""

    weights: Weights
    cut: float
    """The chance from which a statement counts: as many do as people mark."""

    def chances(self, rows: Matrix) -> Matrix:
        """For each statement how likely it could go."""
        return predict(rows.astype(np.float32), self.weights, exclusive=True)[:, 1].astype(np.float64)


def count(what: str, unit: Unit, steps: Sequence[float], spare: SpareStatements | None) -> Count | None:
    """What is counted in a unit, on a scale of `steps`; None where it cannot be."""
    if unit.target is None or plain_language(unit.language) not in ("", LANGUAGE):
        return None
    if what != STATEMENTS:
        return _COUNTED[what](unit, steps)
    said, rows = statement_rows(unit)
    return spare_statements(said, rows, steps, spare) if said and spare is not None else None


def spare_statements(
    said: Sequence[str], rows: Matrix, steps: Sequence[float], spare: SpareStatements
) -> Count:
    """Of a reply's statements, with a row of numbers for each, those that could go."""
    chances = spare.chances(rows)
    found = tuple(one for one, chance in zip(said, chances, strict=True) if chance >= spare.cut)
    return _fewer(found, chances, steps)


def statement_rows(unit: Unit) -> tuple[list[str], Matrix]:
    """The statements of a reply, and a row of numbers for each; none where the reply answers nothing.

    How like it is to what it answers, to a statement before it and to the others; its length; what the reader of
    English says of it alone as a reply.
    """
    passage, _ = passages_of(unit)
    said = statements(unit.target.text if unit.target else "")[:_MOST]
    if not passage.context or not said:
        return [], np.zeros((0, 0))
    vectors = sentence_vectors().of([passage.context[-1].text, *said]).astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    like = vectors @ vectors.T
    rows = []
    for place in range(1, len(vectors)):
        others = [other for other in range(1, len(vectors)) if other != place] or [0]
        near = like[place, 1:place].max(initial=0.0)
        rows.append([like[place, 0], near, like[place, others].mean(), np.log1p(len(said[place - 1]))])
    reader = shipped_reader(LANGUAGE)[0]
    fits = reader.logits([Passage(passage.context, one) for one in said], GENERAL)
    return said, np.hstack([np.array(rows), fits])


def statements(text: str) -> list[str]:
    """What a reply states, one after the other: its sentences, and the clauses of a sentence that could stand alone."""
    known, found = _patterns(), []
    for sentence in known["sentence"].split(text[:_LONGEST]):
        clauses = [""]
        for clause in known["clause"].split(sentence):
            if len(clauses[-1].split()) >= _FEWEST_WORDS and len(clause.split()) >= _FEWEST_WORDS:
                clauses.append(clause)
            else:
                clauses[-1] = f"{clauses[-1]}, {clause}" if clauses[-1] else clause
        found += [clause.strip() for clause in clauses if known["word"].search(clause)]
    return found


def _needless_wordings(unit: Unit, steps: Sequence[float]) -> Count | None:
    """Words given before and said in full again, or said twice; broken grammar goes to the lowest levels."""
    text = unit.target.text if unit.target else ""
    broken = list(_broken(text))
    if broken:
        fewer = len(steps) - 2 if len(broken) < _BROKEN else len(steps) - 1
        return _at(steps[-1 - fewer], tuple(broken), steps)
    before = next((one.text for one in reversed(unit.context) if one.role in ("user", "system")), "")
    found = tuple(needless(before, text))[: len(steps) - 3]
    return _fewer(found, np.full(len(found), _SURE), steps)


def needless(before: str, text: str) -> Iterator[str]:
    """Wordings of a reply that stand in the turn before it, or further up in the reply, with so much content."""
    known = _patterns()
    earlier, words = (known["word"].findall(one.lower()) for one in (before, text[:_LONGEST]))
    place = 0
    while place < len(words):
        size = 0
        while place + size < len(words) and _stands(words[place : place + size + 1], earlier, words[:place]):
            size += 1
        wording = words[place : place + size]
        if sum(len(word) > 1 for word in set(wording) - known["plain"]) >= _CONTENT:
            yield " ".join(wording)
        place += max(size, 1)


def _stands(wording: Sequence[str], *texts: Sequence[str]) -> bool:
    size = len(wording)
    return any(text[at : at + size] == wording for text in texts for at in range(len(text) - size + 1))


def _broken(text: str) -> Iterator[str]:
    return (match.group() for match in _patterns()["impossible"].finditer(text[:_LONGEST].lower()))


def _points_dealt_with(unit: Unit, steps: Sequence[float]) -> Count | None:
    """Points that the user asks for, and the reply's share of them.

    Not counted are fewer than two points, replies that deal with none and do not say so, and, of two points, one left
    out that a reply without any of its words may well have answered: a question for yes or no, say.
    """
    asked = points(next((one.text for one in reversed(unit.context) if one.role == "user"), ""))
    reply = unit.target.text if unit.target else ""
    is_dealt = [deals_with(point, reply) for point in asked]
    left = tuple(point for point, dealt in zip(asked, is_dealt, strict=True) if not dealt)
    if len(asked) < _SEVERAL or (
        len(left) == len(asked) and not _patterns()["nothing"].search(reply.lower())
    ):
        return None
    if len(asked) == _SEVERAL and not all(_values(point) for point in left):
        return None
    shares = np.zeros(len(steps))
    for dealt, chance in enumerate(_counts([_SURE if dealt else 1 - _SURE for dealt in is_dealt])):
        shares[list(steps).index(_of_points(dealt, len(asked), steps))] += chance
    return Count(_of_points(len(asked) - len(left), len(asked), steps), shares, left)


def _of_points(dealt: int, asked: int, steps: Sequence[float]) -> float:
    """Points dealt with, divided by points asked for, times the highest level; a half goes up."""
    return max(steps[0], float(np.floor(dealt / asked * steps[-1] + 0.5)))


def points(text: str) -> list[str]:
    """What a turn of the user asks for, point by point; questions without a word of their own are left out."""
    known, found = _patterns(), []
    for sentence in known["sentence"].split(text[:_LONGEST].lower().replace("’", "'")):
        if lead := known["lead"].search(sentence):
            parts, is_point = known["apart"].split(sentence[lead.end() :]), known["thing"]
        elif "?" in sentence:
            parts, is_point = known["apart"].split(sentence), known["asks"]
        else:
            continue
        found += [part for one in parts if is_point.search(part := one.strip(" ?.!"))]
    return [point for point in found if _keywords(point)]


def deals_with(point: str, reply: str) -> bool:
    """Whether a reply holds a word of the point, or such a value as it asks for."""
    said = reply.lower().replace("’", "'")
    if any(value.search(said) for value in _values(point)):
        return True
    return bool(_keywords(point) & look(reply, LANGUAGE).keywords)


def _keywords(point: str) -> frozenset[str]:
    plain = _patterns()["plain"]
    return look(
        " ".join(word for word in _patterns()["word"].findall(point) if word not in plain), LANGUAGE
    ).keywords


def _values(point: str) -> list[Any]:
    """What the values look like that a point asks for; nothing where it asks for none."""
    return [one["with"] for one in _deals() if one["asks"].search(point)]


def _fewer(found: tuple[str, ...], chances: Matrix | Sequence[float], steps: Sequence[float]) -> Count:
    """One level less for each that was found."""
    shares = np.zeros(len(steps))
    for number, chance in enumerate(_counts(chances)):
        shares[max(0, len(steps) - 1 - number)] += chance
    return Count(steps[max(0, len(steps) - 1 - len(found))], shares, found)


def _at(level: float, found: tuple[str, ...], steps: Sequence[float]) -> Count:
    shares = np.full(len(steps), (1 - _SURE) / (len(steps) - 1))
    shares[list(steps).index(level)] = _SURE
    return Count(level, shares, found)


def _counts(chances: Matrix | Sequence[float]) -> Matrix:
    """How likely it is that just so many of several things are the case."""
    found = np.ones(1)
    for chance in chances:
        found = np.append(found * (1 - chance), 0.0) + np.append(0.0, found * chance)
    return found


_COUNTED: Final[Mapping[str, Callable[[Unit, Sequence[float]], Count | None]]] = {
    WORDINGS: _needless_wordings,
    POINTS: _points_dealt_with,
}


@cache
def _patterns() -> dict[str, Any]:
    data = word_file("lapsus.annotators.judge", "counting.yaml")
    patterns = {name: regex.compile(one) for name, one in data.items() if name not in ("plain", "deals")}
    return {**patterns, "plain": frozenset(data["plain"].split())}


@cache
def _deals() -> list[dict[str, Any]]:
    data = word_file("lapsus.annotators.judge", "counting.yaml")["deals"]
    return [{name: regex.compile(one) for name, one in row.items()} for row in data]
