"""Where schemes come from: our own four, those of other packages, and files of a team's own."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from lapsus.errors import InputError, UsageError
from lapsus.model import Scheme
from lapsus.registry import did_you_mean
from lapsus.schemes.check import check_scheme

OWN = ("breakdown", "error-types", "response-quality", "semantic-errors")
GROUP = "lapsus.schemes"
"""Entry points of this group name a package that holds `<scheme>.yaml`."""


def scheme_names() -> list[str]:
    """Every scheme that can be asked for by name."""
    return [*OWN, *sorted({point.name for point in entry_points(group=GROUP)} - set(OWN))]


def load_scheme(name: str) -> Scheme:
    """A scheme by its name, or from a file where `name` is a path to one."""
    if name.endswith((".yaml", ".yml")):
        return read_scheme(Path(name))
    return _load_named(name)


def read_scheme(path: Path | Traversable) -> Scheme:
    """A scheme from a file; the first of its errors is raised where it has any."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from error
    scheme, problems = check_scheme(text, path.name)
    errors = [problem for problem in problems if problem.severe]
    if scheme is None or errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        raise InputError(
            f"{errors[0].message}{more}",
            where=f"{path.name}, line {errors[0].line}",
            hint=f"`lapsus scheme check {path.name}` lists all",
        )
    return scheme


@cache
def _load_named(name: str) -> Scheme:
    if name in OWN:
        return read_scheme(files("lapsus.schemes") / "data" / f"{name}.yaml")
    for point in entry_points(group=GROUP):
        if point.name == name:
            return read_scheme(files(point.module) / f"{name}.yaml")
    raise UsageError(f"no scheme is called {name!r}", hint=did_you_mean(name, scheme_names()))
