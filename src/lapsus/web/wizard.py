"""From forms to plans: what each step of the wizard asks for, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lapsus.errors import InputError, InvalidError
from lapsus.model import UnitKey
from lapsus.schemes import scheme_names
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.store import Plan, parse_plan, plan_yaml
from lapsus.store.plan_file import to_yaml

STEPS: Final = ("data", "guideline", "people", "pages", "checks", "review")
LANGUAGES: Final = ("en", "ja")
_KNOWN: Final = ("training", "checks", "gold", "suggest")

Fields = Mapping[str, str]
Tree = dict[str, Any]


def fields_of(step: str, plan: Tree) -> dict[str, str]:
    """What the fields of a step say for a plan."""
    return {name: _text(value) for name, value in _FIELDS[step](plan).items()}


def with_fields(step: str, plan: Tree, fields: Fields) -> Tree:
    """The plan after a step was filled in."""
    changed = {**plan, **_CHANGES[step](fields)}
    return {key: value for key, value in changed.items() if value not in (None, "", {}, [])}


def complete_plan(plan: Tree) -> Plan:
    """The plan as it stands; an error says what is wrong with it."""
    try:
        return parse_plan(to_yaml(plan))
    except InvalidError as error:
        raise InputError(error.what, where=error.where, hint=error.hint) from error


def plan_text(plan: Tree) -> str:
    """The plan as a file."""
    return plan_yaml(complete_plan(plan))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _number(fields: Fields, name: str) -> int | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"{text[:20]!r} is no whole number", where=name.replace("_", " "))
    return int(text)


def _words(fields: Fields, name: str) -> Tree:
    texts = {language: fields.get(f"{name}_{language}", "").strip() for language in LANGUAGES}
    return {language: text.replace("\r\n", "\n") for language, text in texts.items() if text}


def _in_languages(plan: Tree, name: str) -> Tree:
    return {f"{name}_{language}": plan.get(name, {}).get(language) for language in LANGUAGES}


def _data(fields: Fields) -> Tree:
    return {"name": fields.get("name", "").strip(), "title": _words(fields, "title")}


def _guideline(fields: Fields) -> Tree:
    # Only names: a path would be read on the server, whoever types it.
    if (name := fields.get("scheme", "")) not in scheme_names():
        raise InputError(f"no guideline is called {name[:60]!r}", hint="choose one of the list")
    return {"scheme": name}


def _people(fields: Fields) -> Tree:
    who = fields.get("who", "everybody")
    names = [name.strip() for name in fields.get("people", "").splitlines() if name.strip()]
    pilot = _number(fields, "pilot")
    more = {"per_unit": _number(fields, "pilot_per_unit")}
    return {
        "per_unit": _number(fields, "per_unit"),
        "who": who,
        "people": names if who == "named" else None,
        "batch": _number(fields, "batch"),
        "per_person": _number(fields, "per_person"),
        "order": fields.get("order", "random"),
        "minutes": _number(fields, "minutes"),
        "pilot": {"documents": pilot, **{key: n for key, n in more.items() if n}} if pilot else None,
    }


def _pages(fields: Fields) -> Tree:
    code, url = fields.get("code", "").strip(), fields.get("url", "").strip()
    return {
        "consent": _words(fields, "consent"),
        "instructions": _words(fields, "instructions"),
        "completion": {"code": code, **({"url": url} if url else {})} if code else None,
    }


def _checks(fields: Fields) -> Tree:
    text = fields.get("known", "").replace("\r\n", "\n")
    tree = parse_yaml(text, "checks").data or {}
    if not isinstance(tree, dict) or not set(tree) <= set(_KNOWN):
        raise InputError("here stand `training`, `checks`, `gold` and `suggest`", where="checks")
    if any(isinstance(tree.get(name), dict) and "file" in tree[name] for name in _KNOWN):
        # A path would be read on the server, whoever types it.
        raise InputError("files are for the command line", where="checks", hint="list the units here")
    return {name: tree.get(name) for name in _KNOWN}


_CHANGES: Final[Mapping[str, Callable[[Fields], Tree]]] = {
    "data": _data, "guideline": _guideline, "people": _people, "pages": _pages, "checks": _checks,
    "review": lambda fields: {},
}  # fmt: skip


def _people_fields(plan: Tree) -> Tree:
    pilot = plan.get("pilot") or {}
    return {
        "per_unit": plan.get("per_unit", 3),
        "who": plan.get("who", "everybody"),
        "people": "\n".join(plan.get("people", ())),
        "batch": plan.get("batch", 1),
        "per_person": plan.get("per_person", ""),
        "order": plan.get("order", "random"),
        "minutes": plan.get("minutes", 60),
        "pilot": pilot.get("documents", ""),
        "pilot_per_unit": pilot.get("per_unit", ""),
    }


def _pages_fields(plan: Tree) -> Tree:
    done = plan.get("completion") or {}
    words = {**_in_languages(plan, "consent"), **_in_languages(plan, "instructions")}
    return {**words, "code": done.get("code"), "url": done.get("url")}


def _checks_fields(plan: Tree) -> Tree:
    known = {name: plan[name] for name in _KNOWN if name in plan}
    return {"known": to_yaml(known) if known else ""}


_FIELDS: Final[Mapping[str, Callable[[Tree], Tree]]] = {
    "data": lambda plan: {"name": plan.get("name"), **_in_languages(plan, "title"), "chain": ""},
    "guideline": lambda plan: {"scheme": plan.get("scheme", "")},
    "people": _people_fields,
    "pages": _pages_fields,
    "checks": _checks_fields,
    "review": lambda plan: {},
}  # fmt: skip


def example_checks(first: UnitKey, second: UnitKey | None, answers: Mapping[str, Any]) -> str:
    """What may stand under checks, made of real units, to be changed."""
    told = {**_unit(first, answers), "feedback": {"en": "…", "ja": "…"}}
    blocks: Tree = {"training": {"allow": 3, "then": "warn", "units": [told]}}
    if second is not None:
        blocks["checks"] = {"every": 5, "allow": 1, "then": "stop", "units": [_unit(second, answers)]}
    return to_yaml(blocks)


def _unit(key: UnitKey, answers: Mapping[str, Any]) -> Tree:
    segment = {} if key.segment is None else {"segment": key.segment}
    return {"document": key.document, **segment, "answers": dict(answers)}
