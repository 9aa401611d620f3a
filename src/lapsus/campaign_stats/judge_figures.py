"""Programs beside people in a campaign: agreement, test, calibration, confusion, corrected shares, cost and time."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lapsus.analysis.corpus import Corpus, load_corpus
from lapsus.analysis.estimate import Estimated, all_estimates
from lapsus.analysis.trust import Learned, learned_documents, only_drawn, people_and_judges
from lapsus.campaign_stats.campaign import CampaignStats, kept_result
from lapsus.model import ANONYMOUS, Judgment
from lapsus.model.votes import Votes
from lapsus.trust.figures import CalibrationBin, Confused, calibration, confusion, disagreements, sure_answers
from lapsus.trust.ranking import PeopleAndJudges, Standing, standings


class Cost(NamedTuple):
    """What a judge's answers cost."""

    tokens: int
    seconds: float | None
    """A unit, on average; None where nobody measured it."""
    paid: float | None = None
    """None where the price is not known of every answer, or currencies differ."""
    currency: str | None = None


class JudgeFigures(NamedTuple):
    """One program on one question."""

    program: int
    name: str
    units: int
    cost: Cost
    standing: Standing | None
    """None where people's answers cannot be told apart, or there are none."""
    estimates: tuple[Estimated, ...]
    """Of all units, and system by system."""
    confusion: tuple[Confused, ...]
    calibration: tuple[CalibrationBin, ...]
    apart: tuple[int, ...]
    """Units that it sees otherwise than people, the biggest disagreements first."""
    learned: Learned | None = None
    """Where it learned from documents that it is compared on."""


class Judges(NamedTuple):
    """All programs of a campaign on one question."""

    judges: tuple[JudgeFigures, ...] = ()
    """The best first, as far as that can be told."""
    beside: tuple[Standing, ...] = ()
    """All judges as one, where there are several; a constant and a random judge."""
    people: int = 0
    unnamed: bool = False
    """Whether the data do not say who of the people gave which answer, so that nothing can be tested."""


def unaided_corpus(stats: CampaignStats) -> tuple[Corpus, PeopleAndJudges]:
    """What people and programs said, the judgments that are drawn from alone, and who they are.

    Without the answers of people who had a program's in view: they say little about whether it is right.
    """
    whole = load_corpus(list(stats.store.exports.export(stats.name, names="names", programs=True)))
    unaided = [one for one in whole.judgments if "suggested" not in one.metadata]
    corpus = Corpus(whole.name, whole.documents, unaided)
    who = people_and_judges(corpus, stats.scheme, by_name=False, need_people=False, need_judges=False)
    return only_drawn(corpus, stats.scheme, who.people), who


@kept_result(Judges())
def judges_of(stats: CampaignStats) -> Judges:
    """Every program that judged, beside people; worked out once for the same figures."""
    programs = {name: id for id, name in stats.store.browsing.programs(stats.name).items()}
    if not programs:
        return Judges()
    corpus, who = unaided_corpus(stats)
    votes = corpus.votes(stats.scheme, stats.question)
    here = PeopleAndJudges(
        *(tuple(name for name in names if name in votes.annotators) for names in (who.people, who.judges))
    )
    unnamed = any(name.startswith(ANONYMOUS) for name in here.people)
    found = (
        standings(stats.question.id, votes, here, with_jury=True)
        if here.people and here.judges and not unnamed
        else []
    )
    stand = {one.judge: one for one in found}
    numbers = {(row.document, row.segment): row.number for row in stats.store.units.places(stats.name)}
    learned = learned_documents(corpus, stats.scheme, here)
    ordered = [name for name in stand or here.judges if name in programs]
    judges = tuple(
        _judge(
            stats,
            corpus,
            votes,
            PeopleAndJudges(here.people, (name,)),
            programs[name],
            stand.get(name),
            numbers,
        )._replace(learned=learned.get(name))
        for name in ordered
    )
    beside = tuple(one for one in found if one.judge not in programs)
    return Judges(judges, beside, len(here.people), unnamed)


def _judge(
    stats: CampaignStats,
    corpus: Corpus,
    votes: Votes,
    who: PeopleAndJudges,
    program: int,
    standing: Standing | None,
    numbers: Mapping[tuple[str, str | None], int],
) -> JudgeFigures:
    name, question = who.judges[0], stats.question.id
    own = [one for one in corpus.judgments if one.annotator == name and question in one.answers]
    cost = _cost(own)
    if not who.people:
        return JudgeFigures(program, name, len(own), cost, None, (), (), (), ())
    shares = {one.unit: dict(one.distributions.get(question, {})) for one in own}
    told = disagreements(votes, who, top=len(votes.units))
    apart = [one for one in told if one.judge_agreement < one.people_agreement]
    return JudgeFigures(
        program,
        name,
        len(own),
        cost,
        standing,
        tuple(all_estimates(corpus, stats.scheme, [name], questions=[question], by="system")),
        tuple(confusion(votes, who)),
        tuple(calibration(sure_answers(votes, who, shares))),
        tuple(numbers[one.document, one.segment] for one in apart if (one.document, one.segment) in numbers),
    )


def _cost(judgments: Sequence[Judgment]) -> Cost:
    tokens, seconds = 0, [one.seconds for one in judgments if one.seconds is not None]
    for judgment in judgments:
        counted = judgment.metadata.get("tokens")
        tokens += sum(counted.values()) if isinstance(counted, Mapping) else 0
    each = sum(seconds) / len(seconds) if seconds else None
    costs = [judgment.metadata.get("cost") for judgment in judgments]
    known = [one for one in costs if isinstance(one, Mapping)]
    if not known or len(known) < len(costs) or len({one["currency"] for one in known}) > 1:
        return Cost(tokens, each)
    return Cost(tokens, each, sum(one["amount"] for one in known), known[0]["currency"])
