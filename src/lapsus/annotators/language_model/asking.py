"""How a language model is asked: by name and options, from here or from the nodes of a cluster."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

import msgspec

from lapsus.annotators.bulk.run import Work
from lapsus.annotators.language_model.aligned import Aligned, read_aligned
from lapsus.annotators.language_model.annotator import Answered, LanguageModel
from lapsus.annotators.language_model.completion import Sampling
from lapsus.annotators.language_model.prices import Price, price_of
from lapsus.annotators.language_model.prompt import unit_digest
from lapsus.annotators.language_model.providers import provider_of
from lapsus.annotators.language_model.service import Endpoint, Service, endpoint
from lapsus.errors import UsageError
from lapsus.model import Judgment, Scheme, Unit
from lapsus.model.frozen import decoder

_REFUSED = "the model would not answer, and is not asked again"
KEY = "LAPSUS_API_KEY"
"""The environment variable with the key, where no other is named."""


class Asking(TypedDict, total=False):
    """How a language model is asked; what is left out is as usual."""

    endpoint: str | None
    """The server, such as http://127.0.0.1:8080/v1."""
    words: str | None
    """Language of the prompt; by default each document's own, where the scheme has it."""
    key_env: str | None
    """The environment variable with the key, if not LAPSUS_API_KEY."""
    examples: int | None
    """At most so many examples of each kind in the prompt."""
    samples: int | None
    """Ask so often, for a distribution over labels."""
    temperature: float | None
    seed: int | None
    max_tokens: int | None
    parallel: int | None
    """Requests under way at once; 4 by default."""
    timeout: float | None
    """Seconds that a request may take; 120 by default."""
    budget: int | None
    """Tokens, of prompts and answers together, after which nothing more is asked."""
    prices: Path | str | None
    """A table of prices, to be looked in before the one that is shipped."""
    plain_http: bool
    """Whether the key may go to another machine unencrypted."""
    reasons: bool
    """Whether the model is asked why."""
    aligned: Path | str | Aligned | None
    """What is added to the guideline's prompt: a file that `lapsus align` wrote."""
    batch: bool
    """Whether a run hands requests in many at once, where its provider takes them so."""


def make_language_model(
    name: str, scheme: Scheme, *, stop: threading.Event | None = None, **asking: Unpack[Asking]
) -> LanguageModel:
    """The model of that name, ready to be asked. Nothing is sent yet. `stop`: set, nothing more is."""
    provider, model = provider_of(name)
    address = asking.get("endpoint") or provider.endpoint
    if address is None:
        raise UsageError("server", hint="endpoint-url-e-g")
    where, key_env = endpoint(address), asking.get("key_env")
    key = _key(key_env, where, asking.get("plain_http", False))
    service = Service(
        where,
        key,
        key_env=(key_env or KEY) if key else None,
        timeout=asking.get("timeout") or 120.0,
        stop=stop,
        headers=provider.headers,
    )
    aligned = asking.get("aligned")
    sampling = Sampling(
        asking.get("samples") or 1, asking.get("temperature"), asking.get("seed"), asking.get("max_tokens")
    )
    return LanguageModel(
        model,
        service,
        scheme,
        language=asking.get("words"),
        examples=asking.get("examples"),
        sampling=sampling,
        parallel=asking.get("parallel") or 4,
        budget=asking.get("budget"),
        reasons=asking.get("reasons", False),
        provider=provider,
        price=price_of(name, where, asking.get("prices")),
        batch=asking.get("batch", False),
        aligned=read_aligned(aligned) if isinstance(aligned, Path | str) else aligned,
    )


def _key(name: str | None, where: Endpoint, plain_http: bool) -> str | None:
    """The key, from the environment only. What stands after --key-env is not repeated: it may be a key by mistake."""
    key = os.environ.get(name or KEY)
    if name and not key:
        raise UsageError("environment-variable-key-env-names")
    if key and not (where.is_local or where.is_encrypted or plain_http):
        raise UsageError("key-would-sent-unencrypted", where=where.host, hint="use-https-say-plain-http")
    return key


class AskUnits(Work[Unit, Answered]):
    """A language model is asked about units. Its key does not travel: a node reads it from its own environment."""

    kind = "ask"
    takes = list[Unit]
    gives = list[Answered]
    by_unit = True

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.at_once = model.parallel

    def do(self, things: Sequence[Unit]) -> list[Answered]:
        """What came of each unit."""
        return [self.model.answered(unit) for unit in things]

    def heard(self, thing: Unit, result: Answered) -> tuple[Judgment, ...]:
        """The judgment, where there is one; all else is counted."""
        return self.model.take(thing, result)

    def told(self, thing: Unit) -> str:
        """The digest of the unit as it is sent."""
        return unit_digest(thing)

    def result(self, judgment: Judgment) -> Answered:
        """A kept answer, which costs nothing."""
        if judgment.answers:
            return Answered(judgment)
        return Answered(refused=str(judgment.metadata.get("refused") or _REFUSED), refusal=judgment)

    @property
    def is_over(self) -> bool:
        """Once somebody stopped it, or the server cannot be asked."""
        return self.model.service.stop.is_set()

    def settings(self) -> bytes:
        """All but the key."""
        one, service = self.model, self.model.service
        if service.has_key and service.key_env is None:
            raise UsageError("key-program-gives-does", hint="name-environment-variable-holds")
        sent = _Sent(one.name, service.where.url, one.scheme, service.key_env, service.timeout, one.language,
                     one.examples, one.sampling, one.parallel, one.reasons, one.price, one.aligned)  # fmt: skip
        return msgspec.json.encode(sent)

    @classmethod
    def restore(cls, settings: bytes) -> Self:
        """With the key of the node."""
        sent = decoder(_Sent).decode(settings)
        key = os.environ.get(sent.key_env) if sent.key_env else None
        if sent.key_env and not key:
            raise UsageError("node-cluster-no-key", hint="set-same-environment-variable")
        provider, model = provider_of(sent.model)
        service = Service(
            endpoint(sent.url), key, key_env=sent.key_env, timeout=sent.timeout, headers=provider.headers
        )
        how: dict[str, Any] = {"language": sent.language, "examples": sent.examples, "reasons": sent.reasons}
        how |= {"provider": provider, "price": sent.price, "aligned": sent.aligned}
        return cls(
            LanguageModel(model, service, sent.scheme, sampling=sent.sampling, parallel=sent.parallel, **how)
        )


class _Sent(msgspec.Struct, frozen=True):
    """A language model that is sent to a node."""

    model: str
    url: str
    scheme: Scheme
    key_env: str | None
    timeout: float
    language: str | None
    examples: int | None
    sampling: Sampling
    parallel: int
    reasons: bool
    price: Price | None = None
    aligned: Aligned | None = None
