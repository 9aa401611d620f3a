"""On a real Ray cluster of two nodes: bytes as on one machine, with a node and a driver killed in the middle.

`make ray` runs it, and installs Ray for it. Its name keeps it out of `make test`, which has no Ray.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lapsus.annotators import default_model, detect, load_model
from lapsus.annotators.bulk import Here, KeptChunks, Run
from lapsus.annotators.bulk.ray_engine import OnRay
from lapsus.errors import LapsusError
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry, Segment
from tests.annotators.language_model.stub import completion, serving

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from ray.cluster_utils import Cluster

# Ray has warnings of its own, and closes what it opened when it likes.
pytestmark = pytest.mark.filterwarnings("ignore")
UNITS = 10
KEY = "sk-of-the-nodes"
COMMAND = """
import sys
from lapsus.annotators.bulk import run
from lapsus.cli import main
run.UNITS = int(sys.argv.pop(1))
main()
"""


def dialogues(count: int) -> list[Document]:
    said = ("I like the sea.", "So do I, number {}.", "Which one?", "The one with {} fish.", "Oh.", "What?")
    roles = ("user", "system")
    return [
        Document(
            f"d{n}",
            tuple(
                Segment(str(k), roles[k % 2], text.format(n))  # type: ignore[arg-type]
                for k, text in enumerate(said)
            ),
            "en",
        )
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    os.environ["LAPSUS_API_KEY"] = KEY
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield found
    del os.environ["LAPSUS_API_KEY"]
    found.shutdown()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    Jsonl().write((Entry(document.id, document) for document in dialogues(60)), path)
    return path


def run(units: int, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COMMAND, str(units), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_node_is_killed_in_the_middle(cluster: Any) -> None:
    node = cluster.add_node(num_cpus=1)
    model = load_model(default_model("en"))
    documents = dialogues(80)
    here = list(Run(Here(), units=UNITS).entries((model, one) for one in documents))
    found: list[Entry] = []
    with OnRay(cluster.address) as engine:
        assert engine.cores == 2
        for entry in Run(engine, units=UNITS).entries((model, one) for one in documents):
            found.append(entry)
            if len(found) == 20:
                cluster.remove_node(node, allow_graceful=False)
    assert found == here


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_is_killed_in_the_middle(
    cluster: Any, data: Path, killed: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapsus.annotators.bulk.run.UNITS", UNITS)
    here, out = data.with_name("here.jsonl"), data.with_name("ray.jsonl")
    detect(data).write(here)
    arguments = ("detect", str(data), "-o", str(out), "--engine", "ray", "--ray", cluster.address)
    first = run(UNITS, *arguments)
    kept = KeptChunks.beside(out)
    while len(kept) < 3:
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    first.send_signal(killed)
    first.communicate()
    assert not out.exists()
    assert (begun := len(kept)) >= 3
    second = run(UNITS, *arguments)
    _, remarks = second.communicate(timeout=300)
    assert second.returncode == 0, remarks
    assert f"holds {begun:,} chunks" in remarks
    assert out.read_bytes() == here.read_bytes()
    assert not kept.folder.exists()


def test_a_cluster_of_this_machine_alone(data: Path) -> None:
    outs = [data.with_name(f"{name}.json") for name in ("here", "ray")]
    for out, more in zip(outs, ((), ("--engine", "ray")), strict=True):
        done = run(UNITS, "check", str(data), "--json", *more)
        said, remarks = done.communicate(timeout=300)
        assert done.returncode == 0, remarks
        out.write_text(said)
    assert outs[0].read_text() == outs[1].read_text()


def test_a_language_model_is_asked_by_the_nodes(cluster: Any, data: Path) -> None:
    def answer(body: dict[str, Any]) -> Any:
        context = len(json.loads(body["messages"][1]["content"]).get("context", ()))
        return completion({"breakdown": "OTX"[context % 3], "comment": None})

    found = {}
    with serving(answer) as stub:
        asking = ("--with", "openai:stub", "--endpoint", stub.endpoint, "--turns", "all")
        for name, more in (("here", ()), ("ray", ("--engine", "ray", "--ray", cluster.address))):
            out = data.with_name(f"{name}.jsonl")
            done = run(UNITS, "detect", str(data), "-o", str(out), *asking, *more)
            _, remarks = done.communicate(timeout=300)
            assert done.returncode == 0, remarks
            lines = [json.loads(line) for line in out.read_text().splitlines()]
            for line in lines:
                for varies in ("at", "seconds"):
                    line.get("judgment", {}).pop(varies, None)
            found[name] = lines
            assert KEY not in out.read_text() + remarks
    assert found["here"] == found["ray"]
    assert {headers["Authorization"] for headers in stub.headers} == {f"Bearer {KEY}"}
    assert len(stub.asked) == 2 * 180


def test_what_goes_wrong_on_a_node_is_said(cluster: Any) -> None:
    stranger = Document("d", (Segment("0", "system", "Bonjour."),), "fr")
    with OnRay(cluster.address) as engine, pytest.raises(LapsusError, match="is in 'fr'"):
        list(Run(engine).entries([(load_model(default_model("en")), stranger)]))
