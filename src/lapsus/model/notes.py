"""What programs note beside their answers: which model gave them, and whether it had learned from the document."""

from collections.abc import Mapping
from typing import Any

import msgspec

from lapsus.model.judgment import SETTING, Judgment

LEARNED = "learned"
"""In a judgment's metadata, and only then: the program learned from people's judgments of the same document."""


def learned_from(judgment: Judgment) -> bool:
    """Whether a program says that it had learned from the document it judged."""
    return judgment.metadata.get(LEARNED) is True


def without_notes(judgment: Judgment) -> Judgment:
    """The same without what a trained program notes of itself, for files whose form is laid down elsewhere.

    What a language model says of its prompt stays: it always stood there.
    """
    kept = {name: value for name, value in judgment.metadata.items() if not _is_note(name, value)}
    if len(kept) == len(judgment.metadata):
        return judgment
    return msgspec.structs.replace(judgment, metadata=kept)


def _is_note(name: str, value: Any) -> bool:
    return name == LEARNED or (name == SETTING and isinstance(value, Mapping) and value.keys() == {"model"})
