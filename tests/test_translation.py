"""What users are told in Japanese: found by the English words, and never staler than the code."""

from __future__ import annotations

import ast
import errno
import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lapsus.analysis import comparison, estimate, scores, trust
from lapsus.annotators.judge.report import report_table
from lapsus.cli.app import app
from lapsus.cli.help_words import japanese_words
from lapsus.cli.output import choose_words, complain
from lapsus.errors import InputError
from lapsus.reports.table import cells
from lapsus.samples import sample_path
from lapsus.translation import catalogue, translated, translated_error
from lapsus.word_files import word_file

SOURCE = Path(__file__).parent.parent / "src" / "lapsus"
TELLING = {
    **dict.fromkeys(
        ("LapsusError", "InputError", "InvalidError", "LossError", "UsageError", "ServiceError"), 0
    ),
    **dict.fromkeys(("StoreError", "_BusyError", "_InvalidError", "_hopeless", "Loss"), 0),
    **dict.fromkeys(("remark", "warn", "in_words"), 0),
    **dict.fromkeys(("Incoherence", "SchemeProblem"), 2),
}
"""What is called with words for a user, and at which place; `say` too, where it is a command's."""
PYTHON_ONLY = (
    "client.py", "formats/frame.py", "formats/in_memory.py", "measures/agreement/patterns.py",
    "measures/gold/quality.py", "measures/gold/result.py", "model/votes.py",
)  # fmt: skip
"""What is said here is about arrays, tables and clients in a program: no command and no page gets there."""
COMMANDS = ("pip install ", "lapsus ")
"""How a text begins that is to be typed as it stands, in every language."""


def template(node: ast.expr) -> str | None:
    """The words of a message, with {} for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
    return None


def templates(node: ast.expr, names: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Every message that an expression may be; a name stands for all that its file gives it."""
    if isinstance(node, ast.IfExp):
        yield from (*templates(node.body, names), *templates(node.orelse, names))
    elif isinstance(node, ast.BinOp):
        sides = [list(templates(side, names)) or ["{}"] for side in (node.left, node.right)]
        yield from map("".join, product(*sides))
    elif isinstance(node, ast.Name):
        yield from (words for value in names.get(node.id, ()) for words in templates(value, {}))
    elif found := template(node):
        yield found


def said_in(path: Path) -> Iterator[str]:
    """What the errors, remarks and warnings of a file say."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, []).append(node.value)
    for call in nodes:
        if isinstance(call, ast.Call) and (place := place_of_words(call, path)) is not None:
            given = [*call.args[place : place + 1], *(k.value for k in call.keywords if k.arg == "hint")]
            yield from (words for one in given for words in templates(one, names))


def place_of_words(call: ast.Call, path: Path) -> int | None:
    called = str(getattr(call.func, "id", getattr(call.func, "attr", "")))
    return 0 if called == "say" and path.parent.name == "cli" else TELLING.get(called)


def strings_of_code() -> set[str]:
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.expr) and (words := template(node)):
                found |= {words, *words.split(", "), *words.split("; ")}
    return found


def test_every_line_of_the_catalogue_stands_in_the_code() -> None:
    # What the operating system says, Python hands on.
    strings = {*strings_of_code(), *map(os.strerror, errno.errorcode)}
    stale = [
        english for english in catalogue("ja") if english not in strings and not is_said(english, strings)
    ]
    assert stale == []


def is_said(english: str, strings: set[str]) -> bool:
    """Whether code says this; words that it puts together from pieces count as filled in.

    A name may stand before it, as that of a judge before its verdict.
    """
    for words in (english, english.removeprefix("{} ")):
        pieces = words.split("{}")
        pattern, longest = re.compile(".*".join(map(re.escape, pieces)), re.DOTALL), max(pieces, key=len)
        if any(longest in said and pattern.fullmatch(said) for said in strings):
            return True
    return False


def needs_words(said: str) -> bool:
    """Whether a text has words for people: more than names, numbers and what is to be typed."""
    prose = re.sub(r"`[^`]*`|\{\}", "", said)
    return bool(re.search(r"[a-z]{3}", prose)) and not said.startswith(COMMANDS)


def test_whatever_a_user_is_told_is_there_in_japanese() -> None:
    """A new error, hint or remark needs a line in messages_ja.yaml."""
    missing = [
        f"{name}: {said}"
        for path in sorted(SOURCE.rglob("*.py"))
        if (name := path.relative_to(SOURCE).as_posix()) not in PYTHON_ONLY
        for said in said_in(path)
        if needs_words(said) and not is_translated(said)
    ]
    assert missing == []


def reasons_in(path: Path) -> Iterator[str]:
    """Why measures are undefined: what the file's constants in words say, which stand in cells of tables."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            said = template(node.value)
            if node.targets[0].id.isupper() and node.targets[0].id[0] != "_" and said and " " in said:
                yield said


def test_every_reason_for_an_undefined_figure_is_there_in_japanese() -> None:
    reasons = {said for path in (SOURCE / "measures").rglob("*.py") for said in reasons_in(path)}
    assert "everybody chose the same" in reasons
    assert [said for said in sorted(reasons) if not is_translated(said)] == []


def test_an_undefined_figure_is_explained_in_the_readers_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = tmp_path / "alone.jsonl"
    lines = sample_path("pairs-ja").read_text(encoding="utf-8").splitlines(keepends=True)
    keep = [line for line in lines if '"judgment"' not in line or '"annotator":"楓"' in line]
    alone.write_text("".join(keep), encoding="utf-8")
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    shown = CliRunner().invoke(app, ["agree", str(alone), "--resamples", "0"]).stdout
    assert "二人以上が答えた箇所がありません" in shown
    assert "no unit" not in shown


def is_translated(said: str) -> bool:
    """Whether a message has its Japanese, whole or put together from lines of the catalogue."""
    return said in catalogue("ja") or not needs_words(translated(said.replace("{}", "7"), "ja"))


@pytest.mark.parametrize(
    "english", ["a word that is new", "3 units, and nobody knows", "'x' is unheard of: stop it"]
)
def test_a_message_without_japanese_is_noticed(english: str) -> None:
    assert needs_words(english)
    assert not is_translated(english)


@pytest.mark.parametrize("english", catalogue("ja"))
def test_what_is_filled_in_is_never_lost(english: str) -> None:
    places = {int(place) for place in re.findall(r"\{(\d)\}", catalogue("ja")[english])}
    assert places == set(range(english.count("{}")))


def test_a_message_with_its_place_and_its_hint() -> None:
    error = InputError(
        "nothing is judged under 'breakdown'", where="a.jsonl, line 3", hint="there is: nothing"
    )
    said = translated_error(error, "ja")
    assert str(said) == "a.jsonl、3行目: 'breakdown'での判断がありません (あるもの：なし)"
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


def heads_in(path: Path) -> Iterator[str]:
    """The heads of the tables that a command prints."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print_table":
            heads = names.get(call.args[0].id) if isinstance(call.args[0], ast.Name) else call.args[0]
            assert isinstance(heads, ast.Tuple), f"{path.name}: what heads does this table have?"
            yield from filter(None, map(template, heads.elts))


def test_every_head_of_a_table_has_its_japanese() -> None:
    """A new column needs a line in cli/table_words_ja.yaml."""
    printed = [head for path in (SOURCE / "cli").glob("*.py") for head in heads_in(path)]
    made = [
        *trust.COLUMNS,
        *estimate.COLUMNS,
        *scores.COLUMNS,
        *comparison.COLUMNS,
        *report_table([]).columns,
    ]
    kept = {"", "Rogan–Gladen", "λ", "n"}
    assert {*printed, *made} - set(word_file("lapsus.cli", "table_words_ja.yaml")) == kept


def test_no_word_of_a_table_is_stale() -> None:
    spoken = {word for said in strings_of_code() for word in re.findall(r"[\w']+", said)}
    words = word_file("lapsus.cli", "table_words_ja.yaml")
    assert [english for english in words if not set(re.findall(r"[\w']+", english)) <= spoken] == []


def test_a_table_of_results_speaks_japanese_and_its_csv_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    command = ["agree", str(sample_path("pairs-ja")), "--resamples", "0"]
    shown, csv = (CliRunner().invoke(app, [*command, *more]).stdout for more in ([], ["--csv"]))
    assert "文書" in shown
    assert "documents" not in shown
    assert "documents" in csv
    assert "文書" not in csv


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["agree"], "引数 'DATA' がありません。"),
        (["detect", "a.jsonl"], "オプション '-o' / '--out' を指定してください。"),
        (["agree", "a.jsonl", "--nothing"], "--nothing というオプションはありません。"),
        (["agre"], "'agre' というコマンドはありません。'agree' のことですか。"),
        (["scheme", "nothing"], "'nothing' というコマンドはありません。"),
        (
            ["score", "a", "b", "--threshold", "3"],
            "'--threshold' / '-t' の値 3.0 は範囲（0.0<=x<=1.0）の外です。",
        ),
        (["score", "a", "b", "--seed", "x"], "'--seed' の値 'x' は整数ではありません。"),
        (["score", "a", "b", "--threshold", "x"], "'--threshold' / '-t' の値 'x' は数ではありません。"),
        (["agree", "a", "b"], "余分な引数があります：b"),
        (["agree", "a", "--scheme"], "オプション '--scheme' には値が必要です。"),
        (["agree", "a", "--json=1"], "オプション '--json' に値は付けられません。"),
    ],
)
def test_wrong_use_is_told_in_the_readers_language(command: list[str], said: str) -> None:
    english = CliRunner().invoke(app, command, env={"LC_ALL": "en_GB.UTF-8"})
    japanese = CliRunner().invoke(app, command, env={"LC_ALL": "ja_JP.UTF-8"})
    assert english.exit_code == japanese.exit_code == 2
    assert "Error: " in english.stderr
    assert f"エラー：{said}" in japanese.stderr
    assert not re.search("Error|Usage|Try", japanese.stderr)


def test_names_that_read_like_messages_are_left_alone() -> None:
    assert translated("'it takes two' is empty", "ja") == "'it takes two'が空です"
    assert translated("r.jsonl: no such folder", "ja") == "r.jsonl：フォルダがありません"
    assert translated("r.jsonl: nobody has words for this", "ja") == "r.jsonl: nobody has words for this"


def test_a_sentence_that_is_put_together_is_taken_apart_where_it_was_joined() -> None:
    said = translated("m judged 3 of 5 units of c; 2 could not be judged", "ja")
    assert said == "mがcの5か所のうち3か所を判定しました。2か所は判定できませんでした"
    said = translated("csv does not carry documents (a run holds labels only) (16 documents)", "ja")
    assert said == "csv形式では文書（ランにはラベルだけが入ります）を残せません（文書16件）"
