"""Practice and checks on the way to a plan: units whose right answers are known, and what follows on wrong ones."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from lapsus.errors import InputError
from lapsus.model import Answer
from lapsus.store import KnownUnit
from lapsus.store.rows import ANSWERS

BLOCKS: Final = ("training", "checks", "gold")
BEGIN: Final[Mapping[str, Mapping[str, Any]]] = {
    "training": {"allow": 3, "then": "warn"},
    "checks": {"every": 5, "allow": 1, "then": "stop"},
    "gold": {"allow": 3, "then": "nothing"},
}
"""What a block begins with, to be changed."""
Tree = dict[str, Any]


def given_unit(document: str, segment: str, answers: str, feedback: Mapping[str, str]) -> KnownUnit:
    """A unit as the form says it; the answers come as JSON, as judges' answers do."""
    try:
        said: Mapping[str, Answer] = ANSWERS.decode(answers.encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise InputError("give-right-answer-first", where="checks") from error
    if not said:
        raise InputError("give-right-answer-first", where="checks")
    return KnownUnit(document, said, segment or None, feedback)


def with_units(plan: Tree, block: str, units: Iterable[KnownUnit]) -> Tree:
    """The plan with more known units. One that was known before is known anew."""
    changed = dict(plan)
    for unit in units:
        for name in BLOCKS:
            changed = _without(
                changed, name, lambda old, unit=unit: _key(old) == (unit.document, unit.segment)
            )
        known = changed.get(block) or {**BEGIN[block], "units": []}
        told: Tree = msgspec.to_builtins(unit, str_keys=True)
        changed[block] = {**known, "units": [*known["units"], told]}
    return changed


def without_unit(plan: Tree, block: str, document: str, segment: str) -> Tree:
    """The plan without a known unit."""
    return _without(plan, block, lambda old: _key(old) == (document, segment or None))


def with_rules(plan: Tree, fields: Mapping[str, str], numbers: Mapping[str, int | None]) -> Tree:
    """The plan with what follows on wrong answers, as the form says."""
    changed = dict(plan)
    for block in BLOCKS:
        if not (known := changed.get(block)):
            continue
        rules = {
            name: numbers[f"{block}_{name}"] for name in ("every", "allow") if f"{block}_{name}" in numbers
        }
        if then := fields.get(f"{block}_then"):
            rules["then"] = then  # type: ignore[assignment]
        changed[block] = {**known, **{name: value for name, value in rules.items() if value is not None}}
    if "suggest" in fields:
        changed["suggest"] = fields["suggest"].strip() or None
    return {name: value for name, value in changed.items() if value is not None}


def rule_fields(plan: Tree) -> Tree:
    """What the fields say for a plan."""
    found: Tree = {"suggest": plan.get("suggest")}
    for block in BLOCKS:
        if known := plan.get(block):
            # What a plan leaves out is as a plan has it, not as a new block begins.
            whole = {"allow": 0, "then": "nothing", **({"every": 5} if block == "checks" else {}), **known}
            found |= {f"{block}_{name}": whole[name] for name in BEGIN[block]}
    return found


def _key(unit: Mapping[str, Any]) -> tuple[str, str | None]:
    return unit["document"], unit.get("segment")


def _without(plan: Tree, block: str, is_it: Any) -> Tree:
    known = plan.get(block)
    if not known:
        return plan
    left = [unit for unit in known["units"] if not is_it(unit)]
    rest = {name: value for name, value in plan.items() if name != block}
    return {**rest, block: {**known, "units": left}} if left else rest
