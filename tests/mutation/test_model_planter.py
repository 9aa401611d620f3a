"""Errors that a language model plants, against a stub of a server."""

from __future__ import annotations

from typing import Any

import lapsus
from tests.annotators.language_model.stub import Said, completion, serving
from tests.mutation.test_stress import chats


def answer(body: dict[str, Any]) -> Said:
    """Plants where it is told to write; as a judge it finds what it wrote itself and nothing else."""
    said = str(body["messages"])
    if "reply" in str(body.get("response_format")) or "Write the text" in said:
        return completion({"reply": "PLANTED by a model, about nothing."})
    return completion({"breakdown": "X" if "PLANTED" in said.split("user")[-1] else "O", "comment": None})


def test_a_model_plants_errors_and_is_measured_apart() -> None:
    with serving(answer) as stub:
        found = lapsus.stress(
            chats(12), ["openai:stub"], planter="openai:stub", each=6, endpoint=stub.endpoint, examples=0
        )
    judge = found.judges[0]
    shares = {row.type: row.share.value for row in judge.means}
    assert shares["model"] == 1.0
    assert shares["rule"] == 0.0
    assert judge.total.false_alarms is not None
    assert judge.total.false_alarms.value == 0
