"""Scripts and styles as they go over the wire."""

from __future__ import annotations

from lapsus.web.assets import Assets, by_choice, without_comments
from tests.web.helpers import Bench

SCRIPT = """/**
 * For people.
 * @typedef {number} Size
 */
const a = "http://b"; // stays
  // goes
/** @type {any} */ (window).size = a / 2; /* stays */
/** goes */
const glob = `/* stays */ // stays`;
"""


def test_scripts_lose_their_comments_and_keep_their_lines() -> None:
    lines = without_comments(SCRIPT).split("\n")
    assert len(lines) == SCRIPT.count("\n") + 1
    assert [line for line in lines if line] == [
        'const a = "http://b"; // stays',
        "(window).size = a / 2; /* stays */",
        "const glob = `/* stays */ // stays`;",
    ]


def test_every_dark_colour_also_follows_what_somebody_chose() -> None:
    made = by_choice("@media (prefers-color-scheme: dark) {\n  :root { --ink: #fff; }\n}\np { margin: 0 }")
    assert "@media (prefers-color-scheme: dark) { :root:not([data-theme]) { --ink: #fff; } }" in made
    assert ":root[data-theme=dark] { color-scheme: dark;  --ink: #fff; }" in made
    assets = Assets()
    for name in ("css/base.css", "css/judge.css", "css/chart.css"):
        style = assets.get(name)
        assert style is not None
        assert b":root[data-theme=dark]" in style.content
        assert b"/*" not in style.content


def test_scripts_and_styles_carry_no_headers_of_documents(bench: Bench) -> None:
    assets = bench.app.state.web.assets
    guarded = {
        name: "content-security-policy" in bench.stranger().get(assets.url(name)).headers
        for name in ("js/dom.js", "css/base.css", "icon.svg")
    }
    assert guarded == {"js/dom.js": False, "css/base.css": False, "icon.svg": True}
    assert bench.stranger().get(assets.url("js/dom.js")).headers["x-content-type-options"] == "nosniff"


def test_the_worker_speaks_for_the_whole_site_and_is_always_looked_for_anew(bench: Bench) -> None:
    answer = bench.stranger().get("/service-worker.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-cache"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert f'self.STATIC = "/static/{bench.app.state.web.assets.digest}/"' in answer.text
    ada = bench.person("Ada")
    assert ada.get("/").headers["x-lapsus-person"] == str(ada.id)
    for path in ("/sign-in", "/offline"):
        page = bench.stranger().get(path)
        assert page.headers["x-lapsus-person"] == "0"
    assert "Ada" not in ada.get("/offline").text
