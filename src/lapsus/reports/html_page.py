"""Pages that stand alone: one HTML file with its own style, nothing loaded from anywhere, no script but our own.

A page is a template of its own room that extends `base.html`. Text of strangers goes through `plain`: what is not
text but a command to a terminal or to the direction of writing is shown as a sign.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import regex
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_UNSHOWN = regex.compile(r"[\p{Cc}\p{Cs}\p{Bidi_Control}--[\n\t]]", regex.V1)
_SIGN = "\ufffd"
LONGEST = 600
"""Characters of a text that are shown."""


def page(package: str, template: str, language: str, **values: Any) -> str:
    """A page as one text that can be kept in a file."""
    style = (files("lapsus.reports") / "templates" / "page.css").read_text(encoding="utf-8")
    return (
        _environment(package).get_template(template).render(language=language, style=Markup(style), **values)  # noqa: S704  our own file
    )


def plain(text: str, limit: int = LONGEST) -> str:
    """A text without signs that do something, cut where it is long."""
    shown = text if len(text) <= limit else f"{text[:limit]}…"
    return _UNSHOWN.sub(_SIGN, shown)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("lapsus.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = plain
    return environment
