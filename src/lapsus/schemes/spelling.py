"""Answers in their one form, whichever way they were written: labels by ids, marks element by element."""

from collections.abc import Mapping

import msgspec

from lapsus.kinds import Kind, kinds_of
from lapsus.model import Answer, Document, Entry, Judgment, Scheme
from lapsus.schemes.library import known_scheme


def spelt_answers(
    scheme: Scheme, answers: Mapping[str, Answer], document: Document | None
) -> dict[str, Answer]:
    """Answers under a scheme in their one form (`Kind.spelt`); what the scheme does not know stays as it is."""
    kinds = kinds_of(scheme)
    return {
        id: kinds[id].spelt(answer, document) if id in kinds else answer for id, answer in answers.items()
    }


class Spelling:
    """Puts the answers of entries into their one form. What no guideline at hand knows stays as it is."""

    def __init__(self) -> None:
        self._kinds: dict[str, Mapping[str, Kind]] = {}

    def by_ids(self, entry: Entry) -> Entry:
        """The entry; the same one where every answer is in its one form already."""
        # Readers share answers between judgments, so that few of a crowd's need a look.
        different = {(one.scheme, id(one.answers), id(one.distributions)): one for one in entry.judgments}
        if all(self.judgment(one, entry.document) is one for one in different.values()):
            return entry
        spelt = (self.judgment(judgment, entry.document) for judgment in entry.judgments)
        return Entry(entry.id, entry.document, tuple(spelt))

    def judgment(self, judgment: Judgment, document: Document | None) -> Judgment:
        """One judgment; the same object where nothing changes."""
        kinds = self._kinds_of(judgment.scheme)
        answers = {
            id: spelt
            for id, answer in judgment.answers.items()
            if (kind := kinds.get(id)) and (spelt := kind.spelt(answer, document)) is not answer
        }
        shares = {
            id: spelt
            for id, given in judgment.distributions.items()
            if (kind := kinds.get(id)) and (spelt := kind.spellings.shares(given)) is not given
        }
        if not answers and not shares:
            return judgment
        return msgspec.structs.replace(
            judgment,
            answers={**judgment.answers, **answers},
            distributions={**judgment.distributions, **shares},
        )

    def _kinds_of(self, name: str) -> Mapping[str, Kind]:
        if name not in self._kinds:
            scheme = known_scheme(name)
            self._kinds[name] = kinds_of(scheme) if scheme else {}
        return self._kinds[name]
