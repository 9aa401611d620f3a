"""A stress test noted at a campaign stands on its page of judges and in its report."""

from __future__ import annotations

from pathlib import Path

from lapsus.campaign_stats.judge_tests import stress_tests
from lapsus.campaign_stats.report import campaign_report
from lapsus.samples import sample_path
from lapsus.store import open_store
from tests.cli.in_process import lapsus
from tests.store.helpers import campaign


def test_the_newest_test_of_each_judge_is_kept_and_reported(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "c.db")) as store:
        name = campaign(store)
    for draw in ("1", "2"):
        told = lapsus(
            "stress", str(sample_path("helpdesk-en")), "--judge", "breakdown-en", "--each", "2", "--draw", draw,
            "--campaign", name, "--db", "c.db", cwd=tmp_path,
        )  # fmt: skip
        assert told.returncode == 0, told.stderr
    with open_store(str(tmp_path / "c.db")) as store:
        (test,) = stress_tests(store, name, "ja")
        assert store.audit.events(name, what="judge stressed")[0].details["draw"] == 2
        report = campaign_report(store, name, language="ja").to_html()
    assert test.judge == "breakdown-en"
    assert test.types[0].found.value <= test.types[-1].found.value  # type: ignore[operator]
    assert "埋め込んだ誤りの検出" in report
    assert test.types[0].name in report
