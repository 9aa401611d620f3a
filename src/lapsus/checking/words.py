"""The words of the report, for the page and for the terminal."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from lapsus.annotators.parts.evidence import kind_name
from lapsus.checking.finding import Finding
from lapsus.model import in_language

LANGUAGES: Final = ("en", "ja")


def says(finding: Finding, language: str) -> list[tuple[str, str]]:
    """The evidence in words: its kind, and what is seen where."""
    lines = []
    for one in finding.evidence:
        places = ", ".join(word("turn", language, id=id) for id in one.segments)
        brackets = "（{}）" if language == "ja" else " ({})"
        lines.append(
            (
                kind_name(one.kind, language),
                one.says(language) + (brackets.format(places) if places else ""),
            )
        )
    return lines


def word(name: str, language: str, **values: Any) -> str:
    """A word of the report."""
    text: str = in_language(_words()[name], language)
    for key, value in values.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        text = text.replace(f"{{{key}}}", shown)
    return text


@cache
def _words() -> dict[str, dict[str, str]]:
    text = (files("lapsus.checking") / "words.yaml").read_text(encoding="utf-8")
    words: dict[str, dict[str, str]] = yaml.safe_load(text)
    return words
