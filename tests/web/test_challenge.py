"""Challenges on the web: who sees what and when, and what becomes of runs that are handed in."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lapsus.challenge.service import create_from, submit
from lapsus.store import Store
from lapsus.store.challenge_records import ChallengePlan
from lapsus.web.pages.challenge.viewer import cookie
from lapsus.web.security import RateLimit
from tests.challenge.helpers import answers, content, gold_set, label, write_run
from tests.web.helpers import Bench, Browser

GOLD = gold_set(4)


class Team:
    """A browser in which a team's link was opened."""

    def __init__(self, bench: Bench, name: str, challenge: str = "c") -> None:
        self.base = f"/challenge/{challenge}"
        self.secret = bench.store.challenges.add_team(challenge, name)
        self.http: TestClient = bench.stranger()
        self.entered = self.http.get(f"{self.base}/team/{self.secret}")

    def get(self, path: str = "", **more: Any) -> Any:
        return self.http.get(f"{self.base}{path}", **more)

    def hand_in(self, data: bytes, *, name: str = "run.zip", json: bool = True, **fields: str) -> Any:
        csrf = self.http.get("/session.json").json()["csrf"]
        return self.http.post(
            f"{self.base}/submit{'.json' if json else ''}",
            data={"csrf": csrf, **fields},
            files={"file": (name, data, "application/zip")},
            follow_redirects=False,
        )


def packed(tmp_path: Path, shift: int = 0, **more: bytes) -> bytes:
    return write_run(tmp_path / f"{shift}.zip", answers(GOLD, shift), more).read_bytes()


@pytest.fixture
def challenge(store: Store) -> str:
    create_from(store, ChallengePlan("c", {"en": "A try", "ja": "試し"}), GOLD)
    return "c"


@pytest.fixture
def kite(bench: Bench, challenge: str) -> Team:
    return Team(bench, "Kite")


def test_a_run_is_handed_in_and_scored(kite: Team, tmp_path: Path) -> None:
    made = kite.hand_in(packed(tmp_path), run="first try")
    assert made.status_code == 201
    page = made.json()
    assert page["run"]["name"] == "first try"
    assert page["figures"]["n"] == 8
    assert page["browser"] is None
    board = kite.get(".json").json()
    assert [row["name"] for row in board["board"]["rows"]] == ["first try"]
    form = kite.hand_in(packed(tmp_path, 1), json=False)
    assert form.status_code == 303
    shown = kite.http.get(form.headers["location"])
    assert shown.status_code == 200
    assert "run2" in shown.text


def test_the_secret_leaves_the_address_at_once(kite: Team) -> None:
    assert kite.entered.url.path == "/challenge/c/submit"
    (kept,) = [one for one in kite.http.cookies.jar if one.name.startswith(cookie("c"))]
    assert kept.has_nonstandard_attr("HttpOnly")
    assert kite.secret not in kite.entered.text


def test_programs_hand_in_with_a_bearer_token(bench: Bench, kite: Team, tmp_path: Path) -> None:
    program = bench.stranger(headers={"Authorization": f"Bearer {kite.secret}"})
    files = {"file": ("run.zip", packed(tmp_path), "application/zip")}
    assert program.post("/challenge/c/submit.json", files=files).status_code == 201
    assert program.get("/challenge/c.json").json()["team"] == "Kite"
    other = bench.stranger(headers={"Authorization": f"Bearer {kite.secret}x"})
    assert other.post("/challenge/c/submit.json", files=files).status_code == 401


def test_a_broken_run_is_refused_with_every_reason(kite: Team, store: Store, tmp_path: Path) -> None:
    run = answers(GOLD)
    run["en-1"] = [(2, [label("Q")])]
    data = write_run(tmp_path / "bad.zip", run).read_bytes()
    refused = kite.hand_in(data, name="..\\<b>mine</b>.zip")
    assert refused.status_code == 422
    found = refused.json()
    assert [(one["kind"], one["file"], one["turn"]) for one in found["problems"]] == [
        ("unknown-label", "en-1.labels.json", "2"),
        ("missing-turn", "en-1.labels.json", "4"),
    ]
    assert (found["problem_count"], found["left"]) == (2, {"en": 3})
    assert store.challenges.runs("c") == []
    page = kite.hand_in(data, json=False)
    assert page.status_code == 422
    assert "en-1.labels.json" in page.text
    kite.http.headers["Accept-Language"] = "ja"
    assert "回答がありません。" in kite.hand_in(data, json=False).text


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip", b"PK\x05\x06" + b"\0" * 18, b"PK\x03\x04" * 100],
    ids=["empty", "text", "empty zip", "damaged"],
)
def test_whatever_is_sent_gets_an_answer(kite: Team, data: bytes) -> None:
    refused = kite.hand_in(data, name="\x1b[2J<script>.zip")
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["kind"] in ("not-a-run", "no-files")
    assert "lapsus-run" not in refused.text
    assert "<script>.zip" not in kite.hand_in(data, name="<script>.zip", json=False).text


def test_hostile_zips_are_refused(kite: Team, tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(100):
            archive.writestr(f"{number}.labels.json", b" " * 900_000)
    assert kite.hand_in(bomb.getvalue()).json()["problems"][-1]["kind"] == "too-large"
    outside = packed(tmp_path, 0, **{"../../x.labels.json": b"{}"})
    assert "points outside" in kite.hand_in(outside).json()["problems"][-1]["message"]


def test_refused_runs_of_a_team_are_limited(
    bench: Bench, kite: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapsus.web.pages.challenge.run.REFUSED", RateLimit("refused runs", 2, 3600))
    sound = packed(tmp_path)
    assert [kite.hand_in(data).status_code for data in (b"no zip", sound, b"no zip")] == [422, 201, 422]
    late = kite.hand_in(packed(tmp_path, 1))
    assert (late.status_code, late.json()["reason"]) == (422, "too-many-refused")
    # Other teams are not made to wait for it.
    assert Team(bench, "Heron").hand_in(sound).status_code == 201


def test_what_is_too_large_is_not_read(bench: Bench, kite: Team) -> None:
    assert kite.hand_in(b"x" * 10_100_000).status_code == 413
    # Only there, and only for those who may.
    assert kite.http.post("/sign-in", data={"name": "x" * 1_100_000}).status_code == 413
    stranger = bench.stranger()
    assert stranger.post("/challenge/c/submit.json", content=b"x" * 2_000_000).status_code == 401


def test_a_form_without_a_file_or_from_elsewhere(kite: Team, tmp_path: Path) -> None:
    csrf = kite.http.get("/session.json").json()["csrf"]
    empty = kite.http.post("/challenge/c/submit.json", data={"csrf": csrf})
    assert (empty.status_code, empty.json()["reason"]) == (422, "no-file")
    files = {"file": ("run.zip", packed(tmp_path), "application/zip")}
    forged = kite.http.post("/challenge/c/submit.json", data={"csrf": "x"}, files=files)
    assert (forged.status_code, forged.json()["reason"]) == (403, "csrf")
    assert kite.get("/submit.json").json()["left"] == {"en": 3}


def test_the_same_answers_and_a_fourth_run(kite: Team, tmp_path: Path) -> None:
    for shift in range(3):
        assert kite.hand_in(packed(tmp_path, shift)).status_code == 201
    again = kite.hand_in(packed(tmp_path, 0)).json()
    assert again["reason"] == "same-run"
    run = answers(GOLD)
    run["en-0"][1] = (2, [label("X", (0, 0, 1))])
    fourth = kite.hand_in(write_run(tmp_path / "4.zip", run).read_bytes())
    assert (fourth.status_code, fourth.json()["reason"], fourth.json()["left"]) == (
        422,
        "too-many-runs",
        {"en": 0},
    )


def two_teams(bench: Bench, tmp_path: Path) -> tuple[Team, Team, list[int]]:
    teams = Team(bench, "Kite"), Team(bench, "Heron")
    made = [team.hand_in(packed(tmp_path, shift)) for shift, team in enumerate(teams)]
    return *teams, [one.json()["run"]["id"] for one in made]


@pytest.mark.usefixtures("challenge")
def test_teams_see_only_their_own_before_it_is_revealed(bench: Bench, store: Store, tmp_path: Path) -> None:
    kite, heron, (first, second) = two_teams(bench, tmp_path)
    for state in ("open", "frozen"):
        store.challenges.set_state("c", state)  # type: ignore[arg-type]
        page = kite.get(".json").json()
        assert [row["team"] for row in page["board"]["rows"]] == ["Kite"]
        assert "Heron" not in kite.get().text
        assert "teams" not in page
        mine, others = kite.get(f"/run/{first}.json"), kite.get(f"/run/{second}.json")
        assert mine.json()["figures"] is not None
        assert (mine.json()["browser"], others.status_code) == (None, 404)
        # Nobody can tell a hidden run from one that is not there.
        assert others.json() == kite.get("/run/999.json").json()
    assert kite.hand_in(packed(tmp_path, 2)).json()["reason"] == "challenge-frozen"
    store.challenges.set_state("c", "revealed")
    page = heron.get(".json").json()
    assert {row["team"] for row in page["board"]["rows"]} == {"Kite", "Heron"}
    assert heron.get(f"/run/{first}.json").json()["browser"]["confusion"]


def test_without_feedback_teams_see_names_and_no_scores(bench: Bench, store: Store, tmp_path: Path) -> None:
    create_from(store, ChallengePlan("c", feedback="none"), GOLD)
    kite = Team(bench, "Kite")
    made = kite.hand_in(packed(tmp_path)).json()
    assert (made["figures"], made["systems"], made["browser"]) == (None, {}, None)
    page = kite.get(".json").json()
    assert (page["sees"], page["board"], [run["name"] for run in page["runs"]]) == ("names", None, ["run1"])
    for path in ("", f"/run/{made['run']['id']}"):
        assert 'class="value"' not in kite.get(path).text


@pytest.mark.usefixtures("challenge")
def test_people_see_everything_only_if_they_manage(bench: Bench, store: Store, tmp_path: Path) -> None:
    *_, (first, _) = two_teams(bench, tmp_path)
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    page = ada.get("/challenge/c.json").json()
    assert (page["sees"], page["board"], page["runs"]) == ("nothing", None, [])
    assert ada.get(f"/challenge/c/run/{first}.json").status_code == 404
    assert [one["name"] for one in ada.get("/challenges.json").json()["challenges"]] == ["c"]
    whole = mori.get("/challenge/c.json").json()
    assert [team["name"] for team in whole["teams"]] == ["Kite", "Heron"]
    assert len(whole["board"]["rows"]) == 2
    assert mori.get(f"/challenge/c/run/{first}.json").json()["browser"]["dialogues"]
    store.challenges.set_state("c", "revealed")
    assert ada.get(f"/challenge/c/run/{first}.json").json()["browser"]["dialogues"]


@pytest.mark.usefixtures("challenge")
def test_strangers_see_nothing(bench: Bench, store: Store) -> None:
    store.challenges.set_state("c", "revealed")
    stranger = bench.stranger()
    for path in ("/challenges", "/challenge/c", "/challenge/c/submit", "/challenge/c/run/1"):
        assert stranger.get(f"{path}.json").status_code == 401
        assert (
            stranger.get(path, follow_redirects=False).headers["location"].startswith("/sign-in?next=/chall")
        )
    assert stranger.get("/challenge/c/testset.zip").status_code == 401
    wrong = stranger.get(f"/challenge/c/team/{'x' * 43}")
    assert wrong.status_code == 410
    assert not [one for one in stranger.cookies if one.startswith(cookie("c"))]


def test_a_link_opens_its_own_challenge_only(bench: Bench, store: Store, kite: Team) -> None:
    create_from(store, ChallengePlan("other"), GOLD)
    kite.http.cookies.set(bench.app.state.web.cookies.name(cookie("other")), kite.secret)
    assert kite.http.get("/challenge/other.json").status_code == 401
    assert bench.stranger().get(f"/challenge/other/team/{kite.secret}").status_code == 410
    assert [one["name"] for one in kite.http.get("/challenges.json").json()["challenges"]] == ["c"]


def form(browser: Browser, path: str, **fields: str) -> Any:
    return browser.http.post(path, data={"csrf": browser.token(), **fields}, follow_redirects=False)


def test_managers_freeze_reveal_and_add_teams(bench: Bench, store: Store, kite: Team) -> None:
    mori = bench.person("Mori", "manager")
    assert form(mori, "/challenge/c/state", state="frozen").status_code == 303
    assert store.challenges.get("c").state == "frozen"
    assert form(mori, "/challenge/c/state.json", state="shut").status_code == 400
    made = form(mori, "/challenge/c/teams.json", team="Wren").json()
    path = made["link"].partition("//")[2].partition("/")[2]
    assert bench.stranger().get(f"/{path}").status_code == 200
    assert "link" not in mori.get("/challenge/c.json").json()
    assert form(mori, "/challenge/c/teams.json", team="").status_code == 422
    form(mori, "/challenge/c/state", state="revealed")
    assert form(mori, "/challenge/c/state.json", state="open").status_code == 409
    assert mori.http.post("/challenge/c/state.json", data={"state": "frozen"}).status_code == 403


def test_nobody_else_does(bench: Bench, store: Store, kite: Team) -> None:
    for role in ("annotator", "adjudicator"):
        someone = bench.person(role, role)  # type: ignore[arg-type]
        for path, fields in (("state", {"state": "revealed"}), ("teams", {"team": "Mine"})):
            assert form(someone, f"/challenge/c/{path}.json", **fields).status_code == 403
        assert someone.get("/challenge/c/submit.json").status_code == 403
    csrf = kite.http.get("/session.json").json()["csrf"]
    answer = kite.http.post("/challenge/c/state.json", data={"csrf": csrf, "state": "revealed"})
    assert (answer.status_code, store.challenges.get("c").state) == (403, "open")


def test_the_test_set_is_given_out_without_labels(kite: Team) -> None:
    sent = kite.get("/testset.zip")
    assert sent.headers["content-disposition"] == 'attachment; filename="c-testset.zip"'
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        dialogues = [json.loads(archive.read(name)) for name in archive.namelist()]
    assert len(dialogues) == 4
    assert all(turn["annotations"] == [] for dialogue in dialogues for turn in dialogue["turns"])
    assert "rating" not in json.dumps(dialogues)


@pytest.mark.usefixtures("challenge")
def test_the_test_set_is_for_teams_and_managers_until_the_reveal(bench: Bench, store: Store) -> None:
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    refused = ada.get("/challenge/c/testset.zip")
    assert refused.status_code == 403
    assert "testset.zip" not in ada.get("/challenge/c").text
    assert "testset.zip" in mori.get("/challenge/c").text
    assert mori.get("/challenge/c/testset.zip").status_code == 200
    store.challenges.set_state("c", "revealed")
    assert ada.get("/challenge/c/testset.zip").status_code == 200


def browsed(bench: Bench, store: Store, tmp_path: Path) -> Browser:
    store.challenges.add_team("c", "Kite")
    # Gold is T, X, O, T, … by VOTES; the run says the same label everywhere.
    run = {name: [(turn, [label("O")]) for turn, _ in turns] for name, turns in answers(GOLD).items()}
    submit(store, "c", write_run(tmp_path / "run.zip", run), store.challenges.team_named("c", "Kite"))
    return bench.person("Mori", "manager")


@pytest.mark.usefixtures("challenge")
def test_errors_are_found_turn_by_turn(bench: Bench, store: Store, tmp_path: Path) -> None:
    mori = browsed(bench, store, tmp_path)
    (run,) = store.challenges.runs("c")

    def look(query: str) -> Any:
        return mori.get(f"/challenge/c/run/{run.id}.json?{query}").json()["browser"]

    everything = look("show=all")
    turns = [turn for one in everything["dialogues"] for turn in one["turns"] if turn["judged"]]
    golds = [turn["judged"]["gold"] for turn in turns]
    # Dialogue n has the votes at places n+1 and n+2: (1,2,7) X, (2,6,2) T, (3,3,4) X, (8,1,1) O.
    assert golds == ["X", "T", "T", "X", "X", "O", "O", "X"]
    assert everything["confusion"] == [[2, 0, 0], [2, 0, 0], [4, 0, 0]]
    errors = look("show=errors")
    assert sum(one["wanted"] for one in errors["dialogues"]) == 6
    assert sum(one["wanted"] for one in look("show=missed")["dialogues"]) == 4
    assert look("show=alarms")["found"] == 0
    assert {one["system"] for one in look("show=all&system=Wren")["dialogues"]} == {"Wren"}
    for strange in (
        "show=x&system=nobody&page=-3",
        "page=99999999999999999999",
        f"page={9:0<5000}",
        "page=%00",
    ):
        assert look(strange) == errors
    text = mori.get(f"/challenge/c/run/{run.id}").text
    assert "turn 4 of dialogue 0" in text


@pytest.mark.usefixtures("challenge")
def test_pages_are_there_in_both_languages(bench: Bench, store: Store, tmp_path: Path) -> None:
    mori = browsed(bench, store, tmp_path)
    (run,) = store.challenges.runs("c")
    for lang, title in (("en", "A try"), ("ja", "試し")):
        for path in ("/challenges", "/challenge/c", f"/challenge/c/run/{run.id}"):
            page = mori.get(f"{path}?lang={lang}")
            assert (page.status_code, title in page.text) == (200, True)
            assert "challenge." not in page.text.replace("challenge.css", "")
    assert mori.get("/challenge/c?by=jsd&track=en").status_code == 200
    assert mori.get("/challenge/c.json?by=nothing").status_code == 422
    assert mori.get("/challenge/c.json?track=de").status_code == 404
    assert mori.get("/challenge/nothing").status_code == 404


def test_names_of_strangers_are_text(bench: Bench, store: Store, challenge: str, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    team = Team(bench, hostile)
    made = team.hand_in(packed(tmp_path), run=hostile)
    assert made.status_code == 201
    bad = write_run(tmp_path / "bad.zip", answers(GOLD), {f"{hostile}.labels.json": content(hostile, [])})
    refused = team.hand_in(bad.read_bytes(), json=False).text
    mori = bench.person("Mori", "manager")
    pages = [mori.get("/challenge/c").text, mori.get(f"/challenge/c/run/{made.json()['run']['id']}").text]
    for text in (refused, *pages):
        assert "<img src=x" not in text
        assert "&lt;img src=x" in text


def test_what_is_to_know_of_a_run_is_told_in_the_readers_language(
    bench: Bench, kite: Team, tmp_path: Path
) -> None:
    bare = answers(GOLD)
    bare["en-0"][1] = (2, [label("O", None)])
    assert kite.hand_in(write_run(tmp_path / "bare.zip", bare).read_bytes()).status_code == 201
    mori = bench.person("Mori", "manager")
    assert "Kite run1: 分布のない発話が 1 個ありました。" in mori.get("/challenge/c?lang=ja").text
    assert "Kite run1: 1 turns came without a distribution" in mori.get("/challenge/c?lang=en").text
