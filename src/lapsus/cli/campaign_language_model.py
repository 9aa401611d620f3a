"""`lapsus campaign annotate` with a language model."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from lapsus.cli.language_model_options import (
    LanguageModelOptions,
    ask_leave,
    ending_gently,
    facts,
    finish,
    make_language_model,
    tell,
)
from lapsus.cli.output import counted, print_json, progress, remark, say
from lapsus.errors import LapsusError, UsageError
from lapsus.model import Entry

if TYPE_CHECKING:
    from lapsus.store import Store

AT_A_TIME = 10
"""Judgments that are committed together: few, since each took its time."""


def ask_about_campaign(
    store: Store, campaign: str, name: str, called: str | None, asking: LanguageModelOptions, *, as_json: bool
) -> None:
    """Have a language model judge the open units of a campaign that it has not judged."""
    stop = threading.Event()
    model = make_language_model(name, store.campaigns.scheme(campaign), asking, stop)
    as_name = called or model.name
    known = _known(store, as_name)
    before = store.programs.metadata_of(campaign, known)
    if before is not None and (others := model.differences(before)):
        raise UsageError(
            f"{as_name!r} has judged here with another {', '.join(others)}",
            where=f"campaign {campaign!r}",
            hint="go on with the same options, or give it another name with --as",
        )
    if waiting := store.programs.count_units(campaign, known):
        ask_leave(asking, waiting)
    program, judged = store.programs.add(as_name), 0
    with ending_gently(stop), progress("units", waiting) as step:
        judgments = model.judge_units(store.programs.units_for(campaign, program.id))
        entries = (Entry(judgment.document, None, (judgment,)) for judgment in counted(judgments, step))
        for kept in store.programs.add_judgments(campaign, program, entries, at_a_time=AT_A_TIME, once=True):
            judged += kept
    if as_json:
        print_json({"program": program.name, "units": waiting, "judgments": judged, **facts(model)})
    else:
        tell(model)
        said = f"{program.name} judged {judged:,} of {waiting:,} units of {campaign}"
        left = len(model.refused)
        say(f"{said}; {left:,} could not be judged" if left else said)
        if not stop.is_set() and (meanwhile := waiting - judged - len(model.refused)) > 0:
            remark(f"{meanwhile:,} were judged under the same name meanwhile, and stand")
        remark("its answers stand beside those of people; a plan with `suggest` shows them")
    finish(model, stop)


def _known(store: Store, name: str) -> int:
    """The program of that name; a number of nobody where there is none yet, so that a "no" leaves nothing behind."""
    try:
        found = store.people.named(name)
    except LapsusError:
        return -1
    if not found.program:
        raise UsageError(f"{name!r} is a person", hint="give the program a name with --as")
    return found.id
