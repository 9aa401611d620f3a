"""Writes docs/reference.md: every function and class that `lapsus` offers, from its signature and docstring."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

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
    written = annotations(value)
    returned = f" -> {written['return']}" if "return" in written else ""
    parameters = [readable(parameter, written.get(parameter.name)) for parameter in whole.parameters.values()]
    named = [
        n for n, parameter in enumerate(whole.parameters.values()) if parameter.kind is parameter.KEYWORD_ONLY
    ]
    if named and not any(parameter.startswith("*") for parameter in parameters):
        parameters.insert(named[0], "*")
    line = f"{name}({', '.join(parameters)}){returned}"
    if len(line) <= 100:
        return line
    listed = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{listed}){returned}"


def annotations(value: Any) -> dict[str, str]:
    """What is written behind each parameter, and behind the arrow as `return`, without quotes."""
    [node] = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    if isinstance(node, ast.ClassDef):
        own = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        if not own:
            fields = [base for base in reversed(value.__mro__[1:-1]) if base.__module__.startswith("lapsus.")]
            inherited = {name: text for base in fields for name, text in annotations(base).items()}
            return inherited | {
                ast.unparse(one.target): plain(one.annotation)
                for one in node.body
                if isinstance(one, ast.AnnAssign)
            }
        [node] = own
    every = [
        *node.args.posonlyargs,
        *node.args.args,
        *node.args.kwonlyargs,
        node.args.vararg,
        node.args.kwarg,
    ]
    found = {one.arg: plain(one.annotation) for one in every if one is not None and one.annotation}
    return found | ({"return": plain(node.returns)} if node.returns else {})


def readable(parameter: inspect.Parameter, annotation: str | None) -> str:
    """The parameter as one would write it; a default that is a function or an object is an ellipsis."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(
        parameter.kind, ""
    )
    text = f"{stars}{parameter.name}"
    if annotation is not None:
        text += f": {annotation}"
    if parameter.default is inspect.Parameter.empty:
        return text
    default = repr(parameter.default)
    return f"{text} = {'…' if ' at 0x' in default or default == '<factory>' else default}"


def plain(annotation: ast.expr) -> str:
    """An annotation without the quotes of a name that is not yet known."""
    return (
        annotation.value
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
        else ast.unparse(annotation)
    )


def said(value: Any) -> str:
    """The docstring. Without one there is no page."""
    found = inspect.getdoc(value)
    if not found:
        raise SystemExit(f"{value!r} has no docstring")
    return found


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
