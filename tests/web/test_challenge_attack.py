"""An attacker at a challenge: a team that hands in runs made to read the votes on single turns from its scores.

The control shows that the attacks work on exact scores; before the reveal nothing that a team sees lets them.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from lapsus.challenge import service
from lapsus.challenge.feedback import LEAST_GRAIN, MOST_ANSWERED, grain
from lapsus.challenge.service import create_from
from lapsus.measures.bootstrap import Bootstrap
from lapsus.store import Store
from lapsus.store.challenge_records import ChallengePlan, Feedback, GoldDocument
from tests.challenge.helpers import gold, label, write_run
from tests.web.helpers import Bench
from tests.web.test_challenge import Team

VOTERS = 10
SYSTEMS = ("Robin", "Wren", "Finch")
PROBED = 33
"""Turns: the first scored one of each dialogue."""


def votes(rng: random.Random) -> tuple[int, int, int]:
    o = rng.randint(0, VOTERS)
    t = rng.randint(0, VOTERS - o)
    return o, t, VOTERS - o - t


def made_gold() -> list[GoldDocument]:
    rng = random.Random(7)
    found = []
    for number in range(PROBED):
        one = gold(number, SYSTEMS[number % 3], turns=5)
        found.append(msgspec.structs.replace(one, votes={turn: votes(rng) for turn in one.votes}))
    return found


GOLD = made_gold()
TRUTH = [next(iter(one.votes.values()))[0] for one in GOLD]


class Attacker:
    """A team that sees all that teams see."""

    def __init__(self, bench: Bench, store: Store, folder: Path, feedback: Feedback) -> None:
        create_from(store, ChallengePlan("c", runs=100, feedback=feedback), GOLD)
        self.team, self.folder, self.tries = Team(bench, "Magpie"), folder, 0

    def hand_in(
        self, probes: Sequence[float], others: Sequence[float] | float = 0.0, labels: str = ""
    ) -> Any:
        """A run that gives O these shares on the probed turns; what its page says of it."""
        rest = iter(others if not isinstance(others, float) else [others] * 1000)
        run = {}
        for place, one in enumerate(GOLD):
            turns: list[tuple[int, Any]] = []
            for which, turn in enumerate(one.votes):
                o = probes[place] if which == 0 else next(rest)
                said = labels[place] if labels and which == 0 else "O"
                turns.append((int(turn), [label(said, (o, 1 - o, 0.0))]))
            run[one.document.id] = turns
        self.tries += 1
        data = write_run(self.folder / f"{self.tries}.zip", run).read_bytes()
        made = self.team.hand_in(data)
        assert made.status_code == 201, made.text
        return self.team.get(f"/run/{made.json()['run']['id']}.json").json()

    def everything(self) -> str:
        """All that is shown of the runs, wherever it stands."""
        pages = [self.team.get(path).text for path in ("", ".json", "/submit", "/submit.json")]
        pages += [self.team.get(f".json?by={name}").text for name in ("jsd", "mse_nb_vs_rest", "f1_b")]
        return "\n".join(pages)


def scores(page: Any, measure: str) -> dict[str, tuple[float, int]]:
    """A measure by system where a page has it, else overall."""
    found = page["systems"] or {"all": page["figures"]} if page["figures"] else {}
    return {name: (one["values"][measure][0], one["n"]) for name, one in found.items()}


def read_digits(attacker: Attacker) -> list[int | None]:
    """Two runs. The second gives the nth probed turn of a system the share 11^-n: MSE then spells the votes."""
    before = scores(attacker.hand_in([0.0] * PROBED), "mse_nb_vs_rest")
    weights = [float(VOTERS + 1) ** -(place // 3) for place in range(PROBED)]
    after = scores(attacker.hand_in(weights), "mse_nb_vs_rest")
    read: list[int | None] = [None] * PROBED
    for name, (value, n) in after.items():
        mine = [place for place in range(PROBED) if name in ("all", SYSTEMS[place % 3])]
        change = (value - before[name][0]) * n
        left = (sum(weights[place] ** 2 for place in mine) - change) / 2 * VOTERS
        for place in mine:
            digit = int(left / weights[place] + (0.5 if place in mine[-1:] else 1e-6))
            left -= digit * weights[place]
            read[place] = digit if 0 <= digit <= VOTERS else None
    return read


def read_one_by_one(attacker: Attacker) -> list[int | None]:
    """A run a turn: one share of 1 where the run before had 0."""
    first = scores(attacker.hand_in([0.0] * PROBED), "mse_nb_vs_rest")
    read: list[int | None] = []
    for place in range(PROBED):
        page = attacker.hand_in([float(place == other) for other in range(PROBED)])
        if page["figures"] is None:
            return read + [None] * (PROBED - place)
        change = sum_of(scores(page, "mse_nb_vs_rest")) - sum_of(first)
        # (p - 1)² - p² = 1 - 2p
        read.append(round((1 - change) / 2 * VOTERS))
    return read


def read_by_equations(attacker: Attacker) -> list[int | None]:
    """Many runs far apart from each other, all solved together: rounding that is not bounded in number averages out."""
    rng = np.random.default_rng(3)
    rows, right = [], []
    for _ in range(PROBED + 4):
        shares = rng.integers(0, 2, PROBED).astype(float)
        page = attacker.hand_in(shares.tolist())
        if page["figures"] is None:
            break
        # sum (p - q)² = sum p² - 2 q·p + sum q², and the first term is the same for all runs.
        rows.append(np.append(-2 * shares, 1.0))
        right.append(sum_of(scores(page, "mse_nb_vs_rest")) - float((shares**2).sum()))
    if not rows:
        return [None] * PROBED
    weight = 1e-9 if len(rows) > PROBED else 1.0
    ridge = np.vstack([np.array(rows), np.append(weight * np.eye(PROBED), np.zeros((PROBED, 1)), axis=1)])
    solved = np.linalg.lstsq(ridge, np.append(right, np.full(PROBED, weight * 0.5)), rcond=None)[0]
    return [round(float(np.clip(p, 0, 1)) * VOTERS) for p in solved[:-1]]


def sum_of(found: Mapping[str, tuple[float, int]]) -> float:
    return sum(value * count for value, count in found.values())


ATTACKS = {"digits": read_digits, "one by one": read_one_by_one, "equations": read_by_equations}


def right(read: Sequence[int | None]) -> int:
    return sum(one == true for one, true in zip(read, TRUTH, strict=True))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals and comparisons take most of the time, and are shown to no team before the reveal."""
    monkeypatch.setattr(service, "_prepare", lambda *args: None)
    monkeypatch.setattr(service, "score_run", partial(service.score_run, bootstrap=Bootstrap(resamples=10)))


@pytest.fixture(params=list(ATTACKS))
def attack(request: pytest.FixtureRequest) -> Callable[[Attacker], list[int | None]]:
    return ATTACKS[request.param]


def test_the_attacks_work_on_exact_scores(
    bench: Bench, store: Store, tmp_path: Path, attack: Callable[[Attacker], list[int | None]]
) -> None:
    assert right(attack(Attacker(bench, store, tmp_path, "all"))) == PROBED


def test_the_attacks_read_no_more_than_a_guess_before_the_reveal(
    bench: Bench,
    store: Store,
    tmp_path: Path,
    attack: Callable[[Attacker], list[int | None]],
) -> None:
    guessing = max(Counter(TRUTH).values())
    assert right(attack(Attacker(bench, store, tmp_path, "overall"))) <= guessing + 3


def test_a_label_said_once_has_no_precision(bench: Bench, store: Store, tmp_path: Path) -> None:
    attacker = Attacker(bench, store, tmp_path, "overall")
    page = attacker.hand_in([0.5] * PROBED, labels="X" + "O" * (PROBED - 1))
    assert page["figures"]["values"]["precision_b"][0] is None
    assert page["figures"]["values"]["recall_b"][0] is None
    assert page["figures"]["values"]["accuracy"][0] is not None


def test_only_coarse_overall_values_of_answered_runs_are_anywhere(
    bench: Bench, store: Store, tmp_path: Path
) -> None:
    attacker = Attacker(bench, store, tmp_path, "overall")
    rng = random.Random(1)
    pages = [
        attacker.hand_in([rng.random() for _ in GOLD], [rng.random() for _ in range(99)]) for _ in range(12)
    ]
    n = sum(len(one.votes) for one in GOLD)
    answered = [page for page in pages if page["figures"]]
    assert pages[0] in answered
    for page in answered:
        values = page["figures"]["values"]
        assert page["systems"] == {}
        assert all(one[1:] == [None, None] for one in values.values())
        for name in ("accuracy", "jsd", "mse", "mse_nb_vs_rest"):
            if values[name][0] is not None:
                assert (values[name][0] * n / grain(n)) % 1 == pytest.approx(0, abs=1e-6)
    shown = attacker.team.get(".json").json()
    board = shown["board"]
    assert (len(board["rows"]), board["floors"], board["systems"]) == (len(answered), {}, [])
    assert (shown["answers"], shown["answers_left"]) == (MOST_ANSWERED, MOST_ANSWERED - len(answered))
    assert all(row["p"] is None and not row["marks"] and not row["systems"] for row in board["rows"])
    exact = [json.loads(run.scores) for run in store.challenges.runs("c")]
    seen = attacker.everything() + json.dumps(pages)
    for one in exact:
        for figures in (one["all"], *one["systems"].values()):
            distances = [cell for name, cell in figures["values"].items() if name.startswith(("jsd", "mse"))]
            telling = [value for cell in distances for value in cell if value and len(str(value)) > 8]
            assert telling
            assert not [value for value in telling if str(value) in seen]


def test_a_run_like_an_answered_one_is_not_answered(bench: Bench, store: Store, tmp_path: Path) -> None:
    attacker = Attacker(bench, store, tmp_path, "overall")
    attacker.hand_in([0.5] * PROBED)
    for place in range(5):
        # Labels that change much are no cover for shares that change little.
        shares = [1.0 if place == other else 0.5 for other in range(PROBED)]
        found = attacker.hand_in(shares, labels="OTX"[place % 3] * PROBED)["figures"]
        values = found["values"] if found else {}
        assert not [
            name for name in values if name.startswith(("jsd", "mse")) and values[name][0] is not None
        ]


def test_coarse_scores_are_still_of_use(bench: Bench, store: Store, tmp_path: Path) -> None:
    """A better run betters a team's best, by a score no further off than the grain; a worse one changes nothing."""
    attacker = Attacker(bench, store, tmp_path, "overall")
    probes = [one / VOTERS for one in TRUTH]
    others = [o / VOTERS for one in GOLD for o, _, _ in list(one.votes.values())[1:]]
    bad = attacker.hand_in([1 - p for p in probes], [1 - p for p in others])
    good = attacker.hand_in(probes, others)
    n = sum(len(one.votes) for one in GOLD)
    for run, page in zip(store.challenges.runs("c"), (bad, good), strict=True):
        exact = json.loads(run.scores)["all"]["values"]["mse_nb_vs_rest"][0]
        assert abs(page["figures"]["values"]["mse_nb_vs_rest"][0] - exact) <= grain(n) / n
    worse = attacker.hand_in([0.0] * PROBED, [0.3] * 1000)["figures"]
    assert worse is None or worse["values"]["mse_nb_vs_rest"][0] is None


def test_pages_say_that_scores_are_rounded(bench: Bench, store: Store, tmp_path: Path) -> None:
    attacker = Attacker(bench, store, tmp_path, "overall")
    made = attacker.hand_in([0.5] * PROBED)
    for path in ("", f"/run/{made['run']['id']}"):
        assert re.search(r"more than what \d+ turns", attacker.team.get(f"{path}?lang=en").text)
        assert "丸めた" in attacker.team.get(f"{path}?lang=ja").text
    store.challenges.set_state("c", "revealed")
    assert attacker.team.get(f"/run/{made['run']['id']}.json").json()["systems"]


def test_the_grain_grows_with_the_test_set() -> None:
    assert [grain(n) for n in (8, 100, 2000)] == [LEAST_GRAIN, 10, 45]
