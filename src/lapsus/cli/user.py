"""`lapsus user`: accounts, without a browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lapsus.cli.output import JsonOption, print_json, print_table
from lapsus.cli.serve_store import DbOption, opened

if TYPE_CHECKING:
    from lapsus.store import Person, Role

app = typer.Typer(help="Add and change accounts.", no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(help="Name of the account.", metavar="NAME")]
RoleOption = Annotated[str, typer.Option("--role", help="manager, adjudicator or annotator.", metavar="ROLE")]


def _role(name: str) -> Role:
    from lapsus.store.people import check_role

    return check_role(name)


def _password() -> str:
    """Asked for twice on a terminal; from a program, the first line of standard input."""
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")


@app.command("add")
def add_command(
    name: NameArgument,
    role: RoleOption = "annotator",
    email: Annotated[str | None, typer.Option("--email", help="Mail address.", metavar="ADDRESS")] = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", help="Language of the pages for this person (en, ja).", metavar="LANG"),
    ] = None,
    password: Annotated[
        bool,
        typer.Option("--password/--no-password", help="Ask for a password (or read it from standard input)."),
    ] = True,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add an account."""
    with opened(db) as store:
        words = _password() if password else None
        added = store.add_person(name, _role(role), password=words, email=email, language=lang)
    _show([added], as_json)


@app.command("list")
def list_command(db: DbOption = None, as_json: JsonOption = False) -> None:
    """List the accounts."""
    with opened(db) as store:
        _show(store.people(), as_json)


@app.command("passwd")
def passwd_command(name: NameArgument, db: DbOption = None) -> None:
    """Set a new password, and end the sessions begun with the old one."""
    with opened(db) as store:
        person = store.person_named(name)
        store.set_password(person.id, _password())
    typer.echo(f"{person.name} has a new password")


@app.command("role")
def role_command(
    name: NameArgument,
    role: Annotated[str, typer.Argument(help="manager, adjudicator or annotator.", metavar="ROLE")],
    db: DbOption = None,
) -> None:
    """Change what somebody may do."""
    with opened(db) as store:
        person = store.person_named(name)
        store.set_role(person.id, _role(role))
    typer.echo(f"{person.name}: {role}")


@app.command("disable")
def disable_command(name: NameArgument, db: DbOption = None) -> None:
    """Shut somebody out. What was judged stays."""
    with opened(db) as store:
        person = store.person_named(name)
        store.set_disabled(person.id, True)
    typer.echo(f"{person.name} is shut out")


@app.command("enable")
def enable_command(name: NameArgument, db: DbOption = None) -> None:
    """Let somebody in again."""
    with opened(db) as store:
        person = store.person_named(name)
        store.set_disabled(person.id, False)
    typer.echo(f"{person.name} may sign in again")


@app.command("invite")
def invite_command(
    role: RoleOption = "annotator",
    campaign: Annotated[
        str | None, typer.Option("--campaign", help="Campaign to bring the person into.", metavar="NAME")
    ] = None,
    days: Annotated[float, typer.Option("--days", help="How long the invitation holds.", metavar="N")] = 14,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an invitation: a secret that makes one account, to be opened at /join/SECRET."""
    with opened(db) as store:
        token = store.invite(_role(role), campaign=campaign, days=days)
    print_json({"path": f"/join/{token}"}) if as_json else typer.echo(f"/join/{token}")


@app.command("token")
def token_command(
    name: NameArgument,
    label: Annotated[
        str, typer.Option("--label", help="What the token is for.", metavar="WORDS")
    ] = "command line",
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token by which a program acts for somebody. It is shown once."""
    with opened(db) as store:
        token = store.add_token(store.person_named(name).id, label)
    print_json({"token": token}) if as_json else typer.echo(token)


def _show(people: list[Person], as_json: bool) -> None:
    if as_json:
        print_json([_plain(person) for person in people])
        return
    rows = [
        (
            p.id,
            p.name,
            p.role,
            p.language or "",
            "shut out" if p.disabled else "" if p.has_password else "no password",
        )
        for p in people
    ]
    print_table(("id", "name", "role", "language", "remark"), rows, numbers=("id",))


def _plain(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role,
        "email": person.email,
        "language": person.language,
        "disabled": person.disabled is not None,
        "has_password": person.has_password,
    }
