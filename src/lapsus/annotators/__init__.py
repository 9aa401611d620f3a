"""Programs that judge: one module a method."""

from lapsus.annotators.base import Annotator
from lapsus.annotators.entries import judged_entries, training_data
from lapsus.annotators.examples import Example
from lapsus.annotators.judges import Judges
from lapsus.annotators.library import (
    METHODS,
    default_model,
    find_annotator,
    go_on_from,
    load_model,
    make_annotator,
)
from lapsus.annotators.storage import State

__all__ = [
    "METHODS",
    "Annotator",
    "Example",
    "Judges",
    "State",
    "default_model",
    "find_annotator",
    "go_on_from",
    "judged_entries",
    "load_model",
    "make_annotator",
    "training_data",
]
