"""How often 95% intervals of `lapsus estimate` hold the truth, and how wide they are, in draws whose truth is known.

    python benchmarks/trust.py [--draws 1000]

Dialogues of ten turns, of which a share is broken; dialogues differ. Some turns are judged by two people who
slip now and then, all of them by a judge. Where turns are drawn as `lapsus plan` draws them, the judge doubts more
where it is wrong.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np

from lapsus.kinds.votes import Codes
from lapsus.measures.bootstrap import Floats
from lapsus.trust.estimators import Estimate, Sample, estimates
from lapsus.trust.sampling import draw as draw_units
from lapsus.trust.sampling import strata

SIZES = (50, 100, 300)
JUDGES = {"good": (0.9, 0.95), "poor": (0.6, 0.75), "useless": (0.4, 0.6)}
"""How often the judge calls a broken turn broken, and a fine one fine."""
SLIP = 0.08
"""How often a person answers otherwise than the turn deserves."""
WAYS = ("judge", "people", "corrected", "rogan_gladen")


class World(NamedTuple):
    """Where draws come from."""

    share: float = 0.3
    documents: int = 300
    turns: int = 10
    whole_documents: bool = False
    scale: bool = False
    planned: bool = False

    @property
    def truth(self) -> float:
        """What people would say on average of all turns that there could be."""
        voted = self.share * (1 - SLIP) + (1 - self.share) * SLIP
        return 1 + 4 * voted if self.scale else voted


def draw(world: World, judge: str, size: int, rng: np.random.Generator) -> Sample:
    """One data set."""
    count = world.documents * world.turns
    document = np.repeat(np.arange(world.documents), world.turns)
    own = rng.beta(4 * world.share, 4 * (1 - world.share), world.documents)
    broken = rng.random(count) < own[document]
    hit, spared = JUDGES[judge]
    judged = np.where(broken, rng.random(count) < hit, rng.random(count) >= spared).astype(float)
    votes = (broken[:, None] ^ (rng.random((count, 2)) < SLIP)).mean(axis=1)
    if world.scale:
        judged, votes = 1 + 4 * judged + rng.normal(0, 0.5, count), 1 + 4 * votes + rng.normal(0, 0.5, count)
    if world.planned:
        wrong = judged != broken
        return planned(
            votes, judged, document, rng.beta(np.where(wrong, 2, 1), np.where(wrong, 3, 4)), size, rng
        )
    if world.whole_documents:
        chosen = np.isin(document, rng.choice(world.documents, size // world.turns, replace=False))
    else:
        chosen = np.isin(np.arange(count), rng.choice(count, size, replace=False))
    return Sample(np.where(chosen, votes, np.nan), judged, document, is_share=not world.scale)


def planned(
    votes: Floats, judged: Floats, document: Codes, doubt: Floats, size: int, rng: np.random.Generator
) -> Sample:
    """Turns of two systems drawn more often where the judge doubts, each with what it stands for."""
    _, stratum = strata(["even" if number % 2 == 0 else "odd" for number in document.tolist()], doubt)
    drawn = draw_units(stratum, doubt, size, int(rng.integers(1 << 30)))
    said, weight = np.full(len(votes), np.nan), np.full(len(votes), np.nan)
    said[drawn.rows], weight[drawn.rows] = votes[drawn.rows], drawn.weight
    return Sample(said, judged, document, weight, stratum)


class Line(NamedTuple):
    """What came out of many draws, way by way."""

    said: dict[str, float]
    """The share of draws with an interval: where a judge tells nothing apart, Rogan–Gladen says nothing."""
    held: dict[str, float]
    """The share of these that hold the truth."""
    width: dict[str, float]
    """Their mean width."""


def simulate(world: World, judge: str, size: int, draws: int, seed: int = 0) -> Line:
    """Coverage and width of each way to estimate."""
    rng = np.random.default_rng(seed)
    held: dict[str, list[bool]] = {way: [] for way in WAYS}
    width: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(draws):
        found = estimates(draw(world, judge, size, rng))
        for way in WAYS:
            one: Estimate | None = getattr(found, way)
            if one is not None and one.low is not None and one.high is not None:
                held[way].append(one.low <= world.truth <= one.high)
                width[way].append(one.high - one.low)
    return Line(
        {way: len(held[way]) / draws for way in WAYS},
        {way: float(np.mean(held[way])) if held[way] else float("nan") for way in WAYS},
        {way: float(np.mean(width[way])) if width[way] else float("nan") for way in WAYS},
    )


WORLDS = {
    "shares, turns drawn": World(),
    "rare label, turns drawn": World(share=0.1),
    "scale, turns drawn": World(scale=True),
    "shares, whole dialogues": World(whole_documents=True),
    "shares, drawn by a plan": World(planned=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    columns = "turns judged | judge | people alone | corrected | judge alone | Rogan–Gladen | width, corrected / people"
    print("| |", columns, "|")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, world in WORLDS.items():
        for size in SIZES:
            for judge in JUDGES:
                line = simulate(world, judge, size, draws)
                shown = [f"{100 * line.held[way]:.1f}" for way in ("people", "corrected", "judge")]
                said, held = (100 * of["rogan_gladen"] for of in (line.said, line.held))
                shown.append(f"{held:.1f} of {said:.1f}" if said else "–")
                ratio = line.width["corrected"] / line.width["people"]
                print("|", " | ".join([name, str(size), judge, *shown, f"{ratio:.2f}"]), "|")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
