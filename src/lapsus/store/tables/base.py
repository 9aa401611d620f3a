"""What all tables share: how times are kept, how constraints are called, and the one catalogue."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    BigInteger,
    Dialect,
    MetaData,
    TypeDecorator,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

FULL = 1 << 30
"""More than any plan asks for: the level of a document in which there is nothing to judge, and the number of judgments
wanted of a unit for practice or a check, which everybody gets and which counts nowhere."""
WHOLE = ""
"""Stands for the whole document where a segment is named: no segment has an empty id."""

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""How constraints are called, so that a later migration can name them on every database."""


class Moment(TypeDecorator[datetime]):
    """A time, kept as microseconds since 1970 in UTC: the same number on every database, whatever its time zone."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """A time without a zone counts as UTC."""
        if value is None:
            return None
        return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Always in UTC."""
        return None if value is None else EPOCH + value * _MICROSECOND


metadata = MetaData(naming_convention=NAMES)
