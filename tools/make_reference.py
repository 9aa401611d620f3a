"""Writes docs/reference.md: every function and class that `lapsus` offers, from its signature and docstring."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import regex

import lapsus

TARGET = Path(__file__).parent.parent / "docs" / "reference.md"
HEAD = """# Every function

Made from the docstrings by `make commands`. [Python](python.md) has examples.
"""


def document() -> str:
    """The whole page."""
    return HEAD + "".join(
        section(name, getattr(lapsus, name)) for name in sorted(lapsus._FROM, key=str.lower)
    )


def section(name: str, value: Any) -> str:
    """A heading, the signature and what the docstring says; of a class, its public methods too."""
    text = f"\n## lapsus.{name}\n\n```text\n{signature(name, value)}\n```\n\n{said(value)}\n"
    if inspect.isclass(value):
        for method, function in inspect.getmembers(value, inspect.isfunction):
            if not method.startswith("_"):
                text += f"\n### {name}.{method}\n\n```text\n{signature(method, function)}\n```\n\n{said(function)}\n"
    return text


def signature(name: str, value: Any) -> str:
    """The call, a parameter a line where it would be long."""
    whole = inspect.signature(value)
    parameters = [readable(parameter) for parameter in whole.parameters.values()]
    returned = "" if whole.return_annotation is inspect.Signature.empty else f" -> {unquoted(whole.return_annotation)}"
    line = f"{name}{whole.replace(parameters=parameters, return_annotation=inspect.Signature.empty)}{returned}"
    if len(line) <= 100:
        return line.replace("'…'", "…")
    listed = ",\n    ".join(str(parameter).replace("'…'", "…") for parameter in parameters)
    return f"{name}(\n    {listed},\n){returned}"


def readable(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter as one would write it: a default that is a function or an object is an ellipsis."""
    default = parameter.default
    plain = default is inspect.Parameter.empty or not regex.search(r" at 0x|<factory>", repr(default))
    return parameter.replace(default=default if plain else "…")


def unquoted(annotation: Any) -> str:
    """An annotation without the quotes of a name that is not yet known."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def said(value: Any) -> str:
    """The docstring. Without one there is no page."""
    found = inspect.getdoc(value)
    if not found:
        raise SystemExit(f"{value!r} has no docstring")
    return found


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
