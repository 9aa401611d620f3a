"""One label of several."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.kinds.base import Control, ControlTag, Flaw, Floats, Kind, Reply
from lapsus.kinds.messages import BrokenRule
from lapsus.model import Answer, Document, FrozenDict, in_language
from lapsus.model.votes import MISSING, LabelVotes, VoteTable, row_shares
from lapsus.notices import Notice


class LabelKind(Kind):
    """The answer is the id of a label."""

    name = "label"
    keys = frozenset({"labels", "labels_from", "in_order", "axes"})
    offers_labels = True
    is_counted = True
    agreement = ("fleiss", "alpha", "ac1", "percent")
    pair_measure = "cohen"
    by_label = True
    can_merge = True
    gold_methods = ("majority", "distribution", "dawid_skene", "mace")
    typical_method = "majority"
    thresholds: ClassVar = FrozenDict({"majority": "t", "challenge": "t"})
    scores = ("label_f1",)
    controls = ("choices", "taxonomy")
    is_packed = True
    missing = MISSING
    packed_type = "<i2"

    @classmethod
    def holds(cls, answer: object) -> bool:
        return isinstance(answer, str)

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        yield from self._known([answer])

    def spelt(self, answer: Any, document: Document | None = None) -> Any:
        if not isinstance(answer, str) or answer in self._by_id:
            return answer
        found = self.spellings.id_of(answer)
        return answer if found == answer else found

    def flaws(self) -> Iterator[Flaw]:
        analysis = self.question.analysis
        for key, groups in (("tie_break", (analysis.tie_break,)), ("merged", analysis.merged)):
            for name in (name for group in groups for name in group):
                if name not in self._by_id:
                    known = ", ".join(self.label_ids)
                    told = Notice("no-label-known", label=name, known=known)
                    yield ("analysis", key), "reference", told
        order = analysis.tie_break
        if order and sorted(order) != sorted(self.label_ids):
            yield ("analysis", "tie_break"), "tie_break", Notice("names-every-label-once")
        if any(len(set(group)) < 2 for group in analysis.merged):
            yield ("analysis", "merged"), "merged", Notice("takes-two-labels-more")

    def manual_rule(self) -> str | None:
        return "rule-label"

    def code(self, answer: Answer) -> int:
        if not isinstance(answer, str):
            raise self._unfit(answer)
        return self._label_code(answer)

    def votes(
        self, table: VoteTable, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Any
    ) -> LabelVotes:
        width = np.int8 if len(self.labels) < 128 else np.int16
        array = np.full((len(table.units), len(table.annotators)), MISSING, dtype=width)
        array[rows, columns] = codes
        return LabelVotes(table.units, table.annotators, self.label_ids, array)

    def places(self, codes: Any) -> NDArray[np.intp]:
        found: NDArray[np.intp] = codes.astype(np.intp)
        return found

    def totals(self, votes: Any) -> tuple[Floats, float]:
        totals = votes.counts().sum(axis=0)
        return totals, float(totals.sum())

    def of_unit(self, votes: Any, row: int) -> list[Answer]:
        return [votes.labels[code] for code in votes.codes[row].tolist() if code >= 0]

    @property
    def choices(self) -> tuple[str, ...]:
        return self.label_ids

    def shares(self, votes: Any) -> Floats:
        return row_shares(votes.counts())

    def best(self, shares: Floats) -> Answer:
        order = [self._codes[label] for label in self.question.analysis.tie_break or self.label_ids]
        return self.label_ids[max(order, key=lambda place: shares[place])]

    @property
    def gold_options(self) -> dict[str, Any]:
        return {"ties": self.question.analysis.tie_break}

    def settled_all(
        self,
        proposed: Sequence[Any],
        shares: Floats | None,
        votes: Any,
        share: float,
        document: Callable[[str], Document | None],
    ) -> list[Answer | None]:
        """As proposed: votes hold no label that the question does not have."""
        return list(proposed)

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        name = self.choice_names(language).get(str(answer), str(answer))
        yield name if is_only else f"{in_language(self.question.name, language)}: {name}"

    def mark(self, answer: Any) -> str | list[str] | None:
        return answer if isinstance(answer, str) else None

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.label_ids)}

    def from_json(self, value: Any, reply: Reply) -> Answer | None:
        return reply.label(value) if isinstance(value, str) else super().from_json(value, reply)

    def control_tag(self, language: str) -> ControlTag:
        return ControlTag("Choices", {"choice": "single"}, self._label_tags("Choice", language))

    def control_value(self, answer: Any) -> tuple[str, dict[str, Any]]:
        return "choices", {"choices": [answer]}

    def from_control(self, control: Control) -> Answer:
        labels = control.labels()
        if len(labels) != 1:
            raise InvalidError("has-answers", hint="one-expected", id=self.question.id, count=len(labels))
        return labels[0]
