"""One request: who asks, in which language, and what the server knows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from lapsus.model.decoding import decoder
from lapsus.store import Credential, Person, RefusedError, Store
from lapsus.store.access import token_hash
from lapsus.web import language
from lapsus.web.assets import Assets
from lapsus.web.csrf import Csrf
from lapsus.web.security import RateLimit
from lapsus.web.sessions import COOKIE, Session, Sessions, new_session
from lapsus.web.shapes import PersonShape

T = TypeVar("T")

READING = frozenset({"GET", "HEAD"})
OWNERS = 10_000


@dataclass
class Web:
    """What all requests share."""

    store: Store
    links: Mapping[str, int] = field(default_factory=dict)
    """Sign-in links of a demonstration: which token lets in which person. Empty otherwise."""
    assets: Assets = field(default_factory=Assets)
    by_name: RateLimit = field(default_factory=lambda: RateLimit(10, 300))
    by_address: RateLimit = field(default_factory=lambda: RateLimit(50, 300))
    owners: OrderedDict[str, int] = field(default_factory=OrderedDict)
    """Whose the tokens are that came lately, by hash: a token never changes hands."""

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.store.secret("sessions"))
        self.csrf = Csrf(self.store.secret("csrf"))


class Visit:
    """One request. What costs a look into the database is found when first asked for, in a worker thread."""

    def __init__(self, request: Request, body: bytes = b"") -> None:
        self.request = request
        self.body = body
        self.web: Web = request.app.state.web
        self.store: Store = self.web.store
        found = self.web.sessions.read(request.cookies.get(COOKIE))
        self.session: Session = found or new_session()
        self.is_new = found is None
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        self.token = token.strip() if scheme.lower() == "bearer" else None
        request.state.visit = self

    @cached_property
    def person(self) -> Person | None:
        """Who asks; None for a stranger. A token goes before a cookie."""
        if self.token is not None:
            return self.store.person_of_token(self.token)
        if self.session.person is None:
            return None
        return self.store.person_in_session(self.session.person, self.session.stamp)

    async def claim(self) -> tuple[int, Credential]:
        """Who claims to ask, and by what. Whether that still holds is checked where it matters: when storing."""
        if self.token is None and self.session.person is not None:
            return self.session.person, Credential(stamp=self.session.stamp)
        if self.token is None:
            raise RefusedError("sign-in", "nobody is signed in")
        hash = token_hash(self.token)
        owner = self.web.owners.get(hash)
        if owner is None:
            owner = self.web.owners[hash] = (await run_in_threadpool(lambda: self.me)).id
            if len(self.web.owners) > OWNERS:
                self.web.owners.popitem(last=False)
        return owner, Credential(token=hash)

    def as_stranger(self) -> Visit:
        """The same request without a look into the database: where that is the trouble, we can still answer."""
        self.__dict__["person"] = None
        return self

    @property
    def me(self) -> Person:
        """Who asks; strangers are asked to sign in."""
        if self.person is None:
            raise RefusedError("sign-in", "nobody is signed in")
        return self.person

    @property
    def manages(self) -> bool:
        """Whether the person may see others' work."""
        return self.me.role in ("manager", "adjudicator")

    @cached_property
    def language(self) -> str:
        """In which language to answer."""
        person = self.person
        return language.choose_language(
            self.request.query_params.get("lang"),
            self.request.cookies.get(language.COOKIE),
            person.language if person else None,
            self.request.headers.get("accept-language"),
        )

    @property
    def csrf(self) -> str:
        """A token for the forms and scripts of this session."""
        return self.web.csrf.token(self.session.nonce)

    @property
    def wants_json(self) -> bool:
        """Whether a program reads the answer."""
        path = self.request.url.path
        return path.startswith(("/api/", "/static/")) or path.endswith(".json")

    def check_csrf(self, token: str | None = None) -> None:
        """Refuse changes that no page of ours asked for. Whoever sends an access token needs no other."""
        if self.request.method in READING or self.token is not None:
            return
        sent = token or self.request.headers.get("x-csrf-token", "")
        if self.is_new or not self.web.csrf.is_right(sent, self.session.nonce):
            raise RefusedError("csrf", "the page's token is missing or too old")

    def read(self, kind: type[T]) -> T:
        """The body, as a record of that kind."""
        try:
            return decoder(kind).decode(self.body)
        except msgspec.ValidationError as error:
            raise RefusedError("shape", str(error)) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RefusedError("not-json", str(error)) from error


def visit_of(request: Request) -> Visit:
    """The visit that a request is already known as, or a new one."""
    found: Visit | None = getattr(request.state, "visit", None)
    return found or Visit(request)


def person_shape(person: Person) -> PersonShape:
    """What pages know of a person."""
    return PersonShape(person.id, person.name, person.role, person.language)
