"""The types that scripts are checked with are those of the records that the server sends."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_wire_types_are_made_from_the_records() -> None:
    spec = importlib.util.spec_from_file_location("make_types", ROOT / "tools" / "make_types.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.TARGET.read_text(encoding="utf-8") == tool.typedefs(), "run `make types`"
