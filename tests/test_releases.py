"""What a release wrote opens in every later one: tests/releases holds a database and a model of each."""

from __future__ import annotations

import json
import lzma
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from lapsus.annotators import Annotator, load_model
from lapsus.store import SaveRequest, Store, migrations, open_store
from lapsus.store.tables import metadata

RELEASES = Path(__file__).parent / "releases"
KEPT = sorted(path for path in RELEASES.iterdir() if path.is_dir()) if RELEASES.is_dir() else []
CAMPAIGN = "breakdown-en"


def judgments(store: Store) -> dict[str, int]:
    """How many judgments each campaign holds."""
    found = {}
    for campaign in store.campaigns.all():
        with closing(store.exports.export(campaign.name, extras=True)) as entries:
            found[campaign.name] = sum(len(entry.judgments) for entry in entries)
    return found


def answers(store: Store, judge: Annotator) -> dict[str, str]:
    """What a judge says of the first dialogues of a campaign, turn by turn."""
    with closing(store.exports.documents(CAMPAIGN)) as documents:  # type: ignore[type-var]
        chats = [document for _, document in islice(documents, 3)]
    return {f"{one.document}/{one.segment}": str(one.answers["breakdown"]) for one in judge.judge(chats)}


@pytest.mark.parametrize("release", KEPT, ids=lambda path: path.name)
def test_a_database_and_a_model_of_a_release_open(release: Path, tmp_path: Path) -> None:
    held = json.loads((release / "held.json").read_text(encoding="utf-8"))
    database = tmp_path / "demo.sqlite"
    database.write_bytes(lzma.decompress((release / "demo.sqlite.xz").read_bytes()))
    with open_store(database) as store:
        assert judgments(store) == held["judgments"]
        with store.database.reading() as conn:
            context = MigrationContext.configure(conn, opts={"version_table": migrations.VERSION.name})
            assert compare_metadata(context, metadata) == [], "tables change by a step in store/migrations.py"
        person = store.people.add("Robin").id
        given = store.assignment.next_units(person, CAMPAIGN)
        unit = given.units[0].number  # type: ignore[union-attr]
        store.saves.save(SaveRequest("key", CAMPAIGN, unit, person, {"breakdown": "O"}))
        assert judgments(store)[CAMPAIGN] == held["judgments"][CAMPAIGN] + 1
        assert answers(store, load_model(release / "judge.lapsus")) == held["answers"]


def test_the_first_release_is_kept() -> None:
    assert [path.name for path in KEPT][:1] == ["0.2.0"]
