"""From records to pages and to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import RedirectResponse, Response

from lapsus.web.language import COOKIE, LANGUAGES
from lapsus.web.sessions import Session
from lapsus.web.shapes import PersonShape, plain
from lapsus.web.visit import READING, Visit, person_shape
from lapsus.web.words import say, words_url


def json_response(shape: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A record as JSON."""
    return Response(msgspec.json.encode(shape), status, dict(headers or {}), "application/json")


def page_response(visit: Visit, template: str, shape: Any, status: int = 200) -> Response:
    """A record as a page: its fields by name, and the whole as `data` where names of every page are the same.

    Whatever stands in a document comes out as text: templates escape everything.
    """
    data: dict[str, Any] = plain(shape)
    html = _environment().get_template(template).render({**data, **_context(visit), "data": data})
    return with_cookies(visit, Response(html, status, media_type="text/html"))


def redirect(visit: Visit, path: str, session: Session | None = None) -> Response:
    """Go on to another page; its JSON twin where a program reads. A new session begins with it, if there is one."""
    if visit.wants_json:
        name, _, query = path.partition("?")
        path = f"{name}.json?{query}" if query else f"{name}.json"
    return with_cookies(visit, RedirectResponse(path, 303), session)


def with_cookies(visit: Visit, response: Response, session: Session | None = None) -> Response:
    """Give the browser its session and remember the language that was asked for."""
    secure = visit.request.url.scheme == "https"
    # Another site's form comes without the cookie; answering it with a new one would sign the person out.
    is_first = visit.is_new and visit.token is None and visit.request.method in READING
    if session is not None or is_first:
        visit.web.sessions.write(response, session or visit.session, secure=secure)
    if (wanted := visit.request.query_params.get("lang")) in LANGUAGES:
        response.set_cookie(COOKIE, wanted, max_age=365 * 86400, httponly=True, samesite="lax", secure=secure)
    return response


def _context(visit: Visit) -> dict[str, Any]:
    """What every template gets."""
    person = visit.person
    shape: PersonShape | None = None if person is None else person_shape(person)
    return {
        "person": plain(shape),
        "language": visit.language,
        "languages": LANGUAGES,
        "w": partial(_word, visit.language),
        "csrf": visit.csrf,
        "static": visit.web.assets.url,
        "words_url": words_url(visit.language),
        "path": visit.request.url.path,
        "query_string": urlencode(
            [(k, v) for k, v in visit.request.query_params.multi_items() if k != "lang"]
        ),
        "messages": [] if person is None else plain(visit.store.unread(person.id)),
    }


def _word(language: str, key: str, **values: object) -> str:
    return say(key, language, **values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("lapsus.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
