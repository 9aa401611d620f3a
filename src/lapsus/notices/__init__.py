"""What users are told, by id. `en.yaml` and `ja.yaml` hold the words, with places for fields.

A finished sentence is never searched or taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


class Notice(str):
    """English text that remembers its id and fields, so that it can be said in another language.

    `Notice("units-left", count=3)` equals the text "3 units are left". A field may be a notice, or an error, and is
    then said in the other language too. KeyError where no notice has that id.
    """

    __slots__ = ("fields", "id")
    id: str
    fields: Mapping[str, Any]

    def __new__(cls, id: str, /, **fields: Any) -> Notice:
        """The notice of that id, with its fields."""
        self = super().__new__(cls, _filled(catalogue("en")[id], fields))
        self.id, self.fields = id, fields
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.id, dict(self.fields))

    def in_language(self, language: str) -> str:
        """The notice in a language."""
        fields = {name: _localized(value, language) for name, value in self.fields.items()}
        return _filled(catalogue(language)[self.id], fields)


def notice(text: str, fields: Mapping[str, Any]) -> str:
    """The notice of that id; a text that is no id, as it is."""
    if isinstance(text, Notice) or text not in catalogue("en"):
        return text
    return Notice(text, **fields)


def listed(parts: Iterable[str], joint: str = "and-so-on") -> str:
    """Texts and notices one after the other, as each language joins them: `and-so-on`, `or` or `then`."""
    first, *rest = parts
    for part in rest:
        first = Notice(joint, first=first, second=part)
    return first


def with_texts(text: str, change: Callable[[str], str]) -> str:
    """A text changed by a function; of a notice its fields are."""
    if not isinstance(text, Notice):
        return change(text)
    fields = text.fields.items()
    return Notice(text.id, **{n: with_texts(v, change) if isinstance(v, str) else v for n, v in fields})


def localized(text: str, language: str) -> str:
    """A notice in a language; any other text as it is."""
    return text.in_language(language) if isinstance(text, Notice) else text


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """The words of every notice in a language, by id."""
    text = (files(__name__) / f"{language}.yaml").read_text(encoding="utf-8")
    # One entry a line, its words a JSON string: read in a millisecond, since even a short command says something.
    lines = (line.partition(": ") for line in text.splitlines() if line and line[0] != "#")
    return {id: msgspec.json.decode(words) for id, _, words in lines}


def as_text(value: Any) -> str:
    """A notice as plain text: `enc_hook` for msgspec, which knows `str` only."""
    if isinstance(value, Notice):
        return str(value)
    raise NotImplementedError


def packed(text: str) -> str:
    """A text for a database, which can be read back as the notice that it is."""
    return msgspec.json.encode(_tree(text), enc_hook=str).decode()


def unpacked(text: str) -> str:
    """What `packed` made of a text, and its notice."""
    found: str = _from_tree(msgspec.json.decode(text))
    return found


def _tree(value: Any) -> Any:
    if isinstance(value, Notice):
        return {"id": value.id, "fields": {name: _tree(field) for name, field in value.fields.items()}}
    return value if isinstance(value, (str, int, float)) or value is None else str(value)


def _from_tree(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    return Notice(tree["id"], **{name: _from_tree(field) for name, field in tree["fields"].items()})


def _filled(template: str, fields: Mapping[str, Any]) -> str:
    return template.format_map(fields) if fields else template


def _localized(value: Any, language: str) -> Any:
    """A field's value; one that is no notice is left to the template's own formatting."""
    if not hasattr(value, "in_language"):
        return value
    found = value.in_language(language)
    return found if isinstance(found, str) else str(found)


def _restored(id: str, fields: Mapping[str, Any]) -> Notice:
    return Notice(id, **fields)
