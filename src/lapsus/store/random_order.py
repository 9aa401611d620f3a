"""Pseudorandom orders of documents: reproducible, and different for each person."""

import hashlib
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam

from lapsus.store import tables as t

PRIME = 2**31 - 1
"""A prime small enough that a product of two numbers below it fits into a database's whole numbers."""


class Order(NamedTuple):
    """One person's order of documents: every document has a number, and each person multiplies and shifts it."""

    factor: int
    shift: int


_NUMBER = t.campaign_document.c.shuffle
ORDERED: ColumnElement[int] = (
    _NUMBER * bindparam("factor", type_=_NUMBER.type) + bindparam("shift", type_=_NUMBER.type)
) % PRIME
"""Where a document stands in an order, whose numbers are the values of the statement."""


def shuffle_of(seed: int, digest: str) -> int:
    """A document's shuffle number, which every order is made from."""
    return _number(f"{seed}/{digest}") % PRIME


def order_for(seed: int, person: int) -> Order:
    """The order in which a person gets the documents: a permutation of their shuffle numbers."""
    both = _number(f"{seed}/person {person}")
    return Order(1 + both % (PRIME - 1), both // PRIME % PRIME)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big")
