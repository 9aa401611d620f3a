"""Changes of a guideline's file: what a form says; parts that come, go and move. What no form shows stays as it is."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import regex

from lapsus.errors import InputError
from lapsus.kinds import KINDS
from lapsus.schemes import load_scheme
from lapsus.schemes.scheme_check import SPECIAL
from lapsus.store.plan_file import to_yaml
from lapsus.web.pages.setup.guideline_form import (
    REQUIRED,
    GuidelineInput,
    GuidelinePart,
    at,
    guideline_form,
    mapping,
    numbered,
)
from lapsus.web.pages.setup.own_guideline import FILE, Tree, tree_of

_NUMBER: Final = regex.compile(r"[+-]?[0-9]{1,9}")
_KEPT: Final = (*REQUIRED, "id", "scheme", "version", "role", "why", "value")
"""What stays in the file when it is emptied, so that it is told to be missing."""
_LEVELS: Final = 5
PARTS: Final = ("section", "question", "label", "level", "example")
"""What can be added."""
LANGUAGE: Final = regex.compile(r"[a-z]{2,3}")
_SHARED: Final = {"cell", "on", "covers"}
"""What a new label takes over from its neighbour, since a guideline gives it to all or to none."""


def with_form(text: str, said: Mapping[str, str], language: str) -> str:
    """The text after a form was filled in; the very same one where nothing was changed."""
    tree = _sound(text)
    renamed: list[tuple[str, str, str]] = []
    changed: set[str] = set()
    for one in _inputs(guideline_form(tree, language)):
        new = _new_value(one, said)
        # The answers on which a question depended are those of another question now.
        if new is None or new == one.value or _asked_by(one.name) in changed:
            continue
        changed.add(one.name)
        if one.form == "id" or one.what == "value":
            renamed.append((one.name, one.value, new))
        elif one.what == "kind":
            question = at(tree, one.name.rpartition(".")[0])
            _become(tree, question, new, mapping(question, "name"))
            _tidy_steps(tree)
        elif one.name.endswith("only_if.question"):
            _put(tree, one.name.rpartition(".")[0], {"question": new, "answers": []} if new else None)
        else:
            _put(tree, one.name, _parsed(tree, one, new))
    _rename(tree, renamed)
    return to_yaml(tree) if changed else text


def _inputs(parts: Iterable[GuidelinePart]) -> Iterator[GuidelineInput]:
    for part in parts:
        yield from part.inputs
        yield from _inputs(part.parts)


def _new_value(one: GuidelineInput, said: Mapping[str, str]) -> str | None:
    """What a form says for an input; None where it does not have it, or has it as it is."""
    if one.name not in said:
        return None
    if one.form == "ticks":
        new = [value for value, _ in one.options if said.get(f"{one.name}={value}")]
        return None if new == one.ticked else "\n".join(new) or "\n"
    return said[one.name].replace("\r\n", "\n").strip()


def _asked_by(name: str) -> str:
    return name.replace("only_if.answers", "only_if.question")


def _parsed(tree: Tree, one: GuidelineInput, new: str) -> Any:
    """What is written into the file; None takes it out."""
    lines = [line.strip() for line in new.split("\n") if line.strip()]
    if one.form in ("lines", "ticks"):
        question = at(tree, _asked_by(one.name)) if one.what == "answers" else None
        asked = [q for _, q in numbered(tree.get("questions")) if q.get("id") == question]
        found = [_number(line) if asked and "levels" in asked[0] else line for line in lines]
        return found if found or one.what == "answers" else None
    if one.form == "pairs":
        return [[part.strip() for part in line.split("+")] for line in lines] or None
    if one.form == "number" or one.what == "answer":
        return _number(new) if new else None
    if one.what in ("required", "fits"):
        return new == "yes"
    return new if new or one.what in _KEPT else None


def _number(text: str) -> int | str:
    return int(text) if _NUMBER.fullmatch(text) else text


def _put(tree: Tree, name: str, value: Any) -> None:
    """Write a value at a place, or take what stands there out, with what is empty then."""
    above, _, last = name.rpartition(".")
    here = at(tree, above)
    if isinstance(here, dict) and value is not None:
        here[last] = value
    elif isinstance(here, dict):
        here.pop(last, None)
        if not here and above.rpartition(".")[2] in ("notes", "examples", "unit"):
            _put(tree, above, None)
    elif here is None and value is not None and isinstance(at(tree, above.rpartition(".")[0]), dict):
        _put(tree, above, {last: value})


def _rename(tree: Tree, renamed: Iterable[tuple[str, str, str]]) -> None:
    """Give parts their new names, wherever the guideline speaks of them."""
    by_question: dict[str, dict[str, str]] = {}
    questions: dict[Any, str] = {}
    for name, old, new in renamed:
        _put(tree, name, _number(new) if name.endswith(".value") else new)
        steps = name.split(".")
        if len(steps) == 5 and steps[0] == "questions":
            by_question.setdefault(".".join(steps[:2]), {})[old] = new
        elif len(steps) == 3 and steps[0] == "questions":
            questions[old] = new
    for _, question in numbered(tree.get("questions")):
        condition = mapping(question, "only_if")
        if condition.get("question") in questions:
            condition["question"] = questions[condition["question"]]
    for place, names in by_question.items():
        _each_name(tree, at(tree, place), partial(_renamed, names))


def _renamed(names: Mapping[str, str], id: Any) -> list[Any]:
    new = names.get(str(id), str(id))
    return [_number(new) if isinstance(id, int) else new]


def _each_name(tree: Tree, question: Any, become: Callable[[Any], list[Any]]) -> None:
    """Let every mention of a label or level of a question become what stands for it now, if anything does."""
    if not isinstance(question, dict):
        return
    analysis, own = mapping(question, "analysis"), question.get("id")
    rules = [mapping(one, "only_if") for _, one in numbered(tree.get("questions"))]
    alone = [(question, "alone"), (analysis, "tie_break")]
    alone += [(rule, "answers") for rule in rules if rule.get("question") == own]
    alone += [(step, "labels") for _, step in numbered(tree.get("steps"))]
    for here, key in alone:
        if isinstance(names := here.get(key), list):
            here[key] = [new for one in names for new in become(one)]
    for here, key in ((question, "apart"), (question, "ties"), (analysis, "merged")):
        if isinstance(groups := here.get(key), list):
            left = [
                [new for one in group for new in become(one)] for group in groups if isinstance(group, list)
            ]
            here[key] = [group for group in left if len(group) > 1]


def with_part(text: str, what: str, place: str, language: str) -> tuple[str, str]:
    """The text with one more part, and where that stands."""
    tree = _sound(text)
    languages = [str(one) for one in mapping(tree, "title")] or [language]
    where, new = _new_part(tree, what, place, dict.fromkeys(languages, ""))
    found = at(tree, where)
    there = found if isinstance(found, list) else []
    if "id" in new:
        new["id"] = _free(what, [str(one.get("id")) for _, one in numbered(there)])
    if what == "label":
        _count_label(at(tree, place), new["id"])
    _put(tree, where, [*there, copy.deepcopy(new)])
    return to_yaml(tree), f"{where}.{len(there)}"


def _new_part(tree: Tree, what: str, place: str, empty: dict[str, str]) -> tuple[str, Tree]:
    """Where a new part goes, and what it is at first."""
    if what == "section":
        return "background", {"id": "", "title": empty, "text": empty}
    if what == "question" and place in KINDS.names():
        new: Tree = {"id": "", "name": empty, "ask": empty}
        _become(tree, new, place, empty)
        if place == "text":
            # Nobody has more to say about every unit.
            new["required"] = False
        return "questions", new
    here = at(tree, place.rpartition(".examples.")[0] or place) if place.startswith("questions.") else None
    if isinstance(here, dict) and what == "label":
        labels = [one for _, one in numbered(here.get("labels"))]
        shared = {key: value for one in labels[:1] for key, value in one.items() if key in _SHARED}
        return f"{place}.labels", {"id": "", "name": empty, "definition": empty, **shared}
    if isinstance(here, dict) and what == "level":
        values = [
            one["value"] for _, one in numbered(here.get("levels")) if isinstance(one.get("value"), int)
        ]
        return f"{place}.levels", {"value": max(values, default=0) + 1, "meaning": empty}
    if isinstance(here, dict) and what == "example":
        verdict = {"fits": True} if ".labels." in place else {}
        return place, {"text": "", **verdict, "why": ""}
    raise InputError("guideline-no-such-part", where=FILE)


def _free(stem: str, taken: list[str]) -> str:
    return next(id for n in range(1, len(taken) + 2) if (id := f"{stem}-{n}") not in taken)


def _count_label(question: Tree, id: str) -> None:
    analysis = mapping(question, "analysis")
    # Scores that a guideline asks for count exactly its own labels; with others the usual ones are right.
    analysis.pop("scores", None)
    if isinstance(ties := analysis.get("tie_break"), list):
        ties.append(id)


def _become(tree: Tree, question: Tree, kind: str, languages: Iterable[str]) -> None:
    """Make a question one of another kind: without what means nothing there, and with what it needs."""
    keys = KINDS.get(kind).keys if kind in KINDS.names() else frozenset()
    question["kind"] = kind
    for key in {*SPECIAL, "analysis"} - keys:
        question.pop(key, None)
    empty = dict.fromkeys(languages, "")
    if kind == "preference":
        ours = msgspec.to_builtins(load_scheme("preference").questions[0].labels, str_keys=True)
        for label in ours:
            label.update(
                {key: {one: label[key].get(one, "") for one in empty} for key in ("name", "definition")}
            )
        question["labels"] = ours
    elif "labels" in keys and not question.get("labels") and "labels_from" not in question:
        question["labels"] = [
            {"id": f"label-{n}", "name": {**empty}, "definition": {**empty}} for n in (1, 2)
        ]
    elif "levels" in keys and not question.get("levels"):
        question["levels"] = [{"value": n, "meaning": {**empty}} for n in range(1, _LEVELS + 1)]
    role = mapping(tree, "unit").get("role")
    for _, label in numbered(question.get("labels")):
        if kind in KINDS.names() and KINDS.get(kind).on_text:
            label.setdefault("on", "system" if role == "document" else role)
        else:
            label.pop("on", None)
            label.pop("covers", None)


def without_part(text: str, place: str) -> str:
    """The text without a part, and without what the guideline says of it elsewhere."""
    tree = _sound(text)
    there, place_in, here = _listed(tree, place)
    del there[place_in]
    steps = place.split(".")
    if len(steps) == 4 and steps[0] == "questions":
        gone = here.get("id" if steps[2] == "labels" else "value")
        question = at(tree, ".".join(steps[:2]))
        _each_name(tree, question, lambda id: [] if str(id) == str(gone) else [id])
        mapping(question, "analysis").pop("scores", None)
    elif len(steps) == 2 and steps[0] == "questions":
        for _, other in numbered(tree.get("questions")):
            if (id := here.get("id")) and mapping(other, "only_if").get("question") == id:
                del other["only_if"]
    _tidy_steps(tree)
    if not there and steps[-2] not in ("questions", "labels", "levels"):
        _put(tree, ".".join(steps[:-1]), None)
    return to_yaml(tree)


def _tidy_steps(tree: Tree) -> None:
    """Steps speak of labels that some question has."""
    questions = [question for _, question in numbered(tree.get("questions"))]
    known = {str(label.get("id")) for one in questions for _, label in numbered(one.get("labels"))}
    for _, step in numbered(tree.get("steps")):
        if isinstance(step.get("labels"), list):
            step["labels"] = [id for id in step["labels"] if str(id) in known]


def moved_part(text: str, place: str, by: int) -> tuple[str, str]:
    """The text with a part one place up or down, and where it stands then."""
    tree = _sound(text)
    there, place_in, _ = _listed(tree, place)
    new = max(0, min(len(there) - 1, place_in + by))
    there.insert(new, there.pop(place_in))
    return to_yaml(tree), f"{place.rpartition('.')[0]}.{new}"


def _listed(tree: Tree, place: str) -> tuple[list[Any], int, Tree]:
    above, _, number = place.rpartition(".")
    there, here = at(tree, above), at(tree, place)
    if not isinstance(there, list) or not isinstance(here, dict):
        raise InputError("guideline-no-such-part", where=FILE)
    return there, int(number) % len(there), here


def with_language(text: str, language: str, *, is_there: bool) -> str:
    """The text with a language in which its words are to be written, or without one."""
    tree = _sound(text)
    if not LANGUAGE.fullmatch(language):
        raise InputError("guideline-no-such-part", where=FILE)
    if is_there:
        for key in ("title", "summary"):
            _put(tree, f"{key}.{language}", mapping(tree, key).get(language, ""))
    elif len(mapping(tree, "title")) > 1:
        _drop(tree, language)
    return to_yaml(tree)


def _drop(value: Any, language: str) -> None:
    """Every mapping with that key is one from languages to words."""
    if isinstance(value, dict):
        value.pop(language, None)
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _drop(one, language)


def _sound(text: str) -> Tree:
    tree = tree_of(text)
    if tree is None:
        raise InputError("no-guideline", where=FILE, hint="mend-file-below")
    return tree
