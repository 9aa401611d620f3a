"""What is fuzzed: every reader, backups, models, runs, guidelines and plans; each with sound files to begin with."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from lapsus.formats import FORMATS, read
from lapsus.model import Entry
from lapsus.samples import sample_path


class Target(NamedTuple):
    """Something that takes files of strangers."""

    seeds: Callable[[Path], list[Path]]
    """Makes sound files in a folder."""
    use: Callable[[Path, Path], object]
    """Takes a file, with a folder to work in. Only errors of ours may come out."""


def targets() -> dict[str, Target]:
    """All of them, by name."""
    found = {
        f"read {kind.name}": Target(_format_seeds(kind.name), _reader(kind.name))
        for kind in FORMATS
        if kind.reads
    }
    return {
        **found,
        "read anything": Target(_any_seeds, lambda path, _: list(read(path))),
        "restore": Target(_backup_seeds, _restore),
        "model": Target(_model_seeds, lambda path, _: _load(path)),
        "run": Target(_run_seeds, _check_run),
        "bundle": Target(_bundle_seeds, lambda path, _: _verified(path)),
        "scheme": Target(_scheme_seeds, _scheme),
        "plan": Target(_plan_seeds, _plan),
    }


def _reader(name: str) -> Callable[[Path, Path], object]:
    return lambda path, _: list(read(path, name))


def _format_seeds(name: str) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        kind = FORMATS.get(name)
        if name == "dbdc-run":
            return _run_seeds(folder)
        if kind.writes:
            return [*_written(name, folder), *(_arrow(folder) if name == "chat" else ())]
        if name == "webnlg":
            return [_put(folder, "x.xml", _WEBNLG)]
        return [_put(folder, f"{name}.jsonl", *_RECORDS[name])]

    return make


def sample_entries(which: str) -> list[Entry]:
    """The entries of a sample."""
    return list(read(sample_path(which)))


def _written(name: str, folder: Path) -> list[Path]:
    kind = FORMATS.get(name)
    suffix = kind.suffix or ".zip"
    made = []
    for place, entries in enumerate(_samples(name)):
        path = folder / f"{name}-{place}{suffix}"
        kind().write(entries, path)
        made.append(path)
    return made


def _samples(name: str) -> Iterable[list[Entry]]:
    """Entries that the format carries without a loss."""
    format = FORMATS.get(name)()
    for which in ("dialogues-en", "dialogues-ja", "pairs-en"):
        entries = sample_entries(which)[:3]
        ways = (
            entries,
            [Entry(entry.id, entry.document, ()) for entry in entries],
            [Entry(entry.id, None, entry.judgments) for entry in entries],
        )
        for way in ways:
            if way and not any(list(format.losses(entry)) for entry in way):
                yield way
                break


def _put(folder: Path, name: str, *records: Any) -> Path:
    path = folder / name
    lines = (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _any_seeds(folder: Path) -> list[Path]:
    return [
        path for name in ("jsonl", "dbdc", "chat", "csv", "labelstudio") for path in _written(name, folder)
    ]


def _arrow(folder: Path) -> list[Path]:
    from arro3.core import Array, DataType, Field, Table, list_array, struct_array
    from arro3.io import write_ipc, write_ipc_stream, write_parquet

    text = DataType.string()
    roles, contents = Array(["user", "assistant"] * 2, text), Array(["Hello?", "Good day!"] * 2, text)
    messages = struct_array([roles, contents], fields=[Field("role", text), Field("content", text)])
    conversations = list_array(Array([0, 2, 4], DataType.int32()), messages)
    table = Table({"conversation_id": Array(["a", "b"], text), "conversation": conversations})
    made = [folder / "x.parquet", folder / "x.arrow", folder / "y.arrow"]
    for write, path in zip((write_parquet, write_ipc, write_ipc_stream), made, strict=True):
        write(table, path)
    return made


def _backup_seeds(folder: Path) -> list[Path]:
    from lapsus.store import Plan, Reservation, SaveRequest, open_store

    with open_store(folder / "seed.sqlite") as store:
        store.campaigns.create(Plan(name="chat", scheme="breakdown"))
        documents = [entry.document for entry in sample_entries("dialogues-en")[:2] if entry.document]
        store.campaigns.add_documents("chat", documents)
        me = store.people.add("avery").id
        given = store.assignment.next_units(me, "chat")
        if isinstance(given, Reservation):
            for unit in given.units:
                store.saves.save(SaveRequest(f"k{unit.number}", "chat", unit.number, me, {"breakdown": "O"}))
        store.backups.backup(folder / "seed.zip")
    return [folder / "seed.zip"]


def _restore(path: Path, folder: Path) -> None:
    from lapsus.store import open_store, restore

    with tempfile.TemporaryDirectory(dir=folder) as inside:
        restore(path, Path(inside) / "new.sqlite")
        with open_store(Path(inside) / "new.sqlite") as store:
            store.people.all()


def _model_seeds(folder: Path) -> list[Path]:
    from lapsus.annotators import make_annotator
    from tests.annotators import invented

    made = []
    for method in ("prior", "rules", "svm", "crf"):
        path = folder / f"{method}.lapsus"
        make_annotator(method).fit(*invented.data("en", 3)).save(path)
        made.append(path)
    return made


def _load(path: Path) -> object:
    from lapsus.annotators import load_model

    return list(load_model(path).judge(sample_entries("dialogues-en")[:1]))


def _run_seeds(folder: Path) -> list[Path]:
    from tests.challenge.helpers import answers, gold_set, write_run

    return [write_run(folder / "run.zip", answers(gold_set(3)))]


def _check_run(path: Path, _: Path) -> object:
    from lapsus.challenge.run_validation import check_run
    from tests.challenge.helpers import track

    return check_run({"en": track(3)}, path)


def _bundle_seeds(folder: Path) -> list[Path]:
    from lapsus.analysis.bundle import write_bundle
    from lapsus.measures.bootstrap import Bootstrap
    from lapsus.schemes import load_scheme

    path = folder / "bundle.zip"
    write_bundle(sample_entries("dialogues-en")[:3], load_scheme("breakdown"), path, bootstrap=Bootstrap(10))
    return [path]


def _verified(path: Path) -> object:
    from lapsus.analysis.bundle import verify

    return verify(path)


def _scheme_seeds(folder: Path) -> list[Path]:
    from importlib.resources import files

    from lapsus.schemes import scheme_names

    made = []
    for name in scheme_names():
        made.append(folder / f"{name}.yaml")
        made[-1].write_bytes((files("lapsus.schemes") / "data" / f"{name}.yaml").read_bytes())
    return made


def _scheme(path: Path, _: Path) -> object:
    from lapsus.schemes import load_scheme

    return load_scheme(str(path))


def _plan_seeds(folder: Path) -> list[Path]:
    from lapsus.store import Plan, plan_yaml

    plan = Plan(name="chat", scheme="breakdown", title={"en": "Chat", "ja": "会話"}, per_unit=3, seed=4)
    return [_put(folder, "plan.yaml", plan_yaml(plan))]


def _plan(path: Path, _: Path) -> object:
    from lapsus.store import read_plan

    return read_plan(path)


_WEBNLG = (
    '<benchmark><entries><entry category="Food" eid="Id1" size="1"><modifiedtripleset><mtriple>Bo | likes | Tea'
    '</mtriple></modifiedtripleset><lex comment="good" lid="Id1">Bo likes tea.</lex></entry></entries></benchmark>'
)
_SPAN = {
    "traceId": "t1", "spanId": "s1", "startTimeUnixNano": "1700000000000000000", "name": "chat",
    "context": {"trace_id": "t1", "span_id": "s1"}, "start_time": "2026-01-02T03:04:05+00:00",
}  # fmt: skip
_MESSAGES = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day!"}]
_PARTS = [{"role": "user", "parts": [{"type": "text", "content": "Hello?"}]}]
_RECORDS: dict[str, list[Any]] = {
    "arena": [
        {"question_id": 7, "model_a": "heron", "model_b": "lark", "winner": "tie", "judge": "ann",
         "conversation_a": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At ten."}],
         "conversation_b": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]},
    ],
    "pairs": [
        {"id": "p1", "data": {"name": "Orlby", "platforms": [{"n": 4, "lit": True}], "tel": None}, "text": "Orlby."},
        {"id": "p2", "triples": [["Orlby", "platforms", "4"]], "text": "Orlby has 4 platforms.", "system": "Relay"},
    ],
    "dbrc": [
        {"question_id": 1, "dialogue_history": [{"role": "user", "text": "茶？"}, {"role": "system", "text": "否"}],
         "breakdown_type": "自己矛盾", "breakdown_reason": "矛盾", "severity": 7, "user_response": "え",
         "expected_repair": "失礼。"}
    ],
    "otel": [
        {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [{**_SPAN, "attributes": [
            {"key": "gen_ai.conversation.id", "value": {"stringValue": "c1"}},
            {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(_PARTS)}},
            {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(_PARTS)}}]}]}]}]}
    ],
    "openinference": [
        {**_SPAN, "parent_id": None, "attributes": {"openinference": {"span": {"kind": "LLM"}}, "llm": {
            "input_messages": [{"message": _MESSAGES[0]}], "output_messages": [{"message": _MESSAGES[1]}]}}}
    ],
    "langfuse": [
        {"id": "t1", "session_id": "v", "timestamp": "2026-01-02T00:00:00Z", "input": "Hello?", "output": "Good day!"}
    ],
    "langsmith": [
        {"id": "r1", "trace_id": "r0", "parent_run_id": None, "dotted_order": "1.2", "run_type": "llm",
         "start_time": "2026-01-02T03:04:05", "inputs": {"messages": [_MESSAGES[:1]]},
         "outputs": {"generations": [[{"text": "Good day!"}]]}, "extra": {"metadata": {"thread_id": "v"}}}
    ],
    "rasa": [
        {"sender_id": "v", "events": [{"event": "user", "text": "Hello?", "timestamp": 1.5},
                                      {"event": "bot", "text": "Good day!", "timestamp": 2.5}]}
    ],
    "dialogflow-cx": [
        {"conversation_name": "projects/p/locations/l/agents/a/sessions/v", "turn_position": 1, "language_code": "en",
         "request_time": "2026-01-02T03:04:05Z", "request": {"queryInput": {"text": {"text": "Hello?"}}},
         "response": {"responseId": "x", "queryResult": {"responseMessages": [{"text": {"text": ["Good day!"]}}]}}}
    ],
    "botpress": [
        {"id": "m1", "conversationId": "v", "createdAt": "2026-01-02T03:04:05Z", "direction": "incoming",
         "type": "text", "payload": {"type": "text", "text": "Hello?"}, "userId": "u"}
    ],
}  # fmt: skip
"""Sound records of formats that are only read."""
