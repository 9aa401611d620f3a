"""How answers are drawn, and how several of them make one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lapsus.errors import UsageError
from lapsus.kinds import countable, kind_of
from lapsus.model import Answer, Scheme


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
