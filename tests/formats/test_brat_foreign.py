"""Brat projects of others, with types that no scheme here knows; and the rules that brat holds ours to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

import lapsus
from lapsus.cli.app import app
from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.brat import Brat
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import broken_rules, load_scheme
from tests import strategies
from tests.formats.brat_verifier import complaints
from tests.formats.test_brat import mark, problem, project

TEXT = "Ada Korr joined the Lum Works in Velby.\nShe left it later.\n"
CONF = """# a comment
[entities]
!Named
\tPerson
\tOrganisation | Org
Place
-------
[relations]
<THING>=Person|Organisation
Works_for\tArg1:Person, Arg2:Organisation
Seated_in\tArg1:<THING>, Arg2:Place
<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>
[events]
Join\tWho:Person, What:Organisation
[attributes]
Negated\tArg:<EVENT>
"""
ANN = (
    mark(TEXT, "Ada Korr", "Person", 1)
    + mark(TEXT, "Lum Works", "Organisation", 2)
    + mark(TEXT, "Velby", "Place", 3)
    + mark(TEXT, "joined", "Join", 4)
    + "E1\tJoin:T4 Who:T1 What:T2\nA1\tNegated E1\nN1\tReference T3 Wiki:Q1\tVelby\n*\tEquiv T1 T2\n"
    "R1\tWorks_for Arg1:T1 Arg2:T2\nR2\tSeated_in Arg1:T2 Arg2:T3\nR3\tCauses Arg1:E1 Arg2:T1\n"
    "#1\tAnnotatorNotes T1\twho?\n#2\tAnnotatorNotes E1\tgone\n#3\tNormalizationNotes T3\tx\n"
)


def corpus(folder: Path, more: dict[str, str] | None = None) -> Path:
    files = {"annotation.conf": CONF, "anna/1.txt": TEXT, "anna/1.ann": ANN}
    return project(folder, files | (more or {}))


def test_marks_and_relations_under_a_scheme_of_the_projects_own(tmp_path: Path) -> None:
    reading = read(corpus(tmp_path))
    (entry,) = reading
    (judgment,) = entry.judgments
    assert (judgment.scheme, judgment.annotator) == ("project", "anna")
    assert judgment.answers["marks"] == (
        Span("text", 0, 8, "Person", "1"),
        Span("text", 20, 29, "Organisation", "1"),
        Span("text", 33, 38, "Place", "1"),
    )
    assert judgment.answers["remark"] == "who?"
    relations: Any = judgment.metadata["relations"]
    assert [(one["type"], one["from"]["label"], one["to"]["label"]) for one in relations] == [
        ("Works_for", "Person", "Organisation"),
        ("Seated_in", "Organisation", "Place"),
    ]
    assert dict(reading.options.dropped) == {
        "triggers of events": 1,
        "events": 1,
        "attributes": 1,
        "normalisations": 1,
        "groups of equals ('Equiv')": 1,
        "relations of events": 1,
        "notes of other kinds, or on what is left out": 2,
    }


def test_the_scheme_is_written_and_used(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"ben/1.txt": TEXT, "ben/1.ann": mark(TEXT, "Ada Korr", "Person")})
    scheme = tmp_path / "scheme.yaml"
    done = CliRunner().invoke(app, ["scheme", "brat", str(path), "-o", str(scheme)])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(app, ["scheme", "check", str(scheme)]).output.endswith("fine\n")
    made = load_scheme(str(scheme))
    assert [label.id for label in made.questions[0].labels] == ["Person", "Organisation", "Place"]
    for entry in read(path):
        for judgment in entry.judgments:
            assert not list(broken_rules(made, judgment.answers, entry.document))
    assert "span_f1" in str(lapsus.agree(path, scheme=str(scheme), bootstrap=None))


def test_a_command_says_what_it_left_out(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["convert", str(corpus(tmp_path)), str(tmp_path / "out.jsonl")])
    assert done.exit_code == 0, done.output
    assert "triggers of events (1)" in done.output
    assert "attributes (1)" in done.output


def test_a_projects_name_never_hides_a_scheme_of_ours(tmp_path: Path) -> None:
    path = corpus(tmp_path).rename(tmp_path / "breakdown")
    (entry,) = read(path, "brat")
    assert entry.judgments[0].scheme == "brat-breakdown"


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ("Person\n[entities]\n", "line 1: 'Person' stands in no section"),
        ("[entities]\nPer/son\n", "line 2: 'Per/son' cannot be a label"),
        ("[entities]\nPerson\nPERSON\n", "'Person' and 'PERSON' differ in capitals only"),
        ("[entities]\nGhost\n", "unknown label 'Person' (known: Ghost)"),
    ],
)
def test_configurations_that_cannot_be_read(tmp_path: Path, conf: str, message: str) -> None:
    assert message in problem(corpus(tmp_path, {"annotation.conf": conf}))


def test_a_configuration_with_our_labels_alone_changes_nothing(tmp_path: Path) -> None:
    conf = "[entities]\nOmission\naddition\n[relations]\n[events]\n[attributes]\n"
    (entry,) = read(project(tmp_path, {"annotation.conf": conf, "a/1.txt": TEXT, "a/1.ann": ""}), "brat")
    assert entry.judgments[0].scheme == "semantic-errors"
    done = CliRunner().invoke(
        app, ["scheme", "brat", str(tmp_path / "project"), "-o", str(tmp_path / "x.yaml")]
    )
    assert done.exit_code != 0
    assert not (tmp_path / "x.yaml").exists()


def test_broken_lines_are_errors_as_in_other_projects(tmp_path: Path) -> None:
    for line, message in (
        ("T9\tPerson 1 2\tzz\n", "is said to be marked"),
        ("?\tx\n", "is no line of brat's"),
    ):
        with pytest.raises(InputError, match=message):
            list(read(corpus(tmp_path, {"anna/1.ann": ANN + line}), "brat"))


# Ours in brat


def test_our_own_files_go_by_their_side_files_whatever_the_configuration_says(tmp_path: Path) -> None:
    document = Document("d", (Segment("s", "text", "one two"),))
    spans = (Span("s", 0, 3, "Old"), Span("s", 4, 7, "old"))
    entry = Entry("d", document, (Judgment("d", None, "a", "semantic-errors", "0.1", {"errors": spans}),))
    Brat().write([entry], tmp_path / "out")
    assert "Old\nold\n" in (tmp_path / "out/a/annotation.conf").read_text()
    assert list(read(tmp_path / "out", "brat")) == [entry]


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(entry=strategies.pair_entries)
def test_brat_has_no_complaint_of_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, entry: Entry
) -> None:
    path = tmp_path_factory.mktemp("brat") / "out"
    Brat().write([entry], path)
    for ann in path.rglob("*.ann"):
        assert complaints(ann) == []


def test_marks_in_one_another_and_ties_pass(tmp_path: Path) -> None:
    document = Document("d", (Segment("s", "text", "one two\nthree"), Segment("t", "text", "\u2028x")))
    spans = (
        Span("s", 0, 13, "addition", "1"),
        Span("s", 4, 7, "addition", "1"),
        Span("s", 2, 9, "repetition"),
        Span("s", 0, 13, "repetition"),
        Span("t", 0, 2, "addition"),
    )
    answers = {"errors": spans, "remark": "so\tso"}
    judgment = Judgment("d", None, "a", "semantic-errors", "1.1", answers)
    Brat().write([Entry("d", document, (judgment,)), Entry("e", Document("e", ()), ())], tmp_path / "out")
    found = {ann.parent.name: complaints(ann) for ann in (tmp_path / "out").rglob("*.ann")}
    assert found == {"a": [], "unannotated": []}


def test_the_verifier_can_complain(tmp_path: Path) -> None:
    document = Document("d", (Segment("s", "text", "one two"),))
    spans = (Span("s", 0, 7, "addition", "1"), Span("s", 4, 7, "omission", "1"))
    judgment = Judgment("d", None, "a", "semantic-errors", "1.1", {"errors": spans})
    Brat().write([Entry("d", document, (judgment,))], tmp_path / "out")
    ann, conf = tmp_path / "out/a/d.ann", tmp_path / "out/a/annotation.conf"
    whole = conf.read_text()
    for old, new, said in (
        ("<OVERLAP>", "# <OVERLAP>", "T1: overlaps with T2"),
        ("addition\n", "", "T1: addition is not a known textbound type"),
        ("Tied", "Bound", "R1: Tied is not a known relation type"),
    ):
        conf.write_text(whole.replace(old, new, 1))
        assert said in complaints(ann)
    conf.write_text(whole)
    ann.write_text(ann.read_text().replace("\tone two", "\tone tvo"))
    assert complaints(ann) == ["T1: text does not match the marked span"]
