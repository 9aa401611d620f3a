"""What templates get, and that nothing in a document can run in a page."""

from __future__ import annotations

import html
import json

import pytest
import regex
from jinja2 import DictLoader, Environment, StrictUndefined

from lapsus.model import Document, Segment
from lapsus.web import rendering
from tests.web.helpers import Bench

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>{{ 70007 * 70007 }}\u2028\"'&lt;"
UNIT = """<p>{{ target.text }}</p><p title="{{ document }}">{{ person.name }} {{ language }} {{ data.language }}</p>
<script type="application/json">{{ data | tojson }}</script><form>{{ csrf }}</form>"""


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pages of the tests' own, in an environment with the settings of the real one."""
    real = rendering._environment()
    assert real.autoescape is True
    assert real.undefined is StrictUndefined
    loader = DictLoader({"judging/unit.html": UNIT, "error.html": "<p>{{ status }} {{ message }}</p>"})
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    monkeypatch.setattr(rendering, "_environment", lambda: made)


@pytest.mark.usefixtures("templates")
def test_hostile_documents_are_text_in_a_page(bench: Bench) -> None:
    turn = (Segment("0", "system", HOSTILE),)
    name = bench.campaign(documents=[Document(HOSTILE, turn, "ja")])
    ada = bench.person("Ada<script>")
    page = ada.get(f"/c/{name}/judge")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert regex.findall(r"<script[^>]*>", page.text) == ['<script type="application/json">']
    assert "<img" not in page.text
    assert "4900980049" not in page.text  # long: a token of random letters may well hold a short number
    shown = regex.search(r"<p>(.*?)</p>", page.text, regex.DOTALL)
    assert shown is not None
    assert html.unescape(shown.group(1)) == HOSTILE
    data = regex.search(r'json">(.*?)</script>', page.text, regex.DOTALL)
    assert data is not None
    assert json.loads(data.group(1)) == ada.get(f"/c/{name}/judge.json").json()
    assert "Ada&lt;script&gt; en ja" in page.text


@pytest.mark.usefixtures("templates")
@pytest.mark.parametrize(("lang", "words"), [("en", "There is nothing"), ("ja", "何もないか")])
def test_a_page_that_is_not_there(bench: Bench, lang: str, words: str) -> None:
    page = bench.stranger().get("/none", headers={"Accept-Language": lang})
    assert page.status_code == 404
    assert words in page.text


@pytest.mark.usefixtures("templates")
def test_the_pages_token_differs_every_time_and_always_fits(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    pages = [ada.get(f"/c/{name}/judge").text for _ in range(2)]
    tokens = [regex.findall(r"<form>(.*?)</form>", page)[0] for page in pages]
    assert tokens[0] != tokens[1]
    for token in tokens:
        ada.csrf = token
        assert ada.save(name, 1, {"breakdown": "O"}).status_code == 201


def test_a_triple_may_be_stacked_and_its_text_stays() -> None:
    shown = str(rendering._stacked("MV_Grey_Petrel | <b> | 96.4 m"))
    assert html.unescape(regex.sub("<[^>]*>", "", shown)) == "MV_Grey_Petrel | <b> | 96.4 m"
    assert shown.startswith('<span class="part">MV_<wbr>Grey_<wbr>Petrel</span>')
