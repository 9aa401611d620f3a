"""`lapsus.stress`: plant errors in a user's own good units and tell what share of them each judge finds."""

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import msgspec
import numpy as np

from lapsus.annotators import find_annotator
from lapsus.annotators.detection import AnyModel, Detection, Waiting, detect
from lapsus.annotators.judges import JURY, jury_of
from lapsus.annotators.language_model import LanguageModel
from lapsus.annotators.language_model.asking import Asking
from lapsus.annotators.library import is_language_model, refuse_unknown
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.model import EMPTY, Answer, Entry, Judgment, Scheme
from lapsus.mutation.result import Found, JudgeStress, Miss, Share, Stress
from lapsus.mutation.sources import Guide, RulePlanter, Spot, example_plants, good_spots, model_plants
from lapsus.mutation.turn_rules import Plant, named
from lapsus.schemes import AnyScheme, load_scheme
from lapsus.trust.estimators import around

EACH = 30
MISSES = 10
"""How many misses of the weakest type are kept to look at."""


def stress(
    data: Any,
    judges: Sequence[AnyModel],
    *,
    scheme: AnyScheme = "breakdown",
    planter: str | None = None,
    each: int = EACH,
    good: Sequence[str] = (),
    jury: bool = False,
    draw: int = 0,
    only: str | None = None,
    language: str | None = None,
    profile: str | None = None,
    stop: threading.Event | None = None,
    leave: Callable[[list[Waiting]], None] = lambda waiting: None,
    leave_planter: Callable[[list[Waiting]], None] = lambda waiting: None,
    progress: Callable[[], None] = lambda: None,
    **asking: Unpack[Asking],
) -> Stress:
    """Errors planted in the good units of `data`, and the share of each type that each judge finds.

    `judges` are annotators, models' files, shipped models or language models; with `jury` also all of them together.
    `each`: so many errors of each type. `good`: labels of the scheme that are no errors. `planter` is a language model
    that plants too. Where the data hold people's judgments, only units that most people found good are used. The same
    `draw` plants the same errors. `leave` and `leave_planter` hear what language models are to be asked, before
    anything is sent.
    """
    refuse_unknown(asking, stress)
    guideline = load_scheme(scheme)
    if not judges:
        raise UsageError("stress-needs-judge", hint="stress-name-judge")
    entries = [entry for entry in read(data, only=only, language=language) if entry.document is not None]
    plants = planted(
        entries,
        Guide.of(guideline, good),
        each=each,
        seed=draw,
        planter=planter,
        stop=stop,
        leave=leave_planter,
        asking=asking,
    )
    found = [_detection(judge, plants, guideline, profile, stop, asking) for judge in judges]
    leave([waiting for one in found for waiting in one.take_stock()])
    answers: dict[str, dict[str, Judgment]] = {}
    for judge, one in zip(judges, found, strict=True):
        name, said = _answers(one, progress)
        answers[str(judge) if not name or name in answers else name] = said
    if jury and len(answers) > 1:
        answers[JURY] = _together(answers, guideline)
    told = tuple(_figures(name, plants, said) for name, said in answers.items())
    used = len({plant.source for plant in plants})
    counts = Counter(bool(plant.type) for plant in plants)
    return Stress(guideline.id, guideline.version, draw, used, counts[True], counts[False], told)


def planted(
    entries: Sequence[Entry],
    guide: Guide,
    *,
    each: int = EACH,
    seed: int = 0,
    planter: str | None = None,
    stop: threading.Event | None = None,
    leave: Callable[[list[Waiting]], None] = lambda waiting: None,
    asking: Asking | None = None,
) -> list[Plant]:
    """Planted errors and as many units left as they were, in an order and under ids that tell nothing."""
    rng = random.Random(f"stress {seed}")
    spots = good_spots(entries, guide)
    if not spots:
        raise InputError("stress-no-good-unit", hint="stress-what-is-good", id=guide.scheme.id)
    rng.shuffle(spots)
    made: dict[str, list[Plant]] = defaultdict(list)
    rules = RulePlanter(guide, spots)
    for type, rule, expected in rules.types():
        found = _by_rule(rules, spots, type, rule, expected, rng)
        made[type] += [plant for plant, _ in zip(found, range(each), strict=False)]
    for plant in example_plants(guide, spots, rng):
        made[plant.type].append(plant)
    if planter is not None:
        types = dict.fromkeys(type for _, type, _ in guide.errors())
        wanted = {type: rng.sample(spots, min(each, len(spots))) for type in types}
        make = partial(find_annotator, planter, stop=stop, **(asking or {}))
        first = make(guide.scheme)
        if not isinstance(first, LanguageModel):
            raise UsageError("stress-planter", planter=planter)
        leave([Waiting(first, sum(map(len, wanted.values())), 0, None)])
        for plant in model_plants(guide, wanted, make):
            made[plant.type].append(plant)
    spoilt = [plant for plants in made.values() for plant in _mixed(plants, each, rng)]
    if not spoilt:
        raise InputError("stress-nothing-planted", hint="stress-give-examples", id=guide.scheme.id)
    untouched = [spot.as_it_was(guide.scheme) for spot in rng.sample(spots, min(len(spots), len(spoilt)))]
    every = [*spoilt, *untouched]
    rng.shuffle(every)
    return [named(plant, f"u{number:05}") for number, plant in enumerate(every, 1)]


def _by_rule(
    rules: RulePlanter, spots: Sequence[Spot], type: str, rule: str, expected: Any, rng: random.Random
) -> Iterator[Plant]:
    """From one unit of each document, then from a second one of each, and so on: few draws are of one document."""
    turns: dict[str, int] = defaultdict(int)
    rank = {}
    for place, spot in enumerate(spots):
        rank[place] = (turns[spot.unit.document], rng.random())
        turns[spot.unit.document] += 1
    for place in sorted(rank, key=lambda one: rank[one]):
        if (plant := rules.plant(spots[place], type, rule, expected, rng)) is not None:
            yield plant


def _mixed(plants: Sequence[Plant], each: int, rng: random.Random) -> list[Plant]:
    """At most `each`, as evenly as may be of every means."""
    by_means: dict[str, list[Plant]] = defaultdict(list)
    for plant in plants:
        by_means[str(plant.means)].append(plant)
    for some in by_means.values():
        rng.shuffle(some)
    chosen: list[Plant] = []
    while len(chosen) < each and any(by_means.values()):
        chosen += [some.pop() for some in by_means.values() if some][: each - len(chosen)]
    return chosen


def _detection(
    judge: AnyModel,
    plants: Sequence[Plant],
    scheme: Scheme,
    profile: str | None,
    stop: threading.Event | None,
    asking: Asking,
) -> Detection:
    entries = [Entry(plant.document.id, plant.document) for plant in plants]
    how: Asking = asking if isinstance(judge, str) and is_language_model(judge) else {}
    return detect(entries, model=judge, scheme=scheme, profile=profile, stop=stop, **how)


def _answers(found: Detection, progress: Callable[[], None]) -> tuple[str, dict[str, Judgment]]:
    """Who judged, and what of each document."""
    said = {one.id: one.judgments[0] for one in found.entries(progress=progress) if one.judgments}
    for model in found.asked:
        if model.ended is not None:
            raise model.ended
    return ", ".join(dict.fromkeys(one.annotator for one in said.values())), said


def _together(answers: Mapping[str, Mapping[str, Judgment]], scheme: Scheme) -> dict[str, Judgment]:
    every = [
        msgspec.structs.replace(judgment, annotator=name)
        for name, said in answers.items()
        for judgment in said.values()
    ]
    return {one.document: one for one in jury_of(every, scheme)}


# The figures.


def _figures(judge: str, plants: Sequence[Plant], said: Mapping[str, Judgment]) -> JudgeStress:
    by_type: dict[str, list[Plant]] = defaultdict(list)
    for plant in plants:
        by_type[plant.type].append(plant)
    untouched = by_type.pop("", [])
    rows, alarms = [], np.zeros(len(untouched), dtype=bool)
    for type, some in by_type.items():
        expected = {one.expected.anywhere() for one in some if one.expected is not None}
        false = np.array(
            [any(one.is_met(_said(plant, said)) for one in expected) for plant in untouched], bool
        )
        alarms |= false
        rows.append(Found(type, *_share(some, _hits(some, said)), false_alarms=_share(untouched, false)[1]))
    spoilt = [plant for some in by_type.values() for plant in some]
    means = [
        Found(name, *_share(some, _hits(some, said)))
        for name in ("rule", "example", "model")
        if (some := [plant for plant in spoilt if plant.means == name])
    ]
    rows.sort(key=lambda row: (row.share.value, row.type))
    total = Found("", *_share(spoilt, _hits(spoilt, said)), false_alarms=_share(untouched, alarms)[1])
    weakest = by_type[rows[0].type]
    missed = [plant for plant, hit in zip(weakest, _hits(weakest, said), strict=True) if not hit]
    unanswered = sum(plant.document.id not in said for plant in plants)
    misses = tuple(_miss(plant, said) for plant in missed[:MISSES])
    return JudgeStress(judge, total, tuple(rows), tuple(means), misses, unanswered)


def _hits(plants: Iterable[Plant], said: Mapping[str, Judgment]) -> list[bool]:
    return [plant.expected is not None and plant.expected.is_met(_said(plant, said)) for plant in plants]


def _said(plant: Plant, said: Mapping[str, Judgment]) -> Mapping[str, Answer]:
    judgment = said.get(plant.document.id)
    return EMPTY if judgment is None else judgment.answers


def _share(plants: Sequence[Plant], hits: Sequence[bool] | np.ndarray[Any, Any]) -> tuple[int, Any]:
    """How many there are and the share that was found, documents as clusters."""
    many = len(plants)
    if not many:
        return 0, Share(0.0, 0.0, 1.0)
    values = np.asarray(hits, dtype=np.float64)
    share = float(values.mean())
    _, place = np.unique([plant.source for plant in plants], return_inverse=True)
    groups = int(place.max()) + 1
    sums = np.bincount(place, values - share)
    variance = float((sums**2).sum()) / many**2 * groups / max(groups - 1, 1)
    # Units of one document that vary against one another are worth no more than as many of their own.
    variance = max(variance, share * (1 - share) / many)
    found = around(share, variance, groups - 1, groups, is_share=True)
    low, high = (0.0, 1.0) if found.low is None or found.high is None else (found.low, found.high)
    return many, Share(share, low, high)


def _miss(plant: Plant, said: Mapping[str, Judgment]) -> Miss:
    answers = {id: msgspec.to_builtins(answer) for id, answer in _said(plant, said).items()}
    asked = [one.text for one in plant.document.segments if one.role == "user"]
    return Miss(
        plant.type, str(plant.means), plant.source, plant.document.language or "", asked[-1] if asked else "",
        plant.before, plant.text, answers,
    )  # fmt: skip
