"""The WebNLG corpora of 2017 and 2020: XML files of triples and the texts that people wrote for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import regex
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from lapsus.errors import InputError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.source import Member, Source
from lapsus.model import SEPARATOR, Document, Entry, Segment
from lapsus.notices import Notice

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SUFFIX = ".xml"
_AROUND = ("benchmark", "entries")
"""The elements that entries stand in, from the outside in."""
_NUMBER = regex.compile(r"[0-9]{1,9}")
_KNOWN = frozenset({"originaltripleset", "modifiedtripleset", "lex"})
_LEADING = regex.compile(r"train|dev|test|\d+triples?|[a-z]{2}", regex.IGNORECASE)
"""Folders that are part of a file's name: part of the corpus, number of triples, language."""
_SPLIT = regex.compile(r"(?<!\p{L})(train|dev|test)(?:data)?(?!\p{L})", regex.IGNORECASE)


class WebNlg(Format):
    """Triples and texts; every text makes a document."""

    name = "webnlg"
    title = Notice("webnlg-2017-2020-triples")
    writes = False

    def recognises(self, source: Source) -> bool:
        """By the outermost element."""
        member = source.first(SUFFIX)
        return member is not None and b"<benchmark" in member.head()

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """One `<entry>` at a time."""
        for member in source.members(SUFFIX):
            reader = _Reader(member, options)
            for place, element in enumerate(_elements(member), 1):
                for document in reader.documents(element, place):
                    yield Entry(document.id, document)


def _elements(member: Member) -> Iterator[Element]:
    """The `<entry>` elements of a file. Each is forgotten before the next is read, so memory stays flat."""
    outside: list[Element] = []
    depth = 0
    try:
        with member.open() as stream:
            for event, element in iterparse(stream, ("start", "end"), forbid_dtd=True):
                if event == "start":
                    if depth or (outside and element.tag == "entry"):
                        depth += 1
                    else:
                        _check_place(element, len(outside), member)
                        outside.append(element)
                elif depth:
                    depth -= 1
                    if not depth:
                        yield element
                        outside[-1].remove(element)
                else:
                    outside.pop()
    except DefusedXmlException as error:
        raise InputError("declares-document-type-entities", where=member.name, hint="take-out") from error
    except (ParseError, LookupError, ValueError) as error:
        raise InputError("not-sound-xml", where=member.name, error=error) from error


def _check_place(element: Element, depth: int, member: Member) -> None:
    if depth >= len(_AROUND) or element.tag != _AROUND[depth]:
        raise InputError(
            "no-place", where=member.name, hint="entries-expected-benchmark-entries", tag=element.tag
        )


class _Reader:
    """Turns the entries of one file into documents."""

    def __init__(self, member: Member, options: ReadOptions) -> None:
        self.file = member.name
        self.options = options
        self.prefix = _prefix(member.path)
        self.split = _split(member.path)
        self.used: Counter[str] = Counter()

    def documents(self, element: Element, place: int) -> Iterator[Document]:
        """A document a text, or one of triples only where there is no text."""
        eid = element.get("eid") or str(place)
        where = f"{self.file}, entry {eid}"
        triples = _triples(element, where)
        about = self._about(element)
        texts = element.findall("lex")
        if not texts:
            if not triples:
                raise InputError("holds-neither-triples-nor", where=where)
            yield Document(self._unique(f"{self.prefix}/{eid}"), triples, self.options.language, about)
        for number, lex in enumerate(texts, 1):
            if len(lex):
                raise InputError(
                    "no-place-lex", where=where, hint="enriched-webnlg-layout-own", tag=lex[0].tag
                )
            text = Segment("text", "text", (lex.text or "").strip())
            said = lex.get("lang")
            parts = (self.prefix, eid, lex.get("lid") or str(number), said)
            yield Document(
                self._unique("/".join(part for part in parts if part)),
                (*triples, text),
                said or self.options.language_of([text]),
                about | _attributes(lex, about),
            )

    def _about(self, element: Element) -> dict[str, Any]:
        about: dict[str, Any] = dict(element.attrib)
        if _NUMBER.fullmatch(about.get("size", "")):
            about["size"] = int(about["size"])
        if self.split:
            about.setdefault("split", self.split)
        if original := [[_text(triple) for triple in one] for one in element.findall("originaltripleset")]:
            about["original"] = original
        return about | _others(element)

    def _unique(self, name: str) -> str:
        """The name itself the first time, with `#2`, `#3` and so on after that."""
        self.used[name] += 1
        return name if self.used[name] == 1 else f"{name}#{self.used[name]}"


def _prefix(path: PurePosixPath) -> str:
    """The file's name without its ending, after those of its folders that tell such names apart.

    In 2020 there is an `Airport.xml` for each language, part of the corpus and number of triples.
    """
    leading = [path.name.removesuffix(SUFFIX)]
    for folder in reversed(path.parts[:-1]):
        if not _LEADING.fullmatch(folder):
            break
        leading.insert(0, folder)
    return "/".join(leading)


def _split(path: PurePosixPath) -> str | None:
    """The part of the corpus, told by the nearest folder of such a name, or by the file's own."""
    for folder in reversed(path.parts[:-1]):
        if folder.lower() in ("train", "dev", "test"):
            return folder.lower()
    found = _SPLIT.search(path.name)
    return found[1].lower() if found else None


def _triples(element: Element, where: str) -> tuple[Segment, ...]:
    sets = element.findall("modifiedtripleset")
    if len(sets) > 1:
        raise InputError("more-one-modifiedtripleset", where=where)
    triples = []
    for place, triple in enumerate((triple for one in sets for triple in one), 1):
        parts = [part.strip() for part in _text(triple).split(SEPARATOR)]
        if len(parts) != 3 or not all(parts):
            raise InputError(
                "triple-does-not-three",
                where=where,
                hint="subject-predicate-object",
                place=place,
                text=_text(triple),
            )
        subject, predicate, value = parts
        triples.append(Segment.triple(f"t{place}", subject, predicate, value))
    return tuple(triples)


def _attributes(lex: Element, taken: dict[str, Any]) -> dict[str, str]:
    """What is said of a text, under names of its own where the entry uses the same ones."""
    said = {key: value for key, value in lex.attrib.items() if key != "lang" and value}
    return {f"lex-{key}" if key in taken else key: value for key, value in said.items()}


def _others(element: Element) -> dict[str, list[dict[str, str]]]:
    """What a document has no place for, such as the links of 2020, by the name of the element."""
    kept: dict[str, list[dict[str, str]]] = {}
    for child in element:
        if child.tag not in _KNOWN:
            parts = [
                dict(part.attrib) | ({"text": _text(part)} if _text(part) else {}) for part in child.iter()
            ]
            kept.setdefault(child.tag, []).extend(part for part in parts if part)
    return {name: parts for name, parts in kept.items() if parts}


def _text(element: Element) -> str:
    return (element.text or "").strip()
