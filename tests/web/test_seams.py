"""Where one part of the workbench meets another."""

from __future__ import annotations

from pathlib import Path

from lapsus.store import Plan, open_store
from lapsus.web.deployment import Deployment
from lapsus.web.observation import pattern
from tests.web.helpers import Bench
from tests.web.test_deployment import browser


def test_a_value_with_dots_in_it_makes_no_new_series() -> None:
    scope = {"endpoint": 1, "path": "/words/a.b1234.json", "path_params": {"language": "a.b1234"}}
    assert pattern(scope) == "/words/{language}.json"


def test_whom_a_proxy_signed_in_stays_who_they_are_behind_a_platforms_link(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.sqlite") as store:
        store.campaigns.create(Plan(name="open", scheme="breakdown", who="open"))
        link = store.access.invite(campaign="open", uses=None)
        client = browser(store, Deployment(proxies=("10.0.0.2",), user_header="X-User"))
        said = {"X-User": "mori"}
        client.get("/sign-in", headers=said)
        shown = client.get(f"/join/{link}.json?PROLIFIC_PID=abc123", headers=said).json()
        assert "known_as" not in shown


def test_what_stands_in_a_threads_field_goes_along_with_any_button(bench: Bench) -> None:
    name = bench.campaign()
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    unit = ada.next(name)["unit"]
    ada.post(f"/api/v1/campaigns/{name}/units/{unit}/flags", {"key": "k", "text": "why"})
    (flag,) = bench.store.flags.all(name)
    form = {"csrf": mori.csrf, "flag": str(flag.id), "do": "settle", "text": "Because of rule 3."}
    answer = mori.http.post(f"/c/{name}/flags.json", data=form, follow_redirects=False)
    assert answer.headers["location"] == f"/c/{name}.json#flag-{flag.id}"
    (flag,) = bench.store.flags.all(name)
    assert [reply.text for reply in flag.replies] == ["Because of rule 3."]
    assert flag.settled is not None


def test_programs_stop_where_a_campaign_is_archived(bench: Bench) -> None:
    name = bench.campaign()
    # Of another server's programs: none of ours takes it up meanwhile.
    spec = {"kind": "file", "model": "elsewhere"}
    run = bench.store.program_runs.add(name, bench.store.programs.add("mine"), spec)
    bench.store.campaigns.set_archived(name, True)
    assert bench.store.program_runs.get(run).state == "stopped"
