"""Data taken away through the browser: every format that keeps annotators, and who may."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lapsus.formats import FORMATS, read
from lapsus.model import Entry
from lapsus.schemes import known_scheme, load_scheme
from lapsus.store import Plan
from lapsus.web.pages.stats.view import TAKEN
from tests.cli.in_process import lapsus
from tests.web.helpers import ANSWERS, Bench, Browser, chat, pair


def judged(bench: Bench, scheme: str) -> str:
    is_text = scheme == "semantic-errors"
    name = bench.campaign(scheme, [pair(f"p{number}") for number in range(3)] if is_text else None)
    ada = bench.person("Ada")
    for unit in range(1, 4):
        ada.next(name)
        assert ada.save(name, unit, ANSWERS[scheme]).status_code == 201
    return name


def take(person: Browser, campaign: str, **fields: Any) -> Any:
    form = {"csrf": person.csrf, "to": "jsonl", "what": "pseudonyms", **fields}
    return person.http.post(f"/c/{campaign}/export", data=form)


def said(entries: Any) -> list[Any]:
    """Who said what of which turn."""
    return [
        (one.document, one.segment, one.annotator, msgspec.to_builtins(one.answers))
        for entry in entries
        for one in entry.judgments
    ]


@pytest.mark.parametrize("format", TAKEN)
def test_every_format_gives_back_who_said_what(bench: Bench, tmp_path: Path, format: str) -> None:
    scheme = "semantic-errors" if format == "brat" else "breakdown"
    name, mori = judged(bench, scheme), bench.person("Mori", "manager")
    assert format in mori.get(f"/c/{name}/insight.json").json()["formats"]
    answer = take(mori, name, to=format, what="names")
    assert answer.status_code == 200
    called = f"{name}{FORMATS.get(format).suffix or '.zip'}"
    assert f'filename="{called}"' in answer.headers["content-disposition"]
    (tmp_path / called).write_bytes(answer.content)
    found = list(read(tmp_path / called, format))
    assert said(found) == said(bench.store.exports.export(name, names="names"))
    if format == "jsonl":
        assert found == list[Entry](bench.store.exports.export(name, names="names"))


@pytest.mark.parametrize("base", ["semantic-errors", "error-types"])
def test_a_guideline_of_ones_own_is_taken_away_in_its_own_words(
    bench: Bench, tmp_path: Path, base: str
) -> None:
    scheme = msgspec.structs.replace(load_scheme(base), scheme="ours")
    bench.store.campaigns.create(Plan("spring", "ours", order="given"), scheme)
    bench.store.campaigns.add_documents("spring", [pair("p0") if base == "semantic-errors" else chat("d0")])
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    ada.next("spring")
    assert ada.save("spring", 1, ANSWERS[base]).status_code == 201
    marks = base == "semantic-errors"
    assert mori.get("/c/spring/insight.json").json()["formats"] == [
        one for one in TAKEN if one != "dbdc" and (marks or one != "brat")
    ]
    rows = list(csv.DictReader(io.StringIO(take(mori, "spring", to="csv").text.lstrip("\ufeff"))))
    assert {row["kind"] for row in rows} == {"spans" if marks else "labels"}
    (task,) = take(mori, "spring", to="labelstudio").json()
    labels = [
        label
        for result in task["annotations"][0]["result"]
        for label in result["value"].get("paragraphlabels", result["value"].get("choices"))
    ]
    assert labels == (["omission", "addition"] if marks else ["wrong-information"])
    if marks:
        with zipfile.ZipFile(io.BytesIO(take(mori, "spring", to="brat", what="names").content)) as files:
            assert "addition" in files.read("Ada/annotation.conf").decode()
            assert "omission 8 16\tIda Vale" in files.read("Ada/p0.ann").decode()
    assert known_scheme("ours") is None, "it is the campaign's alone"


def test_nothing_stays_behind_on_the_server(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mori = judged(bench, "error-types"), bench.person("Mori", "manager")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    assert take(mori, name).status_code == 200
    assert take(mori, name, to="dbdc").status_code == 422
    assert set(tmp_path.iterdir()) == before


def test_a_format_that_cannot_carry_it_is_said_kindly(bench: Bench) -> None:
    name, mori = judged(bench, "error-types"), bench.person("Mori", "manager")
    assert not {"dbdc", "brat"} & set(mori.get(f"/c/{name}/insight.json").json()["formats"])
    mori.http.headers["Accept-Language"] = "ja"
    assert "この形式では" in take(mori, name, to="dbdc").text


def test_gold_is_kept_with_how_it_was_made(bench: Bench) -> None:
    name, mori = judged(bench, "breakdown"), bench.person("Mori", "manager")
    assert take(mori, name, what="gold").status_code == 200
    assert [gold.method for gold in bench.store.decisions.golds(name)] == ["majority"]


def test_only_those_who_may_see_everything_take_it(bench: Bench) -> None:
    name, ben, mori = judged(bench, "breakdown"), bench.person("Ben"), bench.person("Mori", "manager")
    assert take(ben, name).status_code == 403
    assert bench.stranger().post(f"/c/{name}/export", follow_redirects=False).status_code == 401
    assert mori.http.post(f"/c/{name}/export", data={"to": "jsonl"}).status_code == 403
    for format in ("", "webnlg", "../jsonl"):
        assert take(mori, name, to=format).status_code == 400


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_table_is_the_one_that_the_command_writes(
    bench: Bench, url: str, tmp_path: Path, format: str
) -> None:
    """With role, text and system of what was judged; a document that nobody judged has no row."""
    document = msgspec.structs.replace(chat("d0"), metadata={"system": "Tern"})
    name = bench.campaign(documents=[document, chat("d1")])
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    ada.next(name)
    assert ada.save(name, 1, ANSWERS["breakdown"]).status_code == 201
    page, file = tmp_path / f"page.{format}", tmp_path / f"command.{format}"
    page.write_bytes(take(mori, name, to=format).content)
    done = lapsus("export", name, file.name, "--lossy", "--db", url, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert page.read_bytes() == file.read_bytes()
    if format == "csv":
        (row,) = csv.DictReader(io.StringIO(page.read_text("utf-8-sig")))
        assert (row["role"], row["text"], row["system"]) == ("system", "turn 0 of d0", "Tern")
