"""One exchange with a model, in the strictest form that the server takes; and how several answers make one."""

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lapsus.annotators.language_model.providers import Completion, Provider, Request
from lapsus.annotators.language_model.service import Service, ServiceError
from lapsus.errors import UsageError
from lapsus.kinds import countable, kind_of
from lapsus.model import Answer, Scheme
from lapsus.notices import Notice

_NOT_TAKEN = (400, 415, 422, 501)
"""What servers answer to something that they do not know."""
_UNSUPPORTED = re.compile(
    r"unsupported|not support|n[o']t allowed|deprecated|unknown|unrecognized|only the default", re.I
)


class Chat:
    """A model on a server, and what the server takes, once that is known."""

    def __init__(self, model: str, service: Service, provider: Provider) -> None:
        self.model, self.service, self.provider = model, service, provider
        self.form: str | None = None
        """The first form that was answered: it stays."""
        self.dropped: set[str] = set()
        """Wishes that the server refused, and that it is no longer asked."""
        self._names = dict(provider.renamed)
        self._lock = threading.Lock()

    def complete(
        self,
        system: str,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        wishes: Mapping[str, Any],
    ) -> Completion:
        """Ask for an answer. Until one form was answered, the next is tried where the server refuses one.

        A wish that the model refuses is renamed or dropped, and that is remembered.
        """
        forms = [self.form] if self.form else list(self.provider.forms)
        while True:
            named = self._named(wishes)
            request = Request(self.model, system, messages, schema, named)
            path = self.provider.path(self.model, self.service.where.url)
            try:
                reply = self.service.ask(path, self.provider.body(request, forms[0]))
            except ServiceError as error:
                if error.refusal:
                    return Completion("", forms[0], False, None, 0, 0, error.refusal)
                if error.status not in _NOT_TAKEN or error.hopeless:
                    raise
                if self._adjusted(error, named):
                    continue
                if len(forms) == 1:
                    raise
                forms = forms[1:]
                continue
            found = self.provider.completion(reply, forms[0])
            if found is None:
                raise ServiceError(
                    Notice("servers-reply-no-message"),
                    hint=Notice("does-speak-interface", name=self.provider.name),
                )
            with self._lock:
                self.form = self.form or forms[0]
            return found

    def body(
        self,
        system: str,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        wishes: Mapping[str, Any],
    ) -> dict[str, Any]:
        """The request that `complete` would send, in the form that the server is known to take."""
        request = Request(self.model, system, messages, schema, self._named(wishes))
        return self.provider.body(request, self.form or self.provider.forms[0])

    def _named(self, wishes: Mapping[str, Any]) -> dict[str, Any]:
        """The wishes that the server takes, under the names that it knows."""
        with self._lock:
            return {
                self._names.get(name, name): value
                for name, value in wishes.items()
                if name not in self.dropped and name not in self.provider.unknown
            }

    def _adjusted(self, error: ServiceError, sent: Mapping[str, Any]) -> bool:
        """Whether the server named a wish that it does not take, so that another try makes sense."""
        if not _UNSUPPORTED.search(error.what):
            return False
        for name in sent:
            if re.search(rf"\b{name}\b", error.what):
                with self._lock:
                    own = next((one for one, called in self._names.items() if called == name), name)
                    if own in self.provider.instead and own not in self._names:
                        self._names[own] = self.provider.instead[own]
                    elif self._names.get(own, own) == name:  # else another thread has renamed it by now
                        self.dropped.add(own)
                return True
        return False


class Sampling(NamedTuple):
    """How answers are drawn."""

    samples: int = 1
    temperature: float | None = None
    """None: 0 for one sample, 1 for several."""
    seed: int | None = None
    max_tokens: int | None = None
    """How long an answer may be; None leaves it to the server."""

    @property
    def heat(self) -> float:
        """The temperature that is asked for."""
        usual = 0.0 if self.samples == 1 else 1.0
        return usual if self.temperature is None else self.temperature


def check_samples(scheme: Scheme) -> None:
    """Complain of a scheme with questions whose answers make no distribution."""
    for question in scheme.questions:
        kind = kind_of(question, scheme)
        if kind.is_countable and not (kind.is_counted and kind.numbers is None):
            raise UsageError(
                "asks-takes-more-one", hint="several-samples-make-distribution", id=scheme.id, id2=question.id
            )


def together(
    scheme: Scheme, samples: Sequence[Mapping[str, Answer]]
) -> tuple[Mapping[str, Answer], dict[str, dict[str, float]]]:
    """One set of answers and, where there are several samples, the shares of the labels. Ties go to the first label."""
    if len(samples) == 1:
        return samples[0], {}
    answers: dict[str, Answer] = {}
    shares: dict[str, dict[str, float]] = {}
    for question in countable(scheme.questions):
        labels = kind_of(question, scheme).choices
        given = Counter(sample[question.id] for sample in samples if question.id in sample)
        if total := sum(given.values()):
            shares[question.id] = {label: given[label] / total for label in labels}
            answers[question.id] = max(labels, key=given.__getitem__)
    # Words belong to an answer, so they come from the sample that is nearest to it.
    nearest = max(samples, key=lambda sample: sum(sample.get(id) == label for id, label in answers.items()))
    return {**nearest, **answers}, shares
