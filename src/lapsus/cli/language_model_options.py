"""What commands that ask language models share: the options, leave to send, a gentle end, the report."""

from __future__ import annotations

import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lapsus.cli.output import in_words, remark, warn
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine
    from lapsus.annotators.language_model import Endpoint, LanguageModel
    from lapsus.model import Scheme

PREFIX = "openai:"
KEY = "LAPSUS_API_KEY"
SHOWN = 20
"""How many units that could not be judged are named one by one."""

JudgesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        help="A model's file, a method or openai:MODEL; several are a jury; else the model shipped for the language.",
        metavar="MODEL",
    ),
]
EndpointOption = Annotated[
    str | None,
    typer.Option(
        "--endpoint", help="Language models: the server, e.g. http://127.0.0.1:8080/v1.", metavar="URL"
    ),
]
KeyEnvOption = Annotated[
    str | None,
    typer.Option("--key-env", help=f"Environment variable with the API key, if not {KEY}.", metavar="NAME"),
]
ExamplesOption = Annotated[
    int | None,
    typer.Option(
        "--examples", help="At most so many examples of each kind in the prompt.", min=0, metavar="N"
    ),
]
SamplesOption = Annotated[
    int | None,
    typer.Option("--samples", help="Ask so often, for a distribution over labels.", min=1, metavar="K"),
]
TemperatureOption = Annotated[
    float | None,
    typer.Option("--temperature", help="0 by default, 1 with several samples.", min=0.0, metavar="T"),
]
SamplingSeed = Annotated[
    int | None, typer.Option("--seed", help="Seed that the server is asked to draw with.", min=0, metavar="N")
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option("--max-tokens", help="How many tokens an answer may have.", min=1, metavar="N"),
]
ParallelOption = Annotated[
    int | None,
    typer.Option("--parallel", help="Requests under way at once; 4 by default.", min=1, metavar="N"),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds that a request may take; 120 by default.", min=1.0, metavar="S"),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Send to another machine without being asked.")]
PlainHttpOption = Annotated[
    bool, typer.Option("--plain-http", help="Send the key to another machine unencrypted.")
]
ReasonsOption = Annotated[
    bool, typer.Option("--reasons", help="Language models: ask why, and keep it with each judgment.")
]


class LanguageModelOptions(NamedTuple):
    """How a language model is asked, as given on the command line; None and False where nothing was said."""

    endpoint: str | None = None
    language: str | None = None
    key_env: str | None = None
    examples: int | None = None
    samples: int | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    parallel: int | None = None
    timeout: float | None = None
    yes: bool = False
    plain_http: bool = False
    reasons: bool = False

    def refuse_any(self) -> None:
        """Complain where something was said that means nothing to a detector."""
        for name, value in self._asdict().items():
            if value is not None and value is not False:
                option = "the prompt's language" if name == "language" else f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} is for language models", hint=f"--with {PREFIX}MODEL")


def several(judges: list[str] | None, asking: LanguageModelOptions) -> list[str]:
    """The judges that --with names, each once; complains of options that mean nothing to them."""
    names = list(dict.fromkeys(judges or ()))
    if len(names) < len(judges or ()):
        raise UsageError("a judge is named twice", hint="a jury has different members")
    if not any(name.startswith(PREFIX) for name in names):
        asking.refuse_any()
    return names


NOTHING_SAID = LanguageModelOptions()
_OPTIONS: dict[str, Any] = {
    "endpoint": EndpointOption,
    "key_env": KeyEnvOption,
    "examples": ExamplesOption,
    "samples": SamplesOption,
    "temperature": TemperatureOption,
    "seed": SamplingSeed,
    "max_tokens": MaxTokensOption,
    "parallel": ParallelOption,
    "timeout": TimeoutOption,
    "yes": YesOption,
    "plain_http": PlainHttpOption,
    "reasons": ReasonsOption,
}


def asks_language_models(
    language: str | None = None, without: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that takes `asking`: on the command line there are the options of that record in its place.

    `language` is what the option for the prompt's language is called, where there is one; `without` are those that
    mean nothing to the command.
    """
    options = dict(_OPTIONS)
    if language is not None:
        told = typer.Option(
            language, help="Language of the prompt; the document's by default.", metavar="LANG"
        )
        options["language"] = Annotated[str | None, told]
    fields = LanguageModelOptions._fields
    taken = {name: options[name] for name in fields if name in options and name not in without}

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> None:
            asked = {name: given.pop(name) for name in taken if name in given}
            command(*arguments, **given, asking=LanguageModelOptions(**asked))

        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(command, eval_str=True).parameters.values():
            if one.name != "asking":
                parameters.append(one.replace(kind=one.KEYWORD_ONLY))
                continue
            for name, option in taken.items():
                usual = NOTHING_SAID._asdict()[name]
                parameters.append(inspect.Parameter(name, one.KEYWORD_ONLY, annotation=option, default=usual))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


def make_language_model(
    name: str,
    scheme: Scheme,
    asking: LanguageModelOptions,
    stop: threading.Event,
    engine: Engine | None = None,
) -> LanguageModel:
    """The model of that name, ready to be asked, from here or from wherever an engine is. Nothing is sent yet."""
    from lapsus.annotators.bulk.ray_engine import OnRay
    from lapsus.annotators.language_model import LanguageModel, Sampling, Service

    where = _endpoint(asking)
    key = _key(asking, where)
    service = Service(where, key, timeout=asking.timeout or 120.0, stop=stop)
    if not (model := name.removeprefix(PREFIX)):
        raise UsageError("the model has no name", where=name, hint=f"{PREFIX}MODEL, as the server calls it")
    sampling = Sampling(asking.samples or 1, asking.temperature, asking.seed, asking.max_tokens)
    if isinstance(engine, OnRay):
        from lapsus.annotators.bulk.asking import Asked, ClusterLanguageModel

        asked = Asked(
            model,
            where.url,
            scheme,
            (asking.key_env or KEY) if key else None,
            asking.timeout or 120.0,
            asking.language,
            asking.examples,
            sampling,
            asking.parallel or 4,
            asking.reasons,
        )
        return ClusterLanguageModel(asked, service, engine)
    return LanguageModel(
        model,
        service,
        scheme,
        language=asking.language,
        examples=asking.examples,
        sampling=sampling,
        parallel=asking.parallel or 4,
        reasons=asking.reasons,
    )


def _endpoint(asking: LanguageModelOptions) -> Endpoint:
    from lapsus.annotators.language_model import endpoint

    if asking.endpoint is None:
        raise UsageError("which server?", hint="--endpoint URL, e.g. http://127.0.0.1:8080/v1")
    return endpoint(asking.endpoint)


def _key(asking: LanguageModelOptions, where: Endpoint) -> str | None:
    """The key, from the environment only. What stands after --key-env is not repeated: it may be a key by mistake."""
    key = os.environ.get(asking.key_env or KEY)
    if asking.key_env and not key:
        raise UsageError("the environment variable that --key-env names is not set")
    if key and not (where.is_local or where.is_encrypted or asking.plain_http):
        raise UsageError(
            "the key would be sent unencrypted", where=where.host, hint="use https, or say --plain-http"
        )
    return key


def ask_leave(asking: LanguageModelOptions, units: int) -> None:
    """Say what goes where; to another machine only with leave."""
    where = _endpoint(asking)
    times = f", {asking.samples} times each" if (asking.samples or 1) > 1 else ""
    sent = f"{units:,} units{times}, with their context, go to {where.host}"
    if where.is_local:
        remark(f"{sent} (this machine)")
        return
    remark(f"{sent}, another machine{'' if where.is_encrypted else ', unencrypted'}")
    if asking.yes:
        return
    try:
        may = typer.confirm(in_words("send them?"), err=True)
    except typer.Abort:
        raise UsageError("nobody said that it may be sent", hint="--yes says so") from None
    if not may:
        raise typer.Exit(1)


@contextmanager
def ending_gently(stop: threading.Event) -> Iterator[None]:
    """The first Ctrl-C lets what was sent come back and be kept; the second ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def first(*_: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)
        # Straight to the terminal: the usual ways may be in the middle of something.
        os.write(2, b"\nwaiting for the answers under way; Ctrl-C again ends at once\n")

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def facts(model: LanguageModel) -> dict[str, Any]:
    """How it went, for another program."""
    refused = [{**one.unit._asdict(), "reason": one.reason} for one in model.refused]
    return {"form": model.form, "tokens": dict(model.tokens), "refused": refused}


def tell(model: LanguageModel) -> None:
    """How it went, for people."""
    for unit, reason in model.refused[:SHOWN]:
        place = f"document {unit.document!r}" + (f", segment {unit.segment!r}" if unit.segment else "")
        warn(f"{place}: {reason}")
    if len(model.refused) > SHOWN:
        warn(f"and {len(model.refused) - SHOWN:,} more could not be judged")
    if model.form in ("json_object", "text"):
        remark(f"the server does not take a JSON schema; answers were asked for as {model.form}")
    if total := model.tokens.total():
        remark(f"{model.tokens['prompt']:,} + {model.tokens['completion']:,} = {total:,} tokens")


def finish(model: LanguageModel, stop: threading.Event) -> None:
    """End with an error where anything is left unjudged."""
    if model.ended is not None:
        raise model.ended
    if stop.is_set():
        remark("stopped; the same command goes on from here")
    if stop.is_set() or model.refused:
        raise typer.Exit(1)
