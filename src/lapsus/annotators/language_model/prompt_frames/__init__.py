"""The frame around a guideline in the prompt, in each language."""

from lapsus.word_files import LANGUAGES, words_in


def prompt_frame(name: str, language: str, /, **values: object) -> str:
    """A piece of the frame; in English where the guideline's language is none of ours."""
    known = language.partition("-")[0]
    template = words_in(known if known in LANGUAGES else "en", __package__, ".")[name]
    return template.format(**values) if values else template


def has_frame(name: str) -> bool:
    """Whether there is a piece of that name."""
    return name in words_in("en", __package__, ".")
