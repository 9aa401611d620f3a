"""The first page: where one was, how long it takes, what one did today, and what one said, found by its words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from starlette.testclient import TestClient

from lapsus.model import Document, Segment
from lapsus.store import open_store
from lapsus.store import tables as t
from lapsus.web.app import create_app
from lapsus.web.demo import make_demo
from tests.web.helpers import ANSWERS, Bench, Browser, chat

SAID = ("お茶は好きですか。", "はい", "ＡＢＣ社のほうじ茶が合います。", "どうも", "雨ですね。")


Demo: TypeAlias = tuple[Path, dict[str, int]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A demonstration's database, and whom its links let in."""
    path = tmp_path_factory.mktemp("demo") / "store.sqlite"
    with open_store(path) as store:
        return path, {token: person.id for token, person in make_demo(store).items()}


def found(browser: Browser, words: str) -> list[int]:
    parts = browser.get("/judgments.json", params={"q": words}).json()["found"]
    return [judgment["unit"] for part in parts for judgment in part["judgments"]]


def home(browser: Browser) -> Any:
    return browser.get("/.json").json()


def test_where_one_was_and_how_long_it_takes(bench: Bench) -> None:
    first, second = (
        bench.campaign(name=name, documents=[chat("d", turns=3), chat("e", turns=3)])
        for name in ("one", "two")
    )
    ada = bench.person("Ada")
    assert home(ada)["resume"] is None
    for name in (second, first):
        ada.save(name, ada.next(name)["unit"], ANSWERS["breakdown"], seconds=45)
    shown = home(ada)
    assert shown["resume"] == first
    one = shown["campaigns"][0]
    assert (one["held"], one["left"], one["minutes"]) == (2, 2, 2)
    page = ada.get("/").text
    assert (
        page.index("Where you were")
        < page.index("/c/one/judge")
        < page.index("To do")
        < page.index("/c/two/judge")
    )
    assert "about 2 min at your pace" in page
    while (unit := ada.next(first)["unit"]) is not None:
        ada.save(first, unit, ANSWERS["breakdown"], seconds=45)
    assert home(ada)["resume"] == second


def test_a_newcomer_is_told_the_usual_pace_once_some_have_one(bench: Bench) -> None:
    """Of one or two people it would be their own pace, which is nobody else's business."""
    name = bench.campaign(documents=[chat("d", turns=3), chat("e", turns=3)], per_unit=5)
    new = bench.person("New")
    for count, seconds in enumerate((20, 60, 600), start=1):
        assert home(new)["campaigns"][0]["minutes"] is None
        other = bench.person(f"Other {count}")
        other.save(name, other.next(name)["unit"], ANSWERS["breakdown"], seconds=seconds)
    one = home(new)["campaigns"][0]
    assert (one["minutes"], one["own_pace"]) == (one["left"], False)
    assert f"usually about {one['left']} min" in new.get("/").text
    assert f"目安は約 {one['left']} 分" in new.get("/?lang=ja").text


def test_what_was_done_today_is_asked_with_ones_own_midnight(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    ada.save(name, ada.next(name)["unit"], ANSWERS["breakdown"])
    now = datetime.now(UTC)

    def today(since: str) -> Any:
        return ada.get("/today.json", params={"since": since})

    assert today((now - timedelta(hours=1)).isoformat()).json() == {"judged": 1}
    assert today((now + timedelta(hours=1)).isoformat()).json() == {"judged": 0}
    for wrong in ("", "today", "2026-01-01T00:00:00"):
        assert today(wrong).status_code == 422
    assert bench.stranger().get("/today.json").status_code == 401


def test_own_judgments_are_found_by_words_in_japanese_too(bench: Bench) -> None:
    roles = ("system", "user")
    turns = tuple(Segment(str(n), roles[n % 2], text) for n, text in enumerate(SAID))  # type: ignore[arg-type]
    name = bench.campaign(documents=[Document("d", turns, "ja")])
    ada, bob = bench.person("Ada"), bench.person("Bob")
    for answer in ({"breakdown": "O"}, {"breakdown": "X", "comment": "Ｔｅａはよいが唐突"}):
        ada.save(name, ada.next(name)["unit"], answer)
    assert found(ada, "お茶") == [1]
    assert found(ada, "abc ほうじ") == [2], "width and case make no difference"
    assert found(ada, "tea") == [2], "comments count"
    assert found(ada, "not a breakdown") == [1], "and so do answers, by their names"
    assert found(ada, "雨") == [], "nobody finds what they may not see yet"
    assert found(ada, "  ") == found(bob, "お茶") == []
    in_campaign = ada.get(f"/c/{name}.json", params={"q": "お茶"}).json()
    assert [one["unit"] for one in in_campaign["judgments"]] == [1]
    assert "Nothing with these words" in ada.get(f"/c/{name}", params={"q": "<b>none</b>"}).text
    assert "<b>none" not in ada.get("/judgments", params={"q": "<b>none</b>"}).text


def test_a_search_shows_nothing_that_is_still_hidden(bench: Bench) -> None:
    """A later turn that was judged under another arrangement stays hidden while an earlier one waits."""
    name, ada = bench.campaign(documents=[chat("d", said="said {place}")]), bench.person("Ada")
    for _ in range(3):
        ada.save(name, ada.next(name)["unit"], ANSWERS["breakdown"])
    assert found(ada, "said 4") == [3]
    with bench.store.database.writing() as conn:
        conn.execute(t.assignment.update().where(t.assignment.c.unit == 1).values(submitted=0))
    assert found(ada, "said 4") == []
    assert found(ada, "possible") == [3, 2, 1]
    assert "said 4" not in ada.get("/judgments?q=possible").text


def test_many_judgments_are_searched_page_by_page(bench: Bench) -> None:
    name = bench.campaign(documents=[chat(f"d{n}", turns=6) for n in range(10)])
    ada = bench.person("Ada")
    while (unit := ada.next(name)["unit"]) is not None:
        ada.save(name, unit, ANSWERS["breakdown"])
    page = ada.get(f"/c/{name}.json", params={"q": "turn"}).json()
    assert (len(page["judgments"]), page["before"]) == (50, 11)
    rest = ada.get(f"/c/{name}.json", params={"q": "turn", "before": 11}).json()
    assert ([one["unit"] for one in rest["judgments"]], rest["before"]) == (list(range(10, 0, -1)), None)


def test_a_demonstration_says_what_it_is_and_lets_everybody_in(demo: Demo) -> None:
    path, links = demo
    with TestClient(create_app(open_store(path), links=links)) as visitor:
        page = visitor.get("/")
        assert page.status_code == 200
        for words in ("Enter as manager", "Enter as annotator", "日本語の判断者として入る", "<svg"):
            assert words in page.text
        assert visitor.get("/sign-in", follow_redirects=False).headers["location"] == "/"
        ways = visitor.get("/.json").json()["ways"]
        assert [way["role"] for way in ways] == ["manager", "annotator", "annotator-ja"]
        entered = visitor.get(ways[2]["url"])
        assert "花子 さん、こんにちは" in entered.text


def test_people_of_a_demonstration_have_worked_for_weeks(demo: Demo) -> None:
    with open_store(demo[0]) as store:
        for campaign in store.campaigns.all():
            people = store.progress.of_campaign(campaign.name).people
            assert all(one.last_at for one in people if one.submitted), campaign.name
            if campaign.plan.collect is not None:
                continue
            days = [row.day for row in store.stats.figures(campaign.name).days]
            assert min(days) > 0, campaign.name
            assert max(days) - min(days) > 7, campaign.name


def test_elsewhere_strangers_are_asked_to_sign_in(bench: Bench) -> None:
    answer = bench.stranger().get("/", follow_redirects=False)
    assert answer.headers["location"] == "/sign-in?next=/"


def test_nobody_is_thanked_for_what_others_judged(bench: Bench) -> None:
    """Others finished: the manager is told nothing of own judgments, and nobody can start."""
    name = bench.campaign(documents=[chat("d", turns=1)], per_unit=1)
    ada, mori, late = bench.person("Ada"), bench.person("Mori", "manager"), bench.person("Late")
    assert "Start judging" in mori.get(f"/c/{name}").text
    assert "All done for now" not in mori.get("/").text
    ada.save(name, ada.next(name)["unit"], ANSWERS["breakdown"])
    for person in (mori, late):
        for path in ("/", f"/c/{name}"):
            text = person.get(path).text
            assert "All done for now" not in text, path
            assert "Thank you" not in text, path
            assert f'/c/{name}/judge"' not in text, path
    assert "New campaign" in mori.get("/").text
    assert "All done for now" in ada.get("/").text
    bench.store.campaigns.set_state(name, "closed")
    assert "What you saved is kept" not in mori.get(f"/c/{name}").text
    assert "What you saved is kept" in ada.get(f"/c/{name}").text
