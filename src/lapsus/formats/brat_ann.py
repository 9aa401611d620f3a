"""Brat's own files: marks in `.ann`, and types in `annotation.conf`, and the scheme made from them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import regex

from lapsus.errors import InputError
from lapsus.formats.marks import (
    Layout,
    Place,
    lies_in,
    links,
    tied,
    without_line_end,
)
from lapsus.formats.source import Member
from lapsus.kinds import kinds_of
from lapsus.model import Label, Question, Scheme, Span, UnitRule
from lapsus.notices import Notice

LINE = "Tied"
"""What we call a line between two marks."""
NOTE = "AnnotatorNotes"
NAME = re.compile(r"[^\W_][\w-]*")
"""Labels that brat can hold: it parts words at spaces and names at upright bars."""
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Where brat, or Python on its behalf, ends a line: a mark goes around them."""
_UNBROKEN = re.compile(f"[^{_BREAKS}]+")
_MARK = re.compile(r"(\S+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)", re.ASCII)
_ARGUMENTS = re.compile(r"(\S+) +\w+:(\S+) +\w+:(\S+)")
_NOT_KEPT = {
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalisations",
    "*": "groups of equals ('Equiv')",
}
CONFIG = "annotation.conf"
_SECTION = regex.compile(r"\[([\w-]+)\]")
_ARGUMENT = regex.compile(r"^(<?[\w-]+>?):(\S+)$")
_ID = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_-]*")
_ENTITY = "<ENTITY>"
_ANY = "<ANY>"


class Mark(NamedTuple):
    """A `T` line: a label on one or more stretches of the text."""

    label: str
    stretches: tuple[tuple[int, int], ...]
    where: str


@dataclass
class Annotations:
    """What an `.ann` file says."""

    marks: dict[str, Mark] = field(default_factory=dict)
    lines: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Lines between marks: the type, and the two marks."""
    notes: list[str] = field(default_factory=list)

    @property
    def remark(self) -> str | None:
        """All notes, a line each."""
        return "\n".join(self.notes) if self.notes else None

    def spans(self, layout: Layout, labels: Mapping[str, str]) -> tuple[Span, ...]:
        """The marks as spans. Stretches of one mark that lie apart are spans that are tied."""
        spans = {name: list(_spans(mark, layout, labels)) for name, mark in self.marks.items()}
        lines = [(one, other) for _, one, other in self.lines.values()]
        apart = [(name, name) for name, mark in self.marks.items() if len(_joined(mark, layout)) > 1]
        return tied(spans, [*lines, *apart], layout.document)

    def relations(self, layout: Layout, labels: Mapping[str, str]) -> list[dict[str, Any]]:
        """The lines between marks with their types and directions, which ties do not keep."""
        places = {name: next(_spans(mark, layout, labels)) for name, mark in self.marks.items()}
        return [
            {"type": kind, "from": _where(places[one]), "to": _where(places[other])}
            for kind, one, other in self.lines.values()
        ]


def _where(span: Span) -> dict[str, Any]:
    return {"segment": span.segment, "start": span.start, "end": span.end, "label": span.label}


def known_labels(question: Question, used: Iterable[str] = ()) -> dict[str, str]:
    """Every spelling of a label, in small letters, and the id it stands for."""
    names = {name.lower(): label.id for label in question.labels for name in (*label.aliases, label.id)}
    return names | {name.lower(): name for name in used}


def remark_question(scheme: Scheme) -> Question | None:
    """The question that notes answer."""
    return next((kind.question for kind in kinds_of(scheme).values() if not kind.is_countable), None)


def render(spans: tuple[Span, ...], remark: str | None, layout: Layout) -> str:
    """The `.ann` of a judgment. Marks without a visible sign are left out; brat could not show them."""
    shown = [
        (span, stretches)
        for span in spans
        if lies_in(span, layout.document) and (stretches := _stretches(span, layout))
    ]
    lines = []
    for number, (span, stretches) in enumerate(shown, 1):
        offsets = ";".join(f"{start} {end}" for start, end in stretches)
        covered = " ".join(layout.text[start:end] for start, end in stretches)
        lines.append(f"T{number}\t{span.label} {offsets}\t{covered}\n")
    for number, (one, other) in enumerate(links([span for span, _ in shown]), 1):
        lines.append(f"R{number}\t{LINE} Arg1:T{one + 1} Arg2:T{other + 1}\n")
    if shown and remark and (words := remark.split()):
        lines.append(f"#1\t{NOTE} T1\t{' '.join(words)}\n")
    return "".join(lines)


def parse(content: str, text: str, name: str) -> Annotations:
    """An `.ann` file, checked against the text. Whatever cannot be kept is an error."""
    found = Annotations()
    notes: list[tuple[str, str]] = []
    for number, raw in enumerate(content.split("\n"), 1):
        line, where = raw.removesuffix("\r"), f"{name}, line {number}"
        if not line.strip():
            continue
        mark, _, rest = line.partition("\t")
        if mark in found.marks or mark in found.lines:
            raise InputError("stands-twice", where=where, mark=mark)
        if mark.startswith("T"):
            found.marks[mark] = _mark(rest, text, where)
        elif mark.startswith("R"):
            found.lines[mark] = _line(rest, where)
        elif mark.startswith("#"):
            found.notes.append(_note(rest, notes, where))
        else:
            what = _NOT_KEPT.get(mark[:1])
            problem = (
                Notice("not-supported", reason=what) if what else Notice("no-line-brats", line=line[:40])
            )
            raise InputError(problem, where=where, hint="take-line-out-copy")
    _check(found, notes, name)
    return found


def without_events(content: str, events: Collection[str], dropped: Counter[str]) -> str:
    """An `.ann` of others without what is not kept, such as events, which `dropped` counts.

    Lines about what is left out go too. Empty ones take their place, so that line numbers stay.
    """
    lines = content.split("\n")
    gone: set[str] = set()
    for place, line in enumerate(lines):
        id, _, rest = line.partition("\t")
        what = _NOT_KEPT.get(id[:1])
        if id[:1] == "T" and rest.partition(" ")[0] in events:
            what = Notice("triggers-events")
        if what is not None:
            gone.add(id)
            dropped[what] += 1
            lines[place] = ""
    for place, line in enumerate(lines):
        id, _, rest = line.partition("\t")
        match = _ARGUMENTS.fullmatch(rest.strip()) if id[:1] == "R" else None
        if match and gone.intersection(match.groups()):
            gone.add(id)
            dropped["relations of events"] += 1
            lines[place] = ""
    for place, line in enumerate(lines):
        id, _, rest = line.partition("\t")
        kind, _, target = rest.partition("\t")[0].strip().partition(" ")
        if id[:1] == "#" and (kind != NOTE or target in gone):
            dropped["notes of other kinds, or on what is left out"] += 1
            lines[place] = ""
    return "\n".join(lines)


def _spans(mark: Mark, layout: Layout, labels: Mapping[str, str]) -> Iterator[Span]:
    label = labels.get(mark.label.lower())
    if label is None:
        known = ", ".join(dict.fromkeys(labels.values()))
        raise InputError("unknown-label", where=mark.where, hint="known", label=mark.label, known=known)
    for start, end in _joined(mark, layout):
        place = layout.locate(start, end)
        if place is None:
            raise InputError(
                "not-within-one-triple",
                where=mark.where,
                hint="mark-each-own-without",
                text=layout.text[start:end],
            )
        span = Span(place.segment.id, start - place.start, end - place.start, label)
        if _is_whole(place, start, end):
            yield from (Span(span.segment, one.start, one.end, label) for one in place.segment.elements())
        else:
            yield span


def whole_triples(found: Annotations, layout: Layout) -> int:
    """How many marks cover a whole triple, each of whose elements the guideline marks by itself."""
    count = 0
    for mark in found.marks.values():
        for start, end in _joined(mark, layout):
            place = layout.locate(start, end)
            count += place is not None and _is_whole(place, start, end)
    return count


def _is_whole(place: Place, start: int, end: int) -> bool:
    return place.segment.role == "triple" and (start, end) == (place.start, place.end)


def _joined(mark: Mark, layout: Layout) -> list[tuple[int, int]]:
    """The stretches of a mark; those that only a line break parts are one."""
    joined: list[tuple[int, int]] = []
    for start, marked in sorted(mark.stretches):
        end = max(start + 1, without_line_end(layout.text, start, marked))
        if joined:
            first, last = joined[-1]
            gap = layout.text[last:start]
            if not gap.strip(_BREAKS) and layout.locate(first, end):
                joined[-1] = (first, end)
                continue
        joined.append((start, end))
    return joined


def _stretches(span: Span, layout: Layout) -> list[tuple[int, int]]:
    """A span in the file, around line breaks; nothing where it has no visible sign."""
    at = layout.place(span.segment).start
    start, end = at + span.start, at + span.end
    if not layout.text[start:end].strip():
        return []
    return [match.span() for match in _UNBROKEN.finditer(layout.text, start, end)]


def _mark(rest: str, text: str, where: str) -> Mark:
    data, _, covered = rest.partition("\t")
    match = _MARK.fullmatch(data.rstrip(" "))
    if match is None:
        raise InputError("does-not-say-marked", where=where, hint="t1-tab-addition-10", data=data)
    pairs = [pair.split(" ") for pair in match[2].split(";")]
    stretches = tuple((int(start), int(end)) for start, end in pairs)
    if any(not start < end <= len(text) for start, end in stretches):
        raise InputError("does-not-lie-text", where=where, match=match[2], count=len(text))
    there = " ".join(text[start:end] for start, end in stretches)
    if _flat(there) != _flat(covered):
        raise InputError(
            "said-marked-but-stands",
            where=where,
            hint="txt-changed-line-ends",
            covered=covered,
            there=there,
            match=match[2],
        )
    return Mark(match[1], stretches, where)


def _flat(text: str) -> str:
    return re.sub(f"[{_BREAKS}]", " ", text).rstrip()


def _line(rest: str, where: str) -> tuple[str, str, str]:
    match = _ARGUMENTS.fullmatch(rest.strip())
    if match is None:
        hint = Notice("r1-tab-tied-arg1")
        raise InputError("does-not-say-two", where=where, hint=hint, rest=rest)
    return match[1], match[2], match[3]


def _note(rest: str, notes: list[tuple[str, str]], where: str) -> str:
    data, _, words = rest.partition("\t")
    kind, _, target = data.strip().partition(" ")
    if kind != NOTE:
        hint = Notice("only-kept-take-line", note=NOTE)
        raise InputError("notes-kind-not-supported", where=where, hint=hint, kind=kind)
    notes.append((target, where))
    return words.strip()


def _check(found: Annotations, notes: list[tuple[str, str]], name: str) -> None:
    for line, (_, *ends) in found.lines.items():
        for end in ends:
            if end not in found.marks:
                raise InputError("ties-no-mark-file", where=name, line=line, end=end)
    for target, where in notes:
        if target not in found.marks and target not in found.lines:
            raise InputError("note-not-file", where=where, target=target)


def configuration(labels: Iterable[str]) -> str:
    """The `annotation.conf` of a folder: which labels brat offers, and that marks can be tied."""
    names = "".join(f"{label}\n" for label in labels)
    ties = f"{LINE}\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric\n"
    # Without this line brat's own verifier takes marks that lie in one another for a mistake.
    ties += "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>\n"
    return f"[entities]\n{names}\n[relations]\n{ties}\n[events]\n\n[attributes]\n"


def text_of(member: Member) -> str:
    """A file's text exactly: brat counts every sign, line ends and byte-order mark included."""
    with member.open() as stream:
        content = stream.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not-utf-8-text", where=member.name, hint="brat-needs-utf-8", error=error) from error


@dataclass
class Configuration:
    """What a project's `annotation.conf` files say, taken together."""

    entities: dict[str, None] = field(default_factory=dict)
    relations: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = field(default_factory=dict)
    """By type, which types of marks each relates to which."""
    events: dict[str, None] = field(default_factory=dict)


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
        id="marks",
        kind="spans",
        name={"en": "Marks"},
        ask={"en": "What is there to mark in this text?"},
        labels=labels,
        ties=tuple(_ties(found)),
    )
    remark = Question(
        id="remark", kind="text", name={"en": "Remark"}, ask={"en": "Anything to add?"}, required=False
    )
    return Scheme(
        scheme=name,
        version="1.0",
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


def read_configuration(member: Member, found: Configuration) -> None:
    """Add what an `annotation.conf` says."""
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
            if not _ID.fullmatch(name):
                raise InputError("cannot-label", where=where, hint="labels-letters-digits-hyphens", name=name)
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
