"""People, roles, passwords, invitations and tokens."""

from __future__ import annotations

import unicodedata

import pytest
from sqlalchemy import select

from lapsus.errors import InputError, UsageError
from lapsus.store import RefusedError, Store
from lapsus.store import tables as t
from tests.quick import USUAL_HASHER
from tests.store.helpers import Clock, campaign

PHRASE = "correct horse"


def test_a_person_signs_in_with_the_right_password_only(store: Store) -> None:
    added = store.people.add("Avery Ō", "manager", password=PHRASE, email="a@example.org", language="ja")
    assert added.has_password
    assert (
        store.access.sign_in("Avery Ō", PHRASE)
        == added
        == store.people.get(added.id)
        == store.people.named("Avery Ō")
    )
    assert store.access.sign_in(unicodedata.normalize("NFD", "Avery Ō "), PHRASE) == added
    for name, password in (
        ("Avery Ō", "wrong"),
        ("nobody", PHRASE),
        ("", ""),
        ("a\0", "\ud800"),
        ("Avery Ō", "\ud800"),
    ):
        assert store.access.sign_in(name, password) is None


def test_passwords_and_tokens_are_kept_as_hashes_only(store: Store) -> None:
    person = store.people.add("avery", "manager", password=PHRASE)
    secrets = [PHRASE, store.access.add_token(person.id, "script"), store.access.invite()]
    with store.database.reading() as conn:
        kept = str(
            [conn.execute(select(table)).all() for table in (t.person, t.api_token, t.invitation, t.event)]
        )
    assert "$argon2id$" in kept
    for secret in secrets:
        assert secret not in kept


def test_guessing_a_password_from_its_hash_is_dear() -> None:
    """At the least what OWASP asks of Argon2id: 46 MiB, once."""
    assert USUAL_HASHER.memory_cost * USUAL_HASHER.time_cost >= 47_104
    assert USUAL_HASHER.hash(PHRASE).startswith("$argon2id$")


def test_without_a_password_nobody_signs_in(store: Store) -> None:
    store.people.add("avery")
    assert store.access.sign_in("avery", "") is None
    assert store.access.sign_in("avery", "None") is None


def test_a_new_password_ends_old_sessions(store: Store) -> None:
    person = store.people.add("avery", password=PHRASE)
    stamp = store.access.session_stamp(person.id)
    assert store.access.person_in_session(person.id, stamp) == person
    assert store.access.person_in_session(person.id, "other") is None
    assert store.access.person_in_session(2**70, stamp) is None
    store.people.set_password(person.id, "battery staple")
    assert store.access.person_in_session(person.id, stamp) is None
    assert store.access.sign_in("avery", PHRASE) is None
    assert store.access.sign_in("avery", "battery staple") is not None


def test_a_disabled_person_is_out_everywhere_and_can_come_back(store: Store) -> None:
    person = store.people.add("avery", password=PHRASE)
    stamp, token = store.access.session_stamp(person.id), store.access.add_token(person.id, "script")
    store.people.set_disabled(person.id, True)
    assert store.access.sign_in("avery", PHRASE) is None
    assert store.access.person_in_session(person.id, stamp) is None
    assert store.access.person_of_token(token) is None
    store.people.set_disabled(person.id, False)
    assert store.access.sign_in("avery", PHRASE) is not None
    assert store.access.person_of_token(token) is None
    assert store.access.person_in_session(person.id, stamp) is None


def test_a_token_speaks_for_its_person_until_it_is_revoked(store: Store) -> None:
    avery, blake = store.people.add("avery"), store.people.add("blake")
    token = store.access.add_token(avery.id, "my script")
    assert store.access.person_of_token(token) == avery
    assert store.access.person_of_token(token + "x") is None
    assert store.access.person_of_token("\ud800") is None
    (kept,) = store.access.tokens(avery.id)
    with pytest.raises(UsageError):
        store.access.revoke_token(blake.id, kept.id)
    store.access.revoke_token(avery.id, kept.id)
    assert store.access.person_of_token(token) is None
    assert store.access.tokens(avery.id)[0].revoked is not None


def test_there_is_always_a_manager(store: Store) -> None:
    assert not store.people.has_manager()
    only = store.people.add("avery", "manager")
    with pytest.raises(UsageError, match="only manager"):
        store.people.set_role(only.id, "annotator")
    with pytest.raises(UsageError, match="only manager"):
        store.people.set_disabled(only.id, True)
    assert store.people.get(only.id) == only
    store.people.add("blake", "manager")
    store.people.set_role(only.id, "adjudicator")
    assert store.people.get(only.id).role == "adjudicator"


def test_an_invitation_makes_one_account_of_its_role(store: Store, clock: Clock) -> None:
    token = store.access.invite("manager", days=1)
    offer = store.access.invitation(token)
    assert offer is not None
    assert (offer.role, offer.campaign, offer.needs_password) == ("manager", None, True)
    with pytest.raises(InputError, match="password is needed"):
        store.access.accept(token, "avery")
    assert store.access.accept(token, "avery", PHRASE, language="ja").role == "manager"
    assert store.access.invitation(token) is None
    with pytest.raises(RefusedError, match="used already"):
        store.access.accept(token, "blake", PHRASE)
    old = store.access.invite(days=1)
    clock.forward(days=2)
    assert store.access.invitation(old) is None
    with pytest.raises(RefusedError, match="too old"):
        store.access.accept(old, "blake", PHRASE)
    assert [person.name for person in store.people.all()] == ["avery"]


def test_a_name_that_is_taken_does_not_use_up_the_invitation(store: Store) -> None:
    store.people.add("avery")
    token = store.access.invite()
    with pytest.raises(InputError, match="already"):
        store.access.accept(token, "avery", PHRASE)
    assert store.access.accept(token, "blake", PHRASE).name == "blake"


def test_an_open_campaign_takes_whoever_comes_by_its_link(store: Store) -> None:
    campaign(store, who="open")
    campaign(store, who="named", name="closed-circle")
    link = store.access.invite(campaign="chat", uses=None)
    offer = store.access.invitation(link)
    assert offer is not None
    assert (offer.campaign, offer.uses_left, offer.needs_password) == ("chat", None, False)
    for number in range(3):
        store.access.accept(link, f"guest {number}")
    assert [who.name for who in store.progress.of_campaign("chat").people] == [
        "guest 0",
        "guest 1",
        "guest 2",
    ]
    for arguments in ({"campaign": "closed-circle"}, {}, {"campaign": "chat", "role": "manager"}):
        with pytest.raises(UsageError, match="open campaign"):
            store.access.invite(uses=None, **arguments)  # type: ignore[arg-type]


def test_somebody_with_an_account_joins_by_a_link(store: Store) -> None:
    campaign(store, who="named")
    person = store.people.add("avery")
    store.access.join(store.access.invite(campaign="chat"), person.id)
    assert [found.name for found in store.campaigns.of_person(person.id)] == ["chat"]
    with pytest.raises(UsageError, match="new account"):
        store.access.join(store.access.invite(), person.id)


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a\nb", "x" * 201, "?00", "\u202eavery", "\ud800"])
def test_names_that_would_deceive_or_break_are_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError):
        store.people.add(name)
    assert store.people.all() == []


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE person; --", "<script>", "名前", "O’Brien 👩‍🚀", "%s %(x)s :y", "ＡＢ"]
)
def test_names_of_any_script_come_back_as_they_are(store: Store, name: str) -> None:
    added = store.people.add(name)
    assert added.name == name
    assert store.people.named(name) == added
    with pytest.raises(InputError, match="already"):
        store.people.add(f" {name} ")


@pytest.mark.parametrize(
    "change",
    [
        {"password": "short"},
        {"password": "x" * 1001},
        {"email": "nobody"},
        {"email": "a b@c"},
        {"language": ""},
    ],
)
def test_accounts_are_checked(store: Store, change: dict[str, str]) -> None:
    with pytest.raises(InputError):
        store.people.add("avery", **change)  # type: ignore[arg-type]


def test_roles_that_there_are_not_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="did you mean 'manager'"):
        store.people.add("avery", "manger")  # type: ignore[arg-type]


def test_secrets_are_made_once(store: Store) -> None:
    assert store.access.secret("session") == store.access.secret("session") != store.access.secret("other")
    assert len(store.access.secret("session")) > 30


def test_who_did_what_is_written_down(store: Store) -> None:
    boss = store.people.add("boss", "manager")
    other = store.people.add("avery", by=boss.id)
    store.people.set_role(other.id, "adjudicator", by=boss.id)
    store.people.set_profile(other.id, email="a@b.org", language="en", by=boss.id)
    assert [(event.by, event.what) for event in store.audit.events()] == [
        ("boss", "profile changed"),
        ("boss", "role changed"),
        ("boss", "person added"),
        (None, "person added"),
    ]
    assert store.audit.events()[1].details == {"name": "avery", "role": "adjudicator"}


def test_a_mistyped_name_gets_a_suggestion(store: Store) -> None:
    store.people.add("avery")
    with pytest.raises(UsageError, match="did you mean 'avery'"):
        store.people.named("averi")
    with pytest.raises(UsageError):
        store.people.named("a\0")
