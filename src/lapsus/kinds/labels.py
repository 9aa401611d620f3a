"""Several labels at once, as far as the guideline lets them stand together."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lapsus.kinds.base import Cells, Control, ControlTag, Floats, Kind, Reply
from lapsus.kinds.messages import BrokenRule, join
from lapsus.model import Answer, Document, FrozenDict
from lapsus.model.votes import LabelSetVotes, VoteTable

_ANSWERED = 1
"""The first bit of a set tells an empty set from no answer."""
_LARGEST = 16
"""How many labels that are kept apart from each other are weighed against each other."""
_SAME = 1e-9
"""Up to which difference two answers have the same support."""


class LabelsKind(Kind):
    """The answer is a tuple of labels' ids."""

    name = "labels"
    keys = frozenset({"labels", "labels_from", "at_least", "at_most", "in_order", "alone", "apart", "axes"})
    offers_labels = True
    several = True
    agreement = ("weighted_fleiss", "alpha(masi)", "alpha(jaccard)")
    pair_measure = "alpha(jaccard)"
    by_label = True
    gold_methods = ("label_sets",)
    typical_method = "label_sets"
    thresholds: ClassVar = FrozenDict({"label_sets": "share", "label_sets_f1": "least"})
    scores = ("label_sets_f1",)
    comparison = "masi"
    controls = ("choices", "taxonomy")
    is_packed = True
    missing = 0
    wrong = 0

    @classmethod
    def holds(cls, answer: object) -> bool:
        return isinstance(answer, tuple) and all(isinstance(item, str) for item in answer)

    def chosen(self, answer: Any) -> Iterator[int | str]:
        yield from answer

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        chosen = list(dict.fromkeys(answer))
        yield from self._known(chosen)
        for id, times in Counter(answer).items():
            if times > 1:
                yield self._rule("repeated-label", label=self._name(id))
        yield from self._how_many(len(chosen))
        for id in chosen:
            if id in self.question.alone and len(chosen) > 1:
                others = join([self._name(other) for other in chosen if other != id])
                yield self._rule("alone", label=self._name(id), others=others)
        for first, second in self.question.apart:
            if first in chosen and second in chosen:
                yield self._rule("apart", label=self._name(first), other=self._name(second))

    def spelt(self, answer: Any, document: Document | None = None) -> Any:
        if not isinstance(answer, tuple):
            return answer
        found = tuple(self.spellings.id_of(item) if isinstance(item, str) else item for item in answer)
        return answer if found == answer else found

    def doubt(self, shares: Mapping[str, float]) -> float:
        """Each label is given or not, so shares need not add up to 1: the doubt about the least sure of them."""
        return max(min(share, 1 - share) for share in shares.values())

    def manual_rule(self) -> str | None:
        return "rule-labels"

    @property
    def packed_type(self) -> Any:
        return "u1", ((len(self.labels) + 1 + 7) // 8,)

    def code(self, answer: Answer) -> int:
        if not self.holds(answer):
            raise self._unfit(answer)
        bits = _ANSWERED
        for label in answer:  # type: ignore[union-attr]
            bits |= 1 << (self._label_code(label) + 1)
        return bits

    def column(self, codes: list[Any]) -> Any:
        width = self.packed_type[1][0]
        packed = b"".join(code.to_bytes(width, "little") for code in codes)
        return np.frombuffer(packed, dtype=np.uint8).reshape(-1, width)

    def votes(
        self, table: VoteTable, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Any
    ) -> LabelSetVotes:
        shape = (len(table.units), len(table.annotators))
        bits = np.unpackbits(codes, axis=1, bitorder="little")
        chosen = np.zeros((*shape, len(self.labels)), dtype=np.bool_)
        answered = np.zeros(shape, dtype=np.bool_)
        chosen[rows, columns] = bits[:, 1 : len(self.labels) + 1]
        answered[rows, columns] = bits[:, 0]
        return LabelSetVotes(table.units, table.annotators, self.label_ids, chosen, answered)

    def totals(self, votes: Any) -> tuple[Floats, float]:
        return votes.chosen.sum(axis=(0, 1)), float(votes.answered.sum())

    def of_unit(self, votes: Any, row: int) -> list[Answer]:
        chosen = votes.chosen[row][votes.answered[row]].tolist()
        return [self._set(np.flatnonzero(one).tolist()) for one in chosen]

    @property
    def choices(self) -> tuple[str, ...]:
        return self.label_ids

    def shares(self, votes: Any) -> Floats:
        answered, chosen = votes.answered.sum(axis=1)[:, None], votes.counts()
        shares: Floats = np.divide(chosen, answered, out=np.full(chosen.shape, np.nan), where=answered > 0)
        return shares

    def best(self, shares: Floats) -> Answer:
        """The labels that are likelier than not, made to fit the rules: what conflicts gives way to the likelier."""
        worth = {place: float(value) - 0.5 for place, value in enumerate(shares)}
        order = sorted(worth, key=lambda place: -worth[place])
        best: list[int] = []
        for place in order:
            if worth[place] < 0 and len(best) >= self.question.at_least:
                break
            if place not in self._lonely and self._may_join(place, best):
                best.append(place)
        lonely = [place for place in order if place in self._lonely]
        if lonely and self.question.at_least <= 1:
            together = sum(worth[place] for place in best) if best or not self.question.at_least else -1.0
            best = [lonely[0]] if worth[lonely[0]] > together else best
        return self._set(best)

    def same(self, answer: Any) -> Hashable:
        return frozenset(answer)

    def compare(self, one: Any, other: Any) -> float:
        return masi_similarity(frozenset(one), frozenset(other))

    def settled(
        self,
        proposed: Any,
        shares: Floats | None,
        given: Sequence[Any],
        *,
        share: float = 0.5,
        document: Document | None = None,
    ) -> Answer | None:
        """The labels with the share asked for; where the rules keep them apart, those with the most support.

        What counts is how far each label is above the share. Of several best answers only the labels that all of
        them have are taken. No label at all is an answer, too, and needs the same share of annotators.
        """
        if shares is None or not given:
            return None
        enough = [place for place, value in enumerate(shares.tolist()) if value >= share]
        if not enough:
            nothing = sum(not answer for answer in given) / len(given) >= share
            return () if nothing and self.allows(()) else None
        if self.allows(whole := self._set(enough)):
            return whole
        worth = {place: float(shares[place]) - share for place in enough}
        found, most = self._together([place for place in enough if place not in self._lonely], worth)
        for place in self._lonely.intersection(enough):
            if worth[place] > most + _SAME:
                found, most = [place], worth[place]
            elif worth[place] >= most - _SAME:
                found = []
        answer = self._set(found)
        return answer if answer and self.allows(answer) else None

    @classmethod
    def cells(cls, answer: Any) -> list[dict[str, Any]]:
        # A label without a name would be taken for none at all; it is owned up to as a loss.
        return [{"answer": item} for item in answer if item != ""] or [{}]

    @classmethod
    def item(cls, row: Cells) -> Any:
        return row.text("answer") or None

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        if not answer:
            yield self._said_empty(LabelsKind.name, language, is_only)
        names = self.choice_names(language)
        for label, times in Counter[str](answer).items():
            yield names.get(label, label) + (f" × {times}" if times > 1 else "")

    def mark(self, answer: Any) -> str | list[str] | None:
        return [str(label) for label in answer] if isinstance(answer, tuple) else None

    def json_schema(self) -> dict[str, Any]:
        most = len(self.labels)
        most = most if self.question.at_most is None else min(self.question.at_most, most)
        items = {"type": "string", "enum": list(self.label_ids)}
        return {"type": "array", "items": items, "minItems": self.question.at_least, "maxItems": most}

    def from_json(self, value: Any, reply: Reply) -> Answer | None:
        found = super().from_json(value, reply)
        # Small models say a label again and again; the set is the same.
        return tuple(dict.fromkeys(found)) if isinstance(found, tuple) else found

    def control_tag(self, language: str) -> ControlTag:
        return ControlTag("Choices", {"choice": "multiple"}, self._label_tags("Choice", language))

    def control_value(self, answer: Any) -> tuple[str, dict[str, Any]]:
        return "choices", {"choices": list(answer)}

    def from_control(self, control: Control) -> Answer:
        return tuple(control.labels())

    def _set(self, places: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.label_ids[place] for place in sorted(places))

    def _may_join(self, place: int, others: Sequence[int]) -> bool:
        if self.question.at_most is not None and len(others) >= self.question.at_most:
            return False
        return not any(frozenset((place, other)) in self._apart for other in others)

    @cached_property
    def _lonely(self) -> frozenset[int]:
        return frozenset(self._codes[label] for label in self.question.alone)

    @cached_property
    def _apart(self) -> frozenset[frozenset[int]]:
        return frozenset(frozenset((self._codes[a], self._codes[b])) for a, b in self.question.apart)

    def _together(self, places: Sequence[int], worth: Mapping[int, float]) -> tuple[list[int], float]:
        """Which of some labels stand in every best answer, and what a best answer is worth.

        One that is part of another best answer says nothing against the larger.
        """
        found: list[int] = []
        most = -1.0 if not places else 0.0
        for group in self._entangled(places):
            ways = [frozenset(way) for way in _independent(group[:_LARGEST], self._apart)]
            value = max(_sum(worth, way) for way in ways)
            best = [way for way in ways if _sum(worth, way) >= value - _SAME]
            largest = [way for way in best if not any(way < other for other in best)]
            found += frozenset.intersection(*largest)
            most += value
        limit = self.question.at_most
        if limit is not None and len(found) > limit:
            order = sorted(found, key=lambda place: -worth[place])
            edge = worth[order[limit]]
            found = [place for place in order[:limit] if worth[place] > edge + _SAME]
            most = _sum(worth, order[:limit])
        return found, most

    def _entangled(self, places: Sequence[int]) -> list[list[int]]:
        """Labels in groups: those that are apart, directly or through others, in one."""
        groups: list[list[int]] = []
        for place in places:
            mine = [g for g in groups if any(frozenset((place, other)) in self._apart for other in g)]
            groups = [g for g in groups if g not in mine]
            groups.append([place, *(other for g in mine for other in g)])
        return groups


def _sum(worth: Mapping[int, float], places: Iterable[int]) -> float:
    return sum(worth[place] for place in places)


def _independent(group: list[int], apart: frozenset[frozenset[int]]) -> Iterator[tuple[int, ...]]:
    """Every set of labels of a group no two of which are kept apart."""
    if not group:
        yield ()
        return
    first, *rest = group
    yield from _independent(rest, apart)
    for one in _independent([other for other in rest if frozenset((first, other)) not in apart], apart):
        yield (first, *one)


def masi_similarity(one: frozenset[Any], other: frozenset[Any]) -> float:
    """1 less Passonneau's MASI distance: Jaccard, less where one set is only part of the other or they overlap."""
    if one == other:
        return 1.0
    if not (both := one & other):
        return 0.0
    return len(both) / len(one | other) * (2 / 3 if both in (one, other) else 1 / 3)
