"""Rules of the house that no checker of imports sees: who may ask what kind a question or a vote is of."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import lapsus

SOURCE = Path(lapsus.__file__).parent
ROOT = Path(__file__).parents[1]
VOTES = {"Votes", "LabelVotes", "LabelSetVotes", "ScaleVotes", "SpanVotes"}
BREAKDOWN_ONLY = (
    "formats/dbdc",
    "challenge/",
    "annotators/",
    "log_check/",
    "measures/scores/",
    "web/demo",
    "cli/detect",
)
"""Where the guideline of the challenge may be named: its formats, scores, methods and demonstration."""


def parsed(*, outside: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    return (
        (name, node) for name, nodes in _modules().items() if not name.startswith(outside) for node in nodes
    )


@cache
def _modules() -> dict[str, list[ast.AST]]:
    return {
        path.relative_to(SOURCE).as_posix(): list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def test_the_kind_of_a_question_is_asked_in_few_places() -> None:
    asked = [
        name
        for name, node in parsed(outside=("kinds/",))
        if isinstance(node, ast.Attribute)
        and node.attr == "kind"
        and ast.unparse(node.value).endswith("question")
    ]
    assert 0 < len(asked) < 10, asked


def test_votes_are_told_apart_by_kinds_and_measures_alone() -> None:
    told = [
        name
        for name, node in parsed(outside=("kinds/", "measures/"))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and VOTES & {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    ]
    assert told == []


def test_nothing_else_asks_for_the_guideline_of_the_challenge() -> None:
    asked = [
        name
        for name, node in parsed(outside=(*BREAKDOWN_ONLY, "schemes/library"))
        if isinstance(node, ast.Compare)
        and any(isinstance(part, ast.Constant) and part.value == "breakdown" for part in ast.walk(node))
    ]
    assert asked == []


def test_scripts_take_from_the_package_what_it_has() -> None:
    """Benchmarks and tools are run by hand, and no checker of types reads them."""
    scripts = [
        path for folder in ("benchmarks", "tools", "examples") for path in (ROOT / folder).rglob("*.py")
    ]
    lacking = [
        f"{path.relative_to(ROOT)}: {node.module}.{alias.name}"
        for path in scripts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lapsus"
        for alias in node.names
        if not _has(str(node.module), alias.name)
    ]
    assert scripts
    assert lacking == []


def _has(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name) or bool(
            importlib.import_module(f"{module}.{name}")
        )
    except ModuleNotFoundError as error:
        return not (error.name or "").startswith("lapsus")  # else a library that is not installed here
