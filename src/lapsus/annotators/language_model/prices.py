"""What language models cost: a table that can be edited, and what a run will take by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from lapsus.annotators.language_model.service import Endpoint
from lapsus.errors import InputError, reason_of
from lapsus.notices import Notice

MILLION = 1_000_000
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest)")
"""What providers put after a model's name to say which of its versions is meant."""
ANSWER_SECONDS, TOKENS_A_SECOND = 1.0, 50.0
"""How long a hosted model is taken to need, before anything is known of it."""


class Price(NamedTuple):
    """Of one model, for a million tokens."""

    prompt: float
    completion: float
    currency: str
    date: str
    """When it was looked up."""
    batch: float = 0.5
    """The share of it that batches cost."""

    @property
    def in_batches(self) -> Price:
        """The same where requests are handed in many at once."""
        return self._replace(prompt=self.prompt * self.batch, completion=self.completion * self.batch)

    def of(self, prompt: float, completion: float) -> float:
        """What so many tokens cost."""
        return (prompt * self.prompt + completion * self.completion) / MILLION


class Expected(NamedTuple):
    """What a run is expected to take."""

    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0

    def __add__(self, other: object) -> Expected:
        if not isinstance(other, Expected):
            return NotImplemented
        return Expected(
            self.prompt + other.prompt, self.completion + other.completion, self.seconds + other.seconds
        )


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of prices."""

    date: str
    models: dict[str, tuple[float, float]]
    currency: str = "USD"
    batch: float = 0.5
    hosts: dict[str, str] = {}

    def price(self, name: str, where: Endpoint) -> Price | None:
        """Of a model such as openai:gpt-4o at an endpoint; None where the table does not know it."""
        provider, _, model = name.partition(":")
        if provider in self.hosts and where.host != self.hosts[provider]:
            return None
        listed = "openai" if provider == "responses" else provider
        for known in (f"{provider}:{model}", f"{listed}:{model}"):
            found = self.models.get(known) or self.models.get(_DATED.sub("", known))
            if found is not None:
                return Price(*found, self.currency, self.date, self.batch)
        return None


def load_prices(path: Path | str | None = None) -> list[PriceTable]:
    """The tables to look in: one's own first, then the one that is shipped."""
    shipped = files("lapsus.annotators.language_model") / "prices.yaml"
    tables = [_table(shipped.read_text(encoding="utf-8"), "prices.yaml")]
    if path is not None:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            raise InputError(why, where=str(path)) from None
        tables.insert(0, _table(text, str(path)))
    return tables


def price_of(name: str, where: Endpoint, path: Path | str | None = None) -> Price | None:
    """The price of a model at an endpoint. What runs on this machine has none unless one's own table says so."""
    tables = load_prices(path)
    if where.is_local:
        tables = tables[:-1]
    return next((found for one in tables if (found := one.price(name, where))), None)


def _table(text: str, where: str) -> PriceTable:
    try:
        raw = yaml.safe_load(text)
        if isinstance(raw, Mapping) and isinstance(raw.get("date"), date):
            raw = {**raw, "date": raw["date"].isoformat()}
        found = msgspec.convert(raw, PriceTable)
    except yaml.YAMLError as error:
        raise InputError("no-yaml-prices", where=where, error=str(error).splitlines()[0]) from None
    except msgspec.ValidationError as error:
        raise InputError("no-table-prices", where=where, hint="prices-form", error=str(error)) from None
    if any(one < 0 for pair in found.models.values() for one in pair) or not 0 <= found.batch <= 1:
        raise InputError("no-table-prices", where=where, hint="prices-form", error=Notice("price-below-0"))
    return found


def cost(price: Price | None, tokens: Mapping[str, int]) -> dict[str, Any] | None:
    """What tokens have cost, for a judgment's card and for other programs; None where the price is not known."""
    if price is None:
        return None
    amount = price.of(tokens.get("prompt", 0), tokens.get("completion", 0))
    return {"amount": round(amount, 8), "currency": price.currency, "prices": price.date}
