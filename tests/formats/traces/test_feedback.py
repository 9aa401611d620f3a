"""Judgments on traces go back as feedback, to files and to servers."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import LapsusError, LossError, UsageError
from lapsus.formats import convert, read
from lapsus.formats.traces import push
from lapsus.formats.traces.feedback import OpenInferenceAnnotations, feedback_of
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import given_schemes, load_scheme

IDS = {"trace_id": "t1", "span_id": "s1"}
DOCUMENT = Document(
    "visit-1",
    (
        Segment("0", "user", "Hello?"),
        Segment("1", "system", "Trains are long.", None, IDS),
        Segment("2", "system", "Hm."),
    ),
)
PERSON = Judgment(
    "visit-1", "1", "ann", "breakdown", "1.0", {"breakdown": "X", "comment": "Off topic, badly."}
)
PROGRAM = Judgment(
    "visit-1",
    "1",
    "reader",
    "breakdown",
    "1.0",
    {"breakdown": "X"},
    {"breakdown": {"O": 0.1, "T": 0.2, "X": 0.7}},
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    from lapsus.formats.jsonl import Jsonl

    path = tmp_path / "judged.jsonl"
    Jsonl().write([Entry("visit-1", DOCUMENT, (PERSON, PROGRAM))], path)
    return path


def written(data: Path, format: str) -> list[dict[str, Any]]:
    out = data.parent / "out.x"
    convert(read(data), out, format)
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def test_openinference(data: Path) -> None:
    person, program = written(data, "openinference-annotations")
    identifier = person["attributes"].pop("annotations.0.annotation.identifier")
    assert identifier != program["attributes"]["annotations.0.annotation.identifier"]
    assert person == {
        "trace_id": "t1",
        "span_id": "s1",
        "attributes": {
            "annotations.0.annotation.name": "breakdown.breakdown",
            "annotations.0.annotation.label": "X",
            "annotations.0.annotation.explanation": "Off topic, badly.",
            "annotations.0.annotation.annotator_kind": "HUMAN",
            "annotations.0.annotation.metadata": '{"annotator": "ann"}',
        },
    }
    assert program["attributes"]["annotations.0.annotation.score"] == 0.7
    assert program["attributes"]["annotations.0.annotation.annotator_kind"] == "CODE"


def test_opentelemetry(data: Path) -> None:
    record = written(data, "otel-evaluations")[1]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    assert (record["eventName"], record["traceId"], record["spanId"]) == (
        "gen_ai.evaluation.result",
        "t1",
        "s1",
    )
    values = {pair["key"]: pair["value"] for pair in record["attributes"]}
    assert values["gen_ai.evaluation.score.value"] == {"doubleValue": 0.7}
    assert values["gen_ai.evaluation.score.label"] == {"stringValue": "X"}


def test_langfuse_and_langsmith(data: Path, tmp_path: Path) -> None:
    score = written(data, "langfuse-scores")[0]
    assert (score["trace_id"], score["observation_id"], score["session_id"]) == ("t1", "s1", "visit-1")
    assert (score["string_value"], score["data_type"], score["source"]) == ("X", "CATEGORICAL", "ANNOTATION")
    (tmp_path / "out.x").unlink()
    feedback = written(data, "langsmith-feedback")[1]
    assert (feedback["run_id"], feedback["key"], feedback["value"], feedback["score"]) == (
        *("s1", "breakdown.breakdown", "X"),
        0.7,
    )
    assert feedback["feedback_source"]["type"] == "model"


def test_several_labels_are_several_annotations(tmp_path: Path) -> None:
    judgment = Judgment("visit-1", "1", "ann", "own", "1", {"types": ("odd", "rude")})
    entry = Entry("visit-1", DOCUMENT, (judgment,))
    found = [OpenInferenceAnnotations().record(piece)["attributes"] for piece in feedback_of(entry)]
    identifiers = [one["annotations.0.annotation.identifier"] for one in found]
    assert len(set(identifiers)) == 2
    # The same ones that `lapsus push phoenix` sends.
    assert identifiers == [piece.id for piece in feedback_of(entry)]


def test_nothing_is_told_from_a_label_of_that_name() -> None:
    shipped = load_scheme("error-types")
    question = shipped.questions[0]
    labels = (msgspec.structs.replace(question.labels[0], id="none"), *question.labels[1:])
    question = msgspec.structs.replace(question, id="types", labels=labels)
    scheme = msgspec.structs.replace(shipped, scheme="own", questions=(question,))
    judgments = (
        Judgment("visit-1", "1", "ann", "own", "1", {"types": ()}),
        Judgment("visit-1", "1", "bob", "own", "1", {"types": ("none",)}),
    )
    with given_schemes([scheme]):
        pieces = list(feedback_of(Entry("visit-1", DOCUMENT, judgments)))
    assert [piece.label for piece in pieces] == ["(none)", "none"]


def test_scales_sets_and_spans() -> None:
    marks = (Span("1", 0, 6, "addition"),)
    judgment = Judgment("visit-1", "1", "ann", "own", "1", {"rating": 4, "types": (), "marks": marks})
    found = {piece.name: piece for piece in feedback_of(Entry("visit-1", DOCUMENT, (judgment,)))}
    assert (found["own.rating"].label, found["own.rating"].score) == (None, 4.0)
    assert found["own.types"].label == "none"
    assert (found["own.marks"].label, found["own.marks"].explanation) == ("addition", "Trains")


def test_a_turn_without_a_trace_is_a_loss(tmp_path: Path) -> None:
    judgment = Judgment("visit-1", "2", "ann", "breakdown", "1.0", {"breakdown": "O"})
    with pytest.raises(LossError, match="span_id"):
        convert([Entry("visit-1", DOCUMENT, (judgment,))], tmp_path / "out", "langfuse-scores")


class Stub(ThreadingHTTPServer):
    """A server that checks what it is sent by the shapes of the two interfaces."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.taken: dict[str, dict[str, Any]] = {}
        self.faults = 0
        self.login = ""
        self.elsewhere = ""
        self.garbage = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_GET(self) -> None:
        self.server.login = self.headers["Authorization"] or ""
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.login = self.headers["Authorization"]
        if self.server.garbage:
            self.wfile.write(b"what is this?\r\n\r\n")
            return
        if self.server.elsewhere:
            self.send_response(302)
            self.send_header("Location", self.server.elsewhere)
        elif self.server.faults:
            self.server.faults -= 1
            self.send_response(503)
        else:
            self.send_response(200 if self.take(body) else 422)
        self.end_headers()

    def take(self, body: dict[str, Any]) -> bool:
        if self.path == "/api/public/scores":
            fits = body.keys() <= {
                "id",
                "traceId",
                "observationId",
                "name",
                "value",
                "dataType",
                "comment",
                "metadata",
            }
            fits &= isinstance(body["value"], str if body["dataType"] == "CATEGORICAL" else float)
            self.server.taken[body["id"]] = body
            return fits and bool(body["traceId"])
        targets = {f"/v1/{target}_annotations?sync=true": f"{target}_id" for target in ("span", "trace")}
        if target := targets.get(self.path):
            for one in body["data"]:
                self.server.taken[one["identifier"]] = one
            kinds = {one["annotator_kind"] for one in body["data"]}
            return kinds <= {"HUMAN", "LLM", "CODE"} and all(
                one.keys() == {target, "name", "annotator_kind", "result", "identifier", "metadata"}
                and one[target]
                and one["result"].keys() <= {"label", "score", "explanation"}
                for one in body["data"]
            )
        return False

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    for key in ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "PHOENIX_API_KEY"):
        monkeypatch.setenv(key, key.lower())
    monkeypatch.setattr(push._HTTP, "_first_wait", 0.001)
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["langfuse", "phoenix"])
def test_push_sends_once_and_stores_once(name: str, stub: Stub, data: Path) -> None:
    for _ in range(2):
        result = CliRunner().invoke(app, ["push", name, str(data), "--url", stub.address, "--yes", "--json"])
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["sent"] == 2
    assert len(stub.taken) == 2
    if name == "langfuse":
        assert [score["metadata"].get("share") for score in stub.taken.values()] == [None, 0.7]
    secret = b"langfuse_public_key:langfuse_secret_key"
    assert stub.login == (
        f"Basic {base64.b64encode(secret).decode()}" if name == "langfuse" else "Bearer phoenix_api_key"
    )


def test_a_whole_dialogue_is_annotated_at_its_trace(stub: Stub) -> None:
    whole = Judgment("visit-1", None, "ann", "breakdown", "1.0", {"breakdown": "O"})
    assert push.push("phoenix", stub.address, feedback_of(Entry("visit-1", DOCUMENT, (whole,)))) == 1
    (taken,) = stub.taken.values()
    assert taken["trace_id"] == "t1"


def test_push_asks_first(stub: Stub, data: Path) -> None:
    result = CliRunner().invoke(app, ["push", "phoenix", str(data), "--url", stub.address], input="n\n")
    assert result.exit_code == 1
    assert "Send 2 answers" in result.output
    assert not stub.taken


def test_push_tries_again_where_the_server_is_busy(stub: Stub, data: Path) -> None:
    stub.faults = 2
    (entry,) = read(data)
    assert push.push("langfuse", stub.address, feedback_of(entry)) == 2
    stub.faults = 99
    with pytest.raises(LapsusError, match="refused: 503"):
        push.push("langfuse", stub.address, feedback_of(entry))


def test_push_wants_a_key_and_an_address(stub: Stub, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = read(data)
    with pytest.raises(UsageError, match="address"):
        push.push("phoenix", "localhost", feedback_of(entry))
    monkeypatch.delenv("PHOENIX_API_KEY")
    with pytest.raises(UsageError, match="PHOENIX_API_KEY"):
        push.push("phoenix", stub.address, feedback_of(entry))


@pytest.mark.parametrize(
    "address",
    [
        "http://[",
        "http://127.0.0.1:abc",
        "https://",
        "http://127.0.0.1/a b",
        "https://ann:hush@localhost/",
        "https://a?b",
    ],
)
def test_what_is_no_address_is_told_without_what_is_secret_in_it(
    address: str, data: Path, stub: Stub
) -> None:
    with pytest.raises(UsageError, match="no address of a server") as told:
        push.push("phoenix", address, feedback_of(next(iter(read(data)))))
    assert "hush" not in str(told.value)


def test_a_key_that_is_none_and_a_server_that_is_none_are_told(
    stub: Stub, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = read(data)
    stub.garbage = True
    with pytest.raises(LapsusError, match="cannot be reached"):
        push.push("phoenix", stub.address, feedback_of(entry))
    monkeypatch.setenv("PHOENIX_API_KEY", "hush\n")
    with pytest.raises(UsageError, match="no key has") as told:
        push.push("phoenix", stub.address, feedback_of(entry))
    assert "hush" not in str(told.value)


def test_a_key_follows_no_redirect_and_goes_nowhere_in_the_clear(stub: Stub, data: Path) -> None:
    (entry,) = read(data)
    with Stub() as other:
        thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        stub.elsewhere = f"{other.address}/api/public/scores"
        with pytest.raises(LapsusError, match="refused: 302"):
            push.push("langfuse", stub.address, feedback_of(entry))
        assert other.login == ""
        other.shutdown()
        thread.join()
    with pytest.raises(UsageError, match="unprotected"):
        push.push("langfuse", "http://langfuse.example.org", feedback_of(entry))


def test_marks_have_ids_of_their_own_and_old_revisions_stay() -> None:
    marks = (Span("1", 0, 6, "addition"), Span("1", 7, 10, "addition"))
    first = Judgment("visit-1", "1", "ann", "own", "1", {"marks": marks[:1]})
    second = Judgment("visit-1", "1", "ann", "own", "1", {"marks": marks}, revision=2)
    found = list(feedback_of(Entry("visit-1", DOCUMENT, (first, second))))
    assert len(found) == len({piece.id for piece in found}) == 2
