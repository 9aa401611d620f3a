"""Labels by their ids, whichever way a file spells them: a guideline names other spellings as aliases."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lapsus.kinds import Kind, kinds_of
from lapsus.model import Entry, Judgment
from lapsus.schemes.library import known_scheme


class Spelling:
    """Makes entries say labels by their ids. What no guideline at hand knows stays as it is."""

    def __init__(self) -> None:
        self._kinds: dict[str, Mapping[str, Kind]] = {}

    def by_ids(self, entry: Entry) -> Entry:
        """The entry; the same one where every label is spelt as its guideline has it."""
        # Readers share answers between judgments, so that few of a crowd's need a look.
        different = {(one.scheme, id(one.answers), id(one.distributions)): one for one in entry.judgments}
        if all(self._judgment(one) is one for one in different.values()):
            return entry
        return Entry(entry.id, entry.document, tuple(map(self._judgment, entry.judgments)))

    def _judgment(self, judgment: Judgment) -> Judgment:
        kinds = self._kinds_of(judgment.scheme)
        answers = {
            id: spelt
            for id, answer in judgment.answers.items()
            if (kind := kinds.get(id)) and (spelt := kind.spelt(answer)) is not answer
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
