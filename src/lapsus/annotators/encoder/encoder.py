"""The default detector: a pretrained encoder reads, a small calibration says what people would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.breakdown import ARGMAX, BreakdownAnnotator, decision
from lapsus.annotators.cases import Example, shares
from lapsus.annotators.encoder.calibration import (
    HELD,
    LOGITS,
    Matrix,
    Seen,
    fit_weights,
    mean_before,
    rows_of,
    shares_of,
)
from lapsus.annotators.encoder.chat_reader import ChatReader
from lapsus.annotators.encoder.large_reader import LANGUAGE, LargeReader, is_installed, large_reader
from lapsus.annotators.encoder.reader import HOME, Memory, Reader, feature_rows, passages_of
from lapsus.annotators.library import default_model, need_above_zero
from lapsus.annotators.model_files import State, read_model
from lapsus.errors import UsageError
from lapsus.language import plain_language
from lapsus.model import Unit
from lapsus.notices import Notice
from lapsus.registry import did_you_mean

BY_PROFILE: Final = "profile"
"""The decision rule that goes with the profile."""
OWN: Final = "own"
"""What a profile is called that was fitted here from the main one. From another, it keeps that one's name."""
SMALL, LARGE = "small", "large"
"""What readers are called where one is asked for."""
_READER, _PROFILE = "reader.", "profile."
_AT_ONCE = 256


class Profile(NamedTuple):
    """How one corpus was judged: the calibration, and the rule that serves its measures best."""

    weights: Matrix
    rule: str
    view: str = HOME
    """How the reader looks at turns for it."""


class Encoder(BreakdownAnnotator):
    """Reads a turn and what came before it, and says how people's votes would fall.

    Fitting does not touch the encoder, which is shipped: it fits the calibration to the data, starting from the
    shipped one. A few dialogues are enough to adapt it to how they were judged.
    """

    method = "encoder"
    title = "the default: a pretrained sentence encoder with a calibration; comes fitted, adapts to a few dialogues"
    adapts = True
    adaptable = ("decide", "profile", "held", "reader")
    uses_words = False

    def __init__(
        self, *, profile: str = "", held: float = HELD, decide: str = BY_PROFILE, reader: str = ""
    ) -> None:
        """`reader` is `small`, or `large` to have every turn read by the large reader too.

        By default that one, where it is installed, reads again what the small one doubts.
        """
        super().__init__(decide=ARGMAX if decide == BY_PROFILE else decide)
        need_above_zero(held=held)
        if reader not in ("", SMALL, LARGE):
            raise UsageError("reader-not", small=SMALL, large=LARGE, reader=reader)
        self.decide = decide
        self.profile = profile
        self.held = held
        self.reader = reader

    def forget(self) -> None:
        """Read every turn anew."""
        self.memory_.forget()

    def profiles(self) -> list[str]:
        """The profiles that the model has, its main one first."""
        self._origin_or_complain()
        return [self.main_, *sorted(self.profiles_.keys() - {self.main_})]

    def under(self, profile: str) -> Encoder:
        """The same model with another of its profiles, and the decision rule that goes with it."""
        return self._with(profile=profile, decide=BY_PROFILE)

    def read_by(self, reader: str) -> Encoder:
        """The same model with the small reader alone, or the large one for every turn."""
        other = self._with(reader=reader)
        other._large()
        return other

    def _with(self, **settings: Any) -> Encoder:
        """The same model with some parameters set anew."""
        other = Encoder(**{**self.parameters(), **settings})
        other.name = self.name
        other.origin_ = self._origin_or_complain()
        other._take(self.memory_.reader, self.profiles_, self.main_)
        return other

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        self._restore(_shipped(examples))
        self._adapt(examples, progress)

    def _adapt(self, examples: Sequence[Example], progress: Progress) -> None:
        start = self._chosen()
        blocks = []
        for place in range(0, len(examples), _AT_ONCE):
            block = [example.unit for example in examples[place : place + _AT_ONCE]]
            blocks.append(rows_of(self.seen(block)))
            progress(place + len(block), len(examples))
        weights = fit_weights(np.vstack(blocks), shares(examples), start.weights, self.held)
        self.main_ = self.profile or OWN
        self.profiles_ = {self.main_: Profile(weights, start.rule, start.view)}

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        seen = self.seen(units)
        shares = shares_of(rows_of(seen), self._chosen().weights)
        large = self._large()
        if large is not None:
            profile = self.profile or self.main_
            doubted = large.doubts(shares, seen.before, profile)
            again = doubted if self.reader != LARGE else np.arange(len(units))
            passages = [passages_of(units[place])[0] for place in again]
            shares[again] = large.shares(passages, shares[again], profile)
        return shares

    def _large(self) -> LargeReader | None:
        """The large reader, where this model reads its language and it is wanted, or installed and not refused."""
        languages = self.origin_.languages if self.origin_ else ()
        if languages != (LANGUAGE,) or self.reader == SMALL:
            if self.reader == LARGE and languages:
                raise UsageError("large-reader-reads-english", name=self.name)
            return None
        return large_reader() if self.reader == LARGE or is_installed() else None

    def seen(self, units: Sequence[Unit]) -> Seen:
        """What is known of some turns: what calibrations are fitted on."""
        passages = [passages_of(unit) for unit in units]
        wanted = (passage for own, earlier in passages for passage in (*earlier, own))
        readings = self.memory_.readings(wanted)
        before = [
            np.array([readings[passage][:LOGITS] for passage in earlier]).reshape(-1, LOGITS)
            for _, earlier in passages
        ]
        return Seen(
            np.array([readings[own] for own, _ in passages]),
            np.array([mean_before(rows) for rows in before]),
            feature_rows([own for own, _ in passages]),
        )

    def _chosen(self) -> Profile:
        """The profile that is asked for."""
        name = self.profile or self.main_
        if name not in self.profiles_:
            raise UsageError(
                "no-profile", hint=did_you_mean(name, sorted(self.profiles_)), name=self.name, name2=name
            )
        return self.profiles_[name]

    def _state(self) -> State:
        kept = self.memory_.reader.state()
        data = {
            "reader": self.memory_.reader.name,
            "reader_data": dict(kept.data),
            "main": self.main_,
            "rules": {name: profile.rule for name, profile in self.profiles_.items()},
            "views": {name: profile.view for name, profile in self.profiles_.items() if profile.view},
        }
        if large := self._large():
            # Two models that judge differently must not have the same digest.
            data["large"] = large.digest
        arrays = {f"{_READER}{name}": array for name, array in kept.arrays.items()}
        arrays |= {f"{_PROFILE}{name}": profile.weights for name, profile in self.profiles_.items()}
        return State(data, arrays, kept.files)

    def _restore(self, state: State) -> None:
        kept = State(state.data["reader_data"], _under(_READER, state.arrays), state.files)
        weights, views = _under(_PROFILE, state.arrays), state.data.get("views", {})
        profiles = {
            name: Profile(weights[name], rule, views.get(name, HOME))
            for name, rule in state.data["rules"].items()
        }
        self._take(ChatReader(kept), profiles, str(state.data["main"]))

    def _take(self, reader: Reader, profiles: Mapping[str, Profile], main: str) -> None:
        """Judge with a reader, under the profile that is asked for."""
        self.profiles_, self.main_ = dict(profiles), main
        chosen = self._chosen()
        self.memory_ = Memory(reader, chosen.view)
        self._rule = decision(chosen.rule if self.decide == BY_PROFILE else self.decide)


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _shipped(examples: Sequence[Example]) -> State:
    """The model that is shipped for the language of the examples."""
    languages = {plain_language(example.unit.language) for example in examples} - {""}
    if len(languages) != 1:
        known = (
            Notice("dialogues", languages=", ".join(sorted(languages)))
            if languages
            else Notice("no-language-given")
        )
        hint = Notice("train-one-time") if languages else Notice("set-lang")
        raise UsageError("encoder-reads-one-language", hint=hint, known=known)
    _, state = read_model(default_model(languages.pop()))
    return state
