"""The labels of a question by every spelling that its guideline gives them."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from lapsus.model import Label
from lapsus.model.scheme import folded


class Spellings:
    """Finds a label's id: by the id, by an alias, or by either in full or half width, capitals or a like sign."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self._labels = labels
        self._ids = frozenset(label.id for label in labels)

    def id_of(self, name: str) -> str:
        """The id; what is no label stays as it is, for the rules to judge."""
        if name in self._ids:
            return name
        return self._aliases.get(name) or self._folded.get(folded(name), name)

    def shares(self, given: Mapping[str, float]) -> Mapping[str, float]:
        """A distribution by ids, the same object where nothing changes; with a label twice it stays as it is."""
        if given.keys() <= self._ids:
            return given
        found = {self.id_of(name): share for name, share in given.items()}
        return found if len(found) == len(given) and found != given else given

    # Of several labels with one spelling the first has it.

    @cached_property
    def _aliases(self) -> dict[str, str]:
        return {name: label.id for label in reversed(self._labels) for name in label.aliases}

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {folded(name): id for name, id in self._aliases.items()} | {
            folded(id): id for id in (label.id for label in reversed(self._labels))
        }
