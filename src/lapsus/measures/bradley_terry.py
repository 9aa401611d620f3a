"""Systems ranked by which of two replies was preferred (Bradley and Terry 1952): strengths, win rates, position.

A tie is half a win for each side. Dialogues are resampled whole, since what is said of one dialogue hangs together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import SHARE, USUAL, Bootstrap, Floats, bootstrap_interval
from lapsus.measures.score import Interval, Score, signature
from lapsus.notices import Notice

MOST_ROUNDS: Final = 200
_NEAR: Final = 1e-12
_STEP: Final = 2.0
"""How far a strength moves in one round at most: Newton's step overshoots where one side nearly always wins."""
_FAR: Final = 30.0
"""A strength beyond which there is no end to it."""
NOT_LINKED: Final = Notice("strength-not-linked")


class Comparison(NamedTuple):
    """What one annotator said of two replies."""

    first: str
    """The system of reply A."""
    second: str
    won: float
    """1: reply A, 0: reply B, .5: a tie."""
    dialogue: Hashable
    first_shown: bool | None = None
    """Whether reply A was shown first; None where nobody knows."""


class Ranked(NamedTuple):
    """One system among others."""

    system: str
    strength: Score
    """On the scale of log odds; the mean of all systems is 0."""
    win_rate: Score
    """The share of comparisons it won, ties as halves."""
    ties: float
    n: int


class Ranking(NamedTuple):
    """All systems, the strongest first."""

    systems: tuple[Ranked, ...]
    wins: Floats
    """Wins of the row's system over the column's, ties as halves, in the order of `systems`."""
    position: Score
    """The share of decided comparisons that the reply shown first won; .5: its place does not matter."""


def strengths(wins: Floats) -> Floats:
    """The strengths that make the wins likeliest, with the mean 0: `(..., k)` for wins `(..., k, k)`.

    Where they have no end, since some systems never lost to the others, they are far apart; `linked` tells that.
    """
    k = wins.shape[-1]
    games = wins + np.swapaxes(wins, -1, -2)
    found = np.zeros(wins.shape[:-1])
    # The mean of all stays 0: its direction, in which nothing changes, is taken out of the equations.
    level = np.full((k, k), 1.0 / k)
    for _ in range(MOST_ROUNDS):
        expected = games / (1 + np.exp(found[..., None, :] - found[..., :, None]))
        slope = (wins - expected).sum(axis=-1)
        curve = expected * (1 - np.divide(expected, games, out=np.zeros_like(games), where=games > 0))
        bend = -curve
        place = np.arange(k)
        bend[..., place, place] += curve.sum(axis=-1) + _NEAR
        step = np.linalg.solve(bend + level, slope[..., None])[..., 0]
        step = np.clip(step, -_STEP, _STEP)
        found = np.clip(found + step, -_FAR, _FAR)
        if np.abs(step).max() < _NEAR:
            break
    centred: Floats = found - found.mean(axis=-1, keepdims=True)
    return centred


def linked(wins: Floats) -> bool:
    """Whether each system has won, over some others in between, against every other; else strengths have no end."""
    reach = wins > 0
    for middle in range(len(wins)):
        reach |= np.outer(reach[:, middle], reach[middle])
    np.fill_diagonal(reach, True)
    return bool(reach.all())


def rank(comparisons: Sequence[Comparison], *, bootstrap: Bootstrap | None = USUAL) -> Ranking:
    """Systems by strength; the reply that was shown first by how often it won."""
    names = sorted({name for one in comparisons for name in (one.first, one.second)})
    table = _Table(comparisons, names)
    wins = table.wins(np.ones(table.dialogues))
    line = signature(model="bradley-terry", dialogues=table.dialogues, boot=bootstrap)
    values, is_linked = strengths(wins), linked(wins)
    around = _around(table, bootstrap) if is_linked else None
    rated = []
    for place, name in enumerate(names):
        games = np.delete(wins[place] + wins[:, place], place).sum()
        strength = Score(
            "strength",
            float(values[place]) if is_linked else None,
            table.counts[place],
            around[place] if around else None,
            note=None if is_linked else NOT_LINKED,
            signature=line,
        )
        won = table.sums_of(place)
        rate = Score(
            "win rate",
            float(won[:, 0].sum() / games),
            table.counts[place],
            bootstrap_interval(won, lambda sums: sums[..., 0] / sums[..., 1], bootstrap, bounds=SHARE),
            signature=line,
        )
        rated.append(Ranked(name, strength, rate, table.ties[place], table.counts[place]))
    order = sorted(range(len(names)), key=lambda place: _key(rated[place]))
    systems = tuple(rated[place] for place in order)
    return Ranking(systems, wins[np.ix_(order, order)], table.position(bootstrap))


def _key(one: Ranked) -> tuple[float, str]:
    value = one.strength.value if one.strength.value is not None else one.win_rate.value
    return -(value or 0.0), one.system


def _around(table: _Table, bootstrap: Bootstrap | None) -> list[Interval | None] | None:
    """The middle part of strengths from resampled dialogues; none where it has no end."""
    if bootstrap is None or table.dialogues < 2:
        return None
    chance = np.random.default_rng(bootstrap.seed)
    even = np.full(table.dialogues, 1 / table.dialogues)
    drawn = [
        strengths(table.wins(chance.multinomial(table.dialogues, even).astype(float)))
        for _ in range(bootstrap.resamples)
    ]
    tail = (1 - bootstrap.level) / 2
    low, high = np.quantile(np.array(drawn), (tail, 1 - tail), axis=0)
    return [
        Interval(float(below), float(above)) if max(abs(below), abs(above)) < _FAR / 3 else None
        for below, above in zip(low, high, strict=True)
    ]


class _Table:
    """Comparisons as numbers."""

    def __init__(self, comparisons: Sequence[Comparison], names: Sequence[str]) -> None:
        place = {name: number for number, name in enumerate(names)}
        known: dict[Hashable, int] = {}
        self._k = len(names)
        self._first: NDArray[np.intp] = np.array([place[one.first] for one in comparisons], dtype=np.intp)
        self._second: NDArray[np.intp] = np.array([place[one.second] for one in comparisons], dtype=np.intp)
        self._won: Floats = np.array([one.won for one in comparisons], dtype=np.float64)
        self._dialogue: NDArray[np.intp] = np.array(
            [known.setdefault(one.dialogue, len(known)) for one in comparisons], dtype=np.intp
        )
        self._shown = np.array(
            [0 if one.first_shown is None else 1 if one.first_shown else -1 for one in comparisons]
        )
        self.dialogues = len(known)
        takes_part = [(self._first == number) | (self._second == number) for number in range(self._k)]
        self.counts = [int(mask.sum()) for mask in takes_part]
        self.ties = [float((self._won[mask] == 0.5).mean()) for mask in takes_part]

    def wins(self, weights: Floats) -> Floats:
        """Wins of the row's system over the column's, where each dialogue counts as often as told."""
        weight, k = weights[self._dialogue], self._k
        sums: Floats = np.bincount(
            np.concatenate([self._first * k + self._second, self._second * k + self._first]),
            np.concatenate([self._won * weight, (1 - self._won) * weight]),
            k * k,
        ).astype(np.float64)
        return sums.reshape(k, k)

    def sums_of(self, system: int) -> Floats:
        """For each dialogue what a system won, and how often it was compared."""
        won = np.where(self._first == system, self._won, 1 - self._won)
        takes_part = ((self._first == system) | (self._second == system)).astype(float)
        return self._by_dialogue(won * takes_part, takes_part)

    def position(self, bootstrap: Bootstrap | None) -> Score:
        """How often the reply shown first won, of comparisons that were decided and whose order is known."""
        is_told = (self._shown != 0) & (self._won != 0.5)
        won = np.where(self._shown > 0, self._won, 1 - self._won)
        sums = self._by_dialogue(won * is_told, is_told.astype(float))
        sums, count = sums[sums[:, 1] > 0], int(is_told.sum())
        line = signature(dialogues=len(sums), boot=bootstrap)
        if not count:
            return Score("shown first", None, 0, note=Notice("order-not-known"), signature=line)
        around = bootstrap_interval(sums, lambda all_: all_[..., 0] / all_[..., 1], bootstrap, bounds=SHARE)
        return Score("shown first", float(sums[:, 0].sum() / count), count, around, signature=line)

    def _by_dialogue(self, *columns: Floats) -> Floats:
        return np.stack([np.bincount(self._dialogue, one, self.dialogues) for one in columns], axis=1)
