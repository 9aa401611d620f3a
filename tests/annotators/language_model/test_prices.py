"""What a run will cost is worked out from a table that anybody can edit; what is not known is said to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapsus.annotators.language_model.prices import load_prices, price_of
from lapsus.annotators.language_model.service import endpoint
from lapsus.errors import InputError
from lapsus.model import units
from lapsus.schemes import load_scheme
from tests.annotators.language_model.helpers import chat, model_on
from tests.annotators.language_model.stub import completion, serving

OPENAI = endpoint("https://api.openai.com/v1")
ANTHROPIC = endpoint("https://api.anthropic.com/v1")
HERE = endpoint("http://127.0.0.1:8080/v1")
OWN = "date: 2026-04-01\ncurrency: EUR\nmodels:\n  openai:tiny: [1000, 10000]\n"


def test_a_dated_name_has_the_price_of_its_model_and_no_other_has() -> None:
    price = price_of("openai:gpt-4o-2024-08-06", OPENAI)
    assert price is not None
    assert price == price_of("responses:gpt-4o", OPENAI)
    assert price.of(1_000_000, 100_000) == pytest.approx(price.prompt + price.completion / 10)
    assert price_of("openai:gpt-4o-audio-preview", OPENAI) is None
    assert price_of("anthropic:claude-sonnet-4-5-20250929", ANTHROPIC) is not None
    assert price_of("openai:gpt-4o", endpoint("https://elsewhere.example/v1")) is None, "another's server"
    assert price_of("openai:gpt-4o", HERE) is None
    whole = price_of("openai:gpt-4o", OPENAI)
    half = whole.in_batches if whole is not None else None
    assert whole is not None
    assert half is not None
    assert half.prompt == whole.prompt / 2


def test_the_shipped_table_says_of_when_it_is() -> None:
    (table,) = load_prices()
    assert len(table.date) == len("2025-11-01")
    assert all(low <= high for low, high in table.models.values()), "answers cost more than prompts"


def test_a_table_of_ones_own_comes_first_also_for_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(OWN, encoding="utf-8")
    price = price_of("openai:tiny", HERE, path)
    assert price is not None
    assert (price.currency, price.date) == ("EUR", "2026-04-01")
    assert price_of("openai:gpt-4o", OPENAI, path) == price_of("openai:gpt-4o", OPENAI)


@pytest.mark.parametrize(
    "text",
    ["date: 2026", "[", "date: '2026'\nmodels: {a: [1]}", "date: '2026'\nmodels: {a: [-1, 2]}", "x: 1"],
)
def test_a_table_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as told:
        load_prices(path)
    assert told.value.where == str(path)


def test_every_judgment_says_what_it_cost_and_a_run_what_it_will(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(OWN, encoding="utf-8")
    unit = list(units(chat(), load_scheme("breakdown").unit))[-1]
    with serving(lambda _: completion({"breakdown": "O", "comment": None})) as stub:
        model = model_on(stub, price=price_of("openai:tiny", HERE, path))
        (judgment,) = model.judge_units([unit])
    assert judgment.metadata["cost"] == {"amount": 0.2, "currency": "EUR", "prices": "2026-04-01"}
    assert model.cost == judgment.metadata["cost"]
    guessed, as_before = model.expected(unit), model.expected(unit, judgment)
    assert guessed.prompt == as_before.prompt > 100
    assert as_before.completion == 10
    assert model.expects([unit, unit]).prompt == 2 * guessed.prompt
