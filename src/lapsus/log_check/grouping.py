"""Flagged turns in groups that hang together, and how many kinds of fault are probably still unseen.

Two turns are near each other where the heaviest sign of both is of one kind, and the nearer the more alike they are in
what they say; turns without a sign are compared by what they say alone. Groups grow by average linkage until none are
near. How well a group holds is measured by grouping four fifths of the turns again and again.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.evidence import kind_name, kind_of
from lapsus.annotators.features.reply_signs.reply import words
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.log_check.finding import Finding

MOST: Final = 300
"""Flagged turns that are grouped; of more, so many drawn by chance."""
_NEAR = 0.5
"""Likeness from which two groups are one."""
_OF_SIGNS = 0.6
"""What the kind of fault counts for in the likeness of two turns; what is said counts for the rest."""
_ROUNDS, _KEPT = 20, 0.8
_QUOTES, _WORDS = 3, 5
_LONG = 500
_SHORT = 160


class Flagged(NamedTuple):
    """A turn that is called likely, as far as grouping needs it."""

    text: str
    asked: str
    """What the user said before it."""
    signs: tuple[str, ...]
    """The signs seen that weigh something, the heaviest first."""
    says: str = ""
    """The heaviest sign in words."""

    @classmethod
    def of(cls, finding: Finding, language: str = "en") -> Self:
        """A finding as grouping needs it."""
        heavy = [one for one in finding.evidence if one.weight]
        signs = tuple(dict.fromkeys(one.sign for one in heavy))
        return cls(
            finding.turn.text[:_LONG], asked_before(finding), signs, heavy[0].says(language) if heavy else ""
        )


def asked_before(finding: Finding) -> str:
    """What the user said last before a turn."""
    said = (one.text for one in reversed(finding.unit.context) if one.role == "user")
    return next(said, "")[-_LONG:]


class FlaggedSample:
    """So many flagged turns drawn by chance from all that are offered, each as likely as any other."""

    def __init__(self) -> None:
        self.turns: list[Flagged] = []
        self.offered = 0
        self._chance = random.Random(7)

    def offer(self, finding: Finding) -> None:
        """Take note of a turn that is called likely."""
        self.offered += 1
        if len(self.turns) < MOST:
            self.turns.append(Flagged.of(finding))
        elif (place := self._chance.randrange(self.offered)) < MOST:
            self.turns[place] = Flagged.of(finding)


class Group(NamedTuple):
    """Flagged turns that hang together."""

    kind: str | None
    """The kind of evidence that most of them have; None where no sign explains them."""
    size: int
    words: tuple[str, ...]
    """What is said in them oftener than in the others."""
    typical: tuple[Flagged, ...]
    """Some of them, the most typical first."""
    holds: float | None
    """The mean share of it that stays together when fewer turns are grouped; None for a single turn."""

    def name(self, language: str) -> str:
        """What its turns have in common."""
        if self.kind is not None:
            return kind_name(self.kind, language)
        return "、".join(self.words) if language == "ja" else ", ".join(self.words)

    def as_data(self, language: str) -> dict[str, Any]:
        """For another program."""
        return {
            "kind": self.kind,
            "name": self.name(language),
            "size": self.size,
            "words": list(self.words),
            "quotes": [quoted(one.text) for one in self.typical],
            "holds": None if self.holds is None else round(self.holds, 3),
        }


class Grouping(NamedTuple):
    """All groups, the largest first, and what they tell of kinds that were not seen."""

    groups: tuple[Group, ...] = ()
    turns: int = 0
    """Flagged turns that were grouped."""
    flagged: int = 0
    """Flagged turns in all."""

    @property
    def unseen_share(self) -> float | None:
        """The chance that the next flagged turn is of a kind that is not among the groups (Good and Turing)."""
        return self._of_size(1) / self.turns if self.turns else None

    @property
    def unseen_kinds(self) -> float | None:
        """How many kinds are at least still unseen (Chao's estimate)."""
        once, twice = self._of_size(1), self._of_size(2)
        return once * (once - 1) / (2 * (twice + 1)) if self.turns else None

    def _of_size(self, size: int) -> int:
        return sum(group.size == size for group in self.groups)

    def as_data(self, language: str) -> dict[str, Any]:
        """For another program."""
        return {
            "turns": self.turns,
            "flagged": self.flagged,
            "unseen_share": self.unseen_share,
            "unseen_kinds": self.unseen_kinds,
            "groups": [group.as_data(language) for group in self.groups],
        }


def quoted(text: str, most: int = _SHORT) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def grouped(turns: Sequence[Flagged], flagged: int | None = None) -> Grouping:
    """The groups that some flagged turns make up; `flagged` is how many there are in all."""
    if not turns:
        return Grouping()
    near = _likeness(turns)
    members = _linked(near)
    holds = _held(near, members)
    often = Counter(chain.from_iterable(_said(one) for one in turns))
    groups = [_group(one, held, turns, near, often) for one, held in zip(members, holds, strict=True)]
    groups.sort(key=lambda group: -group.size)
    return Grouping(tuple(groups), len(turns), len(turns) if flagged is None else flagged)


def _likeness(turns: Sequence[Flagged]) -> NDArray[np.float64]:
    """How near any two turns are, from 0 to 1."""
    vectors = np.asarray(sentence_vectors().of([one.text[:_LONG] or " " for one in turns]), dtype=np.float64)
    said = np.clip(vectors @ vectors.T, 0.0, 1.0)
    # Light signs come along with any fault: what weighs most says which it is.
    kinds = np.array([kind_of(one.signs[0]) if one.signs else "" for one in turns])
    same = kinds[:, None] == kinds[None, :]
    explained = (kinds != "")[:, None] | (kinds != "")[None, :]
    return np.where(explained, _OF_SIGNS * same + (1 - _OF_SIGNS) * said, said)


def _linked(near: NDArray[np.float64]) -> list[list[int]]:
    """Groups by average linkage."""
    members = [[place] for place in range(len(near))]
    likeness = near.copy()
    np.fill_diagonal(likeness, -1.0)
    while len(members) > 1:
        first, second = sorted(divmod(int(likeness.argmax()), len(likeness)))
        if likeness[first, second] < _NEAR:
            break
        sizes = len(members[first]), len(members[second])
        row = (sizes[0] * likeness[first] + sizes[1] * likeness[second]) / sum(sizes)
        likeness[first], likeness[:, first] = row, row
        likeness[first, first] = -1.0
        likeness = np.delete(np.delete(likeness, second, 0), second, 1)
        members[first] += members.pop(second)
    return members


def _held(near: NDArray[np.float64], members: Sequence[Sequence[int]]) -> list[float | None]:
    """For each group the mean likeness (Jaccard) to the nearest group when fewer turns are grouped."""
    chance, found = random.Random(7), [list[float]() for _ in members]
    many = len(near)
    for _ in range(_ROUNDS if many > 2 else 0):
        kept = sorted(chance.sample(range(many), max(2, round(_KEPT * many))))
        again = [{kept[place] for place in group} for group in _linked(near[np.ix_(kept, kept)])]
        for group, told in zip(members, found, strict=True):
            if len(left := set(group) & set(kept)) > 1:
                told.append(max(len(left & one) / len(left | one) for one in again))
    return [sum(told) / len(told) if told else None for told in found]


def _group(
    members: Sequence[int],
    held: float | None,
    turns: Sequence[Flagged],
    near: NDArray[np.float64],
    often: Mapping[str, int],
) -> Group:
    kinds = Counter(kind_of(turns[place].signs[0]) for place in members if turns[place].signs)
    kind = kinds.most_common(1)[0][0] if kinds.total() * 2 >= len(members) else None
    central = sorted(members, key=lambda place: -near[place, list(members)].mean())
    typical = list({quoted(turns[place].text): turns[place] for place in central}.values())[:_QUOTES]
    inside = Counter(chain.from_iterable(_said(turns[place]) for place in members))
    least = 2 if len(members) > 1 else 1

    def told(word: str) -> float:
        return inside[word] * math.log((inside[word] / len(members)) / (often[word] / len(turns)) + 1e-9)

    known = [word for word, times in inside.items() if times >= least]
    ranked = sorted(known, key=lambda word: (-told(word), -inside[word], word))
    return Group(kind, len(members), tuple(ranked[:_WORDS]), tuple(typical), held)


def _said(turn: Flagged) -> Iterable[str]:
    """The words of a turn that say what it is about."""
    return {
        word
        for word in words(turn.text)
        if not word.isnumeric() and (len(word) > 3 if word.isascii() else not _is_kana(word))
    }


def _is_kana(word: str) -> bool:
    return len(word) < 2 or all("\u3040" <= sign <= "\u309f" for sign in word)
