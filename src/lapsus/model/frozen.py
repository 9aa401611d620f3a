"""Values that cannot change once made, since many readers share a record; and decoders that threads may share."""

import threading
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

import msgspec

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that refuses to change. A subclass of dict so that JSON and pickle know what to do with it."""

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("records of the model cannot be changed; make a new one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type, tuple[dict[K, V]]]:
        return type(self), (dict(self),)


_AS_THEY_ARE = frozenset({str, int, float, bool, type(None), FrozenDict})
EMPTY: FrozenDict[str, Any] = FrozenDict()


def freeze(value: Any) -> Any:
    """The same JSON value with dicts and lists that cannot change, all the way down."""
    kind, plain = type(value), _AS_THEY_ARE
    if kind in plain:
        return value
    # Plain values, of which logs hold many, stay where the copy put them.
    if kind is dict or isinstance(value, Mapping):
        if not value:
            return EMPTY
        frozen: FrozenDict[Any, Any] = FrozenDict(value)
        for key, item in value.items():
            if type(item) not in plain:
                dict.__setitem__(frozen, key, freeze(item))
        return frozen
    if isinstance(value, list | tuple):
        return tuple([item if type(item) in plain else freeze(item) for item in value])
    return value


T = TypeVar("T")

_MAKING = threading.Lock()
_MADE: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of a class, or of a list or dict of its records: made once and by one thread at a time.

    When msgspec meets a class for the first time it notes down its fields. A second thread that decodes the same class
    at that moment reads half a note and takes the whole process down with it: seen with msgspec 0.22, whenever several
    people came to a server that had just started. So threads take their decoders from here.
    """
    found = _MADE.get(kind)
    if found is None:
        with _MAKING:
            found = _MADE.setdefault(kind, msgspec.json.Decoder(kind))
    return found


def converted(value: Any, kind: type[T]) -> T:
    """A value that was decoded as plain lists and dicts, as a record. What the decoder noted down serves here too."""
    decoder(kind)
    return msgspec.convert(value, kind)
