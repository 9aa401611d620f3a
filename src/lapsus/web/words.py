"""The words of the pages and of refusals, in each language."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from lapsus.model import in_language

SPOKEN_BY_SCRIPTS = ("common.", "judge.", "decide.")
"""The words that scripts say; those of the other pages come with their pages, and need not be sent twice."""


def say(key: str, language: str, /, **values: object) -> str:
    """A word of the pages; in English where a language lacks it, the key itself where nobody has it."""
    template = words(language).get(key) or words("en").get(key) or key
    return template.format(**values) if values else template


def refusal(reason: str, language: str) -> str | None:
    """What to tell somebody whose request was refused."""
    known = _refusals().get(reason)
    return None if known is None else in_language(known, language)


@cache
def words(language: str) -> Mapping[str, str]:
    """The words of the pages in a language, by key: its file's name, and the keys in it joined by dots."""
    found: dict[str, str] = {}
    for file in sorted((files("lapsus.web") / "words" / language).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            tree = yaml.safe_load(file.read_text(encoding="utf-8"))
            found.update(_flat(tree, f"{file.name.removesuffix('.yaml')}."))
    return found


@cache
def words_json(language: str) -> bytes:
    """Everything that scripts say: their words, and the messages of broken rules with their parts."""
    rules = _yaml("lapsus.schemes", "data/messages.yaml")
    catalogue = {
        "language": language,
        "words": {key: word for key, word in words(language).items() if key.startswith(SPOKEN_BY_SCRIPTS)},
        "rules": {name: in_language(text, language) for name, text in rules.items() if "en" in text},
        **{
            group: {name: in_language(text, language) for name, text in rules[group].items()}
            for group in ("kinds", "roles")
        },
    }
    return msgspec.json.encode(catalogue)


def words_url(language: str) -> str:
    """Where scripts find the words; another address when they change, so that browsers may keep them."""
    return f"/words/{language}.json?v={hashlib.sha256(words_json(language)).hexdigest()[:12]}"


@cache
def _refusals() -> Mapping[str, Mapping[str, str]]:
    return _yaml("lapsus.web", "refusals.yaml")


def _yaml(package: str, name: str) -> dict[str, Any]:
    tree: dict[str, Any] = yaml.safe_load((files(package) / name).read_text(encoding="utf-8"))
    return tree


def _flat(tree: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
