"""The default detector with the English weights that are shipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from lapsus.annotators import default_model, go_on_from, load_model, make_annotator, training_data
from lapsus.annotators.encoder.encoder import BY_PROFILE, Encoder
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.measures.scores.runs import align_run
from lapsus.model import Document, Entry, Judgment, Segment, UnitKey
from lapsus.model.votes import LabelVotes
from tests.annotators import invented
from tests.patience import LONG

CHATS = {
    "hiking": [
        ("Hi there!", "Hello! How are you today?", ""),
        ("Pretty good. I just came back from a hike.", "Nice! Where did you go hiking?", ""),
        ("In the Alps, with my sister.", "The Alps are beautiful. What did you like best there?", ""),
        ("The views! Have you ever been there?", "Hello! How are you today?", "repetition"),
        ("I am still fine, thanks.", "Good to hear. Do you hike often with your sister?", ""),
        ("Yes. Which mountain do you like best?", "Please enter your ticket number.", "ignored question"),
    ],
    "cats": [
        ("Hello, do you have any pets?", "Hi! Yes, I have two cats. Do you like cats?", ""),
        ("I love cats. What are their names?", "My cats are called Tom and Mia. Do you have a cat?", ""),
        ("Yes, one. How old are yours?", "I have never had a pet, I am allergic to cats.", "contradiction"),
        ("Oh. My cat sleeps all day.", "Cats do love to sleep. Does yours sleep on your bed?", ""),
        ("Sometimes, on the sofa too.", "The purple invoice of yesterday swims quarterly.", "nonsense"),
    ],
    "films": [
        ("What films do you like?", "I like old comedies. What about you?", ""),
        ("I prefer thrillers.", "Thrillers are exciting. Which one did you see last?", ""),
        ("One about a bank robbery.", "I like bank robbery films. Did they get away with it?", ""),
        ("No, they were caught. Do you like crime novels too?", "Corn prices rose by two percent.", "topic"),
        ("I see. I read one a month.", "Corn prices rose by two percent.", "repetition"),
    ],
}
"""Users and systems by turns, and what is wrong with the system's."""


def chat(name: str) -> Document:
    turns = [turn for user, system, _ in CHATS[name] for turn in (("user", user), ("system", system))]
    return Document(name, tuple(Segment(str(n), role, text) for n, (role, text) in enumerate(turns)), "en")  # type: ignore[arg-type]


def shares(judgments: list[Judgment]) -> np.ndarray[Any, Any]:
    rows = [[j.distributions["breakdown"][label] for label in "OTX"] for j in judgments]
    return np.array(rows).reshape(-1, 3)


def assert_same(some: list[Judgment], others: list[Judgment]) -> None:
    """The same but for the last digits, which hang on the order in which a processor adds up."""
    assert [(j.document, j.segment, j.answers) for j in some] == [
        (j.document, j.segment, j.answers) for j in others
    ]
    assert shares(some) == pytest.approx(shares(others), abs=1e-12)


@pytest.fixture(scope="module")
def model() -> Encoder:
    loaded = load_model(default_model("en"))
    assert isinstance(loaded, Encoder)
    return loaded


def test_it_is_ready_to_judge(model: Encoder) -> None:
    judgments = list(model.judge([chat("hiking")]))
    assert {j.annotator for j in judgments} == {"breakdown-en"}
    assert model.origin_ is not None
    assert model.origin_.languages == ("en",)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_shipped_model_is_small_and_has_its_notice(language: str) -> None:
    path = default_model(language)
    assert path.stat().st_size < 30e6
    notice = path.with_suffix(".NOTICE").read_text(encoding="utf-8")
    assert f"breakdown-{language}" in notice
    assert "Apache License 2.0" in notice


def test_planted_errors_stand_out(model: Encoder) -> None:
    """Every bad turn is called bad, and comes before nearly every good one in the order of likely breakdowns."""
    good, bad = [], []
    for name, turns in CHATS.items():
        judgments = list(model.judge([chat(name)]))
        for (_, _, wrong), judgment, (fine, *_) in zip(turns, judgments, shares(judgments), strict=True):
            (bad if wrong else good).append(fine)
            assert not wrong or judgment.answers["breakdown"] == "X", wrong
    assert np.mean([worse < better for worse in bad for better in good]) > 0.95
    assert np.mean(good) > np.mean(bad) + 0.3


def test_later_turns_are_not_seen(model: Encoder) -> None:
    document = chat("cats")
    whole = list(model.judge([document]))
    for keep in range(1, len(document.segments)):
        cut = msgspec.structs.replace(document, segments=document.segments[:keep])
        other = (
            Segment("z", "user", "Stop repeating that, it makes no sense!"),
            Segment("y", "system", "Oh."),
        )
        changed = msgspec.structs.replace(document, segments=(*document.segments[:keep], *other))
        # A fresh memory, so that nothing is remembered from the whole dialogue.
        assert_same(list(model.under("dbdc5").judge([cut])), whole[: keep // 2])
        assert_same(list(model.judge([changed]))[: keep // 2], whole[: keep // 2])


def test_what_is_judged_along_with_it_does_not_matter(
    model: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [chat(name) for name in CHATS] + [
        Document("long", (Segment("0", "system", "So. " * 400),), "en")
    ]
    together = list(model.under("dbdc5").judge(documents))
    apart = [judgment for document in documents for judgment in model.under("dbdc5").judge([document])]
    monkeypatch.setattr("lapsus.annotators.base.BATCH", 2)
    in_twos = list(model.under("dbdc5").judge(documents))
    assert_same(together, apart)
    assert_same(together, in_twos)


def test_profiles_differ_in_distribution_and_rule(model: Encoder) -> None:
    assert model.profiles() == ["dbdc5", "dbdc3", "general"]
    other = model.under("dbdc3")
    usual, flat = (shares(list(annotator.judge([chat("films")]))) for annotator in (model, other))
    # The crowd of DBDC3 says T far more often than that of DBDC5, and agrees far less.
    assert (flat[:, 1] > usual[:, 1]).all()
    assert flat.max(axis=1).mean() < usual.max(axis=1).mean()
    with pytest.raises(
        UsageError, match=r"'breakdown-en' has no profile 'dbdc4'.*known: dbdc3, dbdc5, general"
    ):
        model.under("dbdc4")


def test_a_profile_is_kept_in_the_file(model: Encoder, tmp_path: Path) -> None:
    path = tmp_path / "m.lapsus"
    other = model.under("dbdc3")
    other.save(path)
    loaded = load_model(path)
    assert loaded.parameters() == {"profile": "dbdc3", "held": other.held, "decide": BY_PROFILE, "reader": ""}
    documents = [chat(name) for name in CHATS]
    assert list(loaded.judge(documents)) == list(other.judge(documents))


def upside_down(count: int, seed: int) -> tuple[list[Document], LabelVotes]:
    """Dialogues whose judges say T where others say O or X: a corpus that was judged in another way."""
    entries = [invented.entry(number, "en", seed) for number in range(count)]
    doubtful = [
        msgspec.structs.replace(judgment, answers={"breakdown": "T"})
        if judgment.annotator in ("a0", "a1", "a2", "a3")
        else judgment
        for entry in entries
        for judgment in entry.judgments
    ]
    return training_data(
        Entry(entry.id, entry.document, tuple(j for j in doubtful if j.document == entry.id))
        for entry in entries
    )


def divergence(annotator: Any, documents: list[Document], votes: LabelVotes) -> float:
    return float(align_run(votes, annotator.judge(documents)).scores(bootstrap=None)["jsd"])


def test_a_few_dialogues_adapt_it(model: Encoder, tmp_path: Path) -> None:
    documents, votes = upside_down(12, seed=1)
    before = divergence(model, documents, votes)
    few = go_on_from(default_model("en"), "encoder").adapt(*upside_down(3, seed=0))
    more = go_on_from(default_model("en"), "encoder").adapt(*upside_down(20, seed=0))
    assert divergence(more, documents, votes) < divergence(few, documents, votes) < 0.7 * before
    more.save(tmp_path / "own.lapsus")
    loaded = load_model(tmp_path / "own.lapsus")
    assert list(loaded.judge(documents)) == list(more.judge(documents))
    assert isinstance(loaded, Encoder)
    assert loaded.profiles() == ["own"]
    assert loaded.origin_ is not None
    assert model.origin_ is not None
    assert loaded.origin_.before == model.origin_.digest


def test_holding_it_hard_leaves_it_where_it_was(model: Encoder) -> None:
    documents, votes = upside_down(3, seed=0)
    rows = [
        shares(list(make_annotator("encoder", {"held": held}).fit(documents, votes).judge([chat("cats")])))
        for held in (1e-2, 1e6)
    ]
    start = shares(list(model.judge([chat("cats")])))
    # The constant is free to move, so that the shares as a whole fit; what turns differ by is held.
    spread = [np.ptp(np.log(found[:, 2] / found[:, 0])) for found in (*rows, start)]
    assert spread[1] == pytest.approx(spread[2], rel=0.01)
    assert abs(spread[0] - spread[2]) > 0.3
    with pytest.raises(UsageError, match="'held' is above 0, not 0"):
        make_annotator("encoder", {"held": 0})


def test_one_language_at_a_time() -> None:
    documents, votes = invented.data("en", 2)
    unknown = [msgspec.structs.replace(document, language=None) for document in documents]
    with pytest.raises(UsageError, match="no language is given"):
        make_annotator("encoder").fit(unknown, votes)
    french = [msgspec.structs.replace(document, language="fr") for document in documents]
    with pytest.raises(UsageError, match="no model 'breakdown-fr'"):
        make_annotator("encoder").fit(french, votes)


@pytest.mark.parametrize("library", ["onnxruntime"])
def test_a_missing_library_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf"judging needs {library} \(pip install lapsus-eval\)"):
        load_model(default_model("en"))


def test_nothing_is_told_to_the_makers_of_a_library(tmp_path: Path) -> None:
    """Where it tells them of us, it also leaves a number for this machine in the home folder."""
    code = "from lapsus.annotators import default_model, load_model; load_model(default_model('en'))"
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_"))}
    subprocess.run([sys.executable, "-c", code], env={**own, "HOME": str(tmp_path)}, check=True, timeout=LONG)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_damaged_encoder_is_an_error_of_ours(model: Encoder, tmp_path: Path) -> None:
    state = model.state()
    for name in ("lower.onnx", "general.onnx", "tokenizer.json"):
        broken = Encoder()
        with pytest.raises(ValueError, match="cannot be read"):
            broken.restore(model.origin_, state._replace(files={**state.files, name: b"nothing"}))


def test_halves_of_characters_and_instructions_do_no_harm(model: Encoder) -> None:
    odd = (
        Segment("0", "prompt", "You are a friendly robot."),
        Segment("1", "user", "Hello \ud83d there"),
        Segment("2", "system", "Hi \udc00!"),
        Segment("3", "tool", "lookup(weather)"),
        Segment("4", "system", ""),
    )
    judgments = list(model.judge([Document("odd", odd, "en")]))
    assert np.isfinite(shares(judgments)).all()
    plain = tuple(segment for segment in odd if segment.role in ("system", "user"))
    assert list(model.judge([Document("odd", plain, "en")])) == judgments


@pytest.mark.acceptance
def test_the_parts_of_the_shipped_model_fit_together(model: Encoder) -> None:
    """Dialogues that it was trained on: no measure of how good it is, but wrong words or numbers would show."""
    path = Path(os.environ["LAPSUS_DATA"], "dbdc5-en.zip")
    documents, votes = training_data(read(path, "dbdc", only="*/dev/*", language="en"))
    turns = {UnitKey(document.id, segment.id) for document in documents for segment in document.segments}
    scores = align_run(votes, model.judge(documents), known_units=turns).scores(bootstrap=None)
    assert float(scores["jsd"]) < 0.035
    assert float(scores["accuracy"]) > 0.82
