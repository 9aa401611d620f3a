"""From forms to plans: what each step of the wizard asks for, and what it makes of the answers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.schemes import scheme_names
from lapsus.store import Plan, parse_plan, plan_yaml
from lapsus.store.plan_file import to_yaml
from lapsus.web.pages.setup import known_units, own_guideline, talks
from lapsus.web.pages.setup import sample as wizard_sample
from lapsus.web.request_context import number_in
from lapsus.word_files import LANGUAGES

STEPS: Final = ("data", "talks", "guideline", "people", "pages", "checks", "review")
Fields = Mapping[str, str]
Tree = dict[str, Any]
NOT_COLLECTED: Final = ("chain", "pilot", "training", "checks", "gold", "all_turns", wizard_sample.KEY)
"""What a campaign that collects talks cannot have."""


def steps_of(plan: Tree) -> list[str]:
    """The steps to a campaign: talks are collected, or documents are there and answers about some may be known."""
    left_out = "checks" if "collect" in plan else "talks"
    return [step for step in STEPS if step != left_out]


def fields_of(step: str, plan: Tree) -> dict[str, str]:
    """What the fields of a step say for a plan."""
    return {name: _text(value) for name, value in _FIELDS[step](plan).items()}


def with_fields(step: str, plan: Tree, fields: Fields) -> Tree:
    """The plan after a step was filled in."""
    if step == "checks":
        numbers = {name: whole_number(fields, name) for name in fields if name.endswith(("_every", "_allow"))}
        return known_units.with_rules(plan, fields, numbers)
    if step == "talks":
        return {**plan, "collect": talks.collect(fields)}
    if step == "guideline":
        _check_guideline(plan, fields.get("scheme", ""))
    changed = {**plan, **_CHANGES[step](fields)}
    return {key: value for key, value in changed.items() if value not in (None, "", {}, [])}


def complete_plan(plan: Tree) -> Plan:
    """The plan as it stands; an error says what is wrong with it."""
    told = {key: value for key, value in plan.items() if key not in ("own", "map", wizard_sample.KEY)}
    try:
        return parse_plan(to_yaml(told))
    except InvalidError as error:
        raise InputError(error.what, where=error.where, hint=error.hint) from error


def plan_text(plan: Tree) -> str:
    """The plan as a file; a guideline of one's own is a file beside it."""
    made = complete_plan(plan)
    is_own = made.scheme not in scheme_names()
    return plan_yaml(msgspec.structs.replace(made, scheme=f"{made.scheme}.yaml") if is_own else made)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def whole_number(fields: Fields, name: str) -> int | None:
    """What a field for a number says; None where it is empty."""
    text = fields.get(name, "").strip()
    if not text:
        return None
    if (number := number_in(text)) is None:
        raise InputError("no-whole-number", where=name.replace("_", " "), text=text[:20])
    return number


def words_in(fields: Fields, name: str) -> Tree:
    """A text in each language in which it was written."""
    texts = {language: fields.get(f"{name}_{language}", "").strip() for language in LANGUAGES}
    return {language: text.replace("\r\n", "\n") for language, text in texts.items() if text}


def _in_languages(plan: Tree, name: str) -> Tree:
    return {f"{name}_{language}": plan.get(name, {}).get(language) for language in LANGUAGES}


def _data(fields: Fields) -> Tree:
    return {"name": fields.get("name", "").strip(), "title": words_in(fields, "title")}


def _check_guideline(plan: Tree, name: str) -> None:
    # Only names: a path would be read on the server, whoever types it.
    if name in scheme_names() or ("own" in plan and name == own_guideline.read_own(plan["own"]).id):
        return
    raise InputError("no-guideline-called", hint="choose-one-list", name=name[:60])


def _guideline(fields: Fields) -> Tree:
    return {
        "scheme": fields.get("scheme", ""),
        "all_turns": True if fields.get("all_turns") == "yes" else None,
        "walk": "required" if fields.get("walk") == "required" else None,
        "steps": "required" if fields.get("steps") == "required" else None,
        "guideline_language": fields.get("guideline_language") or None,
        "texts": "markdown" if fields.get("texts") == "markdown" else None,
    }


def _people(fields: Fields) -> Tree:
    who = fields.get("who", "everybody")
    names = [name.strip() for name in fields.get("people", "").splitlines() if name.strip()]
    pilot = whole_number(fields, "pilot")
    more = {"per_unit": whole_number(fields, "pilot_per_unit")}
    return {
        "per_unit": whole_number(fields, "per_unit"),
        "who": who,
        "people": names if who == "named" else None,
        "batch": whole_number(fields, "batch"),
        "per_person": whole_number(fields, "per_person"),
        "order": fields.get("order", "random"),
        "minutes": whole_number(fields, "minutes"),
        "pilot": {"documents": pilot, **{key: n for key, n in more.items() if n}} if pilot else None,
    }


def _pages(fields: Fields) -> Tree:
    code, url = fields.get("code", "").strip(), fields.get("url", "").strip()
    return {
        "consent": words_in(fields, "consent"),
        "instructions": words_in(fields, "instructions"),
        "completion": {"code": code, **({"url": url} if url else {})} if code else None,
    }


_CHANGES: Final[Mapping[str, Callable[[Fields], Tree]]] = {
    "data": _data, "guideline": _guideline, "people": _people, "pages": _pages,
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


_FIELDS: Final[Mapping[str, Callable[[Tree], Tree]]] = {
    "data": lambda plan: {
        "name": plan.get("name"),
        **_in_languages(plan, "title"),
        "chain": (plan.get("chain") or {}).get("campaign"),
        "collect": "yes" if "collect" in plan else "",
    },
    "talks": lambda plan: talks.fields_of(plan.get("collect") or talks.USUAL),
    "guideline": lambda plan: {
        "scheme": plan.get("scheme", ""),
        "all_turns": "yes" if plan.get("all_turns") else "",
        "walk": plan.get("walk", "offered"),
        "steps": plan.get("steps", "offered"),
        "guideline_language": plan.get("guideline_language", ""),
        "texts": plan.get("texts", "plain"),
    },
    "people": _people_fields,
    "pages": _pages_fields,
    "checks": known_units.rule_fields,
    "review": lambda plan: {},
}  # fmt: skip
