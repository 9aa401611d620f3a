"""How an operator runs the guard."""

from typing import Final, Literal, NamedTuple, TypeAlias

Then: TypeAlias = Literal["choose", "regenerate", "flag", "pass"]
Stream: TypeAlias = Literal["hold", "pass"]
Fail: TypeAlias = Literal["open", "closed"]
THEN: Final = ("choose", "regenerate", "flag", "pass")
STREAM: Final = ("hold", "pass")
FAIL: Final = ("open", "closed")


class Settings(NamedTuple):
    """What is done with replies, and how much is taken on at once."""

    upstream: str = ""
    """Address of the system behind it, such as `http://127.0.0.1:8080/v1`; empty: only `/check` is there."""
    then: Then = "choose"
    """`choose`: the best of several replies; `regenerate`: ask again while the reply is flagged; `flag`: send it as it
    is, and say so in a header; `pass`: send it before it is judged."""
    candidates: int = 3
    """How many replies are asked for at most."""
    stream: Stream = "hold"
    """Whether replies that are streamed wait until they are judged."""
    fail: Fail = "open"
    """What becomes of a reply that cannot be judged: it is sent, or refused."""
    at_once: int = 64
    """Requests under way at most; further ones are told to come again."""
    threads: int = 2
    """Replies judged side by side."""
    timeout: float = 60.0
    """Seconds that the system behind it has."""
    largest: int = 1_000_000
    """Bytes of a request."""
