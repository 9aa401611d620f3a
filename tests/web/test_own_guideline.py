"""A guideline of one's own in the wizard, the first step again, and a campaign made anew from another."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats.jsonl import Jsonl
from lapsus.kinds import KINDS
from lapsus.model import Entry, Judgment
from lapsus.model.scheme import Condition
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme
from lapsus.store import Chain
from lapsus.web.pages.setup import own_guideline as own
from lapsus.web.pages.setup.guideline_edit import moved_part, with_form, with_part, without_part
from lapsus.web.pages.setup.guideline_form import GuidelinePart, guideline_form
from tests.web.helpers import Bench, Browser, chat
from tests.web.test_campaign_setup import begun, post, sample


@pytest.fixture
def mori(bench: Bench) -> Browser:
    return bench.person("mori", "manager")


def edited(mori: Browser, base: str, scheme: str = "breakdown") -> dict[str, Any]:
    """One's own guideline, begun with a shipped one."""
    answer = post(mori, f"{base}/guideline-file.json", base=scheme)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def question_in(shown: dict[str, Any]) -> dict[str, Any]:
    """The first question of a form."""
    return next(part for part in shown["parts"] if part["kind"] == "question")


def test_a_shipped_guideline_is_changed_in_a_form_and_judged_by(bench: Bench, mori: Browser) -> None:
    base = begun(mori)
    shown = edited(mori, base)
    assert [part["kind"] for part in shown["parts"]][:2] == ["guideline", "section"]
    assert [part["id"] for part in question_in(shown)["parts"]] == ["O", "T", "X"]
    words = {"scheme": "ours", "title.en": "Ours", "questions.0.labels.0.name.en": "Fine"}
    assert post(mori, f"{base}/own", go="done", **words).url.path == f"{base}/guideline"
    choice = mori.get(f"{base}/guideline.json").json()
    assert (choice["fields"]["scheme"], choice["choices"][-1]["title"]) == ("ours", "Ours (ours)")
    assert choice["preview"]["questions"][0]["answers"][0] == "Fine"
    # The form of known answers asks for the guideline where it is.
    assert mori.get(choice["preview"]["scheme"]["url"]).json()["scheme"] == "ours"
    assert post(mori, f"{base}/guideline", scheme="ours", go="next").url.path == f"{base}/people"
    assert "scheme: ours.yaml" in mori.get(f"{base}/plan.yaml").text
    assert mori.get(f"{base}/guideline.yaml").text.startswith("scheme: ours")
    assert post(mori, f"{base}/review", go="make").url.path == "/c/spring/manage"
    scheme = bench.store.campaigns.scheme("spring")
    assert (scheme.id, scheme.questions[0].labels[0].name["en"]) == ("ours", "Fine")
    assert "Fine" in mori.get("/c/spring/guideline").text


def test_labels_come_and_go_with_what_speaks_of_them(mori: Browser) -> None:
    base = begun(mori)
    edited(mori, base)
    added = post(mori, f"{base}/own.json", go="label:questions.0").json()
    assert [part["id"] for part in question_in(added)["parts"]][3:] == ["label-1"]
    left = post(mori, f"{base}/own.json", go="remove:questions.0.labels.1").json()
    words = {"name.en": "New", "definition.en": "New.", "name.ja": "新", "definition.ja": "新。"}
    said = {f"questions.0.labels.2.{key}": value for key, value in words.items()}
    left = post(mori, f"{base}/own.json", go="keep", **said).json()
    assert not [one for one in left["problems"] if one["severe"]]
    scheme = own.read_own(left["text"])
    question = scheme.questions[0]
    assert [label.id for label in question.labels] == ["O", "X", "label-1"]
    assert (question.analysis.tie_break, question.analysis.merged) == (("O", "X", "label-1"), ())
    for place in (
        "remove:questions.0.labels.9",
        "remove:questions.7",
        "label:questions.9",
        "label:title",
        "question:riddle",
        "up:title",
        "with:../x",
    ):
        assert post(mori, f"{base}/own", go=place).status_code == 422


RICH = """# A comment of ours.
scheme: rich
version: "1"
title: {en: Rich}
summary: {en: All that a file can say.}
unit: {role: system, context: before}
lists:
  - id: acts
    title: {en: Acts}
    groups: [{id: g, name: {en: G}, items: [{id: i, name: {en: I}, definition: {en: D}}]}]
steps: [{id: first, title: {en: First}, text: {en: Look}, labels: [rude]}]
questions:
  - id: faults
    kind: labels
    reference: acts
    name: {en: Faults}
    ask: {en: Which?}
    alone: [none]
    apart: [[rude, wrong]]
    labels:
      - {id: rude, aliases: [R], number: 1, name: {en: Rude}, definition: {en: d}}
      - {id: wrong, name: {en: Wrong}, definition: {en: d}}
      - {id: none, name: {en: None}, definition: {en: d}}
  - id: badly
    kind: scale
    only_if: {question: faults, answers: [rude]}
    name: {en: Badly}
    ask: {en: How badly?}
    calculator: {part: {en: a}, whole: {en: b}, times: 2, least: 1}
    levels: [{value: 1, meaning: {en: a}}, {value: 2, meaning: {en: b}}]
  - id: why
    kind: text
    only_if: {question: badly, answers: [2]}
    name: {en: Why}
    ask: {en: Why?}
"""


def said_by(text: str) -> dict[str, str]:
    """All that the form sends when nothing was changed."""
    tree = own.tree_of(text)
    assert tree is not None
    said: dict[str, str] = {}

    def note(parts: list[GuidelinePart]) -> None:
        for part in parts:
            for one in part.inputs:
                said[one.name] = one.value
                said.update({f"{one.name}={value}": "yes" for value in one.ticked})
            note(part.parts)

    note(guideline_form(tree, "en"))
    return said


def test_a_form_that_changes_nothing_changes_no_letter() -> None:
    assert not any(one.severe for one in own.checked(RICH)[1])
    assert with_form(RICH, said_by(RICH), "en") == RICH


def test_what_the_form_does_not_show_survives_a_change() -> None:
    before = own.read_own(RICH)
    after = own.read_own(with_form(RICH, {**said_by(RICH), "title.en": "Richer"}, "en"))
    assert after.title["en"] == "Richer"
    for name in ("questions", "steps", "lists", "unit", "summary"):
        assert getattr(after, name) == getattr(before, name)


def test_parts_get_new_names_wherever_they_are_spoken_of() -> None:
    said = said_by(RICH) | {
        "questions.0.id": "flaws",
        "questions.0.labels.0.id": "wrong",
        "questions.0.labels.1.id": "rude",
        "questions.1.levels.1.value": "3",
        "questions.1.levels.0.value": "2",
    }
    scheme = own.read_own(with_form(RICH, said, "en"))
    flaws, badly, why = scheme.questions
    assert flaws.apart == (("wrong", "rude"),)
    assert (scheme.steps[0].labels, badly.only_if) == (("wrong",), Condition("flaws", ("wrong",)))
    assert why.only_if == Condition("badly", (3,))


def test_what_a_question_depends_on_goes_with_it() -> None:
    without = own.read_own(without_part(RICH, "questions.0.labels.1"))
    assert without.questions[0].apart == ()
    rest = own.read_own(without_part(RICH, "questions.0"))
    assert (rest.questions[0].id, rest.questions[0].only_if) == ("badly", None)


def test_a_question_becomes_one_of_another_kind() -> None:
    for kind in KINDS.names():
        text = with_form(RICH, {**said_by(RICH), "questions.0.kind": kind}, "en")
        text = with_form(text, {**said_by(text), "questions.1.only_if.question": ""}, "en")
        question = own.read_own(with_words(text, "x")).questions[0]
        assert question.kind == kind


def with_words(text: str, words: str) -> str:
    """The text with something in every field that is empty and must not be."""
    said = said_by(text)
    wanted = (".name.", ".ask.", ".definition.", ".meaning.")
    empty = {name: words for name, value in said.items() if not value and any(key in name for key in wanted)}
    return with_form(text, {**said, **empty}, "en")


def test_a_guideline_begins_with_nothing_but_a_name(mori: Browser) -> None:
    base = begun(mori)
    shown = post(mori, f"{base}/guideline-file.json", blank="yes").json()
    assert [one["severe"] for one in shown["problems"]] == [True, True, True]
    assert {one["input"] for one in shown["problems"]} >= {"title.en", "summary.en"}
    for kind in ("label", "labels", "scale", "spans", "text", "preference"):
        shown = post(mori, f"{base}/own.json", go=f"question:{kind}").json()
    # It is shown while words are missing, with dots in their places; nobody can judge by it yet.
    assert (shown["scheme"]["title"], len(shown["scheme"]["questions"])) == ({"en": "…"}, 6)
    assert mori.get(f"{base}/guideline.json").json()["fields"]["scheme"] == ""
    refused = post(mori, f"{base}/own", go="done")
    assert (refused.status_code, "Title · " in refused.text) == (422, True)
    text = with_words(shown["text"], "words")
    text = with_form(text, {**said_by(text), "title.en": "T", "summary.en": "S"}, "en")
    said = post(mori, f"{base}/own.json", go="check", text=text).json()
    assert [question["kind"] for question in said["scheme"]["questions"]] == [
        *("label", "labels", "scale", "spans", "text", "preference")
    ]
    assert said["preview"]["target"]["text"]


def test_it_is_checked_without_being_kept(mori: Browser) -> None:
    base = begun(mori)
    edited(mori, base)
    before = mori.get(f"{base}/own.json").json()["text"]
    wrong = post(mori, f"{base}/own.json", go="check", scheme="breakdown").json()["problems"]
    assert "is here already" in wrong[0]["message"]
    broken = post(mori, f"{base}/own.json", go="check", text="scheme: x\n- y").json()
    assert broken["problems"][0]["line"] == 2
    assert mori.get(f"{base}/own.json").json()["text"] == before
    answer = post(mori, f"{base}/own", go="done", scheme="breakdown")
    assert (answer.status_code, "is here already" in answer.text) == (422, True)
    # What was written stays, but is not judged by until it is mended.
    assert mori.get(f"{base}/guideline.json").json()["fields"]["scheme"] == ""
    assert post(mori, f"{base}/guideline", scheme="breakdown", go="next").url.path == f"{base}/people"


@pytest.mark.parametrize(
    "content",
    [b"[" * 60_000, b"\xff\xfe", b"{a: " * 20_000, b"x" * 400_000, b"", b"a: &a [*a]", b"- " * 20_000],
)
def test_a_hostile_file_is_refused_or_shown_with_its_faults(mori: Browser, content: bytes) -> None:
    base = begun(mori)
    answer = post(mori, f"{base}/guideline-file", {"guideline": ("g.yaml", content)})
    if answer.status_code == 200:
        assert 'class="warn"' in answer.text
        assert post(mori, f"{base}/guideline", scheme="x", go="next").status_code == 422
    else:
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text


@pytest.mark.parametrize("name", ["breakdown", "error-types", "response-quality", "semantic-errors"])
def test_every_shipped_guideline_can_be_begun_with(name: str) -> None:
    text = own.edited_from(name, "spring")
    scheme = own.read_own(with_form(text, said_by(text), "en"))
    ours = load_scheme(name)
    assert (scheme.id, scheme.version) == (f"spring-{name}", "1.0")
    assert (scheme.questions, scheme.steps, scheme.lists) == (ours.questions, ours.steps, ours.lists)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1",
        "title: x\nquestions: {a: 1}",
        "title: {en.x: y}\nquestions: [z, {labels: {'1': {id: a}}}, {labels: [q, {id: [a]}], analysis: [1]}]",
        "questions: [{labels: [{id: a}], analysis: {tie_break: x, merged: [1]}, alone: x}]",
        "scheme: [1]\nquestions: [{labels: []}]",
    ],
)
def test_whatever_stands_in_a_file_the_form_says_what_is_wrong(text: str) -> None:
    assert own.tree_of(text) is not None
    changed = with_form(text, {**dict.fromkeys(said_by(text), "words"), "scheme": "ours"}, "en")
    assert any(problem.severe for problem in own.checked(changed)[1])
    for place in ("questions.0", "questions.1", "questions.1.labels.1", "questions.2.labels.1", "", "a.b"):
        for work in (
            lambda place=place: with_part(text, "label", place, "en"),
            lambda place=place: without_part(text, place),
            lambda place=place: moved_part(text, place, 1),
        ):
            with suppress(InputError):
                work()


@pytest.mark.parametrize("name", ["a/b", "../x", "A", "", "x" * 61])
def test_a_name_that_no_address_can_hold_is_refused(name: str) -> None:
    text = with_form(own.edited_from("breakdown", "spring"), {"scheme": name}, "en")
    assert any(problem.severe for problem in own.checked(text)[1])


def test_the_first_step_can_be_taken_again(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="taken")
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    assert post(mori, f"{base}/guideline", scheme="breakdown", go="back").url.path == f"{base}/data"
    assert mori.get(f"{base}/data.json").json()["fields"]["name"] == "spring"
    assert post(mori, f"{base}/data", name="taken").status_code == 422
    assert post(mori, f"{base}/data", name="summer", title_en="Summer").url.path == f"{base}/guideline"
    shown = mori.get(f"{base}/review.json").json()
    assert (shown["documents"], "name: summer" in shown["plan"]) == (4, True)
    other = {"file": ("other.jsonl", sample("e0"))}
    post(mori, f"{base}/data", other, name="summer")
    assert mori.get(f"{base}/review.json").json()["documents"] == 1
    assert post(mori, f"{base}/data", {"file": ("x.jsonl", b"nonsense")}, name="summer").status_code == 422
    assert mori.get(f"{base}/review.json").json()["documents"] == 1


def test_a_plan_is_read_over_in_words(mori: Browser) -> None:
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    post(mori, f"{base}/people", go="next", per_unit="2", who="named", people="mori", order="given")
    told = {line["what"]: line["said"] for line in mori.get(f"{base}/review.json").json()["summary"]}
    assert told["Name"] == "Spring chats (spring)"
    assert told["Data"] == "4 documents, 12 units"
    assert told["Judgments"] == "2 for each unit (24 in all)"
    assert told["Who takes part"].endswith(": mori")


def test_a_sample_is_there_to_begin_with(mori: Browser, bench: Bench) -> None:
    assert mori.get("/new/samples/dialogues-ja.jsonl").content == sample_path("dialogues-ja").read_bytes()
    assert mori.get("/new/samples/helpdesk-en.jsonl").status_code == 404
    assert bench.person("Ada").get("/new/samples/dialogues-ja.jsonl").status_code == 403


def test_a_campaign_is_made_anew(bench: Bench, mori: Browser, tmp_path: Path) -> None:
    labels = {"0": "O", "2": "X", "4": "O"}
    votes = [Judgment("new", t, "ada", "breakdown", "1.0", {"breakdown": la}) for t, la in labels.items()]
    path = tmp_path / "voted.jsonl"
    Jsonl().write([Entry("new", chat("new"), tuple(votes))], path)
    name = bench.campaign("error-types", per_unit=2, title={"en": "Types"})
    files = {"file": ("voted.jsonl", path.read_bytes())}
    mori.http.post(f"/c/{name}/documents", data={"csrf": mori.csrf}, files=files)
    before = bench.store.progress.of_campaign(name)
    answer = post(mori, f"/c/{name}/copy")
    base = str(answer.url.path).removesuffix("/data")
    assert mori.get(f"{base}/data.json").json()["fields"]["name"] == f"{name}-2"
    assert post(mori, f"{base}/review", go="make").url.path == f"/c/{name}-2/manage"
    after, plan = bench.store.progress.of_campaign(f"{name}-2"), bench.store.campaigns.get(f"{name}-2").plan
    assert (after.documents, after.units, after.done) == (before.documents, before.units, 0)
    assert (plan.per_unit, dict(plan.title)) == (2, {"en": "Types"})


def test_a_copy_keeps_a_guideline_of_ones_own_and_a_chain(bench: Bench, mori: Browser) -> None:
    base = begun(mori)
    edited(mori, base)
    post(mori, f"{base}/own", go="done", scheme="ours")
    post(mori, f"{base}/review", go="make")
    copy = str(post(mori, "/c/spring/copy").url.path).removesuffix("/data")
    post(mori, f"{copy}/review", go="make")
    assert bench.store.campaigns.scheme("spring-2") == bench.store.campaigns.scheme("spring")
    bench.campaign(name="votes")
    bench.campaign("error-types", name="types", chain=Chain("votes"))
    copy = str(post(mori, "/c/types/copy").url.path).removesuffix("/data")
    assert post(mori, f"{copy}/review", go="make").url.path == "/c/types-2/manage"
    chain = bench.store.campaigns.get("types-2").plan.chain
    assert chain is not None
    assert chain.campaign == "votes"
