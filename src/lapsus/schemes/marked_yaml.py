"""YAML with the line of every value, so that a message can point at it."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import yaml

from lapsus.errors import InputError
from lapsus.notices import Notice

YamlPath: TypeAlias = tuple[str | int, ...]

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WANTED = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:null"}


class _Loader(_BASE):  # type: ignore[misc]
    """YAML 1.2's plain values: `on`, `no` and dates are words, not truth values and days."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[Any]]] = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _WANTED]
        for first, resolvers in _BASE.yaml_implicit_resolvers.items()
    }


DEEPEST = 50
"""Levels of nesting; our own guidelines have ten."""
LONGEST_NUMBER = 100
"""Signs of a value that is no text: reading a number takes longer than its length."""
_TRUTH = {"true": True, "false": False}


@dataclass
class MarkedYaml:
    """The data of a YAML file and the line where each value begins."""

    data: Any = None
    lines: dict[YamlPath, int] = field(default_factory=dict)

    def line(self, path: YamlPath) -> int:
        """The line of a value, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def parse_yaml(text: str, name: str) -> MarkedYaml:
    """Read YAML, remembering lines. Doubled keys, aliases and bottomless nesting are errors."""
    try:
        _check_depth(text, name)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            marked = MarkedYaml()
            marked.data = _Walk(loader, marked.lines, name).value(node, ()) if node else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        raise InputError(
            "not-sound-yaml", where=where, getattr=getattr(error, "problem", None) or error
        ) from error
    return marked


def _check_depth(text: str, name: str) -> None:
    """Refuse what is nested so deep that composing it would run out of stack."""
    depth = 0
    event: Any  # stubs say that an event may be without a place; a loader's never is
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise InputError(
                "nested-too-deep", where=Notice("line", name=name, line=event.start_mark.line + 1)
            )


class _Walk:
    def __init__(self, loader: Any, lines: dict[YamlPath, int], name: str) -> None:
        self.loader = loader
        self.lines = lines
        self.name = name
        self.seen: set[int] = set()

    def value(self, node: Any, path: YamlPath) -> Any:
        line = node.start_mark.line + 1
        self.lines[path] = line
        if not isinstance(node, yaml.ScalarNode):
            if id(node) in self.seen:
                raise InputError("aliases-not-used-schemes", where=Notice("line", name=self.name, line=line))
            self.seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, place)) for place, item in enumerate(node.value)]
        if not node.style and node.value.lower() in _TRUTH:
            return _TRUTH[node.value.lower()]
        return self._scalar(node, line)

    def _scalar(self, node: Any, line: int) -> Any:
        """A text or number. Tags may call anything a number or a day, and PyYAML then fails in ways of its own."""
        if node.tag == "tag:yaml.org,2002:str":
            return node.value
        if len(node.value) <= LONGEST_NUMBER:
            with suppress(ValueError, LookupError, AttributeError, OverflowError):
                return self.loader.construct_object(node)
        shown = node.value[:40]
        raise InputError(
            "not-kind-value-said",
            where=Notice("line", name=self.name, line=line),
            hint="write-text-quotation-marks",
            shown=shown,
        )

    def _mapping(self, node: Any, path: YamlPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in found:
                where = f"{self.name}, line {key_node.start_mark.line + 1}"
                raise InputError("key-stands-twice", where=where, key=key)
            found[key] = self.value(value_node, (*path, key))
        return found
