"""The arguments and options of all commands, by the parameter that each fills; `options.json` describes them."""

import inspect
from functools import cache, wraps
from importlib.resources import files
from typing import Annotated, Any

import msgspec
import typer

from lapsus.formats.remote import location


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an argument or option is written, and what it is for."""

    en: str
    ja: str
    name: str | None = None
    """How an option is written, such as `--out -o`; None: an argument."""
    value: str | None = None
    """What help shows in the place of what is given."""
    min: float | None = None
    max: float | None = None
    variable: str | None = None
    """The environment variable that is used where nothing is given."""
    remote: bool = False
    """A path that may also be an address, such as https:// or s3://."""

    def declared(self) -> Any:
        """The same for typer."""
        kind = typer.Argument() if self.name is None else typer.Option(*self.name.split())
        kind.help, kind.metavar, kind.min, kind.max = self.en, self.value, self.min, self.max
        kind.envvar, kind.show_envvar = self.variable, False
        kind.parser = location if self.remote else None
        return kind


def described(function: Any, places: tuple[str, ...]) -> Any:
    """A command that calls the function, each parameter with what the first of the places says of it."""

    @wraps(function)
    def command(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    described = parameters()
    signature = inspect.signature(function, eval_str=True)
    found = []
    for one in signature.parameters.values():
        about = next(described[place][one.name] for place in places if one.name in described.get(place, {}))
        found.append(one.replace(annotation=Annotated[one.annotation, about.declared()]))
    command.__signature__ = signature.replace(parameters=found)  # type: ignore[attr-defined]
    return command


@cache
def parameters() -> dict[str, dict[str, Parameter]]:
    """All that is described: by command, by group of commands, and `shared`, for all where these say nothing."""
    text = (files("lapsus.cli") / "options.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, dict[str, Parameter]])
