"""The planner in the wizard: how many units, and a campaign that hands out exactly those."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lapsus.formats import convert
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.model.unit import drawn_units
from lapsus.trust.sampling import units_for_share
from tests.web.helpers import Bench, Browser
from tests.web.test_campaign_setup import add_known, post

LARGE = 600


@pytest.fixture
def mori(bench: Bench) -> Browser:
    return bench.person("mori", "manager")


def talks(number: int, doubt: float | None) -> Entry:
    """A chat of three system turns, of one of two systems; a program doubts the last turn."""
    segments = tuple(Segment(str(n), "system", f"turn {n}") for n in range(3))
    document = Document(f"d{number}", segments, "en", {"system": "large" if number % 4 else "small"})
    if doubt is None:
        return Entry(document.id, document)
    said = [
        Judgment(document.id, s.id, "bot", "breakdown", "1.0", {"breakdown": "O"},
                 {"breakdown": {"O": 1 - doubt if s.id == "2" else 1.0, "T": 0.0, "X": doubt if s.id == "2" else 0.0}})
        for s in segments
    ]  # fmt: skip
    return Entry(document.id, document, tuple(said))


def drafted(
    mori: Browser, doubt: float | None = None, entries: Iterable[Entry] | None = None, name: str = "spring"
) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.jsonl"
        convert(entries or (talks(number, doubt) for number in range(LARGE // 3)), path)
        file = {"file": ("chats.jsonl", path.read_bytes())}
    base = str(post(mori, "/new", file, name=name).url.path).removesuffix("/guideline")
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    who = {"per_unit": "2", "who": "everybody", "batch": "1", "order": "random", "minutes": "60"}
    post(mori, f"{base}/people", go="next", **who)
    return base


def weights(bench: Bench, campaign: str = "spring") -> dict[tuple[str, str], tuple[float, int]]:
    found = {}
    for name, document in bench.store.exports.documents(campaign):
        for segment, about in drawn_units(document).get("units", {}).items():
            found[name, segment] = (about["weight"], about["stratum"])
    return found


def test_exactly_the_drawn_units_are_handed_out_with_their_weights(bench: Bench, mori: Browser) -> None:
    base = drafted(mori)
    shown: Any = mori.get(f"{base}/review.json").json()["sample"]
    assert (shown["population"], shown["drawn"]) == (LARGE, None)
    sizes = {size["within"]: size for size in shown["sizes"]}
    assert sizes[5]["units"] == units_for_share(0.05, LARGE)
    assert sizes[5]["judgments"] == 2 * sizes[5]["units"]
    page = post(mori, f"{base}/sample", go="draw", within="10")
    assert page.url.path == f"{base}/review"
    assert f"{sizes[10]['units']} of {LARGE} units are drawn" in page.text
    assert post(mori, f"{base}/review", go="make").url.path == "/c/spring/manage"
    drawn = weights(bench)
    assert len(drawn) == sizes[10]["units"] == bench.store.progress.of_campaign("spring").units
    # Together they stand for all units, stratum by stratum: 150 of the small system, 450 of the large one.
    stood: dict[int, float] = {}
    for weight, stratum in drawn.values():
        stood[stratum] = stood.get(stratum, 0.0) + weight
    assert sorted(stood.values()) == pytest.approx([150, 450])


def test_what_a_program_doubts_is_drawn_more_often(bench: Bench, mori: Browser) -> None:
    base = drafted(mori, doubt=0.45)
    post(mori, f"{base}/sample", go="draw", within="10")
    post(mori, f"{base}/review", go="make")
    drawn = weights(bench)
    doubted = [segment for _, segment in drawn if segment == "2"]
    assert len(doubted) > len(drawn) / 2
    assert sum(weight for weight, _ in drawn.values()) == pytest.approx(LARGE)


def test_a_sample_of_a_sample_stands_for_all(bench: Bench, mori: Browser) -> None:
    base = drafted(mori, doubt=0.45)
    post(mori, f"{base}/sample", go="draw", within="5")
    post(mori, f"{base}/review", go="make")
    first = weights(bench)
    assert len({weight for weight, _ in first.values()}) > 1
    documents = [Entry(name, document) for name, document in bench.store.exports.documents("spring")]
    # Something that nobody drew stands for itself.
    base = drafted(mori, entries=[*documents, talks(1000, None)], name="summer")
    post(mori, f"{base}/sample", go="draw", within="10")
    post(mori, f"{base}/review", go="make")
    second = weights(bench, "summer")
    assert len(second) < len(first)
    assert sum(weight for weight, _ in second.values()) == pytest.approx(LARGE + 3)
    strata = {stratum for _, stratum in first.values()}
    for stratum in strata:
        own = [key for key, (_, old) in first.items() if old == stratum]
        stood, stands = (sum(found[key][0] for key in own if key in found) for found in (first, second))
        assert stands == pytest.approx(stood)


def test_all_units_again_and_practice_is_never_drawn(bench: Bench, mori: Browser) -> None:
    base = drafted(mori)
    add_known(mori, base, "training", "d3", '{"breakdown": "O"}')
    post(mori, f"{base}/sample", go="draw", within="10")
    assert post(mori, f"{base}/sample", go="draw", within="0").status_code == 422
    for wrong in ("x", "00123", "0001" + "9" * 5000):
        assert post(mori, f"{base}/sample", go="draw", within=wrong).status_code == 422
    assert mori.get(f"{base}/review.json").json()["sample"]["within"] == 10
    post(mori, f"{base}/sample", go="all")
    assert mori.get(f"{base}/review.json").json()["sample"]["within"] is None
    post(mori, f"{base}/sample", go="draw", within="20")
    rule = {"training_allow": "2", "training_then": "stop"}
    post(mori, f"{base}/checks", go="next", **rule)
    assert post(mori, f"{base}/review", go="make").url.path == "/c/spring/manage"
    assert "d3" not in {document for document, _ in weights(bench)}


def test_any_share_is_known_to_the_width() -> None:
    assert [units_for_share(0.05, many) for many in (10, 1000)] == [10, 280]
    assert units_for_share(0.05, 10**9) == 387
