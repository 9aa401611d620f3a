"""The frame around a guideline in the prompt, in each language."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from lapsus.schemes.marked_yaml import parse_yaml

LANGUAGES = ("en", "ja")


def frame(name: str, language: str, /, **values: object) -> str:
    """A piece of the frame; in English where the guideline's language is none of ours."""
    known = language.partition("-")[0]
    template: str = _words(known if known in LANGUAGES else "en")[name]
    return template.format(**values) if values else template


@cache
def _words(language: str) -> Any:
    file = files(__package__) / f"{language}.yaml"
    return parse_yaml(file.read_text(encoding="utf-8"), file.name).data
