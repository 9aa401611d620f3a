"""Commands of `lapsus campaign` that are about people, and programs that judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.campaign_language_model import ask_about_campaign
from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.detect import ProfileOption
from lapsus.cli.language_model_options import NOTHING_SAID, PREFIX, LanguageModelOptions, asks_language_models
from lapsus.cli.output import JsonOption, counted, print_json, progress, remark, say
from lapsus.errors import UsageError
from lapsus.registry import did_you_mean

if TYPE_CHECKING:
    from lapsus.store import Store

CampaignArgument = Annotated[str, typer.Argument(help="Name of the campaign.", metavar="NAME")]
PersonArgument = Annotated[str, typer.Argument(help="Name of the person.", metavar="PERSON")]


def invite_command(
    name: CampaignArgument,
    anybody: Annotated[
        bool, typer.Option("--any", help="A link for any number of people (who: open), not for one.")
    ] = False,
    days: Annotated[float, typer.Option("--days", help="How long the link holds.", metavar="N")] = 14,
    platform: Annotated[
        str | None,
        typer.Option("--for", help="Carry the ids of a platform: prolific or mturk.", metavar="PLATFORM"),
    ] = None,
    at: Annotated[
        str, typer.Option("--at", help="Address of the workbench, to print the whole link.", metavar="URL")
    ] = "",
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a link by which people join a campaign."""
    from lapsus.store.platform_arrivals import PLACEHOLDERS

    if platform is not None and platform not in PLACEHOLDERS:
        raise UsageError(
            f"no platform is called {platform!r}", hint=did_you_mean(platform, list(PLACEHOLDERS))
        )
    with open_database(db) as store:
        token = store.access.invite(campaign=name, uses=None if anybody else 1, days=days)
    query = f"?{PLACEHOLDERS[platform]}" if platform else ""
    link = f"{at.rstrip('/')}/join/{token}{query}"
    print_json({"link": link}) if as_json else typer.echo(link)


def _person(store: Store, name: str) -> int:
    return store.people.named(name).id


def release_command(name: CampaignArgument, person: PersonArgument, db: DbOption = None) -> None:
    """Return to the pool what somebody holds and has not judged."""
    with open_database(db) as store:
        units = store.assignment.give_back(_person(store, person), name)
    say(f"{person} gave back {units:,} units")


def stop_command(name: CampaignArgument, person: PersonArgument, db: DbOption = None) -> None:
    """Give somebody nothing more. What is held goes back; what was judged stays."""
    with open_database(db) as store:
        units = store.members.stop(name, _person(store, person))
    say(f"{person} gets nothing more; {units:,} units went back")


def resume_command(name: CampaignArgument, person: PersonArgument, db: DbOption = None) -> None:
    """Let somebody go on who was stopped."""
    with open_database(db) as store:
        store.members.resume(name, _person(store, person))
    say(f"{person} may go on")


def message_command(
    name: CampaignArgument,
    text: Annotated[str, typer.Argument(help="What to say.", metavar="TEXT")],
    to: Annotated[
        str | None, typer.Option("--to", help="One person; everybody by default.", metavar="PERSON")
    ] = None,
    db: DbOption = None,
) -> None:
    """Leave a message that people see on their next page."""
    with open_database(db) as store:
        store.messages.send(name, text, person=None if to is None else _person(store, to))
    say(f"the message waits for {to or 'everybody'}")


@asks_language_models("--lang")
def annotate_command(
    name: CampaignArgument,
    judge: Annotated[
        str,
        typer.Option("--with", help="A method, a model's name or file, or openai:MODEL.", metavar="MODEL"),
    ],
    called: Annotated[
        str | None, typer.Option("--as", help="Name of the program in the campaign.", metavar="NAME")
    ] = None,
    profile: ProfileOption = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a detector or a language model judge a campaign's documents. Ended midway and begun again, it goes on."""
    with open_database(db) as store:
        if judge.startswith(PREFIX):
            if profile is not None:
                raise UsageError("a language model has no profiles", hint="leave --profile out")
            ask_about_campaign(store, name, judge, called, asking, as_json=as_json)
            return
        asking.refuse_any()
        _detect(store, name, judge, called, profile, as_json)


def _detect(
    store: Store, name: str, judge: str, called: str | None, profile: str | None, as_json: bool
) -> None:
    from lapsus.annotators import as_usual, find_annotator, judged_entries

    annotator, judgments = find_annotator(judge), 0
    annotator = as_usual(annotator) if profile is None else annotator.under(profile)
    try:
        annotator.must_judge_under(store.campaigns.scheme(name))
    except UsageError as error:
        raise error.at(f"campaign {name!r}") from None
    program = store.programs.add(called or annotator.name)
    waiting = store.programs.count_documents(name, program.id)
    with progress("documents", waiting) as step:
        entries = judged_entries(annotator, store.programs.documents_for(name, program.id))
        for kept in store.programs.add_judgments(name, program, counted(entries, step)):
            judgments += kept
    if as_json:
        print_json({"program": program.name, "documents": waiting, "judgments": judgments})
        return
    say(f"{program.name} judged {judgments:,} units in {waiting:,} documents of {name}")
    remark("its answers stand beside those of people; a plan with `suggest` shows them")
