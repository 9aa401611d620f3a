"""The page of all units: what it finds, what it shows, what it does with many at once, and for whom."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.web.pages.units.page import MOST_DECIDED
from tests.web.helpers import Bench, Browser

LABELS = {"Ada": "OXTO", "Ben": "OOXO", "Cleo": "OXX"}


def dialogue(name: str, texts: tuple[str, ...], system: str) -> Document:
    turns = tuple(Segment(str(n), "system", text) for n, text in enumerate(texts))
    return Document(name, turns, "ja", {"system": system})


@pytest.fixture
def mori(bench: Bench) -> Browser:
    """Three people have judged four turns, of which two differ."""
    documents = [
        dialogue("d_1", ("Ｔｅａ is late", "雨が降っています"), "Tern"),
        dialogue("d_2", ("the TEA <b>train</b>", "電車で行きました"), "Wren"),
    ]
    name = bench.campaign(documents=documents, per_unit=3)
    for who, labels in LABELS.items():
        person = bench.person(who)
        for unit, label in enumerate(labels, 1):
            person.next(name)
            more = {"comment": "まよいました"} if (who, unit) == ("Ben", 3) else {}
            assert person.save(name, unit, {"breakdown": label, **more}, submitted=True).status_code == 201
    return bench.person("Mori", "manager")


def found(mori: Browser, query: str = "") -> list[int]:
    answer = mori.get(f"/c/breakdown/units.json?{query}").json()
    assert answer["total"] == len(answer["units"])
    return [unit["unit"] for unit in answer["units"]]


def ids(bench: Bench) -> dict[str, int]:
    return {person.name: person.id for person in bench.store.people.all()}


def test_units_are_found_by_words_answers_people_and_disagreement(bench: Bench, mori: Browser) -> None:
    who = ids(bench)
    looks = {
        "": [1, 2, 3, 4],
        "text=tea": [1, 3],  # width and case make no difference
        "text=tea+late": [1],
        "text=雨が": [2],
        "system=Wren": [3, 4],
        "answer=X": [2, 3],
        f"answer=X&person={who['Cleo']}": [2, 3],
        f"answer=X&person={who['Ada']}": [2],
        f"person={who['Ada']}&other={who['Cleo']}": [1, 2, 3],
        "agreement=differ": [2, 3],
        "agreement=same": [1, 4],
        "agreement=differ&sort=disputed": [3, 2],
        "judged=open": [4],
        "judged=some": [1, 2, 3, 4],
        "judged=complete": [1, 2, 3],
        "comment=yes": [3],
        "answer=nothing": [],
        "day=1999-01-01": [],
        "sort=newest&agreement=nonsense&person=x": [3, 4, 2, 1],
    }
    for query, wanted in looks.items():
        got = found(mori, query)
        assert (sorted(got) if query.startswith("sort=newest") else got) == sorted(wanted) or got == wanted, (
            query
        )


def test_a_unit_is_found_by_what_it_answers(bench: Bench) -> None:
    """By words of the turn before it, not of those farther back."""
    said = (("system", "Hello"), ("user", "My cat died"), ("system", "Good for you!"), ("system", "Tea?"))
    turns = tuple(Segment(str(n), role, text) for n, (role, text) in enumerate(said))  # type: ignore[arg-type]
    bench.campaign(documents=[Document("d", turns, "en")])
    mori = bench.person("Mori", "manager")
    looks = {"cat+died": [2], "CAT+good": [2], "hello": [1], "good": [2], "tea": [3]}
    assert {words: found(mori, f"text={words}") for words in looks} == looks


def test_a_unit_is_shown_with_all_that_is_known_of_it(bench: Bench, mori: Browser) -> None:
    bench.store.flags.add("k", "breakdown", 3, ids(bench)["Ada"], "is this <i>so</i>?")
    unit = mori.get("/c/breakdown/units.json?text=train").json()["units"][0]
    assert unit["text"] == "the TEA <b>train</b>"
    assert unit["system"] == "Wren"
    assert {tuple(group["said"]): group["people"] for group in unit["answers"]} == {
        ("Breakdown",): ["Ben", "Cleo"],
        ("Possible breakdown",): ["Ada"],
    }
    assert unit["disagreement"] == pytest.approx(2 / 3)
    assert unit["comments"] == [{"name": "Ben", "text": "まよいました"}]
    page = mori.get("/c/breakdown/units?text=train").text
    assert "the TEA &lt;b&gt;train&lt;/b&gt;" in page
    assert "is this &lt;i&gt;so&lt;/i&gt;?" in page
    assert "d_<wbr>2" in page


def act(mori: Browser, query: str = "", **form: Any) -> Any:
    data = {"csrf": mori.csrf, **form}
    return mori.http.post(f"/c/breakdown/units?{query}", data=data)


def test_units_are_found_by_how_unsure_a_program_was(bench: Bench, mori: Browser) -> None:
    shares = {("d_1", "0"): 0.9, ("d_1", "1"): 0.5, ("d_2", "0"): 0.4}
    said = [
        Entry(
            document,
            None,
            (
                Judgment(
                    document, turn, "rules", "breakdown", "1.0", {"breakdown": "O"},
                    {"breakdown": {"O": sure, "T": 1 - sure}},
                ),
            ),
        )
        for (document, turn), sure in shares.items()
    ]  # fmt: skip
    for _ in bench.store.programs.add_judgments("breakdown", bench.store.programs.add("rules"), said):
        pass
    assert found(mori, "doubt=unsure") == [2, 3]
    assert found(mori, "sort=doubt") == [2, 3, 1, 4]
    units = mori.get("/c/breakdown/units.json").json()["units"]
    assert [unit["doubt"] for unit in units] == [pytest.approx(0.1), 0.5, pytest.approx(0.4), None]
    assert "50% sure" in mori.get("/c/breakdown/units").text


def test_many_units_are_decided_as_most_people_said(bench: Bench, mori: Browser) -> None:
    asked = act(mori, "agreement=differ", do="decide", all="yes")
    assert "Decide on 2 units" in asked.text
    assert bench.store.decisions.all("breakdown") == [], "it asks first"
    units = [str(number) for number in found(mori, "agreement=differ")]
    assert [f'name="unit" value="{unit}"' in asked.text for unit in units] == [True, True]
    answer = act(mori, "agreement=differ", do="decide", unit=units, share="1")
    assert "2 units were decided" in answer.text
    decisions = bench.store.decisions.standing("breakdown")
    assert {unit: one.answers["breakdown"] for unit, one in decisions.items()} == {2: "X", 3: "X"}
    assert found(mori, "decided=no") == [1, 4]
    assert "Decided: Breakdown (Mori)" in mori.get("/c/breakdown/units?decided=yes").text
    batch = answer.url.params["batch"]
    assert f'name="batch" value="{batch}"' in answer.text
    assert "decisions on 2 units were withdrawn" in act(mori, do="undo", batch=batch).text
    assert found(mori, "decided=no") == [1, 2, 3, 4]
    assert "Open again" in mori.get("/c/breakdown/decide/2").text


def test_before_many_are_decided_it_says_on_how_many_for_each_share(bench: Bench, mori: Browser) -> None:
    form = {"csrf": mori.csrf, "do": "decide", "all": "yes"}
    asked = mori.http.post("/c/breakdown/units.json", data=form).json()
    assert (asked["units"], asked["decided"], asked["split"]) == ([1, 2, 3, 4], 0, 0)
    assert [one["units"] for one in asked["shares"]] == [4, 4, 4, 2, 2]
    assert act(mori, do="decide", unit="2", share="9").status_code == 422


def test_what_somebody_decided_already_stays(bench: Bench, mori: Browser) -> None:
    bench.store.decisions.decide("k", "breakdown", 2, mori.id, "own", {"breakdown": "T"})
    assert "1 units were decided" in act(mori, "agreement=differ", do="decide", all="yes", share="1").text
    decisions = bench.store.decisions.all("breakdown")
    assert {(one.unit, one.how, one.answers["breakdown"]) for one in decisions} == {
        (2, "own", "T"),
        (3, "majority", "X"),
    }


def test_one_more_person_is_asked_and_a_flag_settled(bench: Bench, mori: Browser) -> None:
    assert "1 units will be judged" in act(mori, do="again", unit="2").text
    assert found(mori, "judged=open") == [2, 4]
    bench.store.flags.add("k", "breakdown", 3, ids(bench)["Ada"], "so?")
    assert found(mori, "flag=open") == [3]
    flag = bench.store.flags.all("breakdown")[0].id
    bench.store.flags.reply("r", "breakdown", flag, ids(bench)["Ben"], "I <i>wondered</i> too")
    back = "/c/breakdown/units?flag=any&page=1#u3"
    form = {"csrf": mori.csrf, "do": "settle", "flag": str(flag), "text": "It is so.", "back": back}
    shown = mori.http.post("/c/breakdown/flags", data=form)
    assert (shown.url.path, shown.url.query) == ("/c/breakdown/units", b"flag=any&page=1")
    assert all(said in shown.text for said in ("so?", "I &lt;i&gt;wondered&lt;/i&gt; too", "It is so."))
    assert found(mori, "flag=open") == []
    assert found(mori, "flag=any") == [3]


def test_what_was_chosen_can_be_downloaded_and_nothing_else(mori: Browser) -> None:
    answer = act(mori, do="export", unit=["2"], to="csv", what="names")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {(row["annotator"], row["segment"]) for row in rows} == {("Ada", "1"), ("Ben", "1"), ("Cleo", "1")}


@pytest.mark.parametrize("form", [{"do": "decide"}, {"do": "again", "unit": "99"}, {"do": "nothing"}])
def test_what_makes_no_sense_is_refused_and_changes_nothing(bench: Bench, mori: Browser, form: Any) -> None:
    before = len(bench.store.audit.events("breakdown"))
    assert act(mori, **form).status_code in (422, 400)
    assert len(bench.store.audit.events("breakdown")) == before


def test_too_many_are_not_decided_at_once(
    bench: Bench, mori: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapsus.web.pages.units.page.MOST_DECIDED", 1)
    assert act(mori, do="decide", all="yes").status_code == 422
    assert bench.store.decisions.decided_units("breakdown") == frozenset()
    assert MOST_DECIDED == 500


def test_annotators_see_none_of_it_and_adjudicators_ask_nobody(bench: Bench, mori: Browser) -> None:
    ada = bench.person("Zoe")
    assert ada.get("/c/breakdown/units").status_code == 403
    assert act(ada, do="decide", all="yes").status_code == 403
    judge = bench.person("Judge", "adjudicator")
    assert judge.get("/c/breakdown/units").status_code == 200
    assert act(judge, do="again", unit="2").status_code == 403


@pytest.mark.parametrize(
    ("scheme", "answer"),
    [("error-types", "wrong-information"), ("response-quality", "4"), ("semantic-errors", "addition")],
)
def test_every_guideline_has_the_page(bench: Bench, scheme: str, answer: str) -> None:
    from tests.web.helpers import ANSWERS, pair

    name = bench.campaign(
        scheme, [pair("d0"), pair("d1")] if scheme == "semantic-errors" else None, per_unit=2
    )
    ada = bench.person("Ada")
    unit = ada.next(name)["unit"]
    assert ada.save(name, unit, ANSWERS[scheme], submitted=True).status_code == 201
    mori = bench.person("Mori", "manager")
    units = mori.get(f"/c/{name}/units.json?answer={answer}").json()["units"]
    assert [one["unit"] for one in units] == [unit]
    assert mori.get(f"/c/{name}/units?answer={answer}").status_code == 200
