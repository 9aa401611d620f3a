"""Commands of `lapsus campaign` that are about people, programs that judge, and judgments that were given elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from lapsus.cli.convert import tell_reading
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
    facts,
)
from lapsus.cli.output import print_json, progress, reader_language, remark, say
from lapsus.cli.result_tables import announce
from lapsus.cli.shared_options import open_database
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.notices import Notice
from lapsus.registry import did_you_mean

if TYPE_CHECKING:
    from lapsus.analysis.validating import Validation
    from lapsus.annotators import Annotator
    from lapsus.annotators.detection import Waiting
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.formats import EntryStream
    from lapsus.model import Entry, Scheme, Unit
    from lapsus.store import Store


def invite_command(
    name: str,
    anybody: bool = False,
    days: float = 14,
    platform: str | None = None,
    at: str = "",
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Make a link by which people join a campaign."""
    from lapsus.store.arrivals import PLACEHOLDERS

    if platform is not None and platform not in PLACEHOLDERS:
        raise UsageError(
            "no-platform-called", hint=did_you_mean(platform, list(PLACEHOLDERS)), platform=platform
        )
    with open_database(db) as store:
        token = store.access.invite(campaign=name, uses=None if anybody else 1, days=days)
    query = f"?{PLACEHOLDERS[platform]}" if platform else ""
    link = f"{at.rstrip('/')}/join/{token}{query}"
    if as_json:
        print_json({"link": link})
        return
    typer.echo(link)
    if not at:
        remark("invitation-before")


def _person(store: Store, name: str) -> int:
    return store.people.named(name).id


def release_command(name: str, person: str, db: str | None = None) -> None:
    """Return to the pool what somebody holds and has not judged."""
    with open_database(db) as store:
        units = store.assignment.give_back(_person(store, person), name)
    say("gave-back-units", person=person, units=units)


def stop_command(name: str, person: str, db: str | None = None) -> None:
    """Give somebody nothing more. What is held goes back; what was judged stays."""
    with open_database(db) as store:
        units = store.members.stop(name, _person(store, person))
    say("gets-nothing-more-units", person=person, units=units)


def resume_command(name: str, person: str, db: str | None = None) -> None:
    """Let somebody go on who was stopped."""
    with open_database(db) as store:
        store.members.resume(name, _person(store, person))
    say("may-go", person=person)


def message_command(name: str, text: str, to: str | None = None, db: str | None = None) -> None:
    """Leave a message that people see on their next page."""
    with open_database(db) as store:
        store.messages.send(name, text, person=None if to is None else _person(store, to))
    say("message-waits", target=to or Notice("everybody"))


@asks_language_models()
def annotate_command(
    name: str,
    judge: str,
    called: str | None = None,
    profile: str | None = None,
    reader: str | None = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Let a detector or a language model judge a campaign's documents. Ended midway and begun again, it goes on."""
    from lapsus.annotators import as_usual, find_annotator
    from lapsus.annotators.library import is_language_model
    from lapsus.campaign_stats.program_work import judge_campaign, must_go_on

    with open_database(db) as store, Asking(asking, [judge]) as talk:
        is_asked = is_language_model(judge)
        if is_asked and profile is not None:
            raise UsageError("language-model-no-profiles", hint="leave-profile-out")
        scheme = store.campaigns.scheme(name) if is_asked else None
        annotator = find_annotator(judge, scheme, stop=talk.stop, **asking.how)
        annotator = annotator if reader is None else annotator.read_by(reader)
        as_name = called or annotator.name
        if is_asked:
            known = _known(store, as_name)
            must_go_on(store, name, known, as_name, annotator)
            total = store.programs.count_units(name, known)
            talk.leave([_waiting(annotator, total, store.programs.units_for(name, known))])
        else:
            annotator = as_usual(annotator) if profile is None else annotator.under(profile)
            try:
                annotator.must_judge_under(store.campaigns.scheme(name))
            except UsageError as error:
                raise error.at(Notice("campaign", campaign=name)) from None
            talk.leave([])
            total = store.programs.count_documents(name, _known(store, as_name))
        program = store.programs.add(as_name)
        judged = judge_campaign(store, name, program, annotator, stop=talk.stop, progress=talk.step)
    _tell_judged(talk, name, program.name, total, judged, as_json)
    talk.finish()


def _waiting(annotator: Annotator, total: int, units: Iterable[Unit]) -> Waiting:
    from lapsus.annotators.detection import Waiting

    model = cast("LanguageModel", annotator)
    return Waiting(model, total, 0, None, expected=model.expects(units))


def _tell_judged(talk: Asking, name: str, program: str, total: int, judged: int, as_json: bool) -> None:
    asked = talk.waiting[0].model if talk.waiting else None
    if as_json:
        of, more = ("documents", {}) if asked is None else ("units", facts(asked))
        print_json({"program": program, of: total, "judgments": judged, **more})
        return
    talk.tell()
    if asked is None:
        say("judged-units-documents", program=program, judged=judged, total=total, name=name)
    else:
        said, left = (
            Notice("judged-units", program=program, judged=judged, total=total, name=name),
            len(asked.refused),
        )
        say(Notice("could-not-judged", said=said, left=left) if left else said)
        if not talk.stop.is_set() and (meanwhile := total - judged - left) > 0:
            remark("judged-under-same-name", meanwhile=meanwhile)
    remark("answers-stand-beside-those")


def _known(store: Store, name: str) -> int:
    """The program of that name; a number of nobody where there is none yet, so that a "no" leaves nothing behind."""
    try:
        found = store.people.named(name)
    except LapsusError:
        return -1
    if not found.program:
        raise UsageError("person", hint="give-program-name", name=name)
    return found.id


def import_command(
    name: str,
    data: list[Path],
    from_format: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    drop_broken: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Bring judged documents in as judgments of a campaign, all or nothing. What is there already stays."""
    from lapsus.analysis.validating import validate_reading
    from lapsus.formats import read
    from lapsus.schemes import given_schemes

    reading = read(data, from_format, only=only, language=lang)
    announce(reading)
    with open_database(db) as store:
        scheme = store.campaigns.scheme(name)
        found = validate_reading(reading, scheme)
        if found.broken and not drop_broken:
            raise _refusal(found, reading.source.shown)
        with progress("documents", reading.documents) as step, given_schemes([scheme]):
            done = store.imports.add_judgments(name, _entries(reading, scheme, step, drop_broken=drop_broken))
    broken = len(found.broken)
    if as_json:
        print_json(
            {"name": name, "documents": done.documents, "judgments": done.judgments, "known": done.known,
             "people": done.people, "broken": broken, "passed_over": done.passed_over}
        )  # fmt: skip
        return
    tell_reading(reading)
    for other, count in done.passed_over.items():
        remark("judgments-under-not-part", count=count, other=other)
    if broken:
        remark("judgments-break-guideline-left-out", broken=broken)
    say(
        "judgments-new-people-new",
        name=name,
        judgments=done.judgments,
        people=done.people,
        documents=done.documents,
        known=done.known,
    )


def _refusal(found: Validation, where: str) -> InputError:
    first = found.problems(reader_language())[0]
    return InputError(
        "judgments-break-guideline-first",
        where=where,
        hint="lapsus-validate-lists-drop-broken",
        count=len(found.broken),
        judgments=found.judgments,
        first=first["document"],
        first2=first["message"],
    )


def _entries(
    reading: EntryStream, scheme: Scheme, step: Callable[[], None], *, drop_broken: bool
) -> Iterator[Entry]:
    from lapsus.model import Entry
    from lapsus.schemes.answer_rules import Checker

    checker = Checker([scheme])
    for entry in reading:
        kept = entry.judgments
        if drop_broken:
            kept = tuple(j for j in kept if j.scheme != scheme.id or not checker.broken(j, entry.document))
        step()
        yield Entry(entry.id, entry.document, kept)
