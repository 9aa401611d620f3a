"""Whatever a user can name has its place in the documentation."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import regex
import typer
from mkdocs.commands.build import build
from mkdocs.config import load_config

from lapsus.analysis.scores import SHOWN
from lapsus.cli.app import app
from lapsus.formats import FORMATS
from lapsus.measures.agreement import COEFFICIENTS
from lapsus.measures.gold import METHODS
from lapsus.schemes import scheme_names

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")
LINK = regex.compile(r"\]\(([^)#]*)(?:#[^)]*)?\)")


def commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(commands(typer.main.get_command(app), ("lapsus",)))


def row(command: str) -> str:
    """A command's row in the tables of commands."""
    for line in COMMANDS.splitlines():
        if regex.match(rf"\| \[`{regex.escape(command)}[ `]", line):
            return line
    raise AssertionError(f"{command!r} is not in docs/commands.md")


@pytest.mark.parametrize("page", ["commands", "reference"])
def test_pages_of_reference_are_made_from_the_code(page: str) -> None:
    spec = importlib.util.spec_from_file_location(page, ROOT / "tools" / f"make_{page}.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.document() == (DOCS / f"{page}.md").read_text(encoding="utf-8"), "run `make commands`"


@pytest.mark.parametrize("command", ALL)
def test_every_command_and_option_is_documented(command: str) -> None:
    assert all((DOCS / page).exists() for page in LINK.findall(row(command)))
    text = COMMANDS.partition(f"### {command}\n")[2].partition("\n### ")[0]
    for parameter in ALL[command].params:
        for option in parameter.opts:
            if option.startswith("--") and option != "--help":
                assert f"{option}" in text, f"{command} {option}"


@pytest.mark.parametrize("command", ALL)
def test_every_command_and_option_says_what_it_is_for(command: str) -> None:
    assert ALL[command].help
    for parameter in ALL[command].params:
        assert getattr(parameter, "help", None), f"{command} {parameter.name}"


@pytest.mark.parametrize("name", scheme_names())
def test_every_scheme_has_a_page(name: str) -> None:
    page = (DOCS / "schemes" / f"{name}.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page
    assert f"`{name}`" in (DOCS / "schemes" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMATS.names())
def test_every_format_has_a_page(name: str) -> None:
    index = (DOCS / "formats" / "index.md").read_text(encoding="utf-8")
    row = next(line for line in index.splitlines() if line.startswith("| `") and f"`{name}`" in line)
    page = LINK.search(row)
    assert page is not None
    assert f"`{name}`" in (DOCS / "formats" / page.group(1)).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COEFFICIENTS.names())
def test_every_coefficient_is_documented(name: str) -> None:
    assert f"`{name}" in (DOCS / "measures" / "agreement.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", METHODS.names())
def test_every_way_to_make_gold_is_documented(name: str) -> None:
    page = (DOCS / "measures" / "gold.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page or f"`{name.replace('_', '-')}`" in page


@pytest.mark.parametrize("name", SHOWN)
def test_every_breakdown_score_is_documented(name: str) -> None:
    """Names that differ only in their first word stand together: `precision_pb_b`, …"""
    page = (DOCS / "measures" / "scores.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page or f"`{regex.sub('^(recall|f1)', 'precision', name)}`" in page


def test_every_setting_is_documented() -> None:
    used: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        used.update(regex.findall(r"LAPSUS_[A-Z_]+", path.read_text(encoding="utf-8")))
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py"), ROOT / "Makefile"]:
        used.update(regex.findall(r"LAPSUS_DATA", path.read_text(encoding="utf-8")))
    assert used
    for setting in used:
        assert f"`{setting}`" in COMMANDS


def test_the_readme_shows_how_to_start() -> None:
    for name in ("README.md", "README.ja.md"):
        first_screen = "\n".join((ROOT / name).read_text(encoding="utf-8").splitlines()[:25])
        for part in ("make demo", "make test", "docs/images/"):
            assert part in first_screen


@pytest.mark.filterwarnings("default")  # what the site's builder leans on may be growing old
def test_the_site_builds_without_a_broken_link(tmp_path: Path) -> None:
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path / "site")))
    for page in (tmp_path / "site").rglob("*.html"):
        assert "```" not in page.read_text(encoding="utf-8"), f"{page.name}: a block is not taken for one"


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        assert page.relative_to(DOCS).as_posix() in menu
