"""A plan as a file, and the documents and known answers that it names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from lapsus.errors import InputError, LapsusError
from lapsus.formats import read
from lapsus.formats.remote import Address, location
from lapsus.model import Document, Entry, Scheme
from lapsus.model.unit import Screened, screened
from lapsus.notices import Notice
from lapsus.schemes import given_schemes, load_scheme
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.schemes.scheme_check import SchemeProblem, convert_part
from lapsus.store.plan import Block, KnownUnit, Plan
from lapsus.text_files import read_text


def read_plan(path: Path) -> Plan:
    """The plan in a file. Paths in it start from the file's folder."""
    try:
        text = read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("cannot-read", where=str(path), error=error) from error
    return parse_plan(text, path.name)


def parse_plan(text: str, name: str = "plan") -> Plan:
    """The plan in a text."""
    marked = parse_yaml(text, name)
    if not isinstance(marked.data, dict):
        raise InputError("plan-mapping-begins-name", where=name)
    problems: list[SchemeProblem] = []
    plan = convert_part(marked.data, Plan, (), marked, problems)
    if plan is None:
        raise InputError(problems[0].message, where=Notice("line", name=name, line=problems[0].line))
    return plan


def plan_yaml(plan: Plan) -> str:
    """A plan as a file; read again it is the same plan."""
    data: dict[str, Any] = msgspec.to_builtins(plan, str_keys=True)
    return to_yaml({"name": plan.name, "scheme": plan.scheme, **data})


def to_yaml(tree: Any) -> str:
    """A tree as YAML that people can read and change."""
    return yaml.dump(_plain(tree), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Long texts as blocks; plain words only where every reader takes them for words."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        style: str | None = '"'
    else:
        style = "|" if len(lines) > 1 and all(line == line.strip() for line in lines) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _plain(value: Any) -> Any:
    """Plain lists and dicts, each its own: a plan has no aliases."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


class Material(msgspec.Struct, frozen=True):
    """What a plan refers to: its guideline, and what its files say."""

    scheme: Scheme
    known: Mapping[Block, Sequence[KnownUnit]]
    documents: tuple[Document, ...]
    """Documents that come with files of known answers."""


def plan_documents(plan: Plan, folder: Path, scheme: Scheme) -> Iterator[Screened]:
    """The documents that a plan names, each with its targets; paths start from the folder."""
    if (data := plan.source) is None:
        return
    place = location(data.path)
    path = place if isinstance(place, Address) else folder / data.path
    entries = read(path, data.format, only=data.only, language=data.language)
    yield from screened(entries, scheme)


def read_material(plan: Plan, folder: Path) -> Material:
    """What a plan refers to; paths start from the folder."""
    name = str(folder / plan.scheme) if plan.scheme.endswith((".yaml", ".yml")) else plan.scheme
    scheme = load_scheme(name)
    known: dict[Block, Sequence[KnownUnit]] = {}
    documents: list[Document] = []
    for block, what in plan.known.items():
        if what.file is None:
            continue
        try:
            known[block], found = known_units_in(folder / what.file, scheme)
        except LapsusError as error:
            raise InputError(error.what, where=error.where, hint=error.hint).at(block) from error
        # The practice and the checks bring their own documents; gold stands among the campaign's.
        documents += found if block != "gold" else ()
    return Material(scheme, known, tuple(documents))


def known_units_in(path: Path, scheme: Scheme) -> tuple[list[KnownUnit], list[Document]]:
    """The units that a file of judgments says what is right of, and their documents."""
    units: list[KnownUnit] = []
    documents: list[Document] = []
    with given_schemes([scheme]):
        for entry in read(path):
            mine = _known_units(entry, scheme)
            units += mine
            if mine and entry.document is not None:
                documents.append(entry.document)
    if not units:
        raise InputError("nothing-in-it-is-judged-under", where=str(path), id=scheme.id)
    return units, documents


def _known_units(entry: Entry, scheme: Scheme) -> list[KnownUnit]:
    found: dict[str | None, KnownUnit] = {}
    for judgment in entry.judgments:
        if judgment.scheme != scheme.id:
            continue
        if judgment.segment in found:
            place = Notice("document", document=entry.id) + (
                f", segment {judgment.segment!r}" if judgment.segment else ""
            )
            raise InputError("judged-more-once", where=place, hint="lapsus-gold-makes-one")
        feedback = judgment.metadata.get("feedback", {})
        words = {"en": feedback} if isinstance(feedback, str) else feedback
        found[judgment.segment] = KnownUnit(entry.id, judgment.answers, judgment.segment, words)
    return list(found.values())
