"""Plans as files: YAML that can be kept in git, read with errors that name the line, and written to be read."""

from pathlib import Path
from typing import Any

import msgspec
import yaml

from lapsus.errors import InputError
from lapsus.notices import Notice
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.schemes.scheme_check import SchemeProblem, convert_part
from lapsus.store.plan import Plan
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
