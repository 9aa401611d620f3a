"""`lapsus watch`: logs that keep coming, with alarms that hold at any time; `lapsus stress`: planted errors."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
    ending_gently,
)
from lapsus.cli.output import complain, in_words, print_json, reader_language, remark, say, warn
from lapsus.cli.shared_options import open_database
from lapsus.errors import InputError, UsageError

if TYPE_CHECKING:
    from lapsus.annotators.detection import Waiting
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


def share_of(text: str) -> float:
    """80%, 80 or .8 as a share."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise UsageError("stress-no-share", text=text) from None
    share = number / 100 if text.strip().endswith("%") or number > 1 else number
    if not 0 <= share <= 1:
        raise UsageError("stress-no-share", text=text)
    return share


@asks_language_models("samples", "reasons")
def stress_command(
    data: list[Path],
    judge: list[str],
    scheme: str = "breakdown",
    planter: str | None = None,
    each: int = 30,
    good: list[str] | None = None,
    jury: bool = False,
    draw: int = 0,
    least: str | None = None,
    most: str | None = None,
    html: Path | None = None,
    campaign: str | None = None,
    db: str | None = None,
    profile: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    as_json: bool = False,
) -> None:
    """Plant errors in good turns and tell which of them a judge finds, by type, with false alarms."""
    from lapsus.formats.sink import put_in_place
    from lapsus.mutation.stress import stress
    from lapsus.store.audit import STRESSED

    bounds = [None if one is None else share_of(one) for one in (least, most)]
    asked = [*judge, *([planter] if planter else [])]
    with Asking(asking, asked) as planting, Asking(asking, asked) as talk:

        def leave(waiting: list[Waiting]) -> None:
            planting.tell()
            talk.leave(waiting)

        found = stress(
            data,
            judge,
            scheme=scheme,
            planter=planter,
            each=each,
            good=good or (),
            jury=jury,
            draw=draw,
            only=only,
            language=lang,
            profile=profile,
            stop=talk.stop,
            leave=leave,
            leave_planter=planting.leave,
            progress=talk.step,
            **asking.how,
        )
    if campaign is not None:
        with open_database(db) as store:
            store.audit.add(campaign, STRESSED, *found.notes())
    if html is not None:
        with put_in_place(html, overwrite=True) as draft:
            draft.write_text(found.report(reader_language()).to_html(), encoding="utf-8")
    if as_json:
        print_json(found)
    else:
        talk.tell()
        typer.echo(found.table(reader_language()).to_text())
        for one in found.judges:
            if one.unanswered:
                warn("stress-unanswered", judge=one.judge, count=one.unanswered)
        if html is not None:
            say("stress-page", to=html)
        elif any(one.misses for one in found.judges):
            remark("stress-look-at-misses")
    broken = found.below(bounds[0] or 0.0, bounds[1], reader_language())
    for line in broken:
        warn(in_words(line))
    talk.finish()
    if broken:
        raise typer.Exit(1)
