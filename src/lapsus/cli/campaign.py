"""`lapsus campaign`: set up and run campaigns without a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from lapsus.cli.campaign_people import (
    annotate_command,
    import_command,
    invite_command,
    message_command,
    release_command,
    resume_command,
    stop_command,
)
from lapsus.cli.help_words import Group
from lapsus.cli.output import (
    aside,
    colon,
    counted,
    print_json,
    print_table,
    progress,
    remark,
    say,
    warn,
    word,
)
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError
from lapsus.formats.remote import Address
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.model import Scheme
    from lapsus.store import Added, Campaign, CampaignState, Plan, Store

app = Group("campaign", "Set up and run campaigns.")


@app.command("create")
def create_command(
    name: str | None = None,
    plan: Path | None = None,
    scheme: str | None = None,
    data: Path | None = None,
    from_format: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    title: str | None = None,
    per_unit: int | None = None,
    per_person: int | None = None,
    who: str | None = None,
    people: list[str] | None = None,
    batch: int | None = None,
    order: str | None = None,
    seed: int | None = None,
    minutes: int | None = None,
    pilot: int | None = None,
    chain: str | None = None,
    collect: list[str] | None = None,
    exchanges: int | None = None,
    all_turns: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Make a campaign from a plan file, from options, or from both. If anything is wrong, nothing is made."""
    given: dict[str, Any] = {
        "name": name, "scheme": scheme, "per_unit": per_unit, "per_person": per_person, "who": who,
        "people": people or None, "batch": batch, "order": order, "seed": seed, "minutes": minutes,
        "title": {"en": title} if title else None, "pilot": {"documents": pilot} if pilot else None,
        "chain": {"campaign": chain} if chain else None, "all_turns": all_turns or None,
    }  # fmt: skip
    if data is not None:
        # Said on the command line, a path starts from where one is, not from the plan's folder.
        path = os.fspath(data if isinstance(data, Address) else data.absolute())
        found = {"path": path, "format": from_format, "only": only, "language": lang}
        given["data"] = {key: value for key, value in found.items() if value is not None}
    elif from_format or only or (lang and not collect):
        raise UsageError("only-lang-say-how", hint="name-data-too")
    if collect:
        talks = {"systems": collect, "exchanges": exchanges, "language": lang}
        given["collect"] = {key: value for key, value in talks.items() if value is not None}
        given["scheme"] = scheme or (None if plan else "breakdown")
        given["who"] = who or (None if plan or people else "open")
    elif exchanges is not None:
        raise UsageError("exchanges-with-collect")
    if people and who is None and plan is None:
        given["who"] = "named"
    complete, folder = _plan(plan, {key: value for key, value in given.items() if value is not None})
    with open_database(db, make=True) as store:
        _report(store, *_create(store, complete, folder), as_json=as_json)


def _plan(path: Path | None, given: dict[str, Any]) -> tuple[Plan, Path]:
    from lapsus.errors import InvalidError
    from lapsus.store import Plan, read_plan

    base: dict[str, Any] = {} if path is None else msgspec.to_builtins(read_plan(path))
    merged = base | given
    for key, option in (("name", "NAME"), ("scheme", "--scheme")):
        if key not in merged:
            raise UsageError("missing", hint="say-give-plan-file", option=option)
    try:
        return msgspec.convert(merged, Plan), Path() if path is None else path.parent
    except (msgspec.ValidationError, InvalidError) as error:
        raise UsageError(str(error).replace("`$.", "`")) from error


def _create(store: Store, plan: Plan, folder: Path) -> tuple[Campaign, Added]:
    from lapsus.store import plan_documents, read_material

    if plan.collect is not None:
        from lapsus.collect.systems import check_systems

        check_systems(plan.collect)
        return store.campaigns.set_up(plan, material=read_material(plan, folder))
    if plan.chain is None and plan.data is None:
        raise UsageError("campaign-needs-documents", hint="name-data-chain-chain")
    material = read_material(plan, folder)
    with progress("documents") as step:
        documents = counted(plan_documents(plan, folder, material.scheme), step)
        return store.campaigns.set_up(plan, documents, material=material)


def _report(store: Store, campaign: Campaign, added: Added, *, as_json: bool) -> None:
    targets = added.targets
    if as_json:
        found = {"judged": targets.judged, "chosen": targets.chosen} if targets else None
        print_json(
            {"name": campaign.name, "scheme": campaign.scheme, **_counts(store, campaign), "targets": found}
        )
    tell_targets(added, store.campaigns.scheme(campaign.name), as_json=as_json)
    if as_json:
        return
    if (talks := campaign.plan.collect) is not None:
        systems = ", ".join(system.called for system in talks.known)
        say(
            "talks-open",
            name=campaign.name,
            systems=systems,
            exchanges=talks.exchanges,
            scheme=campaign.scheme,
            version=campaign.version,
        )
        remark("talks-open-next", name=campaign.name)
        return
    counts = _counts(store, campaign)
    say(
        "documents-units-judge-times",
        name=campaign.name,
        counts=counts["documents"],
        counts2=counts["units"],
        counts3=counts["wanted"],
        scheme=campaign.scheme,
        version=campaign.version,
    )
    if added.units > counts["units"] and campaign.stage == "pilot":
        remark("pilot-open-lapsus-campaign", name=campaign.name)
    if campaign.plan.who == "open":
        remark("lapsus-campaign-invite-any", name=campaign.name)


def tell_targets(added: Added, scheme: Scheme, *, as_json: bool = False) -> None:
    """Say which turns the guideline wants judged, and where that could not be told."""
    if (found := added.targets) is None or scheme.target is None:
        return
    if found.judged and not as_json:
        say("turns-targets", chosen=found.chosen, judged=found.judged)
    if found.without:
        warn("documents-hold-no-votes", without=found.without, scheme=scheme.target.scheme)


def _counts(store: Store, campaign: Campaign) -> dict[str, Any]:
    far = store.progress.of_campaign(campaign.name)
    return {
        "state": "archived" if campaign.archived else campaign.state, "stage": campaign.stage,
        "documents": far.documents, "units": far.units,
        "complete": far.complete, "wanted": far.wanted, "done": far.done, "surplus": far.surplus,
    }  # fmt: skip


@app.command("add")
def add_command(
    name: str,
    data: Path,
    from_format: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    db: str | None = None,
) -> None:
    """Add documents to a campaign. Those that are there already are passed over."""
    from lapsus.formats import read
    from lapsus.model.unit import screened

    with open_database(db) as store:
        entries, scheme = read(data, from_format, only=only, language=lang), store.campaigns.scheme(name)
        added = store.campaigns.add_documents(name, screened(entries, scheme))
    say("documents-units-more", name=name, documents=added.documents, units=added.units, known=added.known)
    tell_targets(added, scheme)


@app.command("list")
def list_command(db: str | None = None, as_json: bool = False) -> None:
    """List the campaigns, and how far they are."""
    with open_database(db) as store:
        found = [(campaign, _counts(store, campaign)) for campaign in store.campaigns.all()]
    if as_json:
        print_json([{"name": c.name, "scheme": c.scheme, **counts} for c, counts in found])
        return
    rows = [
        (c.name, c.scheme, _state(counts), counts["units"], f"{counts['done']:,}/{counts['wanted']:,}")
        for c, counts in found
    ]
    print_table(("name", "scheme", "state", "units", "judgments"), rows, numbers=("units", "judgments"))


def _state(counts: dict[str, Any]) -> str:
    pilot = aside(word("pilot")) if counts["stage"] == "pilot" else ""
    return word(str(counts["state"])) + pilot


@app.command("show")
def show_command(name: str, db: str | None = None, as_json: bool = False) -> None:
    """Show a campaign: how far it is, and who takes part."""
    with open_database(db) as store:
        campaign, members = store.campaigns.get(name), store.members.all(name)
        counts = _counts(store, campaign)
    if as_json:
        print_json({"name": name, "scheme": campaign.scheme, **counts, "people": members})
        return
    typer.echo(f"{name}{aside(f'{campaign.scheme} {campaign.version}')}{colon()}{_state(counts)}")
    say("units-all-their-judgments", counts=counts["complete"], counts2=counts["units"])
    done, wanted, surplus = counts["done"], counts["wanted"], counts["surplus"]
    say("judgments", done=done, wanted=wanted)
    if surplus:
        say("more-judgments-planned-units", surplus=surplus)
    if members:
        rows = [
            (
                m.name,
                m.submitted,
                m.held,
                f"{m.failed}/{m.passed + m.failed}",
                word("stopped" if m.stopped else "program" if m.program else ""),
            )
            for m in members
        ]
        columns = ("name", "judged", "held", "failed checks", "remark")
        print_table(columns, rows, numbers=columns[1:4])


@app.command("plan")
def plan_command(name: str, out: Path | None = None, overwrite: bool = False, db: str | None = None) -> None:
    """Write a campaign's plan as a file, to keep in git or to make another campaign from."""
    from lapsus.formats.sink import put_in_place
    from lapsus.store import plan_yaml

    with open_database(db) as store:
        text = plan_yaml(store.campaigns.get(name).plan)
    if out is None:
        typer.echo(text, nl=False)
        return
    with put_in_place(out, overwrite=overwrite) as draft:
        draft.write_text(text, encoding="utf-8")
    typer.echo(f"{name} → {out}")


def _set_state(name: str, state: CampaignState, db: str | None) -> None:
    with open_database(db) as store:
        store.campaigns.set_state(name, state)
    said: dict[str, Notice] = {
        "open": Notice("open", name=name),
        "paused": Notice("paused", name=name),
        "closed": Notice("closed", name=name),
    }
    say(said[state])


@app.command("open")
def open_command(name: str, db: str | None = None) -> None:
    """Open a campaign that is a draft, or was paused or closed."""
    _set_state(name, "open", db)


@app.command("pause")
def pause_command(name: str, db: str | None = None) -> None:
    """Hand out nothing new; work in hand may be finished."""
    _set_state(name, "paused", db)


@app.command("close")
def close_command(name: str, db: str | None = None) -> None:
    """End a campaign: nothing more is saved. What was said stays."""
    _set_state(name, "closed", db)


@app.command("main")
def main_command(name: str, db: str | None = None) -> None:
    """After the pilot, open the rest of the documents."""
    with open_database(db) as store:
        units = store.campaigns.open_main(name)
    say("units-more-open", name=name, units=units)


@app.command("rehearse")
def rehearse_command(name: str, talks: int = 3, db: str | None = None) -> None:
    """Before people come: have our bot talk to a campaign's systems as invented people. The talks are kept."""
    from lapsus.collect.asking import rehearse

    done = turns = 0
    with open_database(db) as store, progress("documents", talks) as step:
        for talk in rehearse(store, name, talks):
            step()
            done, turns = done + 1, turns + len(talk.turns)
    say("talks-rehearsed", name=name, talks=done, turns=turns)


app.command("invite")(invite_command)
app.command("message")(message_command)
app.command("import")(import_command)
app.command("annotate")(annotate_command)
app.command("release")(release_command)
app.command("stop")(stop_command)
app.command("resume")(resume_command)
