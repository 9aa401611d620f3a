"""What brat's own parser and verifier hold a project to, written down plainly from its rules.

Stricter than brat in one thing: what it only warns of is a complaint here.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

SECTIONS = {"entities", "relations", "events", "attributes"}
ID = re.compile(r"[TR#][0-9]+", re.ASCII)


class Relation(NamedTuple):
    first: list[str]
    second: list[str]


class Config:
    """An `annotation.conf`, as brat takes it in."""

    def __init__(self, text: str) -> None:
        self.entities: list[str] = []
        self.relations: dict[str, Relation] = {}
        self.overlaps: Relation | None = None
        section, seen = "", set()
        for line in text.split("\n"):
            if match := re.fullmatch(r"\s*\[(.*)\]\s*", line):
                section = match[1]
                assert section in SECTIONS, f"unexpected section [{section}]"
                seen.add(section)
            elif line.strip() and not line.startswith("#"):
                self._take(section, line)
        assert seen == SECTIONS, f"missing sections {SECTIONS - seen}"

    def _take(self, section: str, line: str) -> None:
        assert line == line.lstrip(), f"no parent for {line!r}"
        name, _, rest = line.partition("\t")
        if section == "entities":
            assert not re.search(r"[\s|<>:]", line), f"{line!r} is not one type"
            assert name not in self.entities, f"{name} appears multiple times"
            self.entities.append(name)
            return
        assert section == "relations", f"{line!r} in [{section}]"
        arguments = [part.strip().split(":") for part in rest.split(",")]
        assert all(len(one) == 2 for one in arguments), line
        values = dict(arguments)
        relation = Relation(self._types(values.pop("Arg1")), self._types(values.pop("Arg2")))
        if name == "<OVERLAP>":
            assert values == {"<OVL-TYPE>": "<ANY>"}
            self.overlaps = relation
        else:
            assert values in ({}, {"<REL-TYPE>": "symmetric"})
            self.relations[name] = relation

    def _types(self, value: str) -> list[str]:
        found = [
            one for name in value.split("|") for one in (self.entities if name == "<ENTITY>" else [name])
        ]
        assert set(found) <= set(self.entities), f"{value} names a type that is none"
        return found


def complaints(ann: Path) -> list[str]:
    """Everything that is wrong with one document of a project."""
    config = Config((ann.parent / "annotation.conf").read_bytes().decode())
    text = ann.with_suffix(".txt").read_bytes().decode()
    marks: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    relations: dict[str, tuple[str, str, str]] = {}
    notes: dict[str, str] = {}
    # Every line end that Python knows is one for brat.
    for line in ann.read_bytes().decode().splitlines():
        id, data, *tail = line.split("\t", 2)
        if not ID.fullmatch(id) or id in marks or id in relations or id in notes:
            return [f"{id}: no id, or a doubled one"]
        if id[0] == "T":
            name, _, places = data.partition(" ")
            stretches = [tuple(map(int, place.split(" "))) for place in places.split(";")]
            marks[id] = name, [(start, end) for start, end in stretches]
            if tail != [" ".join(text[start:end] for start, end in marks[id][1])]:
                return [f"{id}: text does not match the marked span"]
        elif id[0] == "R":
            name, *arguments = data.split(" ")
            ends = dict(argument.split(":") for argument in arguments)
            if ends.keys() != {"Arg1", "Arg2"} or tail:
                return [f"{id}: a relation has two arguments and no text"]
            relations[id] = name, ends["Arg1"], ends["Arg2"]
        else:
            _, target = data.split()
            if len(tail) != 1 or not tail[0]:
                return [f"{id}: an empty note"]
            notes[id] = target
    return [
        *_of_marks(marks, text, config),
        *_of_relations(relations, marks, config),
        *_of_notes(notes, marks),
    ]


def _of_marks(marks: dict[str, tuple[str, list[tuple[int, int]]]], text: str, config: Config) -> list[str]:
    found = []
    for id, (name, stretches) in marks.items():
        if name not in config.entities:
            found.append(f"{id}: {name} is not a known textbound type")
        if any(not 0 <= start < end <= len(text) for start, end in stretches):
            found.append(f"{id}: a span that is none")
        if any(one[1] > other[0] for one, other in pairwise(stretches)):
            found.append(f"{id}: its spans overlap or are out of order")
        if not "".join(text[start:end] for start, end in stretches).strip():
            found.append(f"{id}: nothing to see")
    for one, other in combinations(marks, 2):
        first, second = marks[one][1], marks[other][1]
        if (
            first[0][0] < second[-1][1]
            and second[0][0] < first[-1][1]
            and not _may_overlap(config, marks, one, other)
        ):
            found.append(f"{one}: overlaps with {other}")
    return found


def _may_overlap(
    config: Config, marks: dict[str, tuple[str, list[tuple[int, int]]]], one: str, other: str
) -> bool:
    rule = config.overlaps
    return rule is not None and marks[one][0] in rule.first and marks[other][0] in rule.second


def _of_relations(
    relations: dict[str, tuple[str, str, str]],
    marks: dict[str, tuple[str, list[tuple[int, int]]]],
    config: Config,
) -> list[str]:
    found = []
    for id, (name, one, other) in relations.items():
        rule = config.relations.get(name)
        if rule is None:
            found.append(f"{id}: {name} is not a known relation type")
        elif one not in marks or other not in marks or one == other:
            found.append(f"{id}: relates what is not there, or a mark to itself")
        elif marks[one][0] not in rule.first or marks[other][0] not in rule.second:
            found.append(f"{id}: {name} not allowed between these")
    return found


def _of_notes(notes: dict[str, str], marks: dict[str, tuple[str, list[tuple[int, int]]]]) -> list[str]:
    return [f"{id}: a note on nothing" for id, target in notes.items() if target not in marks]
