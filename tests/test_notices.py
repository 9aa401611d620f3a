"""What users are told: every id has its words in both languages, and none is stale."""

from __future__ import annotations

import ast
import json
import pickle
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lapsus.analysis import comparison, estimate, scores, trust
from lapsus.annotators.judge.learning import report_table
from lapsus.cli.app import app
from lapsus.cli.help_words import japanese_words
from lapsus.cli.output import choose_words, complain
from lapsus.errors import InputError
from lapsus.notices import Notice, catalogue, localized, packed, unpacked
from lapsus.reports.table import cells
from lapsus.samples import sample_path
from lapsus.word_files import word_file
from tests.cli.in_process import lapsus

SOURCE = Path(__file__).parent.parent / "src" / "lapsus"
ERRORS = {
    "LapsusError", "InputError", "InvalidError", "LossError", "UsageError", "StoreError", "UnknownNameError",
}  # fmt: skip
TELLING = {*ERRORS, "say", "remark", "warn", "in_words"}
"""Whatever is called with the id of a notice first; `Notice` and `notice` are, too."""
NAMING = {"check_words": 1, "check_storable": 1, "require": 2}
"""Functions that are given the id of a notice for what they complain about, and at which place."""
COMMANDS = ("pip install ", "lapsus ", "→ ")
"""How a text begins that is to be typed as it stands, or that is a file's name, in every language."""
FIELD = re.compile(r"(?<!\{)\{(\w+)(![rsa])?(:[^{}]*)?\}(?!\})")


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield str(getattr(node.func, "id", getattr(node.func, "attr", ""))), node


def constants(node: ast.expr | None) -> Iterator[str]:
    """The strings that an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*constants(node.body), *constants(node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from (text for value in node.values for text in constants(value))


def told_in(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every id, or text, with which a user of a command or a page is told something."""
    for called, call in calls(path):
        if called == "Notice" or called in ERRORS or (called in TELLING and path.parent.name == "cli"):
            hints = [k.value for k in call.keywords if k.arg == "hint"]
            for given in (*call.args[:1], *(hints if called in ERRORS else [])):
                yield from ((text, call) for text in constants(given))
        elif called in NAMING:
            yield from (
                (text, call) for given in call.args[NAMING[called] :][:1] for text in constants(given)
            )


FILES = sorted(SOURCE.rglob("*.py"))
ENGLISH, JAPANESE = catalogue("en"), catalogue("ja")


def needs_words(said: str) -> bool:
    """Whether a text has words for people: more than names, numbers and what is to be typed."""
    return bool(re.search(r"[a-z]{3}", re.sub(r"`[^`]*`", "", said))) and not said.startswith(COMMANDS)


def test_every_id_has_its_words() -> None:
    """A new error, hint or remark needs a line in notices/en.yaml and in notices/ja.yaml."""
    missing = [
        f"{path.relative_to(SOURCE).as_posix()}:{call.lineno}: {text}"
        for path in FILES
        for text, call in told_in(path)
        if text not in ENGLISH and needs_words(text) and path.name != "__init__.py"
    ]
    assert missing == []


def test_no_error_is_put_together_from_pieces() -> None:
    """What is filled into a message is a field of it; an f-string would be English for everybody."""
    pieces = [
        f"{path.relative_to(SOURCE).as_posix()}:{call.lineno}"
        for path in FILES
        for called, call in calls(path)
        if called in ERRORS and call.args and isinstance(call.args[0], ast.JoinedStr | ast.BinOp)
    ]
    assert pieces == []


def test_both_languages_have_the_same_notices_with_the_same_fields() -> None:
    assert ENGLISH.keys() == JAPANESE.keys()
    for id, words in ENGLISH.items():
        assert set(FIELD.findall(words)) == set(FIELD.findall(JAPANESE[id])), id


def test_a_call_fills_every_field() -> None:
    lacking = [
        f"{path.relative_to(SOURCE).as_posix()}:{call.lineno}: {text}"
        for path in FILES
        for text, call in told_in(path)
        if text in ENGLISH and None not in {k.arg for k in call.keywords}
        if {field[0] for field in FIELD.findall(ENGLISH[text])} - {k.arg for k in call.keywords}
    ]
    assert lacking == []


def strings_of_code() -> set[str]:
    nodes = (node for path in FILES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_no_notice_is_stale() -> None:
    strings = strings_of_code()
    made = ("errno-", "board-")
    assert [id for id in ENGLISH if id not in strings and not id.startswith(made)] == []


@pytest.mark.parametrize("file", ["en.yaml", "ja.yaml"])
def test_the_words_are_read_as_yaml_reads_them(file: str) -> None:
    words = word_file("lapsus.notices", file)
    assert words == catalogue(file.removesuffix(".yaml"))


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


def test_a_notice_with_its_place_and_its_hint() -> None:
    error = InputError(
        "nothing-judged-under", id="breakdown", where=Notice("line", name="a.jsonl", line=3), hint="there-is",
        schemes=Notice("nothing"),
    )  # fmt: skip
    assert str(error) == "a.jsonl, line 3: nothing is judged under 'breakdown' (there is: nothing)"
    said = error.in_language("ja")
    assert str(said) == "a.jsonl、3行目: 'breakdown'での判断がありません (あるもの：なし)"
    assert str(error.at("b.zip").in_language("ja")).startswith("b.zip、a.jsonl、3行目: ")


def test_a_field_is_never_taken_for_words() -> None:
    """What users named stays as it is, with braces and with words that are notices elsewhere."""
    name = "{0} {error} nothing-judged-under: " * 500
    assert localized(Notice("cannot-read", error=name), "ja") == f"読めません：{name}"
    assert localized("words that nobody has", "ja") == "words that nobody has"


def test_a_quotation_of_any_length_is_told_at_once_in_japanese(tmp_path: Path) -> None:
    """However much of what is quoted looks like sentences of ours."""
    role = "a: no label called 'b' (known: c); " * 2_000
    line = json.dumps({"messages": [{"role": role, "content": "Hello."}]})
    (tmp_path / "odd.jsonl").write_text(line, encoding="utf-8")
    begun = time.process_time()
    done = lapsus("--words", "ja", "convert", "odd.jsonl", "out.csv", cwd=tmp_path)
    assert time.process_time() - begun < 10
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert re.search("[ぁ-んァ-ン一-龠]", done.stderr)


def test_a_notice_comes_back_from_a_database_and_from_another_process() -> None:
    told = Notice("then", first=Notice("cannot-read", error=3.5), second="x")
    for back in (unpacked(packed(told)), pickle.loads(pickle.dumps(told))):  # noqa: S301
        assert back == told == "cannot be read: 3.5; x"
        assert localized(back, "ja") == "読めません：3.5。x"
    assert unpacked(packed("plain")) == "plain"


def test_complaints_follow_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    complain(InputError("no-file-folder", where="a.jsonl"))
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
    """A new command needs a line in cli/help_ja.yaml."""
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
            yield from (text for head in heads.elts for text in constants(head))


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
    said = {*strings_of_code(), *ENGLISH.values()}
    spoken = {word for text in said for word in re.findall(r"[\w']+", text)}
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
        (["agree"], "引数 'DATA…' がありません。"),
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
        (["sample", "a", "b", "c"], "余分な引数があります：c"),
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
