"""The base of every record in a plan."""

import msgspec

from lapsus.model import freeze


class PlanRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Immutable; a mistyped key is an error."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            if type(value := getattr(self, field)) is dict:
                msgspec.structs.force_setattr(self, field, freeze(value))
