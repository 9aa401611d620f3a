"""What users are told in Japanese: found by the English words, and never staler than the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.cli.help_words import japanese_words
from lapsus.cli.output import choose_words, complain
from lapsus.errors import InputError
from lapsus.reports.table import cells
from lapsus.translation import catalogue, translated, translated_error

SOURCE = Path(__file__).parent.parent / "src" / "lapsus"
COMPLETE = (
    "analysis/agreement.py", "analysis/comparison.py", "analysis/corpus.py", "analysis/gold_standard.py",
    "analysis/scores.py", "analysis/validating.py", "cli/campaign.py", "cli/campaign_import.py", "cli/validate.py",
    "formats/source.py", "formats/sink.py", "formats/json_stream.py", "formats/encoding.py", "formats/library.py",
    "store/plan_material.py", "store/document_intake.py", "store/judgment_import.py",
)  # fmt: skip
"""The rooms that a user meets first: every complaint there has its Japanese."""


def template(node: ast.expr) -> str | None:
    """The words of a message, with {} for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
    return None


def said_in(path: Path) -> Iterator[str]:
    """What the errors, remarks and warnings of a file say."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = getattr(call, "func", None)
        called = str(getattr(name, "id", getattr(name, "attr", "")))
        if isinstance(call, ast.Call) and (called.endswith("Error") or called in ("remark", "warn", "say")):
            given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "hint")]
            yield from filter(None, map(template, given))


def test_every_line_of_the_catalogue_stands_in_the_code() -> None:
    strings: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.expr) and (found := template(node)):
                strings |= {found, *found.split(", ")}
    stale = [
        english for english in catalogue("ja") if english not in strings and not is_said(english, strings)
    ]
    assert stale == []


def is_said(english: str, strings: set[str]) -> bool:
    """Whether code says this; words that it puts together from pieces count as filled in."""
    pieces = english.split("{}")
    pattern, longest = re.compile(".*".join(map(re.escape, pieces)), re.DOTALL), max(pieces, key=len)
    return any(longest in said and pattern.fullmatch(said) for said in strings)


@pytest.mark.parametrize("name", COMPLETE)
def test_what_users_meet_first_is_all_there(name: str) -> None:
    known = set(catalogue("ja"))
    missing = [said for said in said_in(SOURCE / name) if said not in known and re.search(r"[a-z]{3}", said)]
    assert missing == []


@pytest.mark.parametrize("english", catalogue("ja"))
def test_what_is_filled_in_is_never_lost(english: str) -> None:
    places = {int(place) for place in re.findall(r"\{(\d)\}", catalogue("ja")[english])}
    assert places == set(range(english.count("{}")))


def test_a_message_with_its_place_and_its_hint() -> None:
    error = InputError(
        "nothing is judged under 'breakdown'", where="a.jsonl, line 3", hint="there is: nothing"
    )
    said = translated_error(error, "ja")
    assert str(said) == "a.jsonl、3行目: 'breakdown'での判断がありません (あるもの：nothing)"
    assert translated("words that nobody has", "ja") == "words that nobody has"
    assert translated("no such folder", "en") == "no such folder"
    braces = translated("cannot be read: {0} {1}", "ja")
    assert braces == "読めません：{0} {1}"


def test_complaints_follow_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    complain(InputError("no such file or folder", where="a.jsonl"))
    assert "エラー：a.jsonl：ファイルもフォルダも見つかりません" in capsys.readouterr().err


def test_words_go_before_the_terminal(tmp_path: Path) -> None:
    from lapsus.samples import sample_path

    command = ["validate", str(sample_path("pairs-ja"))]
    try:
        said = CliRunner().invoke(app, ["--words", "ja", *command], env={"LC_ALL": "en_GB.UTF-8"}).stdout
        assert "判断100件のうち0件がガイドラインに反しています" in said
        said = CliRunner().invoke(app, ["--words", "en", *command], env={"LC_ALL": "ja_JP.UTF-8"}).stdout
        assert "100 judgments, 0 of them break their guideline" in said
    finally:
        choose_words(None)
    assert CliRunner().invoke(app, ["--words", "xx", *command]).exit_code != 0


def helps(command: Any) -> Iterator[str]:
    """What a command, its options and the commands in it say of themselves."""
    yield " ".join(command.help.split())
    yield from (" ".join(help.split()) for p in command.params if (help := getattr(p, "help", None)))
    for inner in getattr(command, "commands", {}).values():
        yield from helps(inner)


def test_every_command_and_option_has_its_japanese_help_and_none_is_stale() -> None:
    """A new option needs a line in cli/help_ja.yaml."""
    known, used = set(japanese_words()), {*helps(get_command(app)), "Show this message and exit."}
    assert not used - known
    assert not known - used
    assert not [words for words in japanese_words().values() if not re.search("[ぁ-んァ-ン一-龠]", words)]


@pytest.mark.parametrize(
    "command", [[], ["score"], ["campaign"], ["campaign", "create"], ["challenge", "tables"]]
)
def test_help_is_in_the_readers_language(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("COLUMNS", "80")
    english = CliRunner().invoke(app, [*command, "--help"]).stdout
    japanese = CliRunner().invoke(app, ["--words", "ja", *command, "--help"]).stdout
    assert english.startswith("Usage: ")
    assert japanese.startswith("使い方： ")
    # The same options and commands, none of them in English words, and no line wider than the terminal.
    assert set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", english, re.M)) <= set(
        re.findall("--[a-z-]+", japanese)
    )
    assert not re.search(r"Options|required|default|Show |Print ", japanese)
    assert max(map(cells, japanese.splitlines())) <= 80
    choose_words(None)
