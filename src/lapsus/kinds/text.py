"""Free text."""

from collections.abc import Hashable, Iterator
from typing import Any

from lapsus.kinds.base import Control, ControlTag, Kind, Reply
from lapsus.kinds.messages import BrokenRule
from lapsus.model import Answer, Document

LONGEST = 160
"""Characters of a text that lists show."""


class TextKind(Kind):
    """The answer is whatever was written. It cannot be counted."""

    name = "text"
    keys = frozenset({"suggest"})
    is_countable = False
    controls = ("textarea",)

    @classmethod
    def holds(cls, answer: object) -> bool:
        return isinstance(answer, str)

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        yield from ()

    def same(self, answer: Any) -> Hashable:
        return answer.strip() if isinstance(answer, str) else answer

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        yield shortened(str(answer))

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def from_json(self, value: Any, reply: Reply) -> Answer | None:
        """Empty text is no answer where none is required."""
        return None if value == "" and not self.question.required else super().from_json(value, reply)

    def control_tag(self, language: str) -> ControlTag:
        return ControlTag("TextArea", {"maxSubmissions": "1", "editable": "true"})

    def control_value(self, answer: Any) -> tuple[str, dict[str, Any]]:
        return "textarea", {"text": [answer]}

    def from_control(self, control: Control) -> Answer:
        return control.words()


def shortened(text: str) -> str:
    """A text, or its beginning where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
