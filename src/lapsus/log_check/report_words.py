"""The words of the report, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lapsus.annotators.features.evidence import kind_name
from lapsus.log_check.finding import Finding
from lapsus.model import in_language
from lapsus.schemes import load_scheme
from lapsus.word_files import word_file


def says(finding: Finding, language: str) -> list[tuple[str, str]]:
    """The evidence in words: its kind with the error types that it points to, and what is seen where."""
    lines = []
    for one in finding.evidence:
        places = ", ".join(word("turn", language, id=id) for id in one.segments)
        brackets = "（{}）" if language == "ja" else " ({})"
        types = word("types", language, names=_type_names(one.types, language))
        says = one.says(language) + (brackets.format(places) if places else "")
        lines.append((kind_name(one.kind, language) + brackets.format(types), says))
    return lines


def likely_types(finding: Finding, language: str) -> str:
    """The likely error types in words, with shares; empty where none are known."""
    between = "、" if language == "ja" else ", "
    names = between.join(f"{_type_names([type], language)} {share:.0%}" for type, share in finding.types)
    return word("likely-types", language, names=names) if names else ""


def label_name(label: str, language: str) -> str:
    """What the guideline calls a breakdown label."""
    found = load_scheme("breakdown").questions[0].label(label)
    return in_language(found.name, language) if found else label


def label_definition(label: str, language: str) -> str:
    """What the guideline says that a breakdown label means."""
    found = load_scheme("breakdown").questions[0].label(label)
    return in_language(found.definition, language) if found else ""


def _type_names(types: Sequence[str], language: str) -> str:
    """Error types as the guideline numbers and names them."""
    question = load_scheme("error-types").questions[0]
    found = [label for id in types if (label := question.label(id))]
    between = "、" if language == "ja" else ", "
    return between.join(f"{label.number} {in_language(label.name, language)}" for label in found)


def word(name: str, language: str, **values: Any) -> str:
    """A word of the report."""
    text: str = in_language(word_file("lapsus.log_check", "report_words.yaml")[name], language)
    for key, value in values.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        text = text.replace(f"{{{key}}}", shown)
    return text
