"""Further features of turns, by name: signs, moves, rare words and knowledge, what the readers of chat make of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.chat_reader import ChatReader
from lapsus.annotators.encoder.large_reader import LANGUAGE, large_reader
from lapsus.annotators.encoder.reader import GENERAL, passages_of
from lapsus.annotators.features.cues import SurfaceCues, TurnContext, look
from lapsus.annotators.features.evidence import evidence
from lapsus.annotators.features.moves import moves
from lapsus.annotators.features.sign_rules import RULES
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.annotators.library import default_model
from lapsus.annotators.model_files import fingerprint, read_model
from lapsus.errors import UsageError
from lapsus.language import plain_language
from lapsus.model import BACKGROUND, Unit
from lapsus.registry import did_you_mean

Matrix: TypeAlias = NDArray[np.float32]

SIGNS, MOVES, WORDS = "signs", "moves", "words"
READER, HIDDEN, LARGE = "reader", "hidden", "large"
"""What a shipped reader of chat says; what it makes of the reply before it says anything; what the large one says."""
READ_IN: Final = frozenset({"en", "ja"})
"""Languages with a shipped reader of chat."""
_DONE: Final = ("greeting", "farewell", "thanks", "agree", "deny", "unsure", "confused", "request", "turn")
"""What the user may have done before the turn."""
_ASKED: Final = ("yes-no", "what", "who", "where", "when", "why", "how", "how-many", "which", "other")
"""What the user may have asked."""
_RARE: Final = 11.0
"""The rarity, as a negative logarithm, from which a piece of a word is a rare one."""
_FAR: Final = 60
"""Turns that are looked back on."""


class FeatureSets:
    """Some of the further features, by name; an empty text is none of them.

    `languages` are those in which a shipped reader is asked: each has columns of its own, unknown (NaN) for units in
    other languages and for whole documents.
    """

    def __init__(self, names: str, languages: Iterable[str] = ()) -> None:
        self.names = tuple(name.strip() for name in names.split(",") if name.strip())
        for name in self.names:
            if name not in (known := sorted([*_SETS, READER, HIDDEN, LARGE])):
                raise UsageError("judge-knows-no-features", hint=did_you_mean(name, known), name=name)
        is_read = {READER, HIDDEN}.intersection(self.names)
        self.languages = tuple(sorted(READ_IN.intersection(languages))) if is_read else ()

    def rows(self, units: Sequence[Unit]) -> Matrix:
        """A row a unit."""
        blocks: list[Any] = [np.zeros((len(units), 0))]
        read = [_read(units, language) for language in self.languages]
        for name in self.names:
            if name in (READER, HIDDEN):
                blocks += [said if name == READER else inside for said, inside in read]
            else:
                blocks.append(_large(units) if name == LARGE else _SETS[name](units))
        return np.hstack([np.asarray(block, dtype=np.float32) for block in blocks])

    def evidence(self, unit: Unit) -> list[dict[str, Any]] | None:
        """The signs of a breakdown that a reader can check, as JSON values, where signs are among the features."""
        if SIGNS not in self.names or unit.target is None:
            return None
        return [
            {"sign": one.sign, "types": one.types, "quote": one.quote, "segments": one.segments}
            for one in evidence(unit)
        ]

    @property
    def readers(self) -> dict[str, str]:
        """The fingerprint of the reader of each language: what was fitted on one fits no other."""
        known = {language: shipped_reader(language)[1] for language in self.languages}
        return known | {LARGE: large_reader().digest} if LARGE in self.names else known


def _signs(units: Sequence[Unit]) -> list[list[float]]:
    return [_sign_row(unit) for unit in units]


def _sign_row(unit: Unit) -> list[float]:
    if unit.target is None:
        return [0.0] * (len(RULES) + len(_DONE) + len(_ASKED) + 3)
    scene = TurnContext.of(msgspec.structs.replace(unit, context=unit.context[-_FAR:]))
    user = scene.user
    seen = [float(rule(scene) is not None) for rule in RULES.values()]
    done = [float(user is not None and cue in user.does) for cue in _DONE]
    asked = [float(user is not None and user.asks == kind) for kind in _ASKED]
    return [*seen, *done, *asked, float(user is None), _shared(scene.turn, user), _shared_before(scene)]


def _shared(turn: SurfaceCues, user: SurfaceCues | None) -> float:
    """The share of a turn's keywords that the user has just said."""
    return len(turn.keywords & user.keywords) / len(turn.keywords) if user and turn.keywords else 0.0


def _shared_before(scene: TurnContext) -> float:
    said = {word for seen in (*scene.own, *scene.others) for word in seen.keywords}
    return len(scene.turn.keywords & said) / len(scene.turn.keywords) if scene.turn.keywords else 0.0


def _words(units: Sequence[Unit]) -> list[list[float]]:
    """How rare words are, and how much of a text that is there to rest on is made use of."""
    said = [unit.target.text if unit.target else "" for unit in units]
    return [
        [*_rarity(costs), *_known(unit)]
        for unit, costs in zip(units, sentence_vectors().rarities(said), strict=True)
    ]


def _rarity(costs: Sequence[float]) -> list[float]:
    some = np.array(costs or [0.0])
    return [
        float(some.mean()),
        float(some.max()),
        float(np.log1p((some > _RARE).sum())),
        float(np.log1p(len(costs))),
    ]


def _known(unit: Unit) -> list[float]:
    """Whether there is knowledge, the share of the turn that is of it, of it in the turn, and of it not said before."""
    told = [segment.text for segment in unit.context if segment.role in BACKGROUND]
    if not told or unit.target is None:
        return [0.0, 0.0, 0.0, 0.0]
    known = {word for text in told for word in look(text, unit.language).keywords}
    before = {
        word
        for one in unit.context
        if one.role not in BACKGROUND
        for word in look(one.text, unit.language).keywords
    }
    turn = look(unit.target.text, unit.language).keywords
    both = turn & known
    return [
        1.0,
        len(both) / max(len(turn), 1),
        len(both) / max(len(known), 1),
        len(both - before) / max(len(turn), 1),
    ]


def _read(units: Sequence[Unit], language: str) -> tuple[Matrix, Matrix]:
    """What the shipped reader of a language says of turns in it, and what it makes of them."""
    mine = _turns_in(units, language)
    read = shipped_reader(language)[0].read([passages_of(units[place])[0] for place in mine], GENERAL)
    said, inside = (_among(units, mine, rows) for rows in read)
    return said, inside


def _large(units: Sequence[Unit]) -> Matrix:
    """What the large reader says of English turns."""
    mine = _turns_in(units, LANGUAGE)
    return _among(units, mine, large_reader().said([passages_of(units[place])[0] for place in mine]))


def _turns_in(units: Sequence[Unit], language: str) -> list[int]:
    return [
        place
        for place, unit in enumerate(units)
        if unit.target is not None and plain_language(unit.language) in ("", language)
    ]


def _among(units: Sequence[Unit], mine: Sequence[int], rows: NDArray[np.float64]) -> Matrix:
    """Rows of some units in their places; those of the others are unknown."""
    found = np.full((len(units), rows.shape[1]), np.nan, dtype=np.float32)
    found[mine] = rows
    return found


@cache
def shipped_reader(language: str) -> tuple[ChatReader, str]:
    """The reader of a language that is shipped, and its fingerprint."""
    _, state = read_model(default_model(language))
    arrays = {
        name.removeprefix("reader."): array
        for name, array in state.arrays.items()
        if name.startswith("reader.")
    }
    kept = state._replace(data=state.data["reader_data"], arrays=arrays)
    return ChatReader(kept), fingerprint(state)


_SETS: Mapping[str, Callable[[Sequence[Unit]], Any]] = {SIGNS: _signs, MOVES: moves, WORDS: _words}
