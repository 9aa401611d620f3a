"""What everything in a plan has in common."""

from __future__ import annotations

import msgspec

from lapsus.model import freeze


class Part(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of everything in a plan: immutable, and a mistyped key is an error."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            if type(value := getattr(self, field)) is dict:
                msgspec.structs.force_setattr(self, field, freeze(value))
