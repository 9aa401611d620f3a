"""A guideline of one's own in the wizard, the first step again, and a campaign made anew from another."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Entry, Judgment
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme
from lapsus.store import Chain
from lapsus.web.pages.setup import own_guideline as own
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


def test_a_shipped_guideline_is_changed_in_a_form_and_judged_by(bench: Bench, mori: Browser) -> None:
    base = begun(mori)
    shown = edited(mori, base)
    assert [group["kind"] for group in shown["groups"]][:3] == ["guideline", "question", "label"]
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
    added = post(mori, f"{base}/own.json", go="add:questions.0").json()
    assert [group["id"] for group in added["groups"] if group["kind"] == "label"][3:] == ["new-1"]
    left = post(mori, f"{base}/own.json", go="remove:questions.0.labels.1").json()
    assert not [one for one in left["problems"] if one["severe"]]
    scheme = own.read_own(left["text"])
    question = scheme.questions[0]
    assert [label.id for label in question.labels] == ["O", "X", "new-1"]
    assert (question.analysis.tie_break, question.analysis.merged) == (("O", "X", "new-1"), ())
    for place in ("remove:questions.0.labels.9", "remove:questions.7", "add:questions.9", "add:title"):
        assert post(mori, f"{base}/own", go=place).status_code == 422


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
    scheme = own.read_own(own.with_words(text, {}))
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
    fields = {field.name: "words" for group in own.groups(text) for field in group.fields}
    changed = own.with_words(text, {"scheme": "ours", **fields})
    assert any(problem.severe for problem in own.checked(changed)[1])
    for work in (own.with_label, own.without_label):
        for place in (
            "questions.0",
            "questions.1",
            "questions.1.labels.1",
            "questions.2.labels.1",
            "",
            "a.b",
        ):
            with suppress(InputError):
                work(text, place)


@pytest.mark.parametrize("name", ["a/b", "../x", "A", "", "x" * 61])
def test_a_name_that_no_address_can_hold_is_refused(name: str) -> None:
    text = own.with_words(own.edited_from("breakdown", "spring"), {"scheme": name})
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
