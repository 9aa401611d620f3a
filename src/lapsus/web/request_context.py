"""One request: who asks, in which language, and what the server knows."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from lapsus.model.frozen import decoder
from lapsus.store import Credential, Person, RefusedError, Store
from lapsus.store.access import token_hash
from lapsus.web.assets import Assets, own_assets
from lapsus.web.deployment import PROXY_USER, Deployment
from lapsus.web.judge_sources import JudgeSources
from lapsus.web.judge_work import JudgeWork
from lapsus.web.oidc import OidcClient
from lapsus.web.schemas import PersonResponse
from lapsus.web.security import BY_ADDRESS, BY_DEVICE, BY_NAME, BY_NAME_HERE, RateLimit
from lapsus.web.sessions import DAY, LANGUAGE, SESSION, YEAR, Cookies, Csrf, Session, Sessions, new_session
from lapsus.web.talk_work import Replies
from lapsus.word_files import LANGUAGES

T = TypeVar("T")

READING = frozenset({"GET", "HEAD"})
OWNERS = 10_000


@dataclass
class Web:
    """The state that all requests share."""

    store: Store
    links: Mapping[str, int]
    """Sign-in links of a demonstration, by which everybody may enter: which token lets in which person."""
    deployment: Deployment
    judges: JudgeSources
    """Which programs may judge here."""
    judge_work: JudgeWork
    """Where they judge."""
    replies: Replies
    """What systems say to those who talk to them."""
    assets: Assets = field(default_factory=own_assets)
    by_device: RateLimit = BY_DEVICE
    by_name_here: RateLimit = BY_NAME_HERE
    by_name: RateLimit = BY_NAME
    by_address: RateLimit = BY_ADDRESS
    owners: OrderedDict[str, int] = field(default_factory=OrderedDict)
    """Whose the tokens are that came lately, by hash: a token never changes hands."""
    written_at: float = -math.inf
    """When the database was last seen to take something in, by the monotonic clock."""

    def __post_init__(self) -> None:
        secret = self.store.access.secret("sessions")
        self.sessions = Sessions(secret)
        # Every demonstration has a database of its own: its cookies would pile up under ever new names.
        self.cookies = Cookies(secret, longest=DAY if self.links else YEAR)
        self.csrf = Csrf(self.store.access.secret("csrf"))
        self.oidc = None if self.deployment.oidc is None else OidcClient(self.deployment.oidc)


class RequestContext:
    """One request. What costs a look into the database is found when first asked for, in a worker thread."""

    def __init__(self, request: Request, body: bytes = b"") -> None:
        self.request = request
        self.body = body
        self.web: Web = request.app.state.web
        self.store: Store = self.web.store
        found = self.web.sessions.read(self.cookie(SESSION))
        self.proxy_user: str | None = request.scope.get("state", {}).get(PROXY_USER)
        """Who is signed in, as the proxy in front of us says."""
        if found is not None and found.person is not None and found.origin != self.origin:
            found = None
        self.session: Session = found or new_session()
        self.is_new = found is None
        # Not cached properties: up to Python 3.11 those let one thread at a time in, and here it asks the database.
        self._person: Person | None | msgspec.UnsetType = msgspec.UNSET
        self._language = ""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        self.token = token.strip() if scheme.lower() == "bearer" else None
        request.state.visit = self

    def cookie(self, what: str) -> str | None:
        """What the browser keeps for us."""
        return self.web.cookies.read(self.request, what)

    def set_cookie(self, response: Response, what: str, value: str, seconds: int) -> None:
        """Give the browser something to keep."""
        self.web.cookies.write(self.request, response, what, value, seconds)

    @property
    def origin(self) -> str:
        """What a session carries of whom the proxy names: it ends when that is somebody else, or nobody."""
        return token_hash(self.proxy_user) if self.proxy_user is not None else ""

    @property
    def person(self) -> Person | None:
        """Who asks; None for a stranger. A token goes before a cookie."""
        if self._person is msgspec.UNSET:
            self._person = self._find_person()
        return self._person

    def _find_person(self) -> Person | None:
        if self.token is not None:
            return self.store.access.person_of_token(self.token)
        if self.session.person is None:
            return None
        return self.store.access.person_in_session(self.session.person, self.session.stamp)

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

    def as_stranger(self) -> RequestContext:
        """The same request without a look into the database: where that is the trouble, we can still answer."""
        self._person = None
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

    @property
    def language(self) -> str:
        """In which language to answer."""
        if not self._language:
            person = self.person
            self._language = choose_language(
                self.request.query_params.get("lang"),
                self.cookie(LANGUAGE),
                person.language if person else None,
                self.request.headers.get("accept-language"),
            )
        return self._language

    @property
    def csrf(self) -> str:
        """A token for the forms and scripts of this session."""
        return self.web.csrf.token(self.session.nonce)

    @property
    def path(self) -> str:
        """What is asked for, from our own root."""
        return self.request.url.path.removeprefix(self.request.scope.get("root_path", ""))

    def link(self, path: str) -> str:
        """A path of ours as an address to hand out."""
        return str(self.request.base_url).rstrip("/") + path

    @property
    def wants_json(self) -> bool:
        """Whether a program reads the answer."""
        return self.path.startswith(("/api/", "/static/")) or self.path.endswith(".json")

    def check_csrf(self, token: str | None = None) -> None:
        """Refuse changes without a valid CSRF token; requests with an access token need none."""
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


def choose_language(query: str | None, cookie: str | None, person: str | None, accept: str | None) -> str:
    """What was asked for just now or earlier, then what the person is known to read, then what the browser says."""
    for wanted in (query, cookie, person):
        if wanted in LANGUAGES:
            return wanted
    return _by_header(accept or "")


def _by_header(header: str) -> str:
    weights: Mapping[str, float] = dict(_weight(part) for part in reversed(header[:500].split(",")))
    known = {name: weights.get(name, 0.0) for name in LANGUAGES}
    return max(known, key=lambda name: known[name])


def _weight(part: str) -> tuple[str, float]:
    name, _, weight = part.partition(";q=")
    try:
        value = float(weight) if weight else 1.0
    except ValueError:
        value = 0.0
    return name.strip().lower().partition("-")[0], value


def number_in(text: str, digits: int = 9) -> int | None:
    """The number that a part of a request says in at most so many digits; None where it says anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def request_context(request: Request) -> RequestContext:
    """The visit that a request is already known as, or a new one."""
    found: RequestContext | None = getattr(request.state, "visit", None)
    return found or RequestContext(request)


def person_response(person: Person) -> PersonResponse:
    """What pages know of a person."""
    return PersonResponse(person.id, person.name, person.role, person.language)
