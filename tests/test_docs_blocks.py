"""Every console and Python block of README and docs, run in order in an empty folder, page by page."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import pytest
import regex
import yaml

from tests.docs_blocks import (
    MARKS,
    NEEDS,
    PAGES,
    ROOT,
    RUN,
    SHOWN,
    Block,
    Session,
    blocks,
    commands,
    compare,
    name_of,
)

NOT_RUN = {
    "README.md": {"checkout": 2, "files": 3, "network": 1},
    "README.ja.md": {"checkout": 2, "files": 3, "network": 1},
    "docs/annotators/index.md": {"corpus": 1},
    "docs/annotators/judge.md": {"network": 1},
    "docs/annotators/large-en.md": {"network": 1},
    "docs/benchmark.md": {"checkout": 2},
    "docs/bulk.md": {"package": 3},
    "docs/campaigns.md": {"language-model": 1},
    "docs/challenge.md": {"files": 1, "server": 1},
    "docs/check.md": {"files": 1},
    "docs/deploy.md": {"server": 10},
    "docs/formats/arena.md": {"files": 1},
    "docs/formats/brat.md": {"files": 1},
    "docs/formats/dbdc.md": {"corpus": 1},
    "docs/formats/dbrc.md": {"corpus": 1},
    "docs/formats/marks.md": {"package": 1},
    "docs/formats/table.md": {"package": 1},
    "docs/formats/traces.md": {"server": 1},
    "docs/formats/webnlg.md": {"corpus": 1},
    "docs/index.md": {"checkout": 1},
    "docs/watch.md": {"server": 2},
    "docs/guard.md": {"server": 1},
    "docs/ja/tutorials/guard.md": {"files": 2, "server": 2},
    "docs/tutorials/guard.md": {"files": 2, "server": 2},
    "docs/ja/tutorials/annotate.md": {"server": 1},
    "docs/ja/tutorials/build-a-corpus.md": {"server": 1},
    "docs/ja/tutorials/check-your-bot.md": {"server": 1},
    "docs/ja/tutorials/defend-a-number.md": {"server": 1},
    "docs/language-models.md": {"language-model": 6},
    "docs/measures/agreement.md": {"corpus": 1},
    "docs/measures/gold.md": {"corpus": 1},
    "docs/plugins.md": {"package": 1},
    "docs/preference.md": {"files": 1},
    "docs/security.md": {"checkout": 1},
    "docs/trust.md": {"language-model": 2},
    "docs/tutorials/annotate.md": {"server": 1},
    "docs/tutorials/build-a-corpus.md": {"server": 1},
    "docs/tutorials/check-your-bot.md": {"server": 1},
    "docs/tutorials/defend-a-number.md": {"server": 1},
    "docs/workbench.md": {"server": 4},
}
"""How many blocks of each page need something that a test does not have. All others are run."""


def english(page: Path) -> Path:
    """The English page that a Japanese one stands beside, if it has one of the same name."""
    return ROOT / name_of(page).replace("docs/ja/", "docs/").replace("README.ja", "README")


def lines(page: Path) -> list[str]:
    """What a reader of the page types, without remarks."""
    typed = []
    for block in blocks(page):
        if block.language == "console":
            typed += [shlex.join(command.words) for command in commands(block)]
        elif block.language == "python":
            typed += block.text.splitlines()
    return typed


PAIRS = [(page, english(page)) for page in PAGES if english(page) != page and english(page).exists()]
SAME = {page for page, other in PAIRS if lines(page) == lines(other)}
"""Japanese pages whose commands the English ones have been through already."""
WITH_BLOCKS = [
    page for page in PAGES if page not in SAME and any(block.language in RUN for block in blocks(page))
]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPSUS_DB", "campaigns.sqlite")
    for variable in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    session = Session()
    for block in blocks(page):
        session.run(block)


def test_every_block_is_run_or_says_why_not() -> None:
    needing: dict[str, Counter[str]] = {}
    for page in PAGES:
        for block in blocks(page):
            assert block.language in RUN | SHOWN, f"{block.place}: {block.language!r}; commands are `console`"
            assert block.language or "$ " not in block.text, f"{block.place}: commands are `console`"
            assert block.marks.keys() <= MARKS, f"{block.place}: {block.marks}"
            if needs := block.marks.get("needs"):
                assert needs in NEEDS, f"{block.place}: {needs!r}"
                needing.setdefault(name_of(page), Counter())[needs] += 1
    assert needing == NOT_RUN, "a block that is not run is listed above"


@pytest.mark.parametrize(("page", "other"), PAIRS, ids=lambda page: name_of(page))
def test_both_languages_have_the_same_commands(page: Path, other: Path) -> None:
    def plain(line: str) -> str:
        same = line.replace("dialogues-ja", "dialogues-en").replace("--lang ja", "--lang en")
        return regex.sub(r"--title '?\"?[^-]*", "--title … ", same)

    assert [plain(line) for line in lines(page)] == [plain(line) for line in lines(other)]
    if page in SAME:
        shown = [[block.text for block in blocks(one) if block.language == "text"] for one in (page, other)]
        assert shown[0] == shown[1]


def test_what_is_printed_must_be_what_the_page_shows() -> None:
    """The test of the tests: a wrong word, a line too few, figures."""
    exact = Block(ROOT / "README.md", 1, "console", {}, "", "")
    compare(exact, "a\n…\nd …", ("a\nb\nc\nd 3\n",))
    compare(exact, "a\n...\nd 3", ("a\nb\nc\nd 3\n",))
    compare(exact, "a", ("remark\na", "a\n"))
    for shown in ("a\n…\nd", "a\nb\nd 3", "…\nc"):
        with pytest.raises(AssertionError, match=r"README\.md:1 shows"):
            compare(exact, shown, ("a\nb\nc\nd 3\n",))
    varying = exact._replace(marks={"figures": "vary"})
    compare(varying, "x  .25 [.1, .3]", ("x 1.00 [.9, 1.0]",))
    with pytest.raises(AssertionError, match="shows"):
        compare(varying, "passes .25", ("fails .25",))


def test_rows_that_are_reported_stand_on_the_page_and_in_the_cards() -> None:
    """What `benchmarks/benchmark.py` does not make itself must not grow old."""
    page = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    rows = yaml.safe_load((ROOT / "benchmarks" / "reported.yaml").read_text(encoding="utf-8"))
    for name, *figures in (row for section in rows.values() for row in section):
        assert f"| {' | '.join([name, *figures])} |" in page
        if shipped := regex.match(r"`(breakdown-..)`", name):
            card = (ROOT / "docs" / "annotators" / f"{shipped[1]}.md").read_text(encoding="utf-8")
            assert f"| {' | '.join(figures)} |" in card


@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_figures_of_the_readme_are_those_of_the_cards(name: str) -> None:
    rows = regex.findall(
        r"^.*\]\((docs/annotators/[a-z-]+\.md)\) \|$", (ROOT / name).read_text(encoding="utf-8"), regex.M
    )
    lines = [
        line
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if "](docs/annotators/" in line
    ]
    told = [line for line in lines if regex.search(r"\| \.\d+ \|", line)]
    assert len(told) == len(rows) == 4
    for line, page in zip(told, rows, strict=True):
        card = (ROOT / page).read_text(encoding="utf-8")
        for figure in regex.findall(r"(?<=\s)\.\d+", line):
            assert figure in card, (figure, page)


@pytest.mark.parametrize("name", ["README.md", "README.ja.md", "CONTRIBUTING.md"])
def test_what_is_linked_to_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in regex.findall(r'\]\(([^)#:]+)[^):]*\)|src="([^"]+)"', text):
        assert (ROOT / (target[0] or target[1])).exists(), target
