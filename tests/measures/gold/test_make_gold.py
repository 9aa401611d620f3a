from __future__ import annotations

import pytest

from lapsus.errors import UsageError
from lapsus.measures.gold import METHODS, make_gold
from lapsus.model.votes import Votes
from tests.measures.agreement.helpers import labels, numbers, sets
from tests.measures.gold.helpers import spans

VOTES: dict[str, Votes] = {
    "distribution": labels(["OOX"]),
    "majority": labels(["OOX"]),
    "dawid_skene": labels(["OOX"]),
    "mace": labels(["OOX"]),
    "label_sets": sets([["a", "ab"]]),
    "mean": numbers([[1, 2]]),
    "median": numbers([[1, 2]]),
    "spans": spans([[(0, 1, "x")], [(0, 1, "x")]]),
}


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_gives_gold_with_its_name(name: str) -> None:
    gold = make_gold(name, VOTES[name])
    assert gold.method == name.replace("_", "-")
    assert gold.signature.startswith(f"method:{gold.method}")
    assert "lapsus:" in gold.signature
    assert gold.units == VOTES[name].units


def test_parameters_as_one_writes_them() -> None:
    assert make_gold("majority@t=0.7", labels(["XXO"])).answers == ("O",)
    assert make_gold("majority@t=0.7,default=T", labels(["XXO"])).answers == ("T",)
    assert make_gold("mace(em)@restarts=2,seed=3", labels(["XXO"])).signature.startswith(
        "method:mace|variant:em|restarts:2|iterations:50|seed:3|"
    )
    assert make_gold("Dawid-Skene@smoothing=0.5", labels(["XXO"])).signature.startswith(
        "method:dawid-skene|smoothing:0.5"
    )
    assert make_gold("spans@at_least=2", VOTES["spans"]).signature.startswith("method:spans|at_least:2|")


@pytest.mark.parametrize(
    ("text", "votes", "says"),
    [
        ("majorty", labels(["O"]), "did you mean 'majority'"),
        ("majority", spans([[]]), "majority is not made for answers with spans.*use spans"),
        ("spans", labels(["O"]), "use majority or distribution"),
        ("mean@t=1", numbers([[1]]), "nothing in brackets and no parameters"),
        ("majority@t=much", labels(["O"]), "t of majority must be a number"),
    ],
)
def test_errors_say_what_to_do(text: str, votes: Votes, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        make_gold(text, votes)
