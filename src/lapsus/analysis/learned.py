"""Whether judges are tested on what they learned from: then every figure looks better than it is."""

from typing import NamedTuple

from lapsus.analysis.corpus import Corpus
from lapsus.model import Scheme
from lapsus.model.notes import learned_from
from lapsus.notices import Notice
from lapsus.trust.ranking import Sight


class Learned(NamedTuple):
    """Of the documents that a judge and people judged, how many the judge says it learned from."""

    learned: int
    documents: int


def learned_documents(corpus: Corpus, scheme: Scheme, who: Sight) -> dict[str, Learned]:
    """For each judge that learned from documents it is compared on."""
    people, judges = set(who.people), set(who.judges)
    judgments = corpus.under(scheme.id)
    judged = {one.document for one in judgments if one.annotator in people}
    seen: dict[str, dict[str, bool]] = {}
    for one in judgments:
        if one.annotator in judges and one.document in judged:
            own = seen.setdefault(one.annotator, {})
            own[one.document] = own.get(one.document, False) or learned_from(one)
    return {name: Learned(sum(own.values()), len(own)) for name, own in seen.items() if any(own.values())}


def learned_warnings(corpus: Corpus, scheme: Scheme, who: Sight) -> list[str]:
    """The same in words."""
    return [learned_words(name, one) for name, one in learned_documents(corpus, scheme, who).items()]


def learned_words(name: str, found: Learned) -> str:
    """What that means for a judge's figures, and what to do."""
    return Notice(
        "learned-documents-figures-too", name=name, learned=found.learned, documents=found.documents
    )
