"""Writes `wire_types.js`: what the server sends to the pages' scripts, as JSDoc, from the records themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from lapsus.model import Answer, Scheme, Span
from lapsus.web.schemas import SavedResponse, UnitResponse

TARGET = Path(__file__).parent.parent / "src/lapsus/web/static/js/wire_types.js"
NAMES = {Span: "Mark"}
"""Records that scripts call by another name; of the others, a `Response` at the end is left out."""
ANSWER = inspect.type_info(Answer)
HEAD = """\
/**
 * What the server sends, for editors and the type checker; nothing here runs.
 * Made from the records of `lapsus.model` and `lapsus.web.schemas` by `make types`: do not change it by hand.
 *
 * @typedef {string|number|string[]|Mark[]} Answer
 *
"""


def typedefs() -> str:
    """The whole file."""
    kinds = inspect.multi_type_info([Scheme, UnitResponse, SavedResponse, Span])
    found: dict[str, inspect.StructType] = {}
    for kind in kinds:
        _collect(kind, found)
    blocks = [_typedef(name, found[name]) for name in sorted(found)]
    return HEAD + "".join(blocks) + " */\nexport {};\n"


def _collect(kind: Any, found: dict[str, inspect.StructType]) -> None:
    if isinstance(kind, inspect.StructType):
        name = _name(kind.cls)
        if name in found:
            return
        found[name] = kind
    for inner in _inner(kind):
        _collect(inner, found)


def _inner(kind: Any) -> Iterator[Any]:
    if isinstance(kind, inspect.StructType):
        yield from (field.type for field in kind.fields)
    elif isinstance(kind, inspect.UnionType):
        yield from kind.types
    elif isinstance(kind, inspect.TupleType):
        yield from kind.item_types
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
        yield kind.item_type
    elif isinstance(kind, inspect.DictType):
        yield kind.value_type


def _name(record: type) -> str:
    return NAMES.get(record) or record.__name__.removesuffix("Response")


def _typedef(name: str, kind: inspect.StructType) -> str:
    left_out = kind.cls.__struct_config__.omit_defaults
    lines = [f" * @typedef {{object}} {name}\n"]
    for field in kind.fields:
        types = [_type(one) for one in _options(field.type)]
        # A default that is left out, or a value that is not set, is a key that is not there.
        is_missing = "UNSET" in types or (left_out and not field.required)
        stated = [one for one in types if one != "UNSET" and not (is_missing and one == "null")]
        shown = f"[{field.encode_name}]" if is_missing else field.encode_name
        lines.append(f" * @property {{{'|'.join(dict.fromkeys(stated))}}} {shown}\n")
    return "".join(lines) + " *\n"


def _options(kind: Any) -> tuple[Any, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


SIMPLE = {
    inspect.StrType: "string",
    inspect.DateTimeType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "any",
}


def _type(kind: Any) -> str:
    if kind == ANSWER:
        return "Answer"
    if type(kind) in SIMPLE:
        return SIMPLE[type(kind)]
    if isinstance(kind, inspect.StructType):
        return _name(kind.cls)
    if isinstance(kind, inspect.LiteralType):
        return "|".join(msgspec.json.encode(value).decode() for value in kind.values)
    if isinstance(kind, inspect.TupleType):
        return f"[{', '.join(map(_type, kind.item_types))}]"
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        inner = _type(kind.item_type)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if isinstance(kind, inspect.DictType):
        return f"Record<string, {_type(kind.value_type)}>"
    if isinstance(kind, inspect.UnionType):
        return "|".join(_type(one) for one in kind.types)
    return "UNSET" if "Unset" in type(kind).__name__ else "any"


if __name__ == "__main__":
    TARGET.write_text(typedefs(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
