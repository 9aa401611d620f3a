"""People, roles, passwords, invitations and tokens."""

from __future__ import annotations

import unicodedata

import pytest
from sqlalchemy import select

from lapsus.errors import InputError, UsageError
from lapsus.store import RefusedError, Store
from lapsus.store import tables as t
from tests.store.helpers import Clock, campaign

PHRASE = "correct horse"


def test_a_person_signs_in_with_the_right_password_only(store: Store) -> None:
    added = store.add_person("Avery Ō", "manager", password=PHRASE, email="a@example.org", language="ja")
    assert added.has_password
    assert (
        store.sign_in("Avery Ō", PHRASE) == added == store.person(added.id) == store.person_named("Avery Ō")
    )
    assert store.sign_in(unicodedata.normalize("NFD", "Avery Ō "), PHRASE) == added
    for name, password in (
        ("Avery Ō", "wrong"),
        ("nobody", PHRASE),
        ("", ""),
        ("a\0", "\ud800"),
        ("Avery Ō", "\ud800"),
    ):
        assert store.sign_in(name, password) is None


def test_passwords_and_tokens_are_kept_as_hashes_only(store: Store) -> None:
    person = store.add_person("avery", "manager", password=PHRASE)
    secrets = [PHRASE, store.add_token(person.id, "script"), store.invite()]
    with store.reading() as conn:
        kept = str(
            [conn.execute(select(table)).all() for table in (t.person, t.api_token, t.invitation, t.event)]
        )
    assert "$argon2id$" in kept
    for secret in secrets:
        assert secret not in kept


def test_without_a_password_nobody_signs_in(store: Store) -> None:
    store.add_person("avery")
    assert store.sign_in("avery", "") is None
    assert store.sign_in("avery", "None") is None


def test_a_new_password_ends_old_sessions(store: Store) -> None:
    person = store.add_person("avery", password=PHRASE)
    stamp = store.session_stamp(person.id)
    assert store.person_in_session(person.id, stamp) == person
    assert store.person_in_session(person.id, "other") is None
    assert store.person_in_session(2**70, stamp) is None
    store.set_password(person.id, "battery staple")
    assert store.person_in_session(person.id, stamp) is None
    assert store.sign_in("avery", PHRASE) is None
    assert store.sign_in("avery", "battery staple") is not None


def test_a_disabled_person_is_out_everywhere_and_can_come_back(store: Store) -> None:
    person = store.add_person("avery", password=PHRASE)
    stamp, token = store.session_stamp(person.id), store.add_token(person.id, "script")
    store.set_disabled(person.id, True)
    assert store.sign_in("avery", PHRASE) is None
    assert store.person_in_session(person.id, stamp) is None
    assert store.person_of_token(token) is None
    store.set_disabled(person.id, False)
    assert store.sign_in("avery", PHRASE) is not None
    assert store.person_of_token(token) is not None
    assert store.person_in_session(person.id, stamp) is None


def test_a_token_speaks_for_its_person_until_it_is_revoked(store: Store) -> None:
    avery, blake = store.add_person("avery"), store.add_person("blake")
    token = store.add_token(avery.id, "my script")
    assert store.person_of_token(token) == avery
    assert store.person_of_token(token + "x") is None
    assert store.person_of_token("\ud800") is None
    (kept,) = store.tokens(avery.id)
    with pytest.raises(UsageError):
        store.revoke_token(blake.id, kept.id)
    store.revoke_token(avery.id, kept.id)
    assert store.person_of_token(token) is None
    assert store.tokens(avery.id)[0].revoked is not None


def test_there_is_always_a_manager(store: Store) -> None:
    assert not store.has_manager()
    only = store.add_person("avery", "manager")
    with pytest.raises(UsageError, match="only manager"):
        store.set_role(only.id, "annotator")
    with pytest.raises(UsageError, match="only manager"):
        store.set_disabled(only.id, True)
    assert store.person(only.id) == only
    store.add_person("blake", "manager")
    store.set_role(only.id, "adjudicator")
    assert store.person(only.id).role == "adjudicator"


def test_an_invitation_makes_one_account_of_its_role(store: Store, clock: Clock) -> None:
    token = store.invite("manager", days=1)
    offer = store.invitation(token)
    assert offer is not None
    assert (offer.role, offer.campaign, offer.needs_password) == ("manager", None, True)
    with pytest.raises(InputError, match="password is needed"):
        store.accept(token, "avery")
    assert store.accept(token, "avery", PHRASE, language="ja").role == "manager"
    assert store.invitation(token) is None
    with pytest.raises(RefusedError, match="used already"):
        store.accept(token, "blake", PHRASE)
    old = store.invite(days=1)
    clock.forward(days=2)
    assert store.invitation(old) is None
    with pytest.raises(RefusedError, match="too old"):
        store.accept(old, "blake", PHRASE)
    assert [person.name for person in store.people()] == ["avery"]


def test_a_name_that_is_taken_does_not_use_up_the_invitation(store: Store) -> None:
    store.add_person("avery")
    token = store.invite()
    with pytest.raises(InputError, match="already"):
        store.accept(token, "avery", PHRASE)
    assert store.accept(token, "blake", PHRASE).name == "blake"


def test_an_open_campaign_takes_whoever_comes_by_its_link(store: Store) -> None:
    campaign(store, who="open")
    campaign(store, who="named", name="closed-circle")
    link = store.invite(campaign="chat", uses=None)
    offer = store.invitation(link)
    assert offer is not None
    assert (offer.campaign, offer.uses_left, offer.needs_password) == ("chat", None, False)
    for number in range(3):
        store.accept(link, f"guest {number}")
    assert [who.name for who in store.progress("chat").people] == ["guest 0", "guest 1", "guest 2"]
    for arguments in ({"campaign": "closed-circle"}, {}, {"campaign": "chat", "role": "manager"}):
        with pytest.raises(UsageError, match="open campaign"):
            store.invite(uses=None, **arguments)  # type: ignore[arg-type]


def test_somebody_with_an_account_joins_by_a_link(store: Store) -> None:
    campaign(store, who="named")
    person = store.add_person("avery")
    store.join(store.invite(campaign="chat"), person.id)
    assert [found.name for found in store.campaigns_of(person.id)] == ["chat"]
    with pytest.raises(UsageError, match="new account"):
        store.join(store.invite(), person.id)


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a\nb", "x" * 201, "?00", "\u202eavery", "\ud800"])
def test_names_that_would_deceive_or_break_are_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError):
        store.add_person(name)
    assert store.people() == []


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE person; --", "<script>", "名前", "O’Brien 👩‍🚀", "%s %(x)s :y", "ＡＢ"]
)
def test_names_of_any_script_come_back_as_they_are(store: Store, name: str) -> None:
    added = store.add_person(name)
    assert added.name == name
    assert store.person_named(name) == added
    with pytest.raises(InputError, match="already"):
        store.add_person(f" {name} ")


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
        store.add_person("avery", **change)  # type: ignore[arg-type]


def test_roles_that_there_are_not_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="did you mean 'manager'"):
        store.add_person("avery", "manger")  # type: ignore[arg-type]


def test_secrets_are_made_once(store: Store) -> None:
    assert store.secret("session") == store.secret("session") != store.secret("other")
    assert len(store.secret("session")) > 30


def test_who_did_what_is_written_down(store: Store) -> None:
    boss = store.add_person("boss", "manager")
    other = store.add_person("avery", by=boss.id)
    store.set_role(other.id, "adjudicator", by=boss.id)
    store.set_profile(other.id, email="a@b.org", language="en", by=boss.id)
    assert [(event.person, event.what) for event in store.events()] == [
        ("boss", "profile changed"),
        ("boss", "role changed"),
        ("boss", "person added"),
        (None, "person added"),
    ]
    assert store.events()[1].details == {"name": "avery", "role": "adjudicator"}


def test_a_mistyped_name_gets_a_suggestion(store: Store) -> None:
    store.add_person("avery")
    with pytest.raises(UsageError, match="did you mean 'avery'"):
        store.person_named("averi")
    with pytest.raises(UsageError):
        store.person_named("a\0")
