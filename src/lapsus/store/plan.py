"""Plans: a campaign as one decides on it. A file in git, a form in the browser or a command all give this."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import regex

from lapsus.errors import InvalidError
from lapsus.model import EMPTY, Answer, TargetRule, Text
from lapsus.notices import Notice
from lapsus.store.collect_plan import Collect, PlanRecord

Block: TypeAlias = Literal["training", "checks", "gold"]
"""Why the answers about a unit are known."""

_SLUG = regex.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CODE = regex.compile(r"[\w.:-]{1,60}")
LONGEST_TITLE = 200
LONGEST_PAGE = 20_000


def short_name(*texts: str) -> str:
    """A short name made from the first of the texts that has Latin letters or digits; else `campaign`."""
    plain = (unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower() for text in texts)
    made = ("-".join(regex.findall("[a-z0-9]+", text))[:60].strip("-") for text in plain)
    return next(filter(None, made), "campaign")


def is_short_name(name: str) -> bool:
    """Whether a campaign may have this name: it stands in addresses and commands."""
    return bool(_SLUG.fullmatch(name)) and len(name) <= 60


class Chain(PlanRecord, frozen=True):
    """Another campaign whose votes choose the units of this one, or whose talks are its documents, as they come in."""

    campaign: str
    rule: TargetRule | None = None
    """Which votes admit a unit; the scheme's own rule where none is given. After talks there is none."""


class Data(PlanRecord, frozen=True):
    """Where the documents are; paths start from the folder of the plan."""

    path: str
    format: str | None = None
    only: str | None = None
    """Only files whose path matches."""
    language: str | None = None


class Pilot(PlanRecord, frozen=True):
    """A first part of the documents, which comes before the rest is opened."""

    documents: int
    per_unit: int | None = None
    """How many people judge each unit of it; as many as later where it is not said."""

    def __post_init__(self) -> None:
        if not 1 <= self.documents <= 1_000_000 or not 1 <= (self.per_unit or 1) <= 1000:
            raise InvalidError("pilot-least-one-document")


class KnownUnit(PlanRecord, frozen=True):
    """A unit whose right answer is known, or several that are as good."""

    document: str
    answers: Mapping[str, Answer] | tuple[Mapping[str, Answer], ...]
    segment: str | None = None
    feedback: Text = EMPTY
    """What to tell those who practise on it."""

    @property
    def right(self) -> tuple[Mapping[str, Answer], ...]:
        """Each set of answers that is right. Questions that it leaves out may be answered in any way."""
        return self.answers if isinstance(self.answers, tuple) else (self.answers,)


class KnownUnits(PlanRecord, frozen=True):
    """Units whose answers are known, and what follows when somebody answers otherwise."""

    units: tuple[KnownUnit, ...] = ()
    file: str | None = None
    """A file of judged documents instead: one judgment a unit says what is right."""
    allow: int = 0
    """How many wrong answers nothing follows from. A unit's first answer counts."""
    then: Literal["nothing", "warn", "stop"] = "nothing"
    """Warn: a message. Stop: no more units; what the person holds goes back, what was judged stays."""
    say: Text = EMPTY
    """The message, instead of ours."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.units) == bool(self.file):
            raise InvalidError("known-answers-listed-under")
        if not 0 <= self.allow <= 10_000:
            raise InvalidError("allow-number-wrong-answers")


class Checks(KnownUnits, frozen=True):
    """Documents that everybody gets among the others."""

    every: int = 5
    """After how many documents one comes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.every <= 10_000:
            raise InvalidError("checks-come-after-every")


class Completion(PlanRecord, frozen=True):
    """What people get to show that they are done."""

    code: str
    url: str = ""

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise InvalidError("completion-code-1-60")
        if self.url and not self.url.startswith(("https://", "http://")):
            raise InvalidError("url-completion-begins-https")


class Learn(PlanRecord, frozen=True):
    """A judge that learns from the campaign while it runs, and suggests answers."""

    after: int = 100
    """How many units must be judged before it learns first."""
    every: int = 100
    """After how many more it learns again."""
    without: float = 0.2
    """The share of units, drawn at random, that are judged without a suggestion: by them it is measured."""
    uncertain_first: bool = True
    """Whether documents of which it is least sure are handed out first."""

    def __post_init__(self) -> None:
        if not (1 <= self.after <= 1_000_000 and 1 <= self.every <= 1_000_000):
            raise InvalidError("learn-after-every-numbers")
        if not 0.05 <= self.without <= 1:
            raise InvalidError("learn-without-share-units")


class Plan(PlanRecord, frozen=True):
    """A campaign as one decides on it."""

    name: str
    """Short name for addresses and commands: small letters, digits and hyphens."""
    scheme: str
    title: Text = EMPTY
    per_unit: int = 1
    """How many people judge each unit."""
    who: Literal["everybody", "named", "open"] = "everybody"
    """Everybody with an account; named people and those invited; or whoever comes with the campaign's link."""
    people: tuple[str, ...] = ()
    batch: int = 1
    """How many documents a person is given at a time."""
    order: Literal["random", "given"] = "random"
    seed: int = 0
    minutes: int = 60
    """After this long without a save, what a person has not judged goes to others."""
    chain: Chain | None = None
    show_votes: bool = False
    """Whether annotators see the votes of the campaign that this one is chained to."""
    data: str | Data | None = None
    all_turns: bool = False
    """Judge every unit, whatever the votes that come with the documents say."""
    guideline_language: str | None = None
    """The language of the guideline's text that people read; each document's own where it is not said."""
    texts: Literal["plain", "markdown"] = "plain"
    """How documents are shown: as they stand, or with Markdown as their users saw it."""
    walk: Literal["offered", "required"] = "offered"
    """Whether labels that are numbered must be asked one by one before an answer is submitted."""
    steps: Literal["offered", "required"] = "offered"
    """Whether the guideline's steps must be taken one after the other; else all tools may be had at once."""
    per_person: int = 0
    """How many documents one person judges at most, practice and checks aside; 0: as many as there are."""
    pilot: Pilot | None = None
    training: KnownUnits | None = None
    """Documents that everybody judges first, with feedback."""
    checks: Checks | None = None
    gold: KnownUnits | None = None
    """Units among the planned ones whose answers are known."""
    consent: Text = EMPTY
    """What people must agree to before they begin."""
    instructions: Text = EMPTY
    """What people read before they begin."""
    completion: Completion | None = None
    suggest: str | None = None
    """A program of the campaign whose answers people see as suggestions."""
    learn: Learn | None = None
    """A judge of the campaign's own, which suggests instead."""
    collect: Collect | None = None
    """People talk to systems here, and the talks are the documents."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for broken, what in self._broken():
            if broken:
                raise InvalidError(what, where=Notice("campaign", campaign=self.name))

    def _broken(self) -> Iterator[tuple[bool, str]]:
        yield not is_short_name(self.name), Notice("no-short-name-use")
        yield not 1 <= self.per_unit <= 1000, Notice("per-unit-1-1000")
        yield not 1 <= self.batch <= 100, Notice("batch-1-100-documents")
        yield not 1 <= self.minutes <= 100_000, Notice("minutes-1-100-000")
        yield not 0 <= self.per_person <= 1_000_000, Notice("per-person-documents")
        yield not -(2**63) <= self.seed < 2**63, Notice("seed-64-bits")
        yield bool(self.people) and self.who != "named", Notice("people-listed-only-where")
        yield self.show_votes and self.chain is None, Notice("show-votes-chain")
        yield any(len(words) > LONGEST_TITLE for words in self.title.values()), Notice("title-too-long")
        pages = (*self.consent.values(), *self.instructions.values())
        yield any(len(words) > LONGEST_PAGE for words in pages), Notice("consent-too-long")
        yield (
            self.learn is not None and self.suggest is not None,
            Notice("suggestions-come-one-leave"),
        )
        chained = self.chain is not None
        yield (
            chained and self.pilot is not None,
            Notice("pilot-not-chained"),
        )
        yield (
            chained and self.all_turns,
            Notice("all-turns-own-data"),
        )
        yield chained and self.data is not None, Notice("chain-no-data")
        given = chained or self.data is not None or self.pilot is not None or self.has_known
        yield self.collect is not None and given, Notice("collect-alone")

    @property
    def titles(self) -> Text:
        """The title in each language; the short name where there is none."""
        return self.title or {"en": self.name}

    @property
    def suggests(self) -> str | None:
        """The name of the program whose answers people see: the one that is named, or the campaign's own judge."""
        return self.suggest if self.learn is None else f"judge-{self.name}"

    @property
    def known(self) -> dict[Block, KnownUnits]:
        """What is known of units, by why."""
        blocks: dict[Block, KnownUnits | None] = {
            "training": self.training, "checks": self.checks, "gold": self.gold,
        }  # fmt: skip
        return {name: block for name, block in blocks.items() if block is not None}

    @property
    def has_known(self) -> bool:
        """Whether answers have to be compared with what is known."""
        return self.training is not None or self.checks is not None or self.gold is not None

    @property
    def pilot_per_unit(self) -> int:
        """How many people judge each unit of the pilot."""
        return self.per_unit if self.pilot is None else self.pilot.per_unit or self.per_unit

    @property
    def source(self) -> Data | None:
        """Where the documents are."""
        return Data(self.data) if isinstance(self.data, str) else self.data
