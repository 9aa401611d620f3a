"""Language models as annotators: any scheme, over a server that speaks the OpenAI protocol."""

from lapsus.annotators.language_model.annotator import LanguageModel, Refused
from lapsus.annotators.language_model.completion import Sampling
from lapsus.annotators.language_model.prompt import Prompt, make_prompt
from lapsus.annotators.language_model.service import Endpoint, Service, endpoint

__all__ = ["Endpoint", "LanguageModel", "Prompt", "Refused", "Sampling", "Service", "endpoint", "make_prompt"]
