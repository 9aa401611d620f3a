"""The rules behind the signs: each is shown a scene and gives back the words it saw the sign in, or None.

They need no model, no dictionary and no other library. What they mean is said in `signs.yaml`.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from lapsus.annotators.features.cues import SurfaceCues, TurnContext, alikeness, share_topic
from lapsus.model import Unit, in_language
from lapsus.word_files import word_file

_SAME, _ALIKE, _KNOWN = 0.9, 0.5, 0.3
"""Shares of words in common from which two utterances say the same, almost the same, or much of it."""
_NEAR = 2
"""Turns of each side that make up the present subject."""
_SHORT, _LONG = 2, 30
_OPEN = frozenset({"what", "who", "where", "when", "why", "how", "how-many", "which"})
_CLEAR = frozenset({"who", "where", "when", "why", "how-many"})
"""Questions whose answers can be told by cues."""


def opens(scene: TurnContext) -> str | None:
    """The first turn."""
    return "" if not scene.own and not scene.others else None


def repeats_itself(scene: TurnContext) -> str | None:
    """The system said the same before."""
    return _most_alike(scene.turn, scene.own, _SAME, 1.01)


def repeats_again(scene: TurnContext) -> str | None:
    """The system said the same at least twice before."""
    times = sum(alikeness(scene.turn, earlier) >= _SAME for earlier in scene.own)
    return scene.turn.text if times > 1 else None


def rephrases_itself(scene: TurnContext) -> str | None:
    """The system said almost the same before."""
    return _most_alike(scene.turn, scene.own, _ALIKE, _SAME)


def echoes_user(scene: TurnContext) -> str | None:
    """The turn is made of the user's words."""
    if scene.user is None or len(scene.user.words) < 2 or "greeting" in scene.turn.does:
        return None
    return _most_alike(scene.turn, (scene.user,), 0.6, 1.01)


def stutters(scene: TurnContext) -> str | None:
    """A run of words comes twice."""
    words = scene.turn.words
    size = 6 if scene.cues.spaceless else 3
    seen: dict[tuple[str, ...], int] = {}
    for place in range(len(words) - size + 1):
        run = words[place : place + size]
        if seen.setdefault(run, place) <= place - size:
            return scene.turn.text
    return None


def ignores_question(scene: TurnContext) -> str | None:
    """The user asked, and the turn neither answers in form nor takes up a word of the question."""
    user, turn = scene.user, scene.turn
    if user is None or user.asks is None or share_topic(user.keywords, turn.keywords):
        return None
    evades = turn.asks is not None or user.asks in _CLEAR or user.asks == "yes-no"
    return user.text if evades and not (scene.cues.answered(user, turn) and turn.asks is None) else None


def wrong_answer(scene: TurnContext) -> str | None:
    """The question wants a time, a place, a person, a number or a reason, and there is none."""
    user, turn = scene.user, scene.turn
    if user is None or user.asks not in _CLEAR or turn.asks is not None or "unsure" in turn.does:
        return None
    return None if scene.cues.answered(user, turn) else user.text


def yes_no_to_open(scene: TurnContext) -> str | None:
    """Yes or no to a question that is open."""
    user, turn = scene.user, scene.turn
    is_open = user is not None and user.asks in _OPEN
    bare = bool({"agree", "deny"} & turn.does) and len(turn.keywords) < _SHORT
    return user.text if user is not None and is_open and bare else None


def asks_back(scene: TurnContext) -> str | None:
    """A question for a question."""
    user = scene.user
    return user.text if user is not None and user.asks and scene.turn.asks else None


def asks_known(scene: TurnContext) -> str | None:
    """Asks for what the user has just said: every keyword, and many other words, are the user's own."""
    user, turn = scene.user, scene.turn
    if user is None or user.asks or not turn.asks or not turn.keywords:
        return None
    known = turn.keywords <= user.keywords and alikeness(turn, user) >= _KNOWN
    return user.text if known else None


def leaves_topic(scene: TurnContext) -> str | None:
    """Nothing that either side said of late comes up, though there was something to take up."""
    user, turn = scene.user, scene.turn
    if user is None or not user.keywords or not turn.keywords:
        return None
    return user.text if share_topic(turn.keywords, _subject(scene)) is None else None


def keeps_topic(scene: TurnContext) -> str | None:
    """A keyword of the user's last utterance comes up."""
    return share_topic(scene.turn.keywords, scene.user.keywords) if scene.user else None


def old_topic(scene: TurnContext) -> str | None:
    """A keyword from long before comes up, and none from just before."""
    if share_topic(scene.turn.keywords, _subject(scene)):
        return None
    earlier = _keywords((*scene.own[_NEAR:], *scene.others[_NEAR:]))
    return share_topic(scene.turn.keywords, earlier)


def greets_late(scene: TurnContext) -> str | None:
    """A greeting after a few turns, to a user who did not greet."""
    late = len(scene.own) > 1 and not (scene.user and "greeting" in scene.user.does)
    return _does(scene, "greeting") if late else None


def misses_greeting(scene: TurnContext) -> str | None:
    """The user greets, and the turn does not."""
    user = scene.user
    missed = user is not None and "greeting" in user.does and "greeting" not in scene.turn.does
    return (
        user.text if user is not None and missed and len(scene.others) == 1 and not scene.turn.asks else None
    )


def greets_back(scene: TurnContext) -> str | None:
    """The user greets, and so does the turn."""
    return _does(scene, "greeting") if scene.user and "greeting" in scene.user.does else None


def parts_early(scene: TurnContext) -> str | None:
    """Takes leave of a user who stays."""
    return _does(scene, "farewell") if scene.user and "farewell" not in scene.user.does else None


def contradicts_itself(scene: TurnContext) -> str | None:
    """Says of the same thing that it is and is not so."""
    return next((earlier.text for earlier in scene.own if _opposed(scene, scene.turn, earlier)), None)


def contradicts_user(scene: TurnContext) -> str | None:
    """Says the opposite of what the user has just said."""
    user = scene.user
    return user.text if user is not None and not user.asks and _opposed(scene, scene.turn, user) else None


def at_odds(scene: TurnContext) -> str | None:
    """Both of two opposite words in one turn."""
    holds, turn = scene.cues.holds, scene.turn
    return next((f"{a} – {b}" for a, b in scene.cues.opposites if holds(turn, a) and holds(turn, b)), None)


def empty_thanks(scene: TurnContext) -> str | None:
    """Thanks for a question or a complaint."""
    asked = scene.user is not None and bool(scene.user.asks or "confused" in scene.user.does)
    return _does(scene, "thanks") if asked else None


def empty_apology(scene: TurnContext) -> str | None:
    """Apologises where nothing went wrong."""
    calm = scene.user is not None and not {"confused", "deny", "rude"} & scene.user.does
    return _does(scene, "apology") if calm else None


def too_short(scene: TurnContext) -> str | None:
    """Is hardly a word long."""
    words = len(scene.turn.words) // (2 if scene.cues.spaceless else 1)
    return scene.turn.text if words <= _SHORT and not {"greeting", "question"} & scene.turn.does else None


def too_long(scene: TurnContext) -> str | None:
    """More than is said in a chat."""
    return "" if len(scene.turn.words) > _LONG * (2 if scene.cues.spaceless else 1) else None


def unfinished(scene: TurnContext) -> str | None:
    """Ends where no sentence ends; こんにちは does not."""
    return None if "greeting" in scene.turn.does else _does(scene, "unfinished")


def garbled(scene: TurnContext) -> str | None:
    """No letter at all, or the same word twice in a row."""
    words = scene.turn.words
    twice = not scene.cues.spaceless and any(a == b and not a.isdigit() for a, b in pairwise(words))
    return scene.turn.text if twice or not words else None


def user_lost(scene: TurnContext) -> str | None:
    """The user shows that the thread is lost."""
    return scene.user.text if scene.user and "confused" in scene.user.does else None


def ignores_trouble(scene: TurnContext) -> str | None:
    """The user has lost the thread, and the turn neither apologises nor takes up a word."""
    user = scene.user
    if user is None or "confused" not in user.does or "apology" in scene.turn.does:
        return None
    return None if share_topic(scene.turn.keywords, user.keywords) else user.text


def asks_on_topic(scene: TurnContext) -> str | None:
    """A question about what was said."""
    return keeps_topic(scene) if scene.turn.asks else None


def _does(scene: TurnContext, cue: str) -> str | None:
    return scene.turn.text if cue in scene.turn.does else None


_CUES: Final = {
    "announces-turn": "turn", "denies": "deny", "agrees": "agree", "unsure": "unsure", "rude": "rude",
    "asks": "question", "speaks-of-itself": "self", "speaks-of-you": "you", "feels": "feeling",
    "commands": "request",
}  # fmt: skip
"""Rules that look for one cue in the turn alone, and which it is."""
RULES: dict[str, Callable[[TurnContext], str | None]] = dict(
    (rule, partial(_does, cue=_CUES[rule])) if isinstance(rule, str) else (rule.__name__.replace("_", "-"), rule)
    for rule in (
        opens, repeats_itself, repeats_again, rephrases_itself, echoes_user, stutters, ignores_question,
        wrong_answer, yes_no_to_open, asks_back, asks_known, leaves_topic, keeps_topic, old_topic,
        "announces-turn", greets_late, misses_greeting, greets_back, parts_early, contradicts_itself,
        contradicts_user, at_odds, "denies", "agrees", empty_thanks, empty_apology, "unsure", too_short,
        too_long, unfinished, garbled, "rude", user_lost, ignores_trouble, "asks", asks_on_topic,
        "speaks-of-itself", "speaks-of-you", "feels", "commands",
    )
)  # fmt: skip
"""Every rule by its name."""


def _most_alike(turn: SurfaceCues, earlier: Iterable[SurfaceCues], low: float, high: float) -> str | None:
    """The utterance most like the turn, where it is as alike as asked for; short ones are always alike."""
    found = [(alikeness(turn, other), other.text) for other in earlier if len(turn.words) > 1]
    likeness, text = max(found, default=(0.0, ""), key=lambda pair: pair[0])
    return text if low <= likeness < high else None


def _subject(scene: TurnContext) -> frozenset[str]:
    return _keywords((*scene.own[:_NEAR], *scene.others[:_NEAR]))


def _keywords(looks: Iterable[SurfaceCues]) -> frozenset[str]:
    return frozenset(word for seen in looks for word in seen.keywords)


def _opposed(scene: TurnContext, turn: SurfaceCues, earlier: SurfaceCues) -> bool:
    """The same subject, once with and once without a not; or opposite words about it."""
    if turn.asks or earlier.asks:
        return False
    common = turn.keywords & earlier.keywords
    if not common:
        return False
    for one, other in scene.cues.opposites:
        now = scene.cues.holds(turn, one), scene.cues.holds(turn, other)
        then = scene.cues.holds(earlier, one), scene.cues.holds(earlier, other)
        if sum(now) == sum(then) == 1 and now != then:
            return True
    nearly = len(common) >= 0.5 * max(len(turn.keywords | earlier.keywords), 1)
    return nearly and ("not" in turn.does) != ("not" in earlier.does)


class Sign(NamedTuple):
    """Something seen in a turn, and the words it was seen in."""

    rule: str
    quote: str


def signs(unit: Unit) -> list[Sign]:
    """Every sign seen in a turn, in the order of the rules."""
    return signs_in(TurnContext.of(unit))


def signs_in(scene: TurnContext) -> list[Sign]:
    """The same, of a turn that was looked at already."""
    found = ((name, rule(scene)) for name, rule in RULES.items())
    return [Sign(name, quote) for name, quote in found if quote is not None]


def meaning(sign: Sign, language: str) -> str:
    """What a sign means, in the reader's language."""
    words = word_file("lapsus.annotators.features", "signs.yaml")[sign.rule]
    # Not str.format: a quote may hold braces of its own.
    return str(in_language(words, language)).replace("{quote}", sign.quote)
