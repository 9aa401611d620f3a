"""Programs that judge: one module a method."""

from lapsus.annotators.base import Annotator as Annotator
from lapsus.annotators.detection import Detection as Detection
from lapsus.annotators.detection import detect as detect
from lapsus.annotators.judges import Judges as Judges
from lapsus.annotators.judges import as_usual as as_usual
from lapsus.annotators.judges import usual_profile as usual_profile
from lapsus.annotators.library import METHODS as METHODS
from lapsus.annotators.library import default_model as default_model
from lapsus.annotators.library import find_annotator as find_annotator
from lapsus.annotators.library import go_on_from as go_on_from
from lapsus.annotators.library import load_model as load_model
from lapsus.annotators.library import make_annotator as make_annotator
from lapsus.annotators.model_files import State as State
from lapsus.annotators.training import documents_and_votes as documents_and_votes
from lapsus.annotators.training import train as train
from lapsus.annotators.training import training_data as training_data
