"""The result of a campaign: which system is worse, by how much, how sure; equal to plain arithmetic."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from lapsus.campaign_stats.results import _differences
from lapsus.kinds.label import LabelKind
from lapsus.kinds.preference import PreferenceKind
from lapsus.kinds.votes import bad_answers
from lapsus.model import UnitKey
from lapsus.model.votes import LabelVotes
from lapsus.trust.estimators import Estimate
from tests.web.helpers import Bench, Browser, chat
from tests.web.test_stats import judge


@pytest.fixture
def compared(bench: Bench) -> tuple[str, Browser]:
    """Twelve chats of two systems, three turns each: one breaks down in two turns of three, the other in none."""
    documents = [
        msgspec.structs.replace(chat(f"d{n:02}"), metadata={"system": "ab"[n % 2]}) for n in range(12)
    ]
    name = bench.campaign(documents=documents, per_unit=1)
    said = [{"breakdown": label} for n in range(12) for label in ("OXT" if n % 2 else "OOO")]
    judge(bench, bench.person("Ada"), name, said)
    return name, bench.person("Mori", "manager")


def test_the_worse_system_comes_first_with_how_sure_it_is(compared: tuple[str, Browser]) -> None:
    name, mori = compared
    found = mori.get(f"/c/{name}/insight/results.json").json()
    assert [one["system"] for one in found["systems"]] == ["b", "a"]
    assert [one["people"]["value"] for one in found["systems"]] == [pytest.approx(2 / 3), 0.0]
    assert [one["units"] for one in found["systems"]] == [18, 18]
    (pair,) = found["differences"]
    assert (pair["worse"], pair["better"]) == ("b", "a")
    assert pair["by"]["value"] == pytest.approx(2 / 3)
    assert pair["by"]["low"] < 2 / 3 < pair["by"]["high"]
    # Six dialogues of each, alike among themselves: shared out so in 2 of 924 ways.
    assert (pair["p"], pair["is_sure"]) == (pytest.approx(2 / 924), True)
    page = mori.get(f"/c/{name}/insight/results").text
    assert "b is worse than a, by 67 points" in page
    assert f"/c/{name}/units?q=breakdown&amp;system=b&amp;answer=X" in page
    overview = mori.get(f"/c/{name}/insight").text
    assert overview.index('id="results"') < overview.index('id="heads"')
    report = mori.get(f"/c/{name}/report.html").text
    assert 0 < report.index("Which system is worse?") < report.index("Guideline")


def test_a_campaign_without_judgments_says_so(bench: Bench) -> None:
    name = bench.campaign()
    page = bench.person("Mori", "manager").get(f"/c/{name}/insight/results").text
    assert "Nothing to compare yet" in page


def test_bad_is_all_but_the_first_or_the_one_that_stands_alone() -> None:
    units = tuple(UnitKey("d", str(n)) for n in range(3))
    single = LabelVotes(units, ("ada",), ("O", "T", "X"), np.array([[0], [2], [-1]], dtype=np.int16))
    bad, quantity = bad_answers(single)
    assert bad == ("T", "X")
    np.testing.assert_array_equal(quantity.values[:, 0], [0, 1, np.nan])


def test_which_reply_is_better_says_nothing_of_bad_answers(bench: Bench) -> None:
    """A preference has no good answer: its labels are the replies."""
    assert LabelKind.tells_worse
    assert not PreferenceKind.tells_worse
    found = bench.person("Mori", "manager").get(f"/c/{bench.campaign()}/insight.json").json()
    assert "results" in found["sections"]


@pytest.mark.parametrize("other", [10 / 3, 3.0])
def test_systems_alike_but_for_the_rounding_of_sums_are_alike(other: float) -> None:
    value = 10 / 3 + 4e-16
    assert value != 10 / 3
    systems = [(name, Estimate(mean, mean, mean, 0.0, 9.0)) for name, mean in (("a", value), ("b", other))]
    (found,) = _differences(systems)
    assert (found.p == 1.0, found.is_sure) == ((True, False) if other == 10 / 3 else (False, True))
