"""What trains the shipped models runs on a processor, with a handful of steps and on invented talk."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

TRAIN = Path(__file__).parents[2] / "tools" / "train"
DISTRIBUTIONS = Path(__file__).parents[2] / "distributions"
Tool = Callable[[str], ModuleType]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tool]:
    """Opens a module of `tools/train`."""
    monkeypatch.syspath_prepend(str(TRAIN))
    before = set(sys.modules)

    def opened(name: str) -> ModuleType:
        return __import__(name)

    yield opened
    for name in set(sys.modules) - before:
        if str(TRAIN) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_types_are_learned_and_near_misses_are_not_what_they_look_like(tool: Tool) -> None:
    network, data = tool("types_network"), tool("guideline_data")
    rng = np.random.default_rng(0)
    labels = ("one", "two", "three")
    rows, shares, examples = [], [], []
    for number in range(240):
        kind = number % 4
        place = np.zeros(6)
        place[kind] = 1.0
        rows.append(place + 0.1 * rng.normal(size=6))
        # The last kind looks like the first, and all that is known of it is that it is not.
        if kind == 3:
            rows[-1][0] += 1.0
        shares.append([float(kind == one) for one in range(3)])
        unit = data.unit_of({"id": str(number), "turns": [{"role": "system", "text": "Hm."}]})
        votes = {"types": [(labels[kind],) if kind < 3 else ()]}
        examples.append(data.Example(unit, votes, "made", str(number), beside="one" if kind == 3 else ""))
    made = np.array(rows, dtype=np.float32)
    said = network.trained(made, np.array(shares), examples, labels, drawn=20 * 1024).shares(made)
    np.testing.assert_allclose(said.sum(axis=1), 1)
    likeliest = said.argmax(axis=1).reshape(-1, 4)
    assert (likeliest[:, :3] == [0, 1, 2]).mean() > 0.9
    assert (likeliest[:, 3] != 0).mean() > 0.9


def letters(text: str) -> set[str]:
    plain = "".join(filter(str.isalnum, text.casefold()))
    return {plain[place : place + 3] for place in range(len(plain) - 2)}


def test_written_dialogues_are_whole_and_none_is_the_guidelines_own_or_like_it(tool: Tool) -> None:
    data, scheme = tool("guideline_data"), tool("lapsus").load_scheme("error-types")
    types = {label.id for label in scheme.labels_of(scheme.questions[0])}
    own = [
        letters("".join(turn[3:] for turn in example.turns[-2:]))
        for label in scheme.labels_of(scheme.questions[0])
        for examples in label.examples.values()
        for example in examples
    ]
    counts: dict[tuple[str, str, bool], int] = {}
    topics: dict[bool, set[str]] = {True: set(), False: set()}
    for one in data.invented():
        turns = [segment.text for segment in one.unit.context]
        assert all(turns)
        mine = letters("".join([*turns, one.unit.target.text][-2:]))
        assert max(len(mine & other) / len(mine | other) for other in own) < 0.4, one.unit
        type = one.beside or one.votes["types"][0][0]
        key = (one.unit.language, type, not one.beside)
        counts[key] = counts.get(key, 0) + 1
        topics[one.times == 0].add(one.group)
    assert {type for _, type, _ in counts} == types
    assert min(count for (_, _, fits), count in counts.items() if fits) >= 60
    assert min(count for (_, _, fits), count in counts.items() if not fits) >= 40
    assert not topics[True] & topics[False]


def test_the_upper_layers_of_the_english_reader(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    chat, mixture, semantic = tool("english_chat"), tool("english_mixture"), tool("semantic")
    _, weights = semantic.shipped_weights()
    known = {name: one for name, one in weights.items() if not name.startswith("head.")}
    passage = tool("lapsus.annotators.encoder.reader").annotators.encoder.reader.Passage((), "Tea is nice.")
    aim = np.full(mixture.NUMBERS, np.nan, dtype=np.float32)
    aim[mixture.PLACES["shares"]] = [0.9, 0.08, 0.02]
    lesson = mixture.Lesson(passage, aim)

    class Mixture:
        def __init__(self, plain: Any) -> None: ...

        def talk(self, rng: random.Random) -> Any:
            return lesson

    @contextmanager
    def batches(make: Any, makers: int) -> Iterator[Any]:
        yield ([torch.from_numpy(part) for part in make(random.Random(n))] for n in range(9))

    monkeypatch.setattr(chat, "Mixture", Mixture)
    monkeypatch.setattr(chat, "batches", batches)
    monkeypatch.setattr(chat, "read_talks", lambda part: ([], [lesson]))
    monkeypatch.setattr(chat, "candidates", lambda part: [("", lesson)])
    for name in ("votes", "contradictions", "emotions"):
        monkeypatch.setattr(chat, name, lambda: [lesson])
    small = {**chat.SETTINGS, "steps": 3, "turns": dict.fromkeys(chat.SETTINGS["turns"], 2)}
    monkeypatch.setattr(chat, "SETTINGS", small)
    torch.manual_seed(0)
    net = chat.Net(known)
    before = {name: value.clone() for name, value in net.kept().items()}
    content = tool("lapsus.annotators.model_files").annotators.model_files
    tokenizer = content.read_model(content.SHIPPED / "breakdown-en.lapsus")[1].files["tokenizer.json"]
    chat.train(net, tool("quick_tokens").QuickTokens(tokenizer))
    assert any(not torch.equal(before[name], value) for name, value in net.kept().items())


def test_the_labeller_of_semantic_errors(tool: Tool) -> None:
    semantic = tool("semantic")
    _, weights = semantic.shipped_weights()
    torch.manual_seed(0)
    net = semantic.Net(weights).train()
    before = net.head.weight.detach().clone()
    one = semantic.Example([101, 2182, 2003, 5572, 102], [0, 0, 0, 1, 1], [-100, 0, 1, 2, 3])
    pairs = semantic.packed([one, one])
    records = (*pairs[:3], np.array([[[0], [1]], [[3], [3]]]), np.full((2, 2, 3), 1 / 3, dtype=np.float32))
    batch = [*pairs, *records, *pairs[:3], np.zeros((2, 2), dtype=np.float32)]
    semantic.train(net, iter([torch.from_numpy(part) for part in batch] for _ in range(99)), seconds=0.01)
    assert not torch.equal(before, net.head.weight)


@pytest.mark.parametrize("family", ["english", "japanese", "semantic", "guidelines"])
def test_each_step_of_a_family_is_called_as_its_script_asks(
    tool: Tool, family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Parsed(Exception):
        pass

    parse = argparse.ArgumentParser.parse_args

    def parsed(parser: argparse.ArgumentParser, *given: Any) -> Any:
        parse(parser, *given)
        raise Parsed

    steps = list(tool("everything").steps(family, tmp_path))
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)
    for script, *arguments in steps:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        with pytest.raises(Parsed):
            tool(script).main()
    assert steps


def test_the_japanese_encoder_learns_in_a_few_steps(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    japanese, network = tool("japanese_encoder"), tool("japanese_network")
    rng = np.random.default_rng(0)

    class Material:
        def make(self, drawn: random.Random) -> Any:
            return [torch.from_numpy(part) for part in (*turns(), *meant(), *turns(), two, *turns(), two)]

    def turns() -> tuple[Any, Any]:
        return rng.integers(7, 900, (2, 12)), np.array([[0] * 6 + [1] * 6] * 2)

    def meant() -> tuple[Any, Any]:
        return np.array([0, 3]), rng.integers(-127, 127, (2, 2, japanese.MEANING)).astype(np.int8)

    @contextmanager
    def batches(make: Any, makers: int) -> Iterator[Any]:
        yield (make(random.Random(n)) for n in range(9))

    two = np.array([0, 1])
    monkeypatch.setattr(japanese, "batches", batches)
    size = network.Size(64, 1)
    torch.manual_seed(0)
    before = japanese.Learner(size).net.e.weight.detach().clone()
    learner = japanese.train(Material(), size, seconds=600.0, most=3)
    assert not torch.equal(before, learner.net.e.weight)
    assert all(torch.isfinite(part).all() for part in learner.parameters())


def test_the_japanese_readers_learn_from_one_folder_in_a_few_steps(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    material, chat, network = tool("japanese_talk"), tool("japanese_chat"), tool("japanese_network")
    encoder, folder, weights = tmp_path / "encoder", tmp_path / "talk", tmp_path / "weights"
    for made in (encoder, weights):
        made.mkdir()
    files = tool("lapsus.annotators.model_files").annotators.model_files
    pieces = files.read_model(files.SHIPPED / "breakdown-ja.lapsus")[1].files["tokenizer.json"]
    (encoder / "tokenizer.json").write_bytes(pieces)
    torch.manual_seed(0)
    start = network.Net(network.Size(64, 1)).state_dict()
    chat.save_file(start, encoder / "model.safetensors")
    invent_japanese(tool, monkeypatch)
    monkeypatch.setattr(sys, "argv", ["japanese_talk.py", str(encoder), str(folder)])
    material.main()

    asked = np.load(folder / "talk.npz")
    tokens = chat.Talk(folder, chat.ALWAYS)
    last = np.flatnonzero(asked["asked.way"] == "votes")[-1]
    laid_out = slice(*asked["asked.ends"][last : last + 2])
    assert tokens.row(tokens.judged[-1])[0].tolist() == asked["asked"][laid_out].tolist()
    begun = time.time()
    for fold in (0, chat.ALWAYS):
        chat.learn(folder, weights, tmp_path, fold, begun + 600.0, 2)
    chat.figures(folder, weights, tmp_path)
    learned = {name for path in weights.glob("ja-*.safetensors") for name in network.load_file(path)}
    assert learned >= {"y.weight", "gen.weight", "nup.weight"}
    unseen = np.load(weights / "unseen.npz")
    read = np.isfinite(unseen["said"]).all(axis=1)
    np.testing.assert_array_equal(read, np.isin(unseen["fold"], (0, chat.ALWAYS)))


def invent_japanese(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chats, answers of assistants and judged turns, a handful of each, instead of corpora."""
    material = tool("japanese_talk")
    talks = [
        material.Talk(corpus, str(number), tuple(turns_about(number)))
        for corpus in CHATS
        for number in range(20)
    ]
    about = [turns_about(number) for number in range(10)]
    passages = [material.Passage(tuple(turns[:-1]), turns[-1].text) for turns in about]
    counts = np.array([[5.0, 3.0, 2.0], [1.0, 2.0, 7.0]] * 5)
    names = np.array([f"dialogue {number}" for number in range(10)])
    judged = tool("japanese_data").Judged(passages, counts, names, names)
    said = [
        (f"question {number}", material.Talk(material.ASSISTANTS, str(number), tuple(turns)))
        for number, turns in enumerate(about)
    ]
    monkeypatch.setattr(material, "talks", lambda name: [talk for talk in talks if talk.corpus == name])
    monkeypatch.setattr(material, "read_dbdc2", lambda: (judged, np.zeros(10, dtype=bool)))
    monkeypatch.setattr(material, "assistants", lambda: said)
    monkeypatch.setattr(material, "OF_EACH", 30)
    for name in ("_repaired", "_written"):
        monkeypatch.setattr(material, name, lambda *given: [])
    small = {
        "japanese": list(CHATS),
        "unjudged": {"swapped": 8, "talk": 4, "mixed": 4},
        "teachers": {**material.CONFIG["teachers"], "seeds": {"fold": 1, "all": 2}, "batch": 4},
        "students": {**material.CONFIG["students"], "seeds": {"fold": 1, "all": 2}},
    }
    for name, value in small.items():
        monkeypatch.setitem(material.CONFIG, name, value)


CHATS = ("chat_ja_one", "chat_ja_two")


def turns_about(number: int) -> list[Any]:
    """A little talk."""
    from lapsus.annotators.encoder.reader import TurnWords

    said = (
        f"{number}番の猫を飼っています。",
        "名前は何ですか。",
        "たまです。",
        "かわいいですね。",
        "ええ、よく寝ます。",
    )
    return [TurnWords(place % 2 == 1, text) for place, text in enumerate(said[: 4 + number % 2])]


def test_the_large_english_reader_learns_all_of_its_layers_in_a_few_steps(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    training, large = tool("large_training"), tool("large")
    sizes = {"hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 12}
    torch.manual_seed(0)
    body = transformers.MPNetModel(transformers.MPNetConfig(**sizes))
    start = {f"b.{name}": value.clone() for name, value in body.state_dict().items()}
    body.save_pretrained(tmp_path / "base")
    pieces = DISTRIBUTIONS / "lapsus-large" / "src" / "lapsus_large" / "tokenizer.json"
    (tmp_path / "base" / "tokenizer.json").write_bytes(pieces.read_bytes())
    passage = training.Passage((training.TurnWords(False, "Tea?"),), "Tea is nice.")
    aims = np.full(training.NUMBERS, np.nan, dtype=np.float32)
    aims[:3], aims[9], aims[-1] = [0.9, 0.08, 0.02], 1.0, 0.5
    monkeypatch.setattr(
        training, "makers", lambda: dict.fromkeys(training.SETTINGS["turns"], lambda rng: (passage, aims))
    )
    row = training.Row(passage, (0.9, 0.08, 0.02), "real", "chat", "test", "1")
    monkeypatch.setattr(training, "english_rows", lambda: [row])
    monkeypatch.setattr(training, "of_assistants", lambda: [row._replace(way="random")])
    few = {**training.SETTINGS, "makers": 1, "turns": dict.fromkeys(training.SETTINGS["turns"], 1)}
    monkeypatch.setattr(training, "SETTINGS", few)
    weights, said = tmp_path / "weights", tmp_path / "said"
    monkeypatch.setattr(
        sys, "argv", ["large_training.py", str(tmp_path / "base"), str(weights), str(said), "--steps", "3"]
    )
    training.main()
    learned = large.read_weights(weights / "teacher.npz")
    assert learned["h.weight"].shape == (training.SETTINGS["hidden"], 96)
    for name in ("b.encoder.layer.0.output.dense.weight", "b.embeddings.position_embeddings.weight"):
        off = np.abs(learned[name] - start[name].numpy())
        assert 0 < off.max() < 0.01
    assert np.isfinite(np.load(said / "said.npz")["said"]).all()
