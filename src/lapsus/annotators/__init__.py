"""Programs that judge: one module a method."""

from lapsus.annotators.base import Annotator, Opinion
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.cases import Case, Example
from lapsus.annotators.detection import Detection, detect
from lapsus.annotators.entries import judged_entries, lesson_of, training_data
from lapsus.annotators.judges import Judges, as_usual, usual_profile
from lapsus.annotators.library import (
    METHODS,
    default_model,
    find_annotator,
    go_on_from,
    load_model,
    make_annotator,
)
from lapsus.annotators.model_files import State
from lapsus.annotators.training import train

__all__ = [
    "METHODS",
    "Annotator",
    "BreakdownAnnotator",
    "Case",
    "Detection",
    "Example",
    "Judges",
    "Opinion",
    "State",
    "as_usual",
    "default_model",
    "detect",
    "find_annotator",
    "go_on_from",
    "judged_entries",
    "lesson_of",
    "load_model",
    "make_annotator",
    "train",
    "training_data",
    "usual_profile",
]
