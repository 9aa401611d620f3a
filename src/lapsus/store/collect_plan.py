"""`collect:` in a plan: people talk to systems, and the talks become the campaign's documents; the base of plans."""

from typing import Final, Literal, TypeAlias

import msgspec

from lapsus.errors import InvalidError
from lapsus.model import EMPTY, Text, freeze

Side: TypeAlias = Literal["system", "user"]
Masked: TypeAlias = Literal["email", "number"]
PERSON: Final = "person"
"""The system that is another person."""
MOST_EXCHANGES: Final = 200
LONGEST_PROMPT: Final = 20_000


class PlanRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Immutable; a mistyped key is an error."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            if type(value := getattr(self, field)) is dict:
                msgspec.structs.force_setattr(self, field, freeze(value))


class System(PlanRecord, frozen=True):
    """Who is talked to. People are never told which."""

    use: str
    """`bot`, `person`, `PROVIDER:MODEL`, `http://…`, `rasa:http://…`, or the name of an installed Python function."""
    name: str = ""
    """What it is called in the documents; as in `use` where it is not said."""
    prompt: str = ""
    """What a language model is told, or a person who speaks for the system."""
    opening: Text = EMPTY
    """How it opens, by language, where it opens; else it is asked for its first words."""
    endpoint: str = ""
    """Where a language model is asked, unless its provider has one address."""
    key_env: str = ""
    """The environment variable with its key; LAPSUS_API_KEY where it is not said."""
    price: tuple[float, float] = (0.0, 0.0)
    """What a million tokens cost, those read and those written."""
    people: tuple[str, ...] = ()
    """Of `person`: who speaks for the system; whoever comes second where nobody is named."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.use.strip() or len(self.called) > 100:
            raise InvalidError("system-needs-use")
        if len(self.prompt) > LONGEST_PROMPT or min(self.price) < 0:
            raise InvalidError("system-prompt-price")
        if self.people and self.use != PERSON:
            raise InvalidError("system-people-only-person")

    @property
    def called(self) -> str:
        """Its name in documents, exports and figures."""
        return self.name or self.use


class Collect(PlanRecord, frozen=True):
    """How people talk to systems."""

    systems: tuple[str | System, ...]
    """Each person gets the one that was talked to least; nobody is told which."""
    language: str = "en"
    opens: Side = "system"
    exchanges: int = 10
    """Turns of each side; the opening of a system comes before them."""
    dialogues: int = 0
    """How many are wanted in all; 0: no limit. How many of one person: `per_person` of the plan."""
    topics: tuple[Text, ...] = ()
    """What to talk about or which role to play, by language; each is given equally often."""
    least_exchanges: int = 0
    """After so many a person may end the talk; 0: after all."""
    least_minutes: float = 0.0
    """And not before so many minutes."""
    ask: bool = False
    """Whether those who talk judge by the campaign's guideline: each turn after it, or the whole at the end."""
    mask: tuple[Masked, ...] = ()
    """What is masked in what people write before it is kept or sent on."""
    seconds: int = 60
    """How long a system may take for a reply before it is asked again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [system.called for system in self.known]
        if not names or len(set(names)) != len(names):
            raise InvalidError("collect-systems-named")
        if not 1 <= self.exchanges <= MOST_EXCHANGES or not 0 <= self.least_exchanges <= self.exchanges:
            raise InvalidError("collect-exchanges", most=MOST_EXCHANGES)
        if not (0 <= self.dialogues <= 1_000_000 and 0 <= self.least_minutes <= 1000):
            raise InvalidError("collect-numbers")
        if not 1 <= self.seconds <= 600:
            raise InvalidError("collect-seconds")

    @property
    def known(self) -> tuple[System, ...]:
        """The systems, each with all that is said of it."""
        return tuple(System(one) if isinstance(one, str) else one for one in self.systems)

    def system(self, name: str) -> System:
        """The system of that name."""
        return next(one for one in self.known if one.called == name)

    @property
    def length(self) -> int:
        """Turns of a whole talk: 21 where the system opens and each side has ten more."""
        return 2 * self.exchanges + (self.opens == "system")

    def side_at(self, position: int) -> Side:
        """Whose turn it is; they take turns from the opening on."""
        other: Side = "user" if self.opens == "system" else "system"
        return self.opens if position % 2 == 0 else other

    def exchanged(self, turns: int) -> int:
        """How many exchanges are complete after so many turns."""
        return (turns - (self.opens == "system")) // 2 if turns else 0
