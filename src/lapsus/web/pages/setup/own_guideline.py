"""A guideline of one's own on the way to a campaign: a file, or a shipped one whose words are changed in a form.

A draft keeps it as the text of a scheme file, under `own` of its plan. The plan names it by its id, which is never
that of a guideline that is here already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import regex

from lapsus.errors import InputError
from lapsus.model import Scheme
from lapsus.notices import Notice
from lapsus.schemes import load_scheme, scheme_names
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.schemes.scheme_check import SchemeProblem, check_scheme
from lapsus.store.plan_file import to_yaml

Tree = dict[str, Any]
LONGEST: Final = 300_000
"""Characters of a guideline's file."""
FILE: Final = "guideline"
_SLUG: Final = regex.compile(r"(?=.{1,60}$)[a-z0-9]+(-[a-z0-9]+)*")
_VERSION: Final = regex.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,19}")
_LINE: Final = 80
"""Words that are longer are written in a larger field."""
_LISTS: Final = ("alone", "apart", "ties")
"""Where a question refers to its labels."""


class WordsField(NamedTuple):
    """A text of the guideline that the form shows."""

    name: str
    """Where it stands in the file, such as `questions.0.ask.en`."""
    what: str
    """What it is: the last key."""
    language: str
    value: str

    @property
    def is_long(self) -> bool:
        """Whether it needs several lines."""
        return self.what in ("summary", "definition", "ask") or len(self.value) > _LINE


class WordsGroup(NamedTuple):
    """What is shown together: the guideline itself, a question, or a label of it."""

    kind: str
    place: str
    """Where it stands in the file; empty for the guideline itself."""
    id: str
    fields: list[WordsField]
    grows: str = ""
    """The question, in the file, that can get one more label after this."""


def draft_scheme(plan: Tree) -> Scheme | None:
    """The guideline of a draft, if one was chosen."""
    name = plan.get("scheme", "")
    if name in scheme_names():
        return load_scheme(name)
    own = plan.get("own")
    return read_own(own) if own else None


def read_own(text: str) -> Scheme:
    """The guideline in a text; the first thing that is wrong with it is raised."""
    scheme, problems = checked(text)
    severe = [problem for problem in problems if problem.severe]
    if scheme is None or severe:
        first = severe[0]
        raise InputError(first.message, where=Notice("line", name=FILE, line=first.line))
    return scheme


def checked(text: str) -> tuple[Scheme | None, list[SchemeProblem]]:
    """The guideline in a text and all that is wrong with it, its name included."""
    if len(text) > LONGEST:
        return None, [SchemeProblem(1, "size", Notice("too-long-guideline"))]
    scheme, problems = check_scheme(text, FILE)
    if scheme is None:
        return None, problems
    return scheme, [*(SchemeProblem(1, "name", what) for what in _wrong_names(scheme)), *problems]


def _wrong_names(scheme: Scheme) -> Iterator[str]:
    """What is wrong with the names by which pages ask for a guideline."""
    if scheme.id in scheme_names():
        yield Notice("name-guideline-here-already", id=scheme.id)
    if not _SLUG.fullmatch(scheme.id):
        yield Notice("guidelines-short-name-small")
    if not _VERSION.fullmatch(scheme.version):
        yield Notice("version-letters-digits-dots")


def edited_from(name: str, campaign: str) -> str:
    """A shipped guideline as the text of one's own, under a name of its own."""
    if name not in scheme_names():
        raise InputError("no-guideline-called", hint="choose-one-list", name=name[:60])
    tree: Tree = msgspec.to_builtins(load_scheme(name), str_keys=True)
    tree.pop("compatible", None)
    return to_yaml({**tree, "scheme": f"{campaign[:40]}-{name}", "version": "1.0"})


def groups(text: str) -> list[WordsGroup]:
    """The words of a guideline that can be changed in a form; none where the text is no guideline."""
    tree = _tree(text)
    if tree is None:
        return []
    found = [_group("guideline", "", tree, "scheme", ("title", "summary"))]
    for q, question in _numbered(tree.get("questions")):
        place = f"questions.{q}"
        found.append(_group("question", place, question, "id", ("name", "ask")))
        for n, label in _numbered(question.get("labels")):
            found.append(_group("label", f"{place}.labels.{n}", label, "id", ("name", "definition")))
        if isinstance(question.get("labels"), list):
            found[-1] = found[-1]._replace(grows=place)
        for n, level in _numbered(question.get("levels")):
            found.append(_group("level", f"{place}.levels.{n}", level, "value", ("meaning",)))
    return found


def _group(kind: str, place: str, here: Tree, id: str, keys: Sequence[str]) -> WordsGroup:
    return WordsGroup(kind, place, str(here.get(id, "")), list(_words(here, place, keys)))


def with_words(text: str, fields: Mapping[str, str]) -> str:
    """The text after the form was filled in: its name, and words by where they stand."""
    tree = _tree(text)
    if tree is None:
        raise InputError("no-guideline", where=FILE, hint="mend-file-below")
    if "scheme" in fields:
        tree["scheme"] = fields["scheme"].strip()
    for group in groups(text):
        for field in group.fields:
            if field.name in fields:
                _put(tree, field.name.split("."), fields[field.name].replace("\r\n", "\n").strip())
    return to_yaml(tree)


def with_label(text: str, place: str) -> str:
    """The text with one more label at a question, to be named."""
    tree = _tree(text) or {}
    question = _at(tree, place)
    labels = question.get("labels") if isinstance(question, dict) else None
    if not isinstance(labels, list):
        raise InputError("question-no-labels-own", where=FILE)
    there = [label for _, label in _numbered(labels)]
    taken = {str(label.get("id")) for label in there}
    id = next(new for n in range(1, len(taken) + 2) if (new := f"new-{n}") not in taken)
    languages = list(_mapping(tree, "title")) or ["en"]
    kept = {key: there[0][key] for key in ("cell", "on", "covers") if there and key in there[0]}
    words = {key: dict.fromkeys(languages, id) for key in ("name", "definition")}
    labels.append({"id": id, **kept, **words})
    analysis = _mapping(question, "analysis")
    # Scores that a guideline asks for count exactly its own labels; with others the usual ones are right.
    analysis.pop("scores", None)
    if isinstance(ties := analysis.get("tie_break"), list):
        ties.append(id)
    return to_yaml(tree)


def without_label(text: str, place: str) -> str:
    """The text without a label, wherever its question speaks of it."""
    tree = _tree(text) or {}
    above, _, number = place.rpartition(".labels.")
    question, label = _at(tree, above), _at(tree, place)
    labels = question.get("labels") if isinstance(question, dict) else None
    if not isinstance(labels, list) or not isinstance(label, dict):
        raise InputError("there-is-no-such-label", where=FILE)
    del labels[int(number)]
    _forget(question, label.get("id"))
    return to_yaml(tree)


def _forget(question: Tree, id: Any) -> None:
    """Take a label's id out of all that a question says of its labels."""
    for key in _LISTS:
        if isinstance(pairs := question.get(key), list):
            question[key] = [one for one in pairs if one != id and not (isinstance(one, list) and id in one)]
    analysis = _mapping(question, "analysis")
    analysis.pop("scores", None)
    if isinstance(ties := analysis.get("tie_break"), list):
        analysis["tie_break"] = [one for one in ties if one != id]
    if isinstance(merged := analysis.get("merged"), list):
        left = [[one for one in group if one != id] for group in merged if isinstance(group, list)]
        analysis["merged"] = [group for group in left if len(group) > 1]


def _tree(text: str) -> Tree | None:
    if len(text) > LONGEST:
        return None
    try:
        tree = parse_yaml(text, FILE).data
    except InputError:
        return None
    return tree if isinstance(tree, dict) else None


def _numbered(value: Any) -> Iterator[tuple[int, Tree]]:
    """The mappings in a list, each with its place."""
    for place, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield place, one


def _mapping(tree: Tree, key: str) -> Tree:
    """What stands under a key, where that is a mapping."""
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def _words(here: Tree, place: str, keys: Sequence[str]) -> Iterator[WordsField]:
    for key in keys:
        for language, words in _mapping(here, key).items():
            name = ".".join(filter(None, (place, key, str(language))))
            yield WordsField(name, key, str(language), str(words))


def _at(tree: Any, place: str) -> Any:
    for step in place.split("."):
        try:
            tree = tree[int(step)] if isinstance(tree, list) else tree[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return tree


def _put(tree: Any, path: Sequence[str], words: str) -> None:
    *above, last = path
    if isinstance(texts := _at(tree, ".".join(above)), dict):
        texts[last] = words
