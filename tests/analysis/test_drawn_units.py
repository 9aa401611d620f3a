"""What strangers put under the key of drawn units breaks nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import lapsus
from lapsus.model import Entry
from lapsus.samples import sample_path


@pytest.mark.parametrize("value", [17, {"units": 3}, {"units": [1]}, {"role": "system", "units": {"1": 3}}])
def test_metadata_of_that_name_that_is_not_ours(value: Any) -> None:
    changed = []
    for entry in lapsus.read(sample_path("dialogues-en")):
        assert entry.document is not None
        metadata = {**entry.document.metadata, "drawn_units": value}
        document = msgspec.structs.replace(entry.document, metadata=metadata)
        changed.append(Entry(entry.id, document, entry.judgments))
    assert lapsus.agree(changed, scheme="breakdown")
