"""`lapsus user`: accounts, without a browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from lapsus.cli.help_words import Group
from lapsus.cli.output import colon, in_words, print_json, print_table, say, word
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.store import Person, Role

app = Group("user", "Add and change accounts.")


def _role(name: str) -> Role:
    from lapsus.store.people import check_role

    return check_role(name)


def _password() -> str:
    """Asked for twice on a terminal; from a program, the first line of standard input."""
    if sys.stdin is not None and sys.stdin.isatty():
        return str(typer.prompt(in_words("password"), hide_input=True, confirmation_prompt=True))
    line = "" if sys.stdin is None else sys.stdin.readline().rstrip("\n")
    if not line:
        hint = Notice("send-one-first-line")
        raise UsageError("no-password-came-standard", hint=hint)
    return line


@app.command("add")
def add_command(
    name: str,
    role: str = "annotator",
    email: str | None = None,
    lang: str | None = None,
    password: bool = True,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Add an account."""
    with open_database(db, make=True) as store:
        words = _password() if password else None
        added = store.people.add(name, _role(role), password=words, email=email, language=lang)
    _show([added], as_json)


@app.command("list")
def list_command(db: str | None = None, as_json: bool = False) -> None:
    """List the accounts."""
    with open_database(db) as store:
        _show(store.people.all(), as_json)


@app.command("passwd")
def passwd_command(name: str, db: str | None = None) -> None:
    """Set a new password, and end the sessions begun with the old one."""
    with open_database(db) as store:
        person = store.people.named(name)
        store.people.set_password(person.id, _password())
    say("new-password", name=person.name)


@app.command("role")
def role_command(name: str, role: str, db: str | None = None) -> None:
    """Change what somebody may do."""
    with open_database(db) as store:
        person = store.people.named(name)
        store.people.set_role(person.id, _role(role))
    typer.echo(f"{person.name}{colon()}{word(role)}")


@app.command("disable")
def disable_command(name: str, db: str | None = None) -> None:
    """Shut somebody out. What was judged stays."""
    with open_database(db) as store:
        person = store.people.named(name)
        store.people.set_disabled(person.id, True)
    say("shut-out", name=person.name)


@app.command("enable")
def enable_command(name: str, db: str | None = None) -> None:
    """Let somebody in again."""
    with open_database(db) as store:
        person = store.people.named(name)
        store.people.set_disabled(person.id, False)
    say("may-sign-again", name=person.name)


@app.command("invite")
def invite_command(
    role: str = "annotator",
    campaign: str | None = None,
    days: float = 14,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Make an invitation: a secret that makes one account, to be opened at /join/SECRET."""
    with open_database(db, make=True) as store:
        token = store.access.invite(_role(role), campaign=campaign, days=days)
    print_json({"path": f"/join/{token}"}) if as_json else typer.echo(f"/join/{token}")


@app.command("token")
def token_command(
    name: str, label: str = "command line", db: str | None = None, as_json: bool = False
) -> None:
    """Make a token by which a program acts for somebody. It is shown once."""
    with open_database(db) as store:
        token = store.access.add_token(store.people.named(name).id, label)
    print_json({"token": token}) if as_json else typer.echo(token)


@app.command("tokens")
def tokens_command(name: str, db: str | None = None, as_json: bool = False) -> None:
    """List somebody's tokens. The tokens themselves are not kept."""
    with open_database(db) as store:
        found = store.access.tokens(store.people.named(name).id)
    if as_json:
        print_json(
            [
                {"id": one.id, "label": one.name, "created": one.created, "revoked": one.revoked}
                for one in found
            ]
        )
        return
    rows = [
        (one.id, one.name, f"{one.created:%Y-%m-%d %H:%M}", word("ended") if one.revoked else "")
        for one in found
    ]
    print_table(("id", "label", "made", "remark"), rows, numbers=("id",))


@app.command("revoke")
def revoke_command(name: str, token: int, db: str | None = None) -> None:
    """End a token: what comes with it is refused from now on."""
    with open_database(db) as store:
        person = store.people.named(name)
        store.access.revoke_token(person.id, token)
    say("token-ended", name=person.name, token=token)


def _show(people: list[Person], as_json: bool) -> None:
    if as_json:
        print_json([_plain(person) for person in people])
        return
    rows = [
        (
            p.id,
            p.name,
            word(p.role),
            p.language or "",
            word("shut out" if p.disabled else "" if p.has_password else "no password"),
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
