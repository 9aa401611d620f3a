"""The wizard's step about collecting: who is talked to, how long, about what.

As with judges, no address and no key is taken from a page: language models are asked at servers that the operator
allowed. Endpoints of one's own and what else a plan can say stand in a plan file.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lapsus.annotators.language_model.providers import PROVIDERS
from lapsus.collect.systems import FUNCTIONS, check_systems
from lapsus.errors import InputError
from lapsus.store.collect_plan import PERSON, Collect
from lapsus.web.judge_sources import EndpointChoice
from lapsus.web.page_words import say
from lapsus.web.request_context import RequestContext, number_in

USUAL: Final[Mapping[str, Any]] = {"systems": ["bot"]}
_NUMBERS: Final = ("exchanges", "dialogues", "least_exchanges", "least_minutes")
_OF_MODELS: Final = ("prompt", "endpoint", "key_env")
_MASKS: Final = ("email", "number")


class OfferedResponse(msgspec.Struct, frozen=True):
    """Who can be talked to on this server."""

    names: list[str]
    """Systems without a provider: our bot, another person, functions of installed packages."""
    endpoints: list[EndpointChoice]
    variables: list[str]
    """Those of the environment that hold a key."""


def offered(visit: RequestContext) -> OfferedResponse:
    """What the step lets one choose from."""
    sources = visit.web.judges
    return OfferedResponse(["bot", PERSON, *FUNCTIONS.names()], sources.endpoint_choices(), sources.keys())


def collect(fields: Mapping[str, str]) -> dict[str, Any]:
    """`collect:` of the plan, as the step says."""
    language = fields.get("language", "en")
    about = {name: fields.get(name, "").strip() for name in _OF_MODELS}
    systems = [_system(line, about) for line in _lines(fields, "systems")]
    found: dict[str, Any] = {
        "language": language,
        "opens": fields.get("opens", "system"),
        **{name: _number(fields, name) for name in _NUMBERS},
        "topics": [{language: line} for line in _lines(fields, "topics")],
        "ask": True if fields.get("ask") == "yes" else None,
        "mask": [name for name in _MASKS if fields.get(f"mask_{name}") == "yes"],
    }
    return {"systems": systems, **{name: value for name, value in found.items() if value not in (None, [])}}


def fields_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What the step's fields say for `collect:` of a plan."""
    systems = [{"use": one} if isinstance(one, str) else one for one in plan["systems"]]
    about = {
        name: next((one[name] for one in systems if one.get(name)), "")
        for name in ("prompt", "endpoint", "key_env")
    }
    return {
        "systems": "\n".join(one["use"] for one in systems),
        **about,
        "language": plan.get("language", "en"),
        "opens": plan.get("opens", "system"),
        **{name: plan.get(name, "") for name in _NUMBERS},
        "exchanges": plan.get("exchanges", 10),
        "topics": "\n".join(next(iter(topic.values())) for topic in plan.get("topics", ())),
        "ask": "yes" if plan.get("ask") else "",
        **{f"mask_{name}": "yes" if name in plan.get("mask", ()) else "" for name in _MASKS},
    }


def check(visit: RequestContext, plan: Collect) -> None:
    """Complain of a system that cannot be chosen on this server's pages, or cannot be asked."""
    here = offered(visit)
    allowed = {one.url for one in here.endpoints}
    for system in plan.known:
        if system.use in here.names:
            continue
        if not _is_model(system.use):
            raise InputError("system-not-by-page", hint="system-by-plan-file", name=system.use[:80])
        if system.endpoint not in allowed or (system.key_env and system.key_env not in here.variables):
            raise InputError("endpoint-not-allowed-here", hint="operator-server-names", where=system.called)
    check_systems(plan)


def summary(plan: Collect, language: str) -> str:
    """What was decided, in a line."""
    systems = ", ".join(system.called for system in plan.known)
    return say("setup.talks.summary", language, systems=systems, exchanges=plan.exchanges)


def _is_model(use: str) -> bool:
    return use.partition(":")[0] in PROVIDERS.names()


def _system(use: str, about: Mapping[str, str]) -> str | dict[str, str]:
    """A line; a language model is told the prompt and asked at the server, and whoever plays a system reads it."""
    names = _OF_MODELS if _is_model(use) else ("prompt",) if use == PERSON else ()
    more = {name: about[name] for name in names if about[name]}
    return {"use": use, **more} if more else use


def _lines(fields: Mapping[str, str], name: str) -> list[str]:
    return [line.strip() for line in fields.get(name, "").splitlines() if line.strip()]


def _number(fields: Mapping[str, str], name: str) -> int | None:
    text = fields.get(name, "").strip()
    if text and number_in(text) is None:
        raise InputError("no-whole-number", where=name.replace("_", " "), text=text[:20])
    return number_in(text) if text else None
