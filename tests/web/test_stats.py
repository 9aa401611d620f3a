"""The pages for those who answer for the data: figures, charts, decisions, report; and who may not see them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex

from lapsus.campaign_stats import campaign as campaign_of
from lapsus.campaign_stats import result_cache
from lapsus.campaign_stats import statistics as figures_of
from lapsus.model import Document, Segment
from lapsus.reports import charts
from lapsus.web.pages.stats.charts import CHARTS, picture
from tests.patience import until
from tests.web.helpers import ANSWERS, Bench, Browser, chat, new_key, pair

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
SECTIONS = ("time", "answers", "annotators", "pairs", "disputed")


def judge(bench: Bench, browser: Browser, name: str, answers: list[Any]) -> None:
    """Judge as many units as there are answers."""
    for answer in answers:
        unit = browser.next(name)["unit"]
        assert browser.save(name, unit, answer).status_code == 201


@pytest.fixture
def judged(bench: Bench) -> tuple[str, Browser]:
    """Two judged three units of one chat, differently on two; a manager."""
    name = bench.campaign(documents=[chat("d0")], per_unit=2)
    for who, labels in (("Ada", "OTX"), ("Ben", "OXO")):
        judge(bench, bench.person(who), name, [{"breakdown": label} for label in labels])
    return name, bench.person("Mori", "manager")


Judged = tuple[str, Browser]


def test_the_page_shows_what_was_judged(judged: Judged) -> None:
    name, mori = judged
    found = mori.get(f"/c/{name}/insight.json").json()
    assert (found["progress"]["done"], found["progress"]["wanted"]) == (6, 6)
    assert [(a["id"], a["votes"]) for a in found["answers"]] == [("O", 3), ("T", 1), ("X", 2)]
    fleiss = found["agreement"][0]
    # Pairs that agree: 1 of 3. Shares 1/2, 1/6, 1/3 give 14/36 by chance: (1/3 - 7/18) / (1 - 7/18) = -1/11.
    assert fleiss["value"] == pytest.approx(-1 / 11)
    assert fleiss["signature"].startswith("raters:2|labels:O,T,X|boot:1000")
    page = mori.get(f"/c/{name}/insight")
    assert page.status_code == 200
    assert "-0.091" in page.text
    (behind,) = regex.findall(r'href="([^"]*)">6</a> <small class="quiet">of 6', page.text)
    assert mori.get(behind.replace("&amp;", "&").replace("/units?", "/units.json?")).json()["total"] == 3


def test_no_page_tells_where_the_server_keeps_its_data(judged: Judged, tmp_path: Path) -> None:
    name, mori = judged
    for path in ("insight", "manage", "judges", "log", "exports"):
        assert str(tmp_path) not in mori.get(f"/c/{name}/{path}").text


def test_a_new_answer_changes_the_figures(bench: Bench, judged: Judged) -> None:
    name, mori = judged
    before = mori.get(f"/c/{name}/insight.json").json()
    ada = Browser(bench.app, 1)
    ada.sign_in("Ada")
    assert ada.save(name, 2, {"breakdown": "X"}).status_code == 201
    after = mori.get(f"/c/{name}/insight.json").json()
    assert after["figures"] > before["figures"]
    assert [a["votes"] for a in after["answers"]] == [3, 0, 3]


@pytest.mark.parametrize("section", ["", *SECTIONS])
def test_what_takes_long_is_of_a_little_earlier_and_says_so(
    bench: Bench, judged: Judged, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    name, mori = judged
    path = f"/c/{name}/insight{f'/{section}' if section else ''}"
    first = mori.get(f"{path}.json").json()
    assert first["as_of"] is None
    monkeypatch.setattr(result_cache, "SLOW", -1.0)
    ada = Browser(bench.app, 1)
    ada.sign_in("Ada")
    assert ada.save(name, 2, {"breakdown": "X"}).status_code == 201
    page = mori.get(path).text
    assert "data-age" in page
    until(lambda: mori.get(f"{path}.json").json()["as_of"] is None)
    now = mori.get(f"{path}.json").json()
    assert now["figures"] > first["figures"]
    monkeypatch.undo()
    assert mori.get(f"{path}.json").json() == now


NOT_YET = {"en": "This is being worked out.", "ja": "ただいま集計しています。"}


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("section", ["", *SECTIONS])
def test_what_is_not_known_yet_is_said_at_once_and_comes_later(
    judged: Judged, held: list[Callable[[], None]], section: str, lang: str
) -> None:
    name, mori = judged
    path = f"/c/{name}/insight{f'/{section}' if section else ''}"
    page = mori.get(f"{path}?lang={lang}").text
    assert NOT_YET[lang] in page
    assert 'href="?q=breakdown"' in page
    first = mori.get(f"{path}.json").json()
    assert (first["pending"], first["as_of"], first["trouble"]) == (True, None, None)
    if not section:
        assert first["progress"]["done"] == 6
    asked = len(held)
    for work in held:
        work()
    now = mori.get(f"{path}.json").json()
    assert len(held) == asked  # what two looks asked for was worked out once
    assert not now["pending"]
    assert NOT_YET[lang] not in mori.get(path).text


def test_deciding_waits_for_the_order_without_keeping_anybody(
    judged: Judged, held: list[Callable[[], None]]
) -> None:
    name, mori = judged
    sent = mori.get(f"/c/{name}/decide?q=breakdown", follow_redirects=False)
    assert sent.headers["location"] == f"/c/{name}/insight/disputed?q=breakdown"
    shown = mori.get(f"/c/{name}/decide/2.json").json()
    assert ([group["people"] for group in shown["groups"]], shown["place"]) == ([["Ada"], ["Ben"]], 0)
    assert decide(mori, name, 2, how="own", answers={"breakdown": "T"}).status_code == 201
    assert mori.get(f"/c/{name}/insight/charts/labels.svg").status_code == 503
    for work in held:
        work()
    assert mori.get(f"/c/{name}/decide", follow_redirects=False).headers["location"].endswith("/decide/3")


def test_what_cannot_be_worked_out_is_said_and_the_last_figures_stay(
    bench: Bench, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mori = judged
    path = f"/c/{name}/insight"
    before = mori.get(f"{path}.json").json()

    def fails(*_: object, **__: object) -> Any:
        raise MemoryError("<b>full</b>")

    monkeypatch.setattr(campaign_of, "coefficients", fails)
    monkeypatch.setattr(figures_of, "pairs", fails)
    ada = Browser(bench.app, 1)
    ada.sign_in("Ada")
    assert ada.save(name, 2, {"breakdown": "X"}).status_code == 201
    now = mori.get(f"{path}.json").json()
    assert (now["agreement"], now["trouble"]) == (before["agreement"], "MemoryError: <b>full</b>")
    assert now["as_of"] is not None
    page = mori.get(path).text
    assert "This could not be worked out: MemoryError: &lt;b&gt;full&lt;/b&gt;" in page
    assert "The figures here are of <time" in page
    pairs = mori.get(f"{path}/pairs?lang=ja")
    assert pairs.status_code == 200
    assert "集計できませんでした" in pairs.text


def test_a_report_and_a_saved_chart_are_never_of_earlier(
    bench: Bench, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mori = judged
    monkeypatch.setattr(result_cache, "SLOW", -1.0)
    chart = f"/c/{name}/insight/charts/systems.csv?save=1"
    before = [mori.get(path).text for path in (chart, f"/c/{name}/report.html")]
    ada = Browser(bench.app, 1)
    ada.sign_in("Ada")
    assert ada.save(name, 2, {"breakdown": "X"}).status_code == 201
    after = [mori.get(path).text for path in (chart, f"/c/{name}/report.html")]
    assert all(old != new for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_is_a_page_and_a_twin(judged: Judged, section: str) -> None:
    name, mori = judged
    assert mori.get(f"/c/{name}/insight/{section}").status_code == 200
    assert mori.get(f"/c/{name}/insight/{section}.json").json()["campaign"] == name


def test_sections_say_what_they_should(judged: Judged) -> None:
    name, mori = judged
    disputed = mori.get(f"/c/{name}/insight/disputed.json").json()
    assert [row["unit"] for row in disputed["disputes"]] == [2, 3]
    assert disputed["disputes"][0]["answers"] == [
        {"said": ["Possible breakdown"], "people": ["Ada"]},
        {"said": ["Breakdown"], "people": ["Ben"]},
    ]
    people = mori.get(f"/c/{name}/insight/annotators.json").json()["annotators"]
    assert [(row["name"], row["units"], row["agreement"]) for row in people] == [
        ("Ada", 3, pytest.approx(1 / 3)),
        ("Ben", 3, pytest.approx(1 / 3)),
    ]
    pairs = mori.get(f"/c/{name}/insight/pairs.json").json()
    assert pairs["names"] == ["Ada", "Ben"]
    assert pairs["shared"] == [[0, 3], [3, 0]]


@pytest.mark.parametrize("scheme", list(ANSWERS))
def test_every_guideline_has_its_figures(bench: Bench, scheme: str) -> None:
    documents = [pair("p0"), pair("p1")] if scheme == "semantic-errors" else [chat("d0", 2)]
    name = bench.campaign(scheme, documents, per_unit=2)
    for who in ("Ada", "Ben"):
        judge(bench, bench.person(who), name, [ANSWERS[scheme]] * 2)
    mori = bench.person("Mori", "manager")
    for question in mori.get(f"/c/{name}/insight.json").json()["questions"]:
        for path in ("", *(f"/{section}" for section in SECTIONS)):
            page = mori.get(f"/c/{name}/insight{path}?q={question['id']}")
            assert page.status_code == 200, (question, path)
    assert mori.get(f"/c/{name}/decide.json").json()["groups"][0]["people"] == ["Ada", "Ben"]


def test_an_empty_campaign_has_a_page_too(bench: Bench) -> None:
    name, mori = bench.campaign(), bench.person("Mori", "manager")
    for path in ("", *(f"/{section}" for section in SECTIONS)):
        assert mori.get(f"/c/{name}/insight{path}").status_code == 200
    assert mori.get(f"/c/{name}/decide", follow_redirects=False).headers["location"] == f"/c/{name}/insight"
    assert mori.get(f"/c/{name}/report.html").status_code == 200


def test_one_persons_answers_are_shown_and_what_takes_two_says_so(bench: Bench) -> None:
    name = bench.campaign(documents=[chat("d0")], per_unit=2)
    judge(bench, bench.person("Ada"), name, [{"breakdown": "O"}, {"breakdown": "T"}])
    mori = bench.person("Mori", "manager")
    page = mori.get(f"/c/{name}/insight").text
    assert 'id="chart-progress-wide-title"' in page
    assert "chart-labels" not in page
    assert page.count("Not yet: it takes units that two people have judged.") == 2
    assert "Decide one by one" not in page
    assert "chart-time" not in mori.get(f"/c/{name}/insight/time").text
    # Nobody differs, so all that was judged can be looked through.
    assert mori.get(f"/c/{name}/decide").url.query == b"only=all"


@pytest.mark.parametrize("chart", list(CHARTS))
def test_every_chart_can_be_saved_in_every_format(judged: Judged, chart: str) -> None:
    name, mori = judged
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b""}
    for format, start in starts.items():
        for theme in ("light", "dark"):
            answer = mori.get(f"/c/{name}/insight/charts/{chart}.{format}?theme={theme}&save=1")
            assert answer.status_code == 200
            assert answer.content.startswith(start)
            assert answer.headers["content-type"].startswith(charts.FORMATS[format])
            assert f'{name}-{chart}.{format}"' in answer.headers["content-disposition"]


def test_japanese_words_are_in_the_charts(judged: Judged) -> None:
    name, mori = judged
    picture = mori.get(f"/c/{name}/insight/charts/labels.svg?lang=ja").text
    assert "破綻" in picture
    rows = list(csv.reader(io.StringIO(mori.get(f"/c/{name}/insight/charts/systems.csv?lang=en").text)))
    assert rows[0] == ["System", "Not a breakdown", "Possible breakdown", "Breakdown"]
    assert rows[1][0] == "not named"
    assert [float(cell) for cell in rows[1][1:]] == pytest.approx([3 / 6, 1 / 6, 2 / 6])


def test_charts_need_nothing_more_than_the_base(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    name, mori = judged
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    picture.cache_clear()
    page = mori.get(f"/c/{name}/insight").text
    assert page.count('class="chart-svg"') == 4  # two charts, each wide and narrow
    assert f"/c/{name}/units?q=breakdown&amp;answer=X" in page
    assert "labels.svg" in page
    assert "labels.png" not in page
    assert mori.get(f"/c/{name}/insight/charts/labels.svg").status_code == 200
    assert mori.get(f"/c/{name}/insight/charts/labels.csv").status_code == 200
    refused = mori.get(f"/c/{name}/insight/charts/labels.png")
    assert refused.status_code == 422
    assert "charts" in refused.text


PATHS = (
    "insight", "insight.json", *(f"insight/{section}.json" for section in SECTIONS), "decide", "decide/1.json",
    "insight/charts/labels.svg", "insight/charts/labels.csv", "report.html",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_annotators_see_none_of_it(bench: Bench, path: str) -> None:
    name = bench.campaign()
    ada = bench.person("Ada")
    assert ada.get(f"/c/{name}/{path}", follow_redirects=False).status_code == 403
    stranger = bench.stranger().get(f"/c/{name}/{path}", follow_redirects=False)
    assert stranger.status_code in (303, 401)


@pytest.mark.parametrize(
    "path", ["insight.json?q=none", "insight/charts/none.svg", "insight/charts/labels.exe", "decide/99.json"]
)
def test_what_is_not_there_is_said_so(judged: Judged, path: str) -> None:
    name, mori = judged
    assert mori.get(f"/c/{name}/{path}").status_code == 404


def decide(browser: Browser, name: str, unit: int, **body: Any) -> Any:
    return browser.post(f"/c/{name}/decide/{unit}.json", {"key": new_key(), **body})


def test_deciding_goes_from_the_most_disputed_on(bench: Bench, judged: Judged) -> None:
    name, _ = judged
    judge_ = bench.person("Yui", "adjudicator")
    first = judge_.get(f"/c/{name}/decide.json").json()
    assert (first["number"], first["place"], first["total"], first["next"]) == (2, 1, 2, 3)
    assert [group["people"] for group in first["groups"]] == [["Ada"], ["Ben"]]
    assert first["majority"] is None
    kept = decide(judge_, name, 2, how="person", follows=first["groups"][1]["ids"][0], reason="clearly")
    assert kept.status_code == 201
    assert kept.json()["next"] == 3
    again = judge_.get(f"/c/{name}/decide/2.json").json()["decisions"][0]
    assert (again["answers"], again["follows"], again["by"], again["reason"]) == (
        {"breakdown": "X"}, "Ben", "Yui", "clearly",
    )  # fmt: skip
    assert judge_.get(f"/c/{name}/decide.json?only=open").json()["number"] == 3
    assert judge_.get(f"/c/{name}/decide/1.json?only=all").json()["total"] == 3
    assert judge_.get(f"/c/{name}/insight.json").json()["progress"]["decided"] == 1


def test_what_most_people_said_is_taken_with_one_key(bench: Bench) -> None:
    name = bench.campaign(documents=[chat("d0", 1)], per_unit=3)
    for who, label in (("Ada", "X"), ("Ben", "X"), ("Cat", "O")):
        judge(bench, bench.person(who), name, [{"breakdown": label}])
    mori = bench.person("Mori", "manager")
    shown = mori.get(f"/c/{name}/decide/1.json").json()
    assert shown["majority"] == {"breakdown": "X"}
    assert (shown["majority_count"], shown["majority_total"]) == (2, 3)
    assert "(2 of 3)" in mori.get(f"/c/{name}/decide/1").text
    assert decide(mori, name, 1, how="majority").status_code == 201
    assert bench.store.decisions.standing(name)[1].answers == {"breakdown": "X"}


def test_a_tie_is_nobodys_majority(judged: Judged) -> None:
    name, mori = judged
    refused = decide(mori, name, 2, how="majority")
    assert refused.status_code == 422
    assert refused.json()["reason"] == "no-majority"


def test_most_people_said_only_what_somebody_said(bench: Bench) -> None:
    """Half chose the one type and half the other: no answer made of both is offered, though each has its half."""
    name = bench.campaign("error-types", documents=[chat("d0", 1)], per_unit=4)
    for who, label in zip(("Ada", "Ben", "Cat", "Dee"), ("repetition", "contradiction") * 2, strict=True):
        judge(bench, bench.person(who), name, [{"types": [label]}])
    mori = bench.person("Mori", "manager")
    assert mori.get(f"/c/{name}/decide/1.json").json()["majority"] is None
    assert decide(mori, name, 1, how="majority").json()["reason"] == "no-majority"


@pytest.mark.parametrize(
    "body",
    [
        {"how": "own", "answers": {"breakdown": "Q"}},
        {"how": "own", "answers": {}},
        {"how": "own", "answers": {"breakdown": ["O"]}},
        {"how": "lottery", "answers": {"breakdown": "O"}},
        {"how": "person", "follows": 99},
        {"how": "own", "answers": {"breakdown": "O"}, "more": 1},
        {"answers": {"breakdown": "O"}},
    ],
)
def test_decisions_keep_the_rules(bench: Bench, judged: Judged, body: Any) -> None:
    name, mori = judged
    assert decide(mori, name, 2, **body).status_code == 422
    assert bench.store.decisions.all(name) == []


def test_a_decision_needs_the_pages_token_and_the_right_person(bench: Bench, judged: Judged) -> None:
    name, mori = judged
    body = {"key": new_key(), "how": "own", "answers": {"breakdown": "T"}}
    assert mori.http.post(f"/c/{name}/decide/2.json", json=body).status_code == 403
    assert bench.person("Eve").post(f"/c/{name}/decide/2.json", body).status_code == 403
    assert bench.store.decisions.all(name) == []


def test_marks_of_all_are_side_by_side(bench: Bench) -> None:
    name = bench.campaign("semantic-errors", [pair("p0")], per_unit=2)
    judge(bench, bench.person("Ada"), name, [ANSWERS["semantic-errors"]])
    judge(bench, bench.person("Ben"), name, [{"errors": []}])
    mori = bench.person("Mori", "manager")
    found = mori.get(f"/c/{name}/decide/1.json").json()
    assert [(m["span"]["label"], m["people"]) for m in found["marks"]] == [
        ("omission", ["Ada"]),
        ("addition", ["Ada"]),
    ]
    lanes = found["pieces"]["text"]
    whole = ["".join(piece["text"] for piece in lane) for lane in lanes]
    assert whole == ["Ida Vale 👩‍🔬 lives in Orsk"] * 2
    assert [[piece["text"] for piece in lane if piece["labels"]] for lane in lanes] == [["👩‍🔬"], []]
    own = {"errors": [ANSWERS["semantic-errors"]["errors"][1]]}
    assert decide(mori, name, 1, how="own", answers=own).status_code == 201
    half = {"errors": [{"segment": "text", "start": 1, "end": 3, "label": "addition"}]}
    assert decide(mori, name, 1, how="own", answers=half).json()["broken"][0]["rule"] == "cuts-token"


def test_hostile_words_are_text_on_every_page(bench: Bench) -> None:
    documents = [Document(HOSTILE, (Segment("0", "system", HOSTILE),), "en", {"system": HOSTILE})]
    name = bench.campaign(documents=documents, per_unit=2)
    for who, label in ((f"A{HOSTILE}", "O"), (f"B{HOSTILE}", "X")):
        judge(bench, bench.person(who), name, [{"breakdown": label, "comment": HOSTILE}])
    mori = bench.person("Mori", "manager")
    assert decide(mori, name, 1, how="own", answers={"breakdown": "T"}, reason=HOSTILE).status_code == 201
    for path in ("insight", *(f"insight/{section}" for section in SECTIONS), "decide/1", "report.html"):
        text = mori.get(f"/c/{name}/{path}").text
        assert "<script>alert" not in text, path
        assert not regex.search(r"<img[^>]*onerror", text), path
    table = mori.get(f"/c/{name}/insight/charts/systems.csv").text
    assert HOSTILE in table.replace('""', '"')


def test_the_report_stands_alone(bench: Bench, judged: Judged) -> None:
    name, mori = judged
    decide(mori, name, 2, how="own", answers={"breakdown": "T"}, reason="on balance")
    answer = mori.get(f"/c/{name}/report.html?lang=ja")
    assert "attachment" in answer.headers["content-disposition"]
    assert '<html lang="ja">' in answer.text
    assert not regex.search(r'(src|href)="(?!#|data:)', answer.text)
    assert "Ada" not in answer.text
    assert "on balance" in answer.text
    assert "-.091" in answer.text
