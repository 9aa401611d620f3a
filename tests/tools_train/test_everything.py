"""Each command that makes the shipped models runs whole on a processor: a handful of steps on invented corpora."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.tools_train.corpora import write_corpora

from lapsus.annotators.library import load_model

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

TRAIN = Path(__file__).parents[2] / "tools" / "train"
MODELS = {
    "english": ("breakdown-en",),
    "japanese": ("breakdown-ja",),
    "semantic": ("semantic-errors-en",),
    "guidelines": ("error-types", "response-quality-en"),
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpora(tmp_path_factory.mktemp("corpora") / "data")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Opens a module of `tools/train`, which has not been opened before the test."""
    monkeypatch.syspath_prepend(str(TRAIN))
    yield __import__
    for name, module in list(sys.modules.items()):
        if str(TRAIN) in str(getattr(module, "__file__", "")):
            del sys.modules[name]


class Here:
    """A process that is none: what it should do is done at once."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...]) -> None:
        self._target, self._args = target, args

    def start(self) -> None:
        self._target(*self._args)

    def join(self) -> None:
        """It is over."""


@pytest.mark.parametrize("family", MODELS)
def test_a_command_runs_whole(
    family: str,
    corpora: Path,
    tool: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAPSUS_DATA", str(corpora))
    monkeypatch.setenv("LAPSUS_TRAIN_STEPS", "1")
    everything = tool("everything")

    def run(command: list[str], check: bool) -> None:
        assert check
        assert os.environ["LAPSUS_TRAIN_STEPS"] == "1"
        monkeypatch.setattr(sys, "argv", command[1:])
        assert not tool(Path(command[1]).stem).main()

    made, threads = multiprocessing.get_context, torch.get_num_threads()
    here: Any = SimpleNamespace(Process=Here)
    monkeypatch.setattr(
        multiprocessing, "get_context", lambda way=None: here if way == "spawn" else made(way)
    )
    monkeypatch.setattr(everything.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["everything.py", family, str(tmp_path), "--steps", "1"])
    try:
        everything.main()
    finally:
        torch.set_num_threads(threads)
    for name in MODELS[family]:
        assert load_model(str(tmp_path / f"{name}.lapsus"))
    if family == "english":
        large = tool("lapsus.annotators.encoder.large_reader").annotators.encoder
        said = large.large_reader.LargeReader(tmp_path / "lapsus_large").said(
            [large.reader.Passage((), "Tea is nice.")]
        )
        assert said.shape == (1, large.large_reader.NUMBERS)
