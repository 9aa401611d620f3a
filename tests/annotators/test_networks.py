"""Judging in numpy gives what torch gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from lapsus.annotators.challenge.acts import Acts
from lapsus.annotators.challenge.lstm import Lstm
from lapsus.annotators.challenge.ncm import Ncm, Pairs, build_conversation, likelihoods, run_conversation
from lapsus.annotators.challenge.network import RESERVED, NetworkAnnotator, take_weights, torch_for
from lapsus.errors import UsageError
from lapsus.model import Unit, UnitRule, units
from tests.annotators import invented

SMALL: dict[str, Any] = {"epochs": 2, "members": 1, "hidden": 8}


def some_units(language: str) -> list[Unit]:
    return [
        unit
        for document in invented.data(language, 4, seed=9)[0]
        for unit in units(document, UnitRule(role="system"))
    ]


@pytest.mark.parametrize(
    "annotator",
    [
        Lstm(**SMALL, width=8),
        Lstm(**SMALL, cell="rnn", width=6),
        Lstm(**SMALL, width=6, layers=2, features="frequencies,words"),
        Acts(**SMALL),
        Ncm(**SMALL, replies=1, width=6),
        Ncm(**SMALL, replies=1, width=6, history=3),
    ],
    ids=["lstm", "rnn", "frequencies", "acts", "ncm", "extended ncm"],
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_numpy_judges_as_torch_does(annotator: NetworkAnnotator, language: str) -> None:
    annotator.fit(*invented.data(language))
    inputs = annotator._inputs(some_units(language))
    with torch_for(0) as torch:
        network = annotator._build(torch, inputs)
        take_weights(torch, network, annotator.networks_[0])
        network.eval()
        with torch.no_grad():
            expected = annotator._forward(
                torch, network, [torch.from_numpy(array) for array in inputs]
            ).numpy()
    assert annotator._judge(annotator.networks_[0], inputs) == pytest.approx(expected, abs=1e-5)


def test_likelihoods_of_replies_as_torch_has_them() -> None:
    pairs = Pairs.of([([2, 3, 4], [5, 6]), ([], [4]), ([5], [1, 1]), ([2], [])])
    with torch_for(1) as torch:
        model = build_conversation(torch, 8, 4, 6).eval()
        arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
        with torch.no_grad():
            _, states = run_conversation(torch, model, [torch.from_numpy(array) for array in pairs], 0.0)
            logs = torch.log_softmax(model["say"](states), -1).numpy()
    found = likelihoods(arrays, pairs)
    assert found[0, 0] == pytest.approx((logs[0, 0, 5] + logs[0, 1, 6]) / 2, abs=1e-5)
    assert found[0, 2] == pytest.approx(min(logs[0, 0, 5], logs[0, 1, 6]), abs=1e-5)
    assert found[1, 0] == pytest.approx(logs[1, 0, 4], abs=1e-5)
    # Unknown words and empty replies tell nothing.
    assert found[2:].tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_seed_of_its_own_gives_another_network() -> None:
    data = invented.data("en")
    one, other = Acts(**SMALL).fit(*data), Acts(**SMALL, seed=1).fit(*data)
    assert not np.allclose(one.networks_[0]["out.weight"], other.networks_[0]["out.weight"])


def test_torch_is_left_as_it_was() -> None:
    import torch

    torch.manual_seed(5)
    threads, expected = torch.get_num_threads(), torch.rand(1)
    torch.manual_seed(5)
    with torch_for(0):
        torch.rand(3)
    assert torch.get_num_threads() == threads
    assert torch.rand(1) == expected


def test_only_the_extended_model_reads_what_came_before_the_last_utterance() -> None:
    unit = some_units("en")[4]
    changed = [replace(unit.context[0], text="The weather is lovely here."), *unit.context[1:]]
    other = replace(unit, context=tuple(changed))
    for history, reads in ((0, False), (20, True)):
        annotator = Ncm(**SMALL, replies=1, width=6, history=history).fit(*invented.data("en"))
        one, another = annotator._distributions([unit]), annotator._distributions([other])
        assert np.allclose(one, another) is not reads


def test_word_frequencies_are_a_linear_layer_on_a_vector_of_unit_length() -> None:
    annotator = Lstm(**SMALL, width=6, features="frequencies").fit(*invented.data("en"))
    words = annotator.vocabulary_.words[0]
    unit = some_units("en")[0]
    said = replace(unit, target=replace(unit.target, text=" ".join([words] * 3)))
    ids, _, lengths = annotator._inputs([said])
    # One word three times: the frequencies are 3 in one place, and at unit length 1.
    assert lengths[0, -1] == 3
    assert (ids[0, -1] >= RESERVED).sum() == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"cell": "gru"}, {"hidden": 0}, {"epochs": 0}, {"layers": 4}, {"features": "words,colours"},
        {"features": ","},
    ],
)  # fmt: skip
def test_settings_that_make_no_network(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Lstm(**settings)


def test_without_torch_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(UsageError, match="needs torch") as caught:
        Acts().fit(*invented.data("en", 3))
    assert caught.value.hint == "pip install 'lapsus-eval[train]'"
