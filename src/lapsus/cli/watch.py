"""`lapsus watch`: logs that keep coming, with alarms that hold at any time one looks."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    LanguageModelOptions,
    asks_language_models,
    ending_gently,
)
from lapsus.cli.output import complain, in_words, print_json, say, warn
from lapsus.cli.shared_options import open_database
from lapsus.cli.stress import share_of
from lapsus.errors import InputError, UsageError

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.watching.watch import Watched

SECRET = "LAPSUS_WEBHOOK_SECRET"  # noqa: S105  the name of a variable


@asks_language_models("samples", "reasons")
def watch_command(
    data: Path,
    state: Path,
    judge: str | None = None,
    scheme: str = "breakdown",
    good: list[str] | None = None,
    campaign: str | None = None,
    sample: str = "2%",
    flagged: bool = True,
    doubt: float = 0.1,
    limit: str | None = None,
    window: float = 30.0,
    webhook: str | None = None,
    secret_env: str = SECRET,
    every: float = 60.0,
    once: bool = False,
    asking: LanguageModelOptions = NOTHING_SAID,
    only: str | None = None,
    lang: str | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Judge logs that keep coming, let people correct the judge, and raise alarms that hold whenever one looks."""
    from lapsus.watching.watch import Rules, watch
    from lapsus.watching.webhooks import Webhook

    stop = threading.Event()
    _may_send(judge, scheme, asking)
    rules = Rules(share_of(sample), flagged, doubt, None if limit is None else share_of(limit), window)
    with ExitStack() as opened:
        store = opened.enter_context(open_database(db)) if campaign is not None else None
        opened.enter_context(ending_gently(stop))
        hook = Webhook(webhook, os.environ.get(secret_env, ""), stop=stop) if webhook else None
        while True:
            try:
                found = watch(
                    data, state, judge=judge, scheme=scheme, good=good or (), rules=rules, store=store,
                    campaign=campaign, webhook=hook, language=lang, only=only, stop=stop, **asking.how,
                )  # fmt: skip
            except InputError as error:
                # A file may be in the middle of being written; the next pass reads it again.
                if once:
                    raise
                complain(error)
            else:
                _tell(found, as_json)
                if once:
                    raise typer.Exit(1 if found.alarms else 0)
            if stop.wait(every):
                return


def _may_send(judge: str | None, scheme: str, asking: LanguageModelOptions) -> None:
    """Nobody sits by a watch to be asked: texts go to another machine only where it was said beforehand."""
    from lapsus.annotators.library import find_annotator, is_language_model, refuse_asking

    if judge is None or not is_language_model(judge):
        refuse_asking({**asking.how, "yes": asking.yes})
        return
    where = cast("LanguageModel", find_annotator(judge, scheme, **asking.how)).service.where
    if not where.is_local and not asking.yes:
        raise UsageError("watch-may-not-send", hint="watch-yes-says", host=where.host)


def _tell(found: Watched, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    say("watch-judged", new=found.new, judged=found.judged, errors=found.errors)
    say("watch-people", to_people=found.to_people, answered=found.answered)
    if found.share is None or found.interval is None:
        say("watch-nothing-yet")
    else:
        low, high = found.interval
        say("watch-share", share=found.share, low=low, high=high, window=found.window + 1)
    for alarm in found.alarms:
        id = {"limit": "watch-alarm-limit", "drift": "watch-alarm-drift"}[alarm.kind]
        warn(in_words(id, low=alarm.low, high=alarm.high))
    for trouble in found.unsent:
        warn("watch-unsent", trouble=trouble)
