"""A guideline of one's own on the way to a campaign: a file, or one made in a form.

A draft keeps it as the text of a scheme file, under `own` of its plan. The plan names it by its id, which is never
that of a guideline that is here already.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import regex

from lapsus.errors import InputError
from lapsus.model import Scheme
from lapsus.notices import Notice
from lapsus.schemes import load_scheme, scheme_names
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.schemes.scheme_check import SchemeProblem, check_scheme
from lapsus.store.plan_file import to_yaml

Tree = dict[str, Any]
LONGEST: Final = 300_000
"""Characters of a guideline's file."""
FILE: Final = "guideline"
_SLUG: Final = regex.compile(r"(?=.{1,60}$)[a-z0-9]+(-[a-z0-9]+)*")
_VERSION: Final = regex.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,19}")


def draft_scheme(plan: Tree) -> Scheme | None:
    """The guideline of a draft, if one was chosen."""
    name = plan.get("scheme", "")
    if name in scheme_names():
        return load_scheme(name)
    own = plan.get("own")
    return read_own(own) if own else None


def read_own(text: str) -> Scheme:
    """The guideline in a text; the first thing that is wrong with it is raised."""
    scheme, problems = checked(text)
    severe = [problem for problem in problems if problem.severe]
    if scheme is None or severe:
        first = severe[0]
        raise InputError(first.message, where=Notice("line", name=FILE, line=first.line))
    return scheme


def sketched(tree: Tree) -> Scheme | None:
    """A guideline that is being written, with dots for the words it lacks; None where more is missing."""
    try:
        return read_own(to_yaml(_with_dots(tree)))
    except InputError:
        return None


def _with_dots(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _with_dots(inner) for key, inner in part.items()}
    if isinstance(part, list):
        return [_with_dots(inner) for inner in part]
    return "…" if part == "" else part


def checked(text: str) -> tuple[Scheme | None, list[SchemeProblem]]:
    """The guideline in a text and all that is wrong with it, its name included."""
    if len(text) > LONGEST:
        return None, [SchemeProblem(1, "size", Notice("too-long-guideline"))]
    scheme, problems = check_scheme(text, FILE)
    if scheme is None:
        return None, problems
    return scheme, [*(SchemeProblem(1, "name", what) for what in _wrong_names(scheme)), *problems]


def _wrong_names(scheme: Scheme) -> Iterator[str]:
    """What is wrong with the names by which pages ask for a guideline."""
    if scheme.id in scheme_names():
        yield Notice("name-guideline-here-already", id=scheme.id)
    if not _SLUG.fullmatch(scheme.id):
        yield Notice("guidelines-short-name-small")
    if not _VERSION.fullmatch(scheme.version):
        yield Notice("version-letters-digits-dots")


def edited_from(name: str, campaign: str) -> str:
    """A shipped guideline as the text of one's own, under a name of its own."""
    if name not in scheme_names():
        raise InputError("no-guideline-called", hint="choose-one-list", name=name[:60])
    tree: Tree = msgspec.to_builtins(load_scheme(name), str_keys=True)
    tree.pop("compatible", None)
    return to_yaml({**tree, "scheme": f"{campaign[:40]}-{name}", "version": "1.0"})


def blank(campaign: str, language: str) -> str:
    """The beginning of a guideline in one language, about the turns of systems."""
    said = {language: ""}
    tree = {"scheme": f"{campaign[:40]}-guideline", "version": "1.0", "title": said, "summary": said}
    return to_yaml({**tree, "unit": {"role": "system", "context": "before"}, "questions": []})


def tree_of(text: str) -> Tree | None:
    """What stands in a file, right or wrong; None where that is no mapping."""
    if len(text) > LONGEST:
        return None
    try:
        tree = parse_yaml(text, FILE).data
    except InputError:
        return None
    return tree if isinstance(tree, dict) else None
