"""Which of two replies is better."""

from collections.abc import Iterator
from typing import Any, Final

from lapsus.kinds.base import Flaw, Reply
from lapsus.kinds.label import LabelKind
from lapsus.kinds.messages import BrokenRule
from lapsus.model import Answer, Document
from lapsus.notices import Notice

FIRST: Final = "A"
SECOND: Final = "B"
TIES: Final = ("both", "neither")
ORDERS: Final = (FIRST + SECOND, SECOND + FIRST)
_MARK: Final = "|"


class PreferenceKind(LabelKind):
    """The answer is `A`, `B`, `both` or `neither`, and says in which order the replies were shown: `B|BA`.

    The replies are the segments A and B of the document. Who is shown B first and prefers it says `B|BA`; without
    the second part nobody knows the order. It takes no part in votes, agreement and gold.
    """

    name = "preference"
    keys = frozenset({"labels"})
    scores = ("label_f1",)
    tells_worse = False

    def flaws(self) -> Iterator[Flaw]:
        """The labels are the two replies and, where they may be given, the two kinds of ties."""
        yield from super().flaws()
        known = {FIRST, SECOND, *TIES}
        if not {FIRST, SECOND} <= set(self.label_ids) <= known:
            yield ("labels",), "preference", Notice("preference-labels")

    def chosen(self, answer: Any) -> Iterator[int | str]:
        yield split(answer)[0]

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        """The label is known, the order is one of two, and both replies are there."""
        label, order = split(answer)
        yield from self._known([label])
        if order is not None and order not in ORDERS:
            yield self._rule("unknown-label", label=answer)
        if document is not None:
            yield from self.lacking(document)

    def lacking(self, document: Document) -> Iterator[BrokenRule]:
        if not {FIRST, SECOND} <= {segment.id for segment in document.segments}:
            yield self._rule("no-replies")

    def spelt(self, answer: Any, document: Document | None = None) -> Any:
        if not isinstance(answer, str):
            return answer
        label, order = split(answer)
        found = super().spelt(label)
        return found if order is None else f"{found}{_MARK}{order}"

    def code(self, answer: Answer) -> int:
        return super().code(split(answer)[0] if isinstance(answer, str) else answer)

    def same(self, answer: Any) -> str:
        return split(answer)[0]

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        yield from super().in_words(split(str(answer))[0], language, is_only)

    def mark(self, answer: Any) -> str | list[str] | None:
        return split(answer)[0] if isinstance(answer, str) else None

    def from_json(self, value: Any, reply: Reply) -> Answer | None:
        """A model's answer; it saw A first."""
        found = super().from_json(value, reply)
        return with_order(found, ORDERS[0]) if isinstance(found, str) else found

    def control_value(self, answer: Any) -> tuple[str, dict[str, Any]]:
        return super().control_value(split(answer)[0])


def split(answer: str) -> tuple[str, str | None]:
    """What was answered, and in which order the replies were shown; None where nobody knows."""
    label, mark, order = answer.partition(_MARK)
    return label, order if mark else None


def with_order(label: str, order: str) -> str:
    """An answer that says in which order the replies were shown."""
    return f"{label}{_MARK}{order}"
