"""Brat's `annotation.conf`: which types a project marks and relates, and a scheme made from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import regex

from lapsus.errors import InputError
from lapsus.formats.brat_ann import CONFIG, known_labels, text_of
from lapsus.formats.marks import SCHEME, marks_question
from lapsus.formats.source import Member, Source
from lapsus.model import Label, Question, Scheme, UnitRule
from lapsus.schemes import scheme_names

MARKS = "marks"
REMARK = "remark"
VERSION = "1.0"
_SECTION = regex.compile(r"\[([\w-]+)\]")
_ARGUMENT = regex.compile(r"^(<?[\w-]+>?):(\S+)$")
_ID = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_-]*")
_ENTITY = "<ENTITY>"
_ANY = "<ANY>"


@dataclass
class Configuration:
    """What a project's `annotation.conf` files say, taken together."""

    entities: dict[str, None] = field(default_factory=dict)
    relations: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = field(default_factory=dict)
    """By type, which types of marks each relates to which."""
    events: dict[str, None] = field(default_factory=dict)


@dataclass
class ForeignProject:
    """A project that Lapsus did not write, with types of its own."""

    scheme: Scheme
    events: frozenset[str]


def foreign_project(source: Source) -> ForeignProject | None:
    """The scheme of a project whose `annotation.conf` offers other labels than our own scheme of marks."""
    members = [member for member in source.members(CONFIG) if member.path.name == CONFIG]
    if not members:
        return None
    found = Configuration()
    for member in members:
        _read(member, found)
    question = marks_question(SCHEME)
    ours = known_labels(question) if question else {}
    if all(name.lower() in ours for name in found.entities):
        return None
    return ForeignProject(scheme_of(found, _name(source)), frozenset(found.events))


def scheme_of(found: Configuration, name: str) -> Scheme:
    """A scheme with a question that marks answer and one for remarks. Types that are related may be tied."""
    folded: dict[str, str] = {}
    for entity in found.entities:
        if folded.setdefault(entity.lower(), entity) != entity:
            raise InputError(
                "differ-capitals-only", where=CONFIG, folded=folded[entity.lower()], entity=entity
            )
    labels = tuple(
        Label(entity, {"en": entity.replace("_", " ")}, {"en": f"Marked as {entity} in brat."}, on="text")
        for entity in found.entities
    )
    marks = Question(
        id=MARKS,
        kind="spans",
        name={"en": "Marks"},
        ask={"en": "What is there to mark in this text?"},
        labels=labels,
        ties=tuple(_ties(found)),
    )
    remark = Question(
        id=REMARK, kind="text", name={"en": "Remark"}, ask={"en": "Anything to add?"}, required=False
    )
    return Scheme(
        scheme=name,
        version=VERSION,
        title={"en": f"Marks of the brat project {name}"},
        summary={"en": f"Made from the {CONFIG} of the project."},
        unit=UnitRule("document", "all"),
        questions=(marks, remark),
    )


def _ties(found: Configuration) -> Iterator[tuple[str, str]]:
    """Pairs of types that relations join, also in a chain, since marks in a chain share a tie."""
    groups: list[set[str]] = []
    for pairs in found.relations.values():
        for one, other in pairs:
            joined = set(one | other)
            apart = [group for group in groups if not group & joined]
            groups = [*apart, joined.union(*(group for group in groups if group & joined))]
    order = list(found.entities)
    for group in groups:
        yield from combinations(sorted(group, key=order.index), 2)


def _read(member: Member, found: Configuration) -> None:
    section, macros = "", dict[str, str]()
    relations: list[tuple[str, dict[str, str]]] = []
    for number, raw in enumerate(text_of(member).lstrip("\ufeff").splitlines(), 1):
        line, where = raw.strip(), f"{member.name}, line {number}"
        if not line or line.startswith("#") or set(line) == {"-"}:
            continue
        if match := _SECTION.fullmatch(line):
            section = match[1]
            continue
        if regex.match(r"<[\w-]+>\s*=", line):
            macro, _, value = line.partition("=")
            macros[macro.strip()] = value.strip()
            continue
        # A type that begins with an exclamation mark only groups others.
        name, *rest = regex.split(r"\s*\|\s*|\s+", line, maxsplit=1)
        if name.startswith("!"):
            continue
        if section in ("entities", "spans"):
            _checked(name, where)
            found.entities[name] = None
        elif section == "relations" and not name.startswith("<"):
            relations.append((name, _arguments(rest[0] if rest else "")))
        elif section == "events":
            found.events[name] = None
        elif not section:
            raise InputError("stands-no-section", where=where, hint="entities", line=line[:40])
    for name, arguments in relations:
        sides = [_types(arguments.get(side, ""), macros, found) for side in ("Arg1", "Arg2")]
        found.relations.setdefault(name, []).append((sides[0], sides[1]))


def _checked(name: str, where: str) -> None:
    if not _ID.fullmatch(name):
        raise InputError("cannot-label", where=where, hint="labels-letters-digits-hyphens", name=name)


def _arguments(text: str) -> dict[str, str]:
    """`Arg1:Person, Arg2:Place|Country` by name."""
    found = {}
    for part in text.split(","):
        if match := _ARGUMENT.match(part.strip().split(" ")[0]):
            found[match[1]] = match[2]
    return found


def _types(value: str, macros: dict[str, str], found: Configuration) -> frozenset[str]:
    """The types of marks that an argument may be of; events are none."""
    types: set[str] = set()
    waiting, seen = value.split("|"), set[str]()
    while waiting:
        one = waiting.pop().strip()
        if one in seen:
            continue
        seen.add(one)
        if one in (_ENTITY, _ANY):
            types.update(found.entities)
        elif one in macros:
            waiting += macros[one].split("|")
        elif one in found.entities:
            types.add(one)
    return frozenset(types)


def _name(source: Source) -> str:
    """The scheme's name: that of the folder or zip, and never that of a scheme which is there already."""
    stem = regex.sub(r"\.zip$", "", source.name, flags=regex.IGNORECASE)
    name = regex.sub(r"[^\p{L}\p{N}_-]+", "-", stem).strip("-_") or "project"
    return f"brat-{name}" if name in scheme_names() else name
