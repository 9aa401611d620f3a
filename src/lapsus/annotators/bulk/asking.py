"""A language model that the nodes of a cluster ask: requests go out from there, and answers come back here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import msgspec

from lapsus.annotators.bulk.ray_engine import OnRay
from lapsus.annotators.bulk.work import Work
from lapsus.annotators.language_model import LanguageModel, Sampling, Service, endpoint
from lapsus.annotators.language_model.annotator import Refused, _InvalidError
from lapsus.annotators.language_model.service import ServiceError
from lapsus.errors import UsageError
from lapsus.http_client import StoppedError
from lapsus.model import Judgment, Scheme, Unit
from lapsus.model.decoders import decoder


class Asked(msgspec.Struct, frozen=True):
    """Which model is asked, where and how. The key is not in it: a node reads it from its own environment."""

    model: str
    url: str
    scheme: Scheme
    key_env: str | None = None
    """The environment variable with the key, where there is one."""
    timeout: float = 120.0
    language: str | None = None
    examples: int | None = None
    sampling: Sampling = Sampling()
    parallel: int = 4
    """Requests under way at once for each core of the cluster."""
    reasons: bool = False


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a unit: a judgment, or why there is none."""

    judgment: Judgment | None = None
    refused: str = ""
    status: int | None = None
    """Of a server that did not do what it was asked, with `refused` for what it said."""
    hopeless: bool = False
    hint: str | None = None
    tokens: dict[str, int] = {}
    """Used for it, whatever came of it."""


class AskUnits(Work[Unit, Answered]):
    """A language model is asked about units."""

    kind = "ask"
    takes = list[Unit]
    gives = list[Answered]

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.cores = 1 / asked.parallel
        self._model: _Model | None = None

    def do(self, things: Sequence[Unit]) -> list[Answered]:
        """What came of each unit."""
        self._model = self._model or _Model(self.asked)
        return [self._model.answered(unit) for unit in things]

    def settings(self) -> bytes:
        """All but the key."""
        return msgspec.json.encode(self.asked)

    @classmethod
    def restore(cls, settings: bytes) -> Self:
        """With the key of the node."""
        return cls(decoder(Asked).decode(settings))


class _Model(LanguageModel):
    """The model as a node asks it."""

    def __init__(self, asked: Asked) -> None:
        key = os.environ.get(asked.key_env) if asked.key_env else None
        if asked.key_env and not key:
            raise UsageError(
                "a node of the cluster has no key for the language model",
                hint="set the same environment variable on every node before Ray is started there",
            )
        service = Service(endpoint(asked.url), key, timeout=asked.timeout)
        super().__init__(asked.model, service, asked.scheme, **_how(asked))

    def answered(self, unit: Unit) -> Answered:
        before = self.tokens.copy()
        _, outcome = self._outcome(unit)
        tokens = dict(self.tokens - before)
        match outcome:
            case Judgment():
                return Answered(outcome, tokens=tokens)
            case Refused():
                return Answered(refused=outcome.reason, tokens=tokens)
            case ServiceError():
                return Answered(None, outcome.what, outcome.status, outcome.hopeless, outcome.hint, tokens)
            case Exception():
                raise outcome
        raise StoppedError


class ClusterLanguageModel(LanguageModel):
    """A language model of which the units are sent to a cluster, one by one; all else is as with any other."""

    def __init__(self, asked: Asked, service: Service, engine: OnRay) -> None:
        super().__init__(asked.model, service, asked.scheme, **_how(asked))
        self.parallel = asked.parallel * engine.cores
        self._engine, self._work = engine, AskUnits(asked)
        self._form: str | None = None

    @property
    def form(self) -> str | None:
        """How the form of answers was asked for, as the latest answer says."""
        return self._form

    def _judgment(self, unit: Unit) -> Judgment:
        if self._stop.is_set():
            raise StoppedError
        (found,) = self._engine.begin(self._work, [unit]).result()
        self._spend(found.tokens)
        if found.judgment is None:
            if found.status is None:
                raise _InvalidError(found.refused)
            raise ServiceError(found.refused, status=found.status, hopeless=found.hopeless, hint=found.hint)
        self._form = found.judgment.metadata["form"]
        return found.judgment


def _how(asked: Asked) -> dict[str, Any]:
    names = ("language", "examples", "sampling", "parallel", "reasons")
    return {name: getattr(asked, name) for name in names}
