"""Language models from the command line: `lapsus detect`, `lapsus scheme prompt`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from lapsus.cli.app import app
from lapsus.errors import LapsusError, UsageError
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Entry, Judgment, Scheme
from lapsus.schemes import load_scheme, scheme_names
from tests.annotators.language_model.helpers import chat, document, right
from tests.annotators.language_model.stub import Said, Stub, completion, refusal, script, serving
from tests.patience import LONG

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAPSUS_API_KEY", raising=False)
    Jsonl().write([votes("c1", "TTX"), votes("c2", "OOT")], tmp_path / "chats.jsonl")
    return tmp_path


def votes(id: str, labels: str, language: str = "en") -> Entry:
    """A chat whose last system turn people have judged; of the first they all say O."""
    judgments = [
        Judgment(id, segment, f"p{place}", "breakdown", "1.0", {"breakdown": label})
        for segment, given in (("0", "OOO"), ("2", labels))
        for place, label in enumerate(given)
    ]
    return Entry(id, chat(language, id), tuple(judgments))


def answered(body: dict[str, Any]) -> Said:
    """A model that knows the scheme: X where there is context, else O."""
    is_first = "context" not in json.loads(body["messages"][1]["content"])
    return completion({"breakdown": "O" if is_first else "X", "comment": None})


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(answered) as found:
        yield found


def lapsus(*arguments: str, code: int = 0, **more: Any) -> Result:
    done = CliRunner().invoke(app, list(arguments), **more)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def detect(stub: Stub, *more: str, out: str = "run.jsonl", code: int = 0) -> Result:
    asked = ("--with", "openai:tiny", "--endpoint", stub.endpoint)
    return lapsus("detect", "chats.jsonl", "-o", out, *asked, *more, code=code)


def labels(path: Path) -> dict[tuple[str, str | None, str], Any]:
    found = [judgment for entry in read(path) for judgment in entry.judgments]
    return {(j.document, j.segment, j.annotator): j.answers.get("breakdown") for j in found}


def test_a_run_that_can_be_scored(folder: Path, stub: Stub) -> None:
    said = json.loads(detect(stub, "--samples", "2", "--json", out="run.zip").stdout)
    assert (said["by"], said["judged"], said["form"], said["refused"]) == (
        "openai:tiny",
        4,
        "json_schema",
        [],
    )
    assert said["tokens"] == {"prompt": 800, "completion": 80}
    assert not list(folder.glob("*.part.jsonl"))
    scored = json.loads(lapsus("score", "chats.jsonl", "run.zip", "--resamples", "0", "--json").stdout)
    assert scored["runs"][0]["scores"]["accuracy"] == 0.5
    assert "onehot" not in scored["runs"][0]["signature"]


def test_beside_what_people_said(folder: Path, stub: Stub) -> None:
    said = detect(stub, "--keep", out="both.jsonl")
    assert "4 units are judged by openai:tiny → both.jsonl" in said.stdout
    assert "4 units, with their context, go to 127.0.0.1" in said.stderr
    found = labels(folder / "both.jsonl")
    assert found["c1", "2", "openai:tiny"] == "X"
    assert found["c1", "2", "p0"] == "T"
    agreed = json.loads(lapsus("agree", "both.jsonl", "--resamples", "0", "--json").stdout)
    assert agreed["annotators"] == 4
    each = json.loads(lapsus("agree", "both.jsonl", "--each", "--resamples", "0", "--json").stdout)
    rest = {name: each[f"{name}_with_the_rest"] for name in ("openai:tiny", "p0", "p1", "p2")}
    assert all(isinstance(value, float) and value < 1 for value in rest.values())
    assert rest["p0"] == rest["p1"] != rest["openai:tiny"]
    lapsus(
        "detect",
        "both.jsonl",
        "-o",
        "again.jsonl",
        "--keep",
        "--with",
        "openai:tiny",
        "--endpoint",
        stub.endpoint,
    )
    assert len(labels(folder / "again.jsonl")) == len(found)


def test_each_annotator_where_a_system_is_not_judged_and_where_there_are_only_spans(folder: Path) -> None:
    other = msgspec.structs.replace(chat(id="c3"), metadata={"system": "Other"})
    Jsonl().write([votes("c1", "TTX"), Entry("c3", other)], folder / "two.jsonl")
    table = ("--each", "--resamples", "0", "--json")
    found = json.loads(lapsus("agree", "two.jsonl", "--by", "system", *table).stdout)
    assert "p0_with_the_rest" in found["by"]["Secret system"]
    assert "p0_with_the_rest" not in found["by"]["Other"]
    about, answers = document("semantic-errors", "en"), right("semantic-errors", "en")[1]
    marked = [Judgment(about.id, None, who, "semantic-errors", "1.0", answers) for who in ("p0", "p1")]
    Jsonl().write([Entry(about.id, about, tuple(marked))], folder / "marked.jsonl")
    with pytest.raises(UsageError, match="spans are not compared"):
        lapsus("agree", "marked.jsonl", *table)


@pytest.mark.parametrize("name", scheme_names())
def test_any_scheme(folder: Path, name: str) -> None:
    Jsonl().write([Entry(d.id, d) for d in (document(name, "en"),)], folder / "data.jsonl")
    said, answers = right(name, "en")
    with serving(script(completion(said))) as stub:
        asked = ("--with", "openai:tiny", "--endpoint", stub.endpoint, "--scheme", name)
        lapsus("detect", "data.jsonl", "-o", "out.jsonl", *asked)
    (entry,) = read(folder / "out.jsonl")
    assert all(dict(judgment.answers) == answers for judgment in entry.judgments)
    lapsus("score", "out.jsonl", "out.jsonl", "--resamples", "0")


def test_a_scheme_with_a_target_is_for_the_units_that_votes_choose(folder: Path) -> None:
    said = {"types": ["repetition"], "remark": None}
    with serving(script(completion(said))) as stub:
        assert "no votes" not in detect(stub, "--scheme", "error-types", out="types.jsonl").stderr
        (entry,) = read(folder / "types.jsonl")
        assert [(judgment.document, judgment.segment) for judgment in entry.judgments] == [("c1", "2")]
        assert len(stub.asked) == 1
        (folder / "chats.jsonl").unlink()
        Jsonl().write([Entry("c1", chat())], folder / "chats.jsonl")
        said = detect(stub, "--scheme", "error-types", out="all.jsonl")
        assert "1 documents hold no votes under 'breakdown'" in said.stderr
        assert len(stub.asked) == 3


def test_what_could_not_be_judged_is_told_and_asked_again_next_time(folder: Path) -> None:
    is_broken = True

    def server(body: dict[str, Any]) -> Said:
        is_first = "context" not in json.loads(body["messages"][1]["content"])
        return completion("no") if is_broken and is_first else completion({"breakdown": "T"})

    with serving(server) as stub:
        said = detect(stub, code=1)
        assert "2 units are judged by openai:tiny, 2 could not be judged" in said.stdout
        assert "document 'c1', segment '0': no answer that can be taken" in said.stderr
        assert len(labels(folder / "run.jsonl")) == 2
        is_broken = False
        before = len(stub.asked)
        assert "holds 2 answers about DATA; 2 units are left" in detect(stub).stderr
        assert len(stub.asked) == before + 2
    assert len(labels(folder / "run.jsonl")) == 4
    assert not list(folder.glob("*.part.jsonl"))
    with serving(answered) as stub, pytest.raises(UsageError, match="is there already"):
        detect(stub)


def test_where_nothing_was_judged_nothing_is_written(folder: Path) -> None:
    with serving(script(completion("?"))) as stub:
        assert "0 units are judged by openai:tiny, 4 could not be judged\n" in detect(stub, code=1).stdout
    assert [path.name for path in folder.iterdir()] == ["chats.jsonl"]


def test_a_run_that_was_begun_otherwise_is_not_gone_on_with(folder: Path) -> None:
    with serving(script(completion({"breakdown": "T"}), refusal(401))) as stub:
        with pytest.raises(LapsusError, match="answers 401"):
            detect(stub, "--parallel", "1")
        assert not (folder / "run.jsonl").exists()
        with pytest.raises(UsageError, match="begun with another prompt"):
            detect(stub, "--parallel", "1", "--examples", "0")
        with pytest.raises(UsageError, match="begun with another scheme, prompt"):
            detect(stub, "--parallel", "1", "--scheme", "error-types")
        part = folder / "run.jsonl.part.jsonl"
        part.write_bytes(part.read_bytes() + b'{"judgment": {"docu')
        stub.answer = answered
        detect(stub)
    assert len(labels(folder / "run.jsonl")) == 4


def test_a_run_about_other_texts_is_not_gone_on_with(folder: Path) -> None:
    with serving(
        script(completion({"breakdown": "T"}), completion({"breakdown": "T"}), refusal(401))
    ) as stub:
        with pytest.raises(LapsusError, match="answers 401"):
            detect(stub, "--parallel", "1")
        (folder / "chats.jsonl").unlink()
        Jsonl().write([votes("c1", "TTX", "ja"), votes("c2", "OOT")], folder / "chats.jsonl")
        stub.answer = script(
            completion("no"), completion("no"), completion("no"), completion({"breakdown": "X"})
        )
        said = detect(stub, "--parallel", "1", code=1)
    assert "holds 0 answers about DATA; 4 units are left" in said.stderr
    assert "3 units are judged by openai:tiny, 1 could not be judged" in said.stdout
    assert set(labels(folder / "run.jsonl").values()) == {"X"}


def test_where_nothing_can_be_written_nothing_is_asked(folder: Path, stub: Stub) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "notes").touch()
    with pytest.raises(UsageError, match="no such folder"):
        detect(stub, out="nowhere/run.jsonl")
    with pytest.raises(UsageError, match="other files in it"):
        detect(stub, "--overwrite", out="mine")
    assert stub.asked == []


def test_options_that_mean_nothing_are_refused(folder: Path, stub: Stub) -> None:
    for more in (["--samples", "3"], ["--endpoint", "http://127.0.0.1:1/v1"], ["--yes"], ["--words", "ja"]):
        with pytest.raises(UsageError, match="for language models"):
            lapsus("detect", "chats.jsonl", "-o", "x.jsonl", "--with", "rules", *more)
    with pytest.raises(UsageError, match="must learn before"):
        lapsus("detect", "chats.jsonl", "-o", "x.jsonl", "--with", "rules", "--scheme", "error-types")
    with pytest.raises(UsageError, match="no profiles"):
        detect(stub, "--profile", "dbdc3")
    with pytest.raises(UsageError, match="which server"):
        lapsus("detect", "chats.jsonl", "-o", "x.jsonl", "--with", "openai:tiny")
    with pytest.raises(UsageError, match="no name"):
        lapsus("detect", "chats.jsonl", "-o", "x.jsonl", "--with", "openai:", "--endpoint", stub.endpoint)
    with pytest.raises(UsageError, match="holds judgments under 'breakdown'"):
        detect(stub, "--scheme", "response-quality", out="run.zip")
    with pytest.raises(UsageError, match="does not hold all"):
        detect(stub, "--scheme", "response-quality", out="run.csv")
    with pytest.raises(UsageError, match="which server"):
        lapsus("check", "chats.jsonl", "--with", "openai:tiny")
    assert stub.asked == []


def test_detectors_can_stand_beside_people_too(folder: Path) -> None:
    lapsus("train", "prior", "chats.jsonl", "-o", "floor.lapsus")
    detected = ("detect", "chats.jsonl", "--with", "floor.lapsus", "--keep")
    lapsus(*detected, "-o", "both.jsonl")
    assert {who for _, _, who in labels(folder / "both.jsonl")} == {"p0", "p1", "p2", "floor"}
    with pytest.raises(UsageError, match="holds one detector"):
        lapsus(*detected, "-o", "both.zip")


def test_a_budget_ends_the_asking_and_what_was_judged_is_kept(folder: Path, stub: Stub) -> None:
    with pytest.raises(LapsusError, match="budget of 220 tokens is used up"):
        detect(stub, "--budget", "220", "--parallel", "1")
    assert len(stub.asked) == 2
    assert not (folder / "run.jsonl").exists()
    said = detect(stub, "--budget", "10000")
    assert "holds 2 answers about DATA; 2 units are left" in said.stderr
    assert len(stub.asked) == len(labels(folder / "run.jsonl")) == 4


def test_tokens_are_guessed_before_anything_is_asked(folder: Path, stub: Stub) -> None:
    said = detect(stub, "--samples", "2").stderr
    told = int(said.partition("about ")[2].partition(" tokens")[0].replace(",", ""))
    sent = sum(len(message["content"]) for body in stub.asked for message in body["messages"])
    assert 0.9 * sent / 4 < told < 1.1 * sent / 4
    assert said.index("about ") < said.index(" = ")


ELSEWHERE = ("--with", "openai:tiny", "--endpoint", "http://model.invalid/v1")


def test_nothing_goes_to_another_machine_unasked(folder: Path) -> None:
    with pytest.raises(UsageError, match="nobody said"):
        lapsus("detect", "chats.jsonl", "-o", "x.jsonl", *ELSEWHERE, input="")
    said = lapsus("detect", "chats.jsonl", "-o", "x.jsonl", *ELSEWHERE, input="n\n", code=1)
    assert "4 units, with their context, go to model.invalid, another machine, unencrypted" in said.stderr
    assert not (folder / "x.jsonl").exists()


def test_a_key_goes_to_no_other_machine_unencrypted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPSUS_API_KEY", KEY)
    with pytest.raises(UsageError, match="unencrypted") as caught:
        lapsus("detect", "chats.jsonl", "-o", "x.jsonl", *ELSEWHERE, "--yes")
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError, match="nobody said"):
        lapsus("detect", "chats.jsonl", "-o", "x.jsonl", *ELSEWHERE, "--plain-http", input="")


def test_the_key_comes_from_the_environment_and_is_kept_nowhere(
    folder: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    said = detect(stub, "--key-env", "MY_KEY")
    assert {headers["Authorization"] for headers in stub.headers} == {f"Bearer {KEY}"}
    assert KEY not in said.output
    assert all(KEY not in path.read_text(encoding="utf-8") for path in folder.iterdir())
    with pytest.raises(UsageError) as caught:
        detect(stub, "--key-env", KEY, out="y.jsonl")
    assert KEY not in str(caught.value)


def test_ctrl_c_keeps_what_was_judged(folder: Path) -> None:
    told = threading.Event()

    def slow(body: dict[str, Any]) -> Said:
        if len(stub.asked) >= 4:
            assert told.wait(LONG)
            time.sleep(0.3)  # for the signal to arrive
        return answered(body)

    Jsonl().write([Entry(f"c{n}", chat(id=f"c{n}")) for n in range(20)], folder / "many.jsonl")
    with serving(slow) as stub:
        command = [sys.executable, "-c", "from lapsus.cli import main; main()", "detect", "many.jsonl"]
        command += [
            "-o",
            "run.jsonl",
            "--with",
            "openai:tiny",
            "--endpoint",
            stub.endpoint,
            "--parallel",
            "2",
        ]
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while len(stub.asked) < 4:
            assert running.poll() is None
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGINT)
        told.set()
        _, errors = running.communicate(timeout=LONG)
        assert running.returncode == 1, errors
        assert "stopped; the same command goes on from here" in errors
        asked = len(stub.asked)
        kept = labels(folder / "run.jsonl.part.jsonl")
        assert 4 <= len(kept) == asked < 40
        assert not (folder / "run.jsonl").exists()
        stub.answer = answered
        lapsus("detect", "many.jsonl", "-o", "run.jsonl", *command[-6:-2])
        assert len(stub.asked) == 40
    assert len(labels(folder / "run.jsonl")) == 40


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", scheme_names())
def test_the_prompt_is_printed_as_it_is_sent(folder: Path, name: str, language: str) -> None:
    found = json.loads(lapsus("scheme", "prompt", name, "--lang", language, "--json").stdout)
    shown = lapsus("scheme", "prompt", name, "--lang", language)
    assert found["system"] in shown.stdout
    assert found["digest"] in shown.stderr
    Jsonl().write([Entry(d.id, d) for d in (document(name, language),)], folder / "data.jsonl")
    with serving(script(completion(right(name, language)[0]))) as stub:
        asked = ("--with", "openai:tiny", "--endpoint", stub.endpoint, "--scheme", name)
        lapsus("detect", "data.jsonl", "-o", "out.jsonl", *asked)
    assert stub.asked[0]["messages"][0]["content"] == found["system"]
    assert stub.asked[0]["response_format"]["json_schema"]["schema"] == found["schema"]
    (entry,) = read(folder / "out.jsonl")
    assert entry.judgments[0].metadata["setting"]["prompt"] == found["digest"]


def test_a_scheme_of_ones_own(folder: Path) -> None:
    scheme: Scheme = load_scheme("breakdown")
    text = f"""
scheme: polite
version: "1"
title: {{en: Polite?}}
summary: {{en: Is it polite?}}
unit: {{role: {scheme.unit.role}}}
questions:
  - {{id: polite, kind: label, name: {{en: Polite}}, ask: {{en: Is it polite?}}, labels: [
      {{id: yes, name: {{en: Yes}}, definition: {{en: Kind words.}}}},
      {{id: no, name: {{en: No}}, definition: {{en: Harsh words.}}}}]}}
"""
    (folder / "polite.yaml").write_text(text, encoding="utf-8")
    with serving(script(completion({"polite": "no"}))) as stub:
        detect(stub, "--scheme", "polite.yaml", "--samples", "2")
    found = [judgment for entry in read(folder / "run.jsonl") for judgment in entry.judgments]
    assert {judgment.answers["polite"] for judgment in found} == {"no"}
    assert found[0].distributions == {"polite": {"yes": 0.0, "no": 1.0}}
    assert "Kind words." in stub.asked[0]["messages"][0]["content"]
