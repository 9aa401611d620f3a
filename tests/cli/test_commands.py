"""Commands as a user runs them: in a process of their own where that may matter."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lapsus.samples import SAMPLES
from tests.cli import in_process


def lapsus(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from lapsus.cli import main; main()", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "ignore", **environment},
    )


def test_a_sample_is_copied_converted_and_read_back(tmp_path: Path) -> None:
    assert lapsus("sample", "dialogues-ja", "a.jsonl", cwd=tmp_path).returncode == 0
    done = lapsus("convert", "a.jsonl", "b.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert (counts["documents"], counts["from"], counts["to"]) == (16, "jsonl", "labelstudio")
    back = lapsus("convert", "b.json", "c.jsonl", "--json", cwd=tmp_path)
    assert json.loads(back.stdout)["judgments"] == counts["judgments"]
    assert sorted((tmp_path / "a.jsonl").read_text().splitlines()) == sorted(
        (tmp_path / "c.jsonl").read_text().splitlines()
    )


def test_a_recognised_format_is_announced(tmp_path: Path) -> None:
    in_process.lapsus("sample", "pairs-en", "a.jsonl", cwd=tmp_path)
    done = in_process.lapsus("convert", "a.jsonl", "b.jsonl", cwd=tmp_path)
    assert "a.jsonl is read as jsonl" in done.stderr


def test_losses_are_refused_then_warned_of(tmp_path: Path) -> None:
    in_process.lapsus("sample", "dialogues-en", "a.jsonl", cwd=tmp_path)
    refused = in_process.lapsus("convert", "a.jsonl", "run", "--to", "dbdc", cwd=tmp_path)
    assert refused.returncode == 1
    assert "cannot carry judgments under the scheme" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]
    lossy = in_process.lapsus("convert", "a.jsonl", "run", "--to", "dbdc", "--lossy", cwd=tmp_path)
    assert lossy.returncode == 0
    assert "warning: dbdc does not carry" in lossy.stderr
    assert "1,200 judgments were written" in lossy.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("scheme", "show", "breakdwon"), 2, "did you mean 'breakdown'"),
        (("convert", "nowhere.zip", "b.jsonl"), 1, "no such file or folder"),
        (("convert", ".", "b.jsonl", "--only", "*.zip"), 1, "nothing in it matches --only"),
        (("convert", "a.jsonl", "b.jsonl", "--from", "dbdc"), 1, "nothing of format 'dbdc'"),
        (("convert", ".", "b.jsonl", "--from", "webnlgg"), 2, "did you mean 'webnlg'"),
        (("convert", "a.jsonl", "b.xyz"), 2, "known endings: "),
        (("convert", "a.jsonl", "a.jsonl", "--overwrite"), 2, "is what is to be read"),
        (("convert", "a.jsonl", "deep/down/b.jsonl"), 2, "make it first"),
        (("sample", "dialogue-en"), 2, "did you mean 'dialogues-en'"),
        (("scheme", "manual", "breakdown", "--lang", "fr", "-o", "m.html"), 2, "languages: en, ja"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_mistakes_get_a_message_and_a_code(
    arguments: tuple[str, ...], code: int, words: str, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text('{"lapsus":1}\n{"document":{"id":"d","segments":[]}}\n')
    done = in_process.lapsus(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]


def test_schemes_are_listed_in_the_readers_language() -> None:
    assert "Dialogue breakdown" in lapsus("scheme", "list").stdout
    assert "対話破綻" in lapsus("scheme", "list", LC_ALL="ja_JP.UTF-8").stdout
    assert "対話破綻" in lapsus("scheme", "list", "--lang", "ja").stdout
    assert json.loads(lapsus("scheme", "list", "--json").stdout)[0]["name"] == "breakdown"


def test_a_file_that_is_not_there_gets_a_message(tmp_path: Path) -> None:
    done = lapsus("scheme", "check", "nowhere.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "nowhere.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scheme_shows_as_json() -> None:
    scheme = json.loads(lapsus("scheme", "show", "error-types", "--json").stdout)
    assert len(scheme["questions"][0]["labels"]) == 17


def test_a_bad_scheme_file_is_told_by_line(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("scheme: x\nversion: 1\n")
    done = in_process.lapsus("scheme", "check", "own.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "own.yaml:" in done.stdout
    problems = json.loads(in_process.lapsus("scheme", "check", "own.yaml", "--json", cwd=tmp_path).stdout)
    assert problems["errors"] == len(problems["problems"]) > 0


def test_a_manual_is_written(tmp_path: Path) -> None:
    made = ("scheme", "manual", "semantic-errors", "--lang", "ja", "-o", "m.html")
    assert in_process.lapsus(*made, cwd=tmp_path).returncode == 0
    assert "トリプル" in (tmp_path / "m.html").read_text(encoding="utf-8")


def test_output_that_nobody_reads_is_no_error() -> None:
    command = f"{sys.executable} -c 'from lapsus.cli import main; main()' scheme show error-types | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_samples_are_listed() -> None:
    assert json.loads(lapsus("sample", "--json").stdout) == SAMPLES


def test_the_tour_runs_through() -> None:
    done = lapsus("tour")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    # One step shows how a loss is refused; every other one works.
    assert [line for line in done.stderr.splitlines() if line.startswith("error: ")] == [
        "error: document 'en-01': format 'dbdc' cannot carry judgments under the scheme 'response-quality'"
    ]


def test_a_scheme_is_shown_with_its_lists_their_groups_and_signs(tmp_path: Path) -> None:
    shown = in_process.lapsus("scheme", "show", "response-quality", cwd=tmp_path).stdout
    assert re.search(r"Positive +🙌 +admiration", shown)
    assert re.search(r"Ambiguous +😕 +confusion", shown)


def test_what_is_judged_may_stand_in_one_file_and_the_judgments_in_another(tmp_path: Path) -> None:
    in_process.lapsus("sample", "helpdesk-en", "both.jsonl", cwd=tmp_path)
    lines = (tmp_path / "both.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    chats = "".join(line for line in lines if '"judgment"' not in line)
    (tmp_path / "chats.jsonl").write_text(chats, encoding="utf-8")
    in_process.lapsus("convert", "both.jsonl", "judgments.csv", "--lossy", cwd=tmp_path)

    def agree(*data: str) -> dict[str, object]:
        done = in_process.lapsus("agree", *data, "--json", "--resamples", "10", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return {**json.loads(done.stdout), "data": None}

    assert agree("chats.jsonl", "judgments.csv") == agree("both.jsonl")
    done = in_process.lapsus("train", "judge", "chats.jsonl", "judgments.csv", "-o", "m.lapsus", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_names_between_colons_are_shown_as_they_are(tmp_path: Path) -> None:
    """Some programs make pictures of `:m:`."""
    done = in_process.lapsus(
        "campaign", "create", "x", "--collect", "openai:m", "--db", "x.sqlite", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "openai:m: which server?" in done.stderr


@pytest.mark.parametrize(
    ("sample", "fitting"),
    [("dialogues-en", ["breakdown", "error-types", "response-quality"]), ("pairs-en", ["semantic-errors"])],
)
def test_look_names_the_guidelines_that_fit(sample: str, fitting: list[str], tmp_path: Path) -> None:
    in_process.lapsus("sample", sample, "a.jsonl", cwd=tmp_path)
    done = in_process.lapsus("look", "a.jsonl", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["schemes"] == fitting
