"""The words of the house: documents, schemes, judgments. Immutable, checked when made, no input or output.

`lapsus.model.votes` stands apart because it needs numpy, which not every command does.
"""

from lapsus.model.document import BACKGROUND, ELEMENTS, SEPARATOR, TALK, Document, Element, Role, Segment
from lapsus.model.frozen import EMPTY, FrozenDict, freeze
from lapsus.model.judgment import (
    ANONYMOUS,
    Answer,
    Entry,
    Judgment,
    Span,
    UnitKey,
    anonymous_annotator,
    latest,
)
from lapsus.model.scheme import Label, Question, Scheme, TargetRule, UnitRule
from lapsus.model.text import Notes, Text, in_language
from lapsus.model.unit import Unit, unit, units, visible_part

__all__ = [
    "ANONYMOUS",
    "BACKGROUND",
    "ELEMENTS",
    "EMPTY",
    "SEPARATOR",
    "TALK",
    "Answer",
    "Document",
    "Element",
    "Entry",
    "FrozenDict",
    "Judgment",
    "Label",
    "Notes",
    "Question",
    "Role",
    "Scheme",
    "Segment",
    "Span",
    "TargetRule",
    "Text",
    "Unit",
    "UnitKey",
    "UnitRule",
    "anonymous_annotator",
    "freeze",
    "in_language",
    "latest",
    "unit",
    "units",
    "visible_part",
]
