"""From records to pages and to JSON."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import RedirectResponse, Response

from lapsus.measures.score import shown as figure
from lapsus.model import in_language
from lapsus.notices import as_text
from lapsus.web.addresses import Addresses, at
from lapsus.web.assets import THEMES
from lapsus.web.markdown import as_html
from lapsus.web.page_words import say, words_url
from lapsus.web.request_context import READING, RequestContext, person_response
from lapsus.web.schemas import PersonResponse, plain
from lapsus.web.sessions import LANGUAGE, SESSION, SESSION_SECONDS, THEME, YEAR, Session
from lapsus.word_files import LANGUAGES


def json_response(shape: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A record as JSON."""
    return Response(
        msgspec.json.encode(shape, enc_hook=as_text), status, dict(headers or {}), "application/json"
    )


def page_response(
    visit: RequestContext, template: str, shape: Any, status: int = 200, more: Mapping[str, Any] | None = None
) -> Response:
    """A record as a page: its fields by name, and the whole as `data` where names of every page are the same.

    Whatever stands in a document comes out as text: templates escape everything.
    """
    data: dict[str, Any] = plain(shape)
    html = (
        _environment()
        .get_template(template)
        .render({**(more or {}), **data, **_context(visit), "data": data})
    )
    # Browsers keep pages for work without a network, of one person at a time: this tells whose it is.
    headers = {"X-Lapsus-Person": str(visit.person.id if visit.person else 0)}
    return with_cookies(visit, Response(html, status, headers, "text/html"))


def redirect(visit: RequestContext, path: str, session: Session | None = None) -> Response:
    """Go on to another page; its JSON twin where a program reads. A new session begins with it, if there is one."""
    if visit.wants_json:
        path, mark, place = path.partition("#")
        name, _, query = path.partition("?")
        path = (f"{name}.json?{query}" if query else f"{name}.json") + mark + place
    return with_cookies(visit, RedirectResponse(at(path), 303), session)


def with_cookies(visit: RequestContext, response: Response, session: Session | None = None) -> Response:
    """Give the browser its session and remember the language that was asked for."""
    # Another site's form comes without the cookie; answering it with a new one would sign the person out.
    is_first = visit.is_new and visit.token is None and visit.request.method in READING
    if session is not None or is_first:
        kept = visit.web.sessions.write(session or visit.session)
        visit.set_cookie(response, SESSION, kept, SESSION_SECONDS)
    if (wanted := visit.request.query_params.get("lang")) in LANGUAGES:
        visit.set_cookie(response, LANGUAGE, wanted, YEAR)
    return response


def _context(visit: RequestContext) -> dict[str, Any]:
    """What every template gets."""
    person = visit.person
    shape: PersonResponse | None = None if person is None else person_response(person)
    return {
        "person": plain(shape),
        "language": visit.language,
        "languages": LANGUAGES,
        "w": partial(_word, visit.language),
        "csrf": visit.csrf,
        "static": visit.web.assets.url,
        "words_url": words_url(visit.language),
        "path": visit.path,
        "query_string": urlencode(
            [(k, v) for k, v in visit.request.query_params.multi_items() if k != "lang"]
        ),
        "messages": [] if person is None else _messages(visit),
        "theme": theme_of(visit),
    }


def _messages(visit: RequestContext) -> list[dict[str, Any]]:
    """What is to be read on this page: on the first one everything, on a campaign's what is said in it."""
    here, is_first = visit.request.path_params.get("campaign"), visit.path == "/"
    unread = visit.store.messages.unread(visit.me.id) if here or is_first else []
    return [
        {
            **plain(message),
            "title": in_language(visit.store.campaigns.get(message.campaign).plan.titles, visit.language),
        }
        for message in unread
        if is_first or message.campaign == here
    ]


def theme_of(visit: RequestContext) -> str:
    """Light or dark where somebody chose one for this browser; empty: as the system has it."""
    chosen = visit.cookie(THEME)
    return chosen if chosen in THEMES else ""


def _word(language: str, key: str, **values: object) -> str:
    if any(isinstance(value, Markup) for value in values.values()):
        return Markup(escape(say(key, language))).format(**values)  # noqa: S704
    return say(key, language, **values)


def _formatted(segment: Any) -> Markup:
    """The text of a segment, as its layout says."""
    return as_html(segment["text"], segment.get("layout", ()))


def _breakable(name: str) -> Markup:
    """A name that may be broken after each `_`, and nowhere else."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def _commands(words: str) -> Markup:
    """Words in which commands stand between backticks: each is shown as one, and broken only between its words."""
    parts = words.split("`")
    shown = [
        Markup(" ").join(Markup('<code class="command">{}</code>').format(word) for word in part.split())
        if place % 2
        else escape(part)
        for place, part in enumerate(parts)
    ]
    return Markup("").join(shown)


def _stacked(triple: str) -> Markup:
    """A triple whose parts may stand one above the other; its text stays what it is, so that places in it do too."""
    parts = (Markup('<span class="part">{}</span>').format(_breakable(part)) for part in triple.split(" | "))
    return Markup('<span class="bar"> | </span>').join(parts)


def _moment(at: str) -> Markup:
    """A time: in UTC as it comes, in the reader's own time where scripts run."""
    shown = f"{at[:16].replace('T', ' ')} UTC"
    return Markup('<time datetime="{}" data-local>{}</time>').format(at, shown)


def _day(at: str) -> Markup:
    """The day of a time, as `_moment` tells the time."""
    return Markup('<time datetime="{}" data-local="day">{}</time>').format(at, at[:10])


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("lapsus.web", folder) for folder in ("pages", "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Addresses],
    )
    environment.filters["figure"] = figure
    environment.filters["formatted"] = _formatted
    environment.filters["breakable"] = _breakable
    environment.filters["commands"] = _commands
    environment.filters["day"] = _day
    environment.filters["moment"] = _moment
    environment.filters["stacked"] = _stacked
    return environment
