"""Aligning a judge: what helps is found, what does not is not, and the third part is honest about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import yaml

import lapsus
from lapsus.annotators.language_model import align as module
from lapsus.annotators.language_model import make_prompt
from lapsus.annotators.language_model.align import Case, align, nearness, people_cases
from lapsus.annotators.language_model.aligned import Aligned, aligned_yaml, as_reply, read_aligned
from lapsus.annotators.language_model.reply import take
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.model import Document, Entry, Judgment, Segment, UnitKey
from lapsus.schemes import load_scheme
from tests.annotators.language_model.helpers import document, right, unit_of
from tests.annotators.language_model.stub import Said, completion, refusal, serving
from tests.cli.in_process import lapsus as command

RULE = "Talk of cheese is a breakdown."


def judged(number: int) -> Entry:
    """A chat of four system turns, two of them about cheese: three people call these X, and all else O."""
    segments, judgments = [], []
    for turn in range(4):
        text = f"Cheese {number} {turn}." if turn % 2 else f"Weather {number} {turn}."
        segments.append(Segment(str(turn), "system", text))
        said = {"breakdown": "X" if turn % 2 else "O"}
        judgments += [
            Judgment(f"d{number}", str(turn), who, "breakdown", "1.0", said) for who in ("Ada", "Ben", "Cyd")
        ]
    return Entry(f"d{number}", Document(f"d{number}", tuple(segments), "en"), tuple(judgments))


ENTRIES = [judged(number) for number in range(12)]


def heard(body: dict[str, Any]) -> tuple[str, str]:
    """The prompt, and the turn that is judged; no turn where a clause is asked for."""
    system, unit = body["messages"][0]["content"], json.loads(body["messages"][1]["content"])
    return system, unit["target"]["text"] if "target" in unit else ""


def by_examples(body: dict[str, Any]) -> Said:
    """Knows that cheese is X once an example says so; has nothing to say about rules."""
    system, turn = heard(body)
    if not turn:
        return completion({"clause": "Be careful."})
    shown = '"breakdown": "X"' in system.partition("each with the answer")[2]
    return completion({"breakdown": "X" if shown and "Cheese" in turn else "O", "comment": None})


def by_clause(body: dict[str, Any]) -> Said:
    """Follows the rule that it wrote itself, and no example."""
    system, turn = heard(body)
    if not turn:
        return completion({"clause": RULE})
    return completion({"breakdown": "X" if RULE in system and "Cheese" in turn else "O", "comment": None})


def by_nothing(body: dict[str, Any]) -> Said:
    return completion({"breakdown": "O", "comment": None} if heard(body)[1] else {"clause": "Hm."})


@pytest.mark.parametrize(("answer", "clauses"), [(by_examples, ()), (by_clause, (RULE,))])
def test_what_helps_is_found_and_told_by_documents_kept_apart(answer: Any, clauses: tuple[str, ...]) -> None:
    with serving(answer) as stub:
        found = align(ENTRIES, "openai:m", scheme="breakdown", endpoint=stub.endpoint, examples=0).aligned
    assert found is not None
    assert found.told is not None
    assert found.clauses == clauses
    assert bool(found.examples) is not bool(clauses)
    told = found.told
    assert (told.before.value, told.after.value, told.outcome) == (0.5, 1.0, "helped")
    assert told.units == 16
    assert {one.document for one in found.examples} <= set(told.learned_from)
    assert len(told.learned_from) == 8


def test_where_nothing_helps_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_bytes(native(ENTRIES))
    with serving(by_nothing) as stub:
        done = command(
            "align", "data.jsonl", "--with", "openai:m", "--scheme", "breakdown", "-o", "a.yaml",
            "--endpoint", stub.endpoint, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 1
    assert "no file was written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]


def native(entries: list[Entry]) -> bytes:
    lines: list[Any] = [{"lapsus": 1}]
    for entry in entries:
        lines.append({"document": msgspec.to_builtins(entry.document)})
        lines += [{"judgment": msgspec.to_builtins(one)} for one in entry.judgments]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def test_the_command_goes_on_and_its_file_is_used(tmp_path: Path) -> None:
    """A server that fails half-way costs nothing twice; the file changes what `detect` asks, and what it answers."""
    (tmp_path / "data.jsonl").write_bytes(native(ENTRIES))
    broken = [True]

    def answer(body: dict[str, Any]) -> Said:
        if broken[0] and len(stub.asked) > 60:
            return refusal(401)
        return by_examples(body)

    asked = [
        "align",
        "data.jsonl",
        "--with",
        "openai:m",
        "--scheme",
        "breakdown",
        "-o",
        "a.yaml",
        "--examples",
        "0",
    ]
    with serving(answer) as stub:
        arguments = [*asked, "--endpoint", stub.endpoint]
        assert command(*arguments, cwd=tmp_path).returncode == 1
        assert not (tmp_path / "a.yaml").exists()
        broken[0], before = False, [json.dumps(body) for body in stub.asked[:60]]
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        again = [json.dumps(body) for body in stub.asked[60:]]
        assert len(set(before) & set(again)) <= 4  # those under way when it failed
        assert "it helped" in done.stdout
        run = command(
            "detect", "data.jsonl", "-o", "run.jsonl", "--with", "openai:m", "--examples", "0",
            "--aligned", "a.yaml", "--endpoint", stub.endpoint, cwd=tmp_path,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "run.jsonl").read_text().count('"breakdown":"X"') == 24
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "data.jsonl", "run.jsonl"]
    kept = yaml.safe_load((tmp_path / "a.yaml").read_text())
    assert kept["told"]["after"]["value"] == 1.0
    shown = command("scheme", "prompt", "breakdown", "--aligned", "a.yaml", cwd=tmp_path)
    assert "each with the answer that people gave" in shown.stdout


def test_the_third_part_is_honest_about_a_judge_that_only_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of many guesses looks better where it is chosen. Where it is told, 0 is in nearly every interval."""
    rng = np.random.default_rng(7)

    def guess(self: Any, aligned: Aligned | None, cases: list[Case]) -> dict[UnitKey, Judgment]:
        return {
            one.unit.key: Judgment(
                *one.unit.key, "m", "breakdown", "1.0", {"breakdown": str(rng.choice(["O", "X"]))}
            )
            for one in cases
        }

    monkeypatch.setattr(module._Search, "_said", guess)
    monkeypatch.setattr(module, "write_clauses", lambda *_: ["one", "two", "three"])
    gains, covered, rounds = [], 0, 0
    for draw in range(100):
        found = align(ENTRIES, "openai:m", scheme="breakdown", draw=draw, endpoint="http://127.0.0.1:9/v1")
        if found.aligned is None or (told := found.aligned.told) is None:
            continue
        rounds += 1
        gains.append(max(one.agreement for one in found.tried) - found.tried[0].agreement)
        covered += told.difference.low <= 0 <= told.difference.high
    assert np.mean(gains) > 0.1
    assert covered / rounds > 0.9


@pytest.mark.parametrize("name", ["breakdown", "error-types", "response-quality", "semantic-errors"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_people_answered_is_shown_as_a_model_would_say_it(name: str, language: str) -> None:
    scheme, answers = load_scheme(name), right(name, language)[1]
    unit = unit_of(document(name, language), scheme)
    taken = take(json.dumps(as_reply(answers, unit, scheme)), unit, scheme, language)
    assert taken.problems == ()
    assert taken.answers == answers


def test_nearness_is_1_for_the_same_and_0_where_nothing_was_answered() -> None:
    scheme = load_scheme("response-quality")
    answers = right("response-quality", "en")[1]
    assert nearness(scheme, answers, answers) == 1.0
    assert nearness(scheme, {}, answers) == 0.0
    worse = {**answers, "soundness": 1}
    assert 0.8 < nearness(scheme, worse, answers) < 1.0


def test_programs_and_gold_are_no_people() -> None:
    (entry,) = ENTRIES[:1]
    mine, other = entry.judgments[0], entry.judgments[1]
    said = [msgspec.structs.replace(mine, metadata={"program": True}),
            msgspec.structs.replace(other, metadata={"gold": {}})]  # fmt: skip
    scheme = load_scheme("breakdown")
    assert list(people_cases([Entry("d0", entry.document, tuple(said))], scheme)) == []
    with pytest.raises(InputError, match="nobody has judged"):
        align([Entry("d0", entry.document)], "openai:m", scheme="breakdown", endpoint="http://127.0.0.1:9/v1")
    with pytest.raises(InputError, match="too few"):
        align(ENTRIES[:3], "openai:m", scheme="breakdown", endpoint="http://127.0.0.1:9/v1")


def test_a_file_that_was_changed_or_is_for_something_else_is_refused(tmp_path: Path) -> None:
    scheme, path = load_scheme("breakdown"), tmp_path / "a.yaml"
    made = Aligned("breakdown", scheme.version, "en", (RULE,))
    path.write_text(aligned_yaml(made))
    assert read_aligned(path) == msgspec.structs.replace(made, digest=made.own_digest)
    prompt = make_prompt(scheme, aligned=read_aligned(path))
    assert RULE in prompt.system
    assert prompt.digest != make_prompt(scheme, "en").digest
    path.write_text(aligned_yaml(made).replace("cheese", "bread"))
    with pytest.raises(InputError, match="was changed"):
        read_aligned(path)
    for wrong in ("[", "scheme: 1", "nothing: here"):
        path.write_text(wrong)
        with pytest.raises(InputError, match="no aligned prompt"):
            read_aligned(path)
    with pytest.raises(LapsusError):
        read_aligned(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="not for"):
        make_prompt(load_scheme("error-types"), aligned=made)
    with pytest.raises(UsageError, match="another language"):
        lapsus.detect(ENTRIES, model="openai:m", words="ja", aligned=made, endpoint="http://127.0.0.1:9/v1")
