"""Where schemes come from: our own, those of other packages, and files of a team's own."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeAlias

from lapsus.errors import InputError, UsageError
from lapsus.model import Scheme
from lapsus.model.frozen import EMPTY
from lapsus.notices import Notice
from lapsus.registry import did_you_mean, points_of
from lapsus.schemes.scheme_check import check_scheme
from lapsus.text_files import read_text

OWN = ("breakdown", "error-types", "response-quality", "semantic-errors", "preference")
GROUP = "lapsus.schemes"
"""Entry points of this group name a package that holds `<scheme>.yaml`."""
AnyScheme: TypeAlias = Scheme | Path | str
"""How a guideline is asked for: itself, its file or its name."""
_GIVEN: ContextVar[Mapping[str, Scheme]] = ContextVar("given schemes", default=EMPTY)


def scheme_names() -> list[str]:
    """Every scheme that can be asked for by name."""
    return [*OWN, *sorted(points_of(GROUP).keys() - set(OWN))]


def load_scheme(name: AnyScheme) -> Scheme:
    """A scheme by its name, or from a file where `name` is a path to one; one that is loaded already as it is."""
    if isinstance(name, Scheme):
        return name
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")):
        return read_scheme(Path(name))
    return _load_named(name)


def read_scheme(path: Path | Traversable) -> Scheme:
    """A scheme from a file; the first of its errors is raised where it has any."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("cannot-read", where=str(path), error=error) from error
    scheme, problems = check_scheme(text, path.name)
    errors = [problem for problem in problems if problem.severe]
    if scheme is None or errors:
        first, others = errors[0].message, len(errors) - 1
        raise InputError(
            Notice("text-and-more", text=first, count=others) if others else first,
            where=Notice("line", name=path.name, line=errors[0].line),
            hint="lapsus-scheme-check-lists",
            name=path.name,
        )
    return scheme


def known_scheme(name: str) -> Scheme | None:
    """The guideline that judgments name: given with them (`given_schemes`) or installed; None where it is neither."""
    return _GIVEN.get().get(name) or _installed(name)


@contextmanager
def given_schemes(schemes: Iterable[Scheme]) -> Iterator[None]:
    """While this lasts, judgments are understood by these guidelines, such as a campaign's own, before installed."""
    before = _GIVEN.set({**_GIVEN.get(), **{scheme.id: scheme for scheme in schemes}})
    try:
        yield
    finally:
        _GIVEN.reset(before)


@cache
def _installed(name: str) -> Scheme | None:
    return load_scheme(name) if name in scheme_names() else None


@cache
def _load_named(name: str) -> Scheme:
    if name in OWN:
        return read_scheme(files("lapsus.schemes") / "data" / f"{name}.yaml")
    if point := points_of(GROUP).get(name):
        return read_scheme(files(point.module) / f"{name}.yaml")
    raise UsageError("no-scheme-called", hint=did_you_mean(name, scheme_names()), name=name)
