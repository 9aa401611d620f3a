"""Models on disk: foreign, newer and tampered files say what is wrong with them."""

from __future__ import annotations

import json
import zipfile
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lapsus.annotators import find_annotator, go_on_from, load_model, make_annotator
from lapsus.annotators.cases import SIZE
from lapsus.annotators.library import default_model
from lapsus.annotators.model_files import State, model_digest
from lapsus.errors import InputError, UsageError
from tests.annotators import invented


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.lapsus"
    make_annotator("rules").fit(*invented.data("en", 4)).save(path)
    return path


def changed(path: Path, **facts: Any) -> Path:
    """The same model with other facts in its header."""
    target = path.with_name("changed")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as out:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "model.json":
                content = json.dumps({**json.loads(content), **facts}).encode()
            out.writestr(name, content)
    return target


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"lapsus-model": 2}, "newer Lapsus"),
        ({"scheme": "error-types"}, "answers to the scheme 'error-types'"),
        ({"labels": ["O", "X"]}, "with the labels O, X"),
        ({"method": "rulez"}, "no method is called 'rulez'"),
        ({"parameters": {"penalty": "much"}}, "'penalty' is a number, not 'much'"),
        ({"parameters": {"penalti": 1.0}}, "no parameter 'penalti'"),
        ({"origin": "somewhere"}, "damaged model"),
        ({"origin": None}, "has not learned yet"),
    ],
)
def test_a_header_that_does_not_fit(model: Path, facts: dict[str, Any], words: str) -> None:
    with pytest.raises((InputError, UsageError), match=words) as caught:
        load_model(changed(model, **facts))
    assert "changed" in str(caught.value)


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="is no model of Lapsus"):
        load_model(tmp_path / "x.zip")


def test_arrays_that_do_not_fit_together(tmp_path: Path) -> None:
    path = tmp_path / "m.lapsus"
    annotator = make_annotator("acts", {"members": 1, "epochs": 1, "hidden": 4}).fit(*invented.data("en", 3))
    annotator.networks_[0] = {  # type: ignore[attr-defined]
        **annotator.networks_[0],  # type: ignore[attr-defined]
        "hidden.weight": np.zeros((4, 3), np.float32),
    }
    annotator.save(path)
    with pytest.raises(InputError, match="is a damaged model"):
        load_model(path)


def test_what_a_model_learned_from_is_told(model: Path) -> None:
    header = json.loads(zipfile.ZipFile(model).read("model.json"))
    assert len(b64decode(header["origin"].pop("texts"))) == 4 * SIZE
    assert header["origin"] | {"digest": ""} == {
        "version": "1.0", "documents": 4, "units": 20, "votes": 160, "digest": "", "languages": ["en"],
        "words": {}, "before": None,
    }  # fmt: skip
    other = make_annotator("rules").fit(*invented.data("en", 4, seed=1))
    assert other.origin_ is not None
    assert other.origin_.digest != header["origin"]["digest"]


def test_a_models_digest_is_of_what_decides_about_its_answers() -> None:
    def digest(guideline: str = "a", **data: object) -> str:
        return model_digest("judge", guideline, {"seed": 0}, {}, State(data, {"weights": np.ones(3)}))

    assert digest(cut=1) != digest(cut=2)
    assert digest("b", cut=1) != digest(cut=1)
    assert digest(cut=1, reports=[{"agreement": 0.5}], later={}) == digest(cut=1)


def test_methods_and_models_by_name(model: Path) -> None:
    assert find_annotator(str(model)).name == "rules"
    with pytest.raises(UsageError, match="must learn before it can judge"):
        find_annotator("crf")
    with pytest.raises(UsageError, match=r"neither a model's file nor a method.*did you mean 'rules'"):
        find_annotator("rulez")
    with pytest.raises(UsageError, match="which server"):
        find_annotator("openai:tiny")


def test_a_shipped_model_goes_by_its_name(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = model.parent / "models"
    shipped.mkdir()
    (shipped / "breakdown-xx.lapsus").write_bytes(model.read_bytes())
    monkeypatch.setattr("lapsus.annotators.library.SHIPPED", shipped)
    assert find_annotator("breakdown-xx").name == "rules"
    assert default_model("xx") == shipped / "breakdown-xx.lapsus"


def test_a_language_without_a_shipped_model_is_told() -> None:
    with pytest.raises(UsageError, match="has no model 'breakdown-tlh'"):
        default_model("tlh")


def test_going_on_from_a_model(tmp_path: Path, model: Path) -> None:
    with pytest.raises(UsageError, match="cannot go on from a model"):
        go_on_from(model, "rules")
    with pytest.raises(UsageError, match="is a model of method 'rules', not 'acts'"):
        go_on_from(model, "acts")
    path = tmp_path / "acts.lapsus"
    make_annotator("acts", {"members": 1, "epochs": 1, "hidden": 4}).fit(*invented.data("en", 3)).save(path)
    with pytest.raises(UsageError, match="'hidden' is fixed by the model") as caught:
        go_on_from(path, "acts", {"hidden": "8"})
    assert caught.value.hint == "may be set: decide, seed, epochs, rate"
    assert go_on_from(path, "acts", {"epochs": "3"}).parameters()["epochs"] == 3
