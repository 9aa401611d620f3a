"""The wizard with files of any columns: what is guessed, what is mapped, what is kept when something is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.formats.field_map import probable_map
from lapsus.store import Plan
from tests.web.helpers import Bench, Browser
from tests.web.test_campaign_setup import post

HEADER = "Fall,Wer,Gesagt,Version\n"
TURNS = "".join(
    f"T{n},{who},{said} {n},{'alpha' if n % 2 else 'beta'}\n"
    for n in range(4)
    for who, said in (
        ("Kundin", "Wo ist mein Paket?"),
        ("Hilfe", "Es kommt morgen."),
        ("Kundin", "Danke dir."),
    )
)


@pytest.fixture
def mori(bench: Bench) -> Browser:
    return bench.person("mori", "manager")


def sent(browser: Browser, content: str = HEADER + TURNS, name: str = "odd", file: str = "x.csv") -> Any:
    return post(browser, "/new", {"file": (file, content.encode())}, name=name)


def chosen(base: str, browser: Browser, **more: str) -> dict[str, str]:
    """What the form of the columns would send as it stands."""
    page = browser.get(f"{base}/columns.json").json()
    columns = {f"column-{n}": one["holds"] for n, one in enumerate(page["columns"])}
    names = {f"named-{n}": one["name"] for n, one in enumerate(page["speakers"])}
    sides = {f"speaker-{n}": one["side"] for n, one in enumerate(page["speakers"])}
    return {**columns, **names, **sides, **more}


def test_odd_columns_are_shown_guessed_and_mapped(bench: Bench, mori: Browser) -> None:
    page = sent(mori)
    assert page.url.path.endswith("/columns")
    base = str(page.url.path).removesuffix("/columns")
    told = mori.get(f"{base}/columns.json").json()
    assert [one["name"] for one in told["columns"]] == ["Fall", "Wer", "Gesagt", "Version"]
    assert [one["holds"] for one in told["columns"]] == ["dialogue", "speaker", "text", "model"]
    assert [len(one["cells"]) for one in told["columns"]] == [5] * 4
    assert [(one["name"], one["side"]) for one in told["speakers"]] == [("Kundin", ""), ("Hilfe", "")]
    refused = post(mori, f"{base}/columns", go="next", **chosen(base, mori))
    assert refused.status_code == 422
    assert "whose turns are judged" in refused.text
    mapped = chosen(base, mori) | {"speaker-0": "user", "speaker-1": "system"}
    look = post(mori, f"{base}/columns.json", go="look", **mapped).json()
    assert (look["documents"], look["turns"]) == (4, 12)
    assert look["option"] == (
        "--map text=Gesagt,speaker=Wer,dialogue=Fall,model=Version --system Hilfe --user Kundin"
    )
    assert post(mori, f"{base}/columns", go="next", **mapped).url.path == f"{base}/guideline"
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    post(mori, f"{base}/review", go="make")
    names = bench.store.units.document_names("odd")
    assert {bench.store.units.document("odd", name).system for name in names} == {"alpha", "beta"}
    assert bench.store.drafts.file(base.rsplit("/", 1)[1]) is None


@pytest.mark.parametrize("encoding", ["cp932", "utf-16", "euc_jp"])
def test_a_table_as_japanese_spreadsheets_write_it(bench: Bench, mori: Browser, encoding: str) -> None:
    rows = "".join(
        f"会話{n};{who};{said};エー\r\n"
        for n in range(3)
        for who, said in (("お客様", "届きません"), ("応答ボット", "そうですか"))
    )
    content = f"会話番号;話し手;発言;モデル\r\n{rows}".encode(encoding)
    base = str(post(mori, "/new", {"file": ("表.csv", content)}, name="odd").url.path).removesuffix(
        "/columns"
    )
    told = mori.get(f"{base}/columns.json").json()
    assert [one["holds"] for one in told["columns"]] == ["dialogue", "speaker", "text", "model"]
    assert [(one["name"], one["side"]) for one in told["speakers"]] == [
        ("お客様", "user"),
        ("応答ボット", "system"),
    ]
    assert (told["documents"], told["turns"]) == (3, 6)


def test_speakers_are_no_dates(mori: Browser) -> None:
    rows = "".join(
        f"{n};2026/03/0{place + 1};{who};{said};甲\r\n"
        for n in range(3)
        for place, (who, said) in enumerate((("客", "届きません"), ("ボット", "そうですか")))
    )
    page = sent(mori, f"受付番号;日時;話した人;本文;版\r\n{rows}")
    told = mori.get(f"{page.url.path!s}.json").json()
    assert [one["holds"] for one in told["columns"]] == ["dialogue", "time", "speaker", "text", "model"]


def test_what_is_still_to_be_said_is_no_error(mori: Browser) -> None:
    told = mori.get(f"{sent(mori).url.path!s}.json").json()
    assert "whose turns are judged" in told["missing"]
    assert "error" not in told


def test_a_file_is_kept_when_the_name_is_wrong(bench: Bench, mori: Browser) -> None:
    bench.store.campaigns.create(Plan(name="taken", scheme="breakdown"))
    answer = sent(mori, name="taken")
    assert answer.status_code == 422
    assert "x.csv" in answer.text
    (draft,) = bench.store.drafts.of_person(mori.id)
    again = post(mori, f"/new/{draft.id}/data", name="good")
    assert again.url.path == f"/new/{draft.id}/columns"


def test_two_columns_of_one_thing_are_refused(mori: Browser) -> None:
    base = str(sent(mori).url.path).removesuffix("/columns")
    answer = post(mori, f"{base}/columns", go="next", **chosen(base, mori, **{"column-3": "text"}))
    assert answer.status_code == 422
    assert "Gesagt and Version" in answer.text


def test_cells_are_text_and_nothing_else(mori: Browser) -> None:
    page = sent(mori, HEADER.replace("Version", "<script>x</script>") + TURNS.replace("alpha", "<b>a</b>"))
    assert "<script>x" not in page.text
    assert "<b>a</b>" not in page.text


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            {"query": "Hi?", "response": "Yes.", "engine": "a"},
            "--map model=engine,prompt=query,reply=response",
        ),
        ({"talk": '[{"role": "user", "content": "x"}]'}, "--map text=content,speaker=role,messages=talk"),
        ({"about": {"question": "a", "answer": "b"}}, "--map prompt=about.question,reply=about.answer"),
        ({}, ""),
    ],
)
def test_what_one_kind_of_record_tells(record: dict[str, Any], expected: str) -> None:
    assert str(probable_map([record] * 3)) == expected
