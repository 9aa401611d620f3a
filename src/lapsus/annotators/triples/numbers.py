"""Numbers that are written in another way: 10252 and 10,252, or 455.0 and 455; and amounts: 2400 m and 2.4 km."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple

import regex

_NUMBER = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_SIZES: Final = {
    "length": {"0.001": "mm millimetre millimeter", "0.01": "cm centimetre centimeter", "1": "m metre meter",
               "1000": "km kilometre kilometer"},
    "mass": {"0.001": "mg milligram", "1": "g gram", "1000": "kg kilogram", "1000000": "t tonne"},
    "volume": {"0.001": "ml millilitre milliliter", "0.01": "cl centilitre", "1": "l litre liter"},
    "time": {"1": "s second", "60": "min minute", "3600": "h hour"},
}  # fmt: skip
_UNITS: Final = {
    form: (measure, Decimal(size))
    for measure, sizes in _SIZES.items()
    for size, names in sizes.items()
    for name in names.split()
    for form in ((name, f"{name}s") if len(name) > len("min") else (name,))
}


class Amount(NamedTuple):
    """So much of something, whatever the unit."""

    measure: str
    size: Decimal


def amount_of(text: str) -> Amount | None:
    """The amount that an element is: a number with its unit, and nothing else."""
    match text.split():
        case [number, unit]:
            return amount_in(number, unit)
    return None


def amount_in(number: str, unit: str) -> Amount | None:
    """The amount that a number and a unit make."""
    if unit not in _UNITS or not _NUMBER.fullmatch(number):
        return None
    measure, size = _UNITS[unit]
    return Amount(measure, Decimal(number.replace(",", "")) * size)


def number_in(text: str) -> str | None:
    """The one number in a text, in plain form; None where there is none, or several."""
    found = _NUMBER.findall(text)
    return plain_number(found[0]) if len(found) == 1 else None


def plain_number(text: str) -> str:
    """Without commas, and without what adds nothing after the point."""
    whole, _, rest = text.replace(",", "").partition(".")
    return f"{whole}.{rest}" if (rest := rest.rstrip("0")) else whole
