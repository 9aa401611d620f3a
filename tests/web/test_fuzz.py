"""Whatever is sent to the interface, it answers as its description says, and never with a fault of its own."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lapsus.web.api import OPERATIONS, ROOT
from tests.web.helpers import Bench, chat

pytestmark = pytest.mark.fuzz
EXAMPLES = 15
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
NAMES = [operation.handler.__name__ for operation in OPERATIONS]


def described(bench: Bench, name: str) -> Any:
    """An operation as its description has it."""
    schema = schemathesis.openapi.from_asgi(f"{ROOT}/openapi.json", bench.app)
    found = [result.ok() for result in schema.get_all_operations()]
    return next(one for one in found if one.definition.raw["operationId"] == name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_brings_it_down(bench: Bench, name: str, mode: GenerationMode) -> None:
    """Requests as described and requests that are not, of strangers and of somebody who holds units."""
    campaign = bench.campaign(documents=[chat(f"d{n}", turns=4) for n in range(2)])
    ada = bench.store.people.add("Ada")
    token = bench.store.access.add_token(ada.id, "test")
    bench.store.assignment.next_units(ada.id, campaign)
    operation = described(bench, name)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=mode), at_home=st.integers(0, 3), unit=st.integers(1, 9)
    )
    def send(case: Any, at_home: int, unit: int) -> None:
        # Mostly about what there is, since what there is not is refused early.
        if at_home and case.path_parameters:
            case.path_parameters |= {
                key: value
                for key, value in (("campaign", campaign), ("number", unit))
                if key in case.path_parameters
            }
        if at_home == 2 and isinstance(case.body, dict) and isinstance(case.body.get("answers"), dict):
            case.body["answers"] = {"breakdown": next(iter(case.body["answers"].values()), "O")}
        headers = {"Authorization": f"Bearer {token}"} if at_home else {}
        response = case.call(headers=headers)
        case.validate_response(response, checks=CHECKS)

    send()
