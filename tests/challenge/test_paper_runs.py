"""The paper's runs on a corpus of one's own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from lapsus.annotators import METHODS, detect, make_annotator, train
from lapsus.annotators.challenge.rules import FAMILIES, Rules
from lapsus.annotators.features.sign_rules import RULES as SIGN_RULES
from lapsus.challenge.paper_runs import RUNS, PaperRun, more_corpora, read_corpus, score_paper_runs
from lapsus.challenge.published import published
from lapsus.errors import InputError, UsageError
from lapsus.formats import FORMATS
from tests.annotators import invented


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten dialogues to learn from and five to score, in folders as the challenge has them."""
    folder = tmp_path_factory.mktemp("corpus") / "data"
    entries = []
    for number in range(15):
        entry = invented.entry(number, "en")
        assert entry.document is not None
        split = {"split": "dev" if number < 10 else "ref", "system": "Robin"}
        document = msgspec.structs.replace(entry.document, metadata=split)
        entries.append(msgspec.structs.replace(entry, document=document))
    FORMATS.get("dbdc")().write(entries, folder)
    return folder


def test_folders_say_what_is_learned_from_and_what_is_scored(data: Path) -> None:
    corpus = read_corpus(data)
    assert [(len(part.learn), len(part.judge)) for part in corpus.parts] == [(10, 5)]
    assert len(corpus.track.documents) == 5
    again = read_corpus(data, train="*/dev/*", test="*/ref/*")
    assert again.track.units == corpus.track.units


def test_without_a_part_to_score_dialogues_take_turns(data: Path) -> None:
    corpus = read_corpus(data, train="*/dev/*")
    assert corpus.crossed
    judged = sorted(entry.id for part in corpus.parts for entry in part.judge)
    assert judged == sorted({gold.document.id for gold in corpus.track.documents})
    for part in corpus.parts:
        assert not {entry.id for entry in part.learn} & {entry.id for entry in part.judge}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"test": "*/ref/*"}, "without --train"),
        ({"train": "*/dev/*", "test": "*"}, "learned from and to be scored"),
        ({"train": "*/dev/*", "only": "*/dev/*"}, "--only goes without"),
        ({"only": "*/ref/*"}, "nothing to learn from"),
        ({"language": "ja"}, "no dialogue in 'ja'"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(data: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises((InputError, UsageError), match=said):
        read_corpus(data, **options)  # type: ignore[arg-type]


def test_runs_are_scored_at_both_thresholds_with_ones_own_beside_them(data: Path, tmp_path: Path) -> None:
    train("majority", data, out=tmp_path / "m.lapsus", only="*/dev/*")
    detect(data, only="*/ref/*", model=tmp_path / "m.lapsus", turns="judged").write(tmp_path / "mine.zip")
    wanted = [*(run for run in RUNS if run.method == "crf"), PaperRun("Team 3", "run1", "rules")]
    told: list[str] = []
    half, zero = score_paper_runs(
        read_corpus(data), {"mine": tmp_path / "mine.zip"}, runs=wanted, tell=told.append
    )
    assert told == ["baseline crf t=0.5", "baseline crf t=0", "Team 3 run1: rules"]
    names = {one.threshold: [run.name for run in one.entrants] for one in (half, zero)}
    # A baseline stands where it is scored as it was trained.
    assert names == {0.5: ["crf t=0.5", "run1: rules", "mine"], 0.0: ["crf t=0", "run1: rules", "mine"]}
    assert half.entrants[0].figures.all.n == 25
    assert "t:0.5" in half.entrants[0].figures.all.signature


def test_a_run_may_learn_from_one_half_and_is_scored_by_either_rule(data: Path) -> None:
    halves = [PaperRun("Team 5", f"run{half}", "majority", half=half) for half in (0, 1)]
    found = score_paper_runs(read_corpus(data), {}, runs=halves, rule="paper")
    assert [run.name for run in found[0].entrants] == ["run0: majority half=1", "run1: majority half=2"]
    assert all("|rule:paper|" in run.figures.all.signature for one in found for run in one.entrants)
    assert "|rule:paper|" in found[0].floors.prior.signature


def test_more_corpora_may_be_some_files_of_one(data: Path) -> None:
    found = more_corpora([str(data), f"{data}:*/dev/*"], "en")
    assert {name: len(one.documents) for name, one in found.items()} == {"data": 15, "data */dev/*": 10}


def test_every_run_that_the_paper_tells_apart_can_be_made() -> None:
    for run in RUNS:
        parameters = make_annotator(run.method, run.settings).parameters()
        assert {name: parameters[name] for name in run.settings} == dict(run.settings)
        assert run.method in METHODS.names()
    ours = {(run.team, run.name) for run in RUNS if run.name}
    theirs = {(run.team, run.name) for run in published() if run.team != "baseline"}
    assert theirs == ours
    assert ours <= theirs


def test_rules_are_chosen_by_name_and_by_family() -> None:
    families = [rule for name, rules in FAMILIES.items() if name != "all" for rule in rules]
    assert sorted(families) == sorted(SIGN_RULES)
    chosen = Rules(rules="repetition, asks")
    assert set(chosen.rules_) == {*FAMILIES["repetition"], "asks"}
    chosen.fit(*invented.data("en"))
    rules = {fired["rule"] for j in chosen.judge(invented.data("en")[0]) for fired in j.metadata["evidence"]}
    assert "repeats-itself" in rules
    assert rules <= set(chosen.rules_)
    with pytest.raises(UsageError, match="did you mean 'topic'"):
        Rules(rules="topics")
