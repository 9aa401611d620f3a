"""What commands that ask language models share: the options, leave to send, a gentle end, the report."""

from __future__ import annotations

import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import typer

from lapsus.cli.output import in_words, progress, remark, warn
from lapsus.errors import UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.annotators.detection import Waiting
    from lapsus.annotators.language_model import LanguageModel

KEY = "LAPSUS_API_KEY"
SHOWN = 20
"""How many units that could not be judged are named one by one."""

_OPTIONS: dict[str, Any] = {
    "endpoint": str, "key_env": str, "examples": int, "samples": int, "temperature": float, "seed": int,
    "max_tokens": int, "budget": int, "prices": Path, "aligned": Path, "parallel": int, "timeout": float,
    "yes": bool, "plain_http": bool, "reasons": bool, "prompt_words": str,
}  # fmt: skip
"""What may be said on how a language model is asked, and of which type it is."""


class LanguageModelOptions(NamedTuple):
    """How a language model is asked, as given on the command line."""

    how: dict[str, Any]
    """What was said, by the names that `lapsus.detect` takes."""
    yes: bool = False


NOTHING_SAID = LanguageModelOptions({})


def asks_language_models(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that takes `asking`: on the command line there are the options of that record in its place.

    `without` are those that mean nothing to the command.
    """
    options = {name: kind for name, kind in _OPTIONS.items() if name not in without}

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> None:
            said = {name: given.pop(name) for name in options if name in given}
            yes = said.pop("yes", False)
            said["words"] = said.pop("prompt_words", None)
            how = {name: value for name, value in said.items() if value is not None and value is not False}
            command(*arguments, **given, asking=LanguageModelOptions(how, yes))

        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(command, eval_str=True).parameters.values():
            if one.name != "asking":
                parameters.append(one.replace(kind=one.KEYWORD_ONLY))
                continue
            for name, kind in options.items():
                kind, usual = (bool, False) if kind is bool else (kind | None, None)
                parameters.append(inspect.Parameter(name, one.KEYWORD_ONLY, annotation=kind, default=usual))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


class Asking:
    """A command that may ask language models: leave beforehand, a gentle end, and a word afterwards."""

    def __init__(self, options: LanguageModelOptions, judges: Sequence[str] | None) -> None:
        """Complains of options that mean nothing to the judges."""
        from lapsus.annotators.library import is_language_model, refuse_asking

        if not any(map(is_language_model, judges or ())):
            refuse_asking({**options.how, "yes": options.yes})
        self.options = options
        self.stop = threading.Event()
        self.waiting: list[Waiting] = []
        """Who is asked, once leave was given."""
        self._open = ExitStack()
        self._step: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def step(self) -> None:
        """One more is done."""
        self._step()

    def leave(self, waiting: Sequence[Waiting]) -> None:
        """Say what is asked of whom, to another machine only with leave; then wait for Ctrl-C and show progress."""
        for one in waiting:
            _tell_known(one)
        self._may_send([one for one in waiting if one.units])
        self.waiting += waiting
        if waiting:
            self._open.enter_context(ending_gently(self.stop))
        units = sum(one.units for one in waiting)
        self._step = self._open.enter_context(progress("units", units) if waiting else progress("documents"))

    def _may_send(self, waiting: Sequence[Waiting]) -> None:
        away = False
        for one in waiting:
            where, samples = one.model.service.where, one.model.sampling.samples
            times = Notice("times-each", samples=samples) if samples > 1 else ""
            sent = Notice("units-their-context-go", units=one.units, times=times, host=where.host)
            if where.is_local:
                remark("machine", sent=sent)
            else:
                remark(
                    "another-machine",
                    sent=sent,
                    value="" if where.is_encrypted else Notice("and-unencrypted"),
                )
                away = True
            _tell_expected(one)
        if not away or self.options.yes:
            return
        try:
            may = typer.confirm(in_words("send"), err=True)
        except typer.Abort:
            if self.options.how.get("budget"):
                return
            raise UsageError("nobody-said-may-sent", hint="yes-says") from None
        if not may:
            raise typer.Exit(1)

    def tell(self) -> None:
        """How it went with each model, for people."""
        self._open.close()
        for one in self.waiting:
            _tell(one.model)

    def tell_kept(self) -> None:
        """Where the answers are, and what for."""
        for one in self.waiting:
            if one.kept is None or not one.units or not (known := len(one.kept.judgments)):
                continue
            who, path = one.model.name, one.kept.path
            if known == one.units + one.known:
                remark("answers-kept-next-check", known=known, who=who, path=path)
            else:
                remark("answers-kept-same-command", known=known, who=who, path=path)

    def finish(self) -> None:
        """End with an error where anything is left unjudged."""
        for one in self.waiting:
            if one.model.ended is not None:
                raise one.model.ended
        if self.stop.is_set():
            remark("stopped-same-command-goes")
        if self.stop.is_set() or any(one.model.refused for one in self.waiting):
            raise typer.Exit(1)


def _tell_known(one: Waiting) -> None:
    if one.kept is not None and one.kept.path.exists():
        remark("holds-answers-about-data", path=one.kept.path, known=one.known, units=one.units)
    if one.without_votes and (target := one.model.scheme.target) is not None:
        remark("documents-hold-no-votes-under", without_votes=one.without_votes, scheme=target.scheme)


def _tell_expected(one: Waiting) -> None:
    """About how many tokens, how long, and what it costs; whether that is known."""
    if (expected := one.expected) is None:
        return
    prompt, completion, seconds = expected
    if one.model.batch:
        remark("expected-batch", prompt=prompt, completion=completion)
    else:
        remark("expected-tokens", prompt=prompt, completion=completion, minutes=max(1, round(seconds / 60)))
    if one.model.price is not None:
        price = one.model.price.in_batches if one.model.batch else one.model.price
        amount = price.of(prompt, completion)
        remark("expected-cost", amount=amount, currency=price.currency, date=price.date)
    elif not one.model.service.where.is_local:
        remark("price-unknown", name=one.model.name)


def _tell(model: LanguageModel) -> None:
    for unit, reason in model.refused[:SHOWN]:
        place = Notice("document", document=unit.document) + (
            f", segment {unit.segment!r}" if unit.segment else ""
        )
        warn(f"{place}: {reason}")
    if len(model.refused) > SHOWN:
        warn("more-could-not-judged", count=len(model.refused) - SHOWN)
    if model.dropped:
        remark("does-not-take-asked", name=model.name, dropped=", ".join(model.dropped))
    if model.form in ("json_object", "text"):
        remark("server-does-not-take", form=model.form)
    if total := model.tokens.total():
        remark("tokens", tokens=model.tokens["prompt"], tokens2=model.tokens["completion"], total=total)
    if (paid := model.cost) is not None and total:
        remark("cost", amount=paid["amount"], currency=paid["currency"], date=paid["prices"])


def facts(model: LanguageModel) -> dict[str, Any]:
    """How it went, for another program."""
    refused = [{**one.unit._asdict(), "reason": one.reason} for one in model.refused]
    paid = {} if model.cost is None else {"cost": model.cost}
    return {"form": model.form, "tokens": dict(model.tokens), **paid, "refused": refused}


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
