"""Setting up and running campaigns in the browser: the wizard, what managers do, what people read first."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

import pytest

from lapsus.formats import convert
from lapsus.model import Entry, Judgment
from lapsus.samples import sample_path
from lapsus.store import KnownUnit, KnownUnits, parse_plan
from lapsus.store.collect_plan import Collect, System
from lapsus.web.judge_sources import JudgeSources
from lapsus.web.page_words import words
from tests.web.helpers import Bench, Browser, chat
from tests.web.wizard import add_known, begun, post, sample


@pytest.fixture
def mori(bench: Bench) -> Browser:
    return bench.person("mori", "manager")


def test_from_a_file_to_a_campaign(bench: Bench, mori: Browser) -> None:
    base = begun(mori)
    page = post(mori, f"{base}/guideline", scheme="breakdown", go="stay").text
    assert "turn 4 of d0" in page
    assert "turn 5 of d0" not in page
    assert post(mori, f"{base}/guideline", scheme="breakdown", go="next").url.path == f"{base}/people"
    people = {
        "per_unit": "2",
        "who": "named",
        "people": "mori\n",
        "batch": "1",
        "order": "given",
        "minutes": "30",
    }
    assert post(mori, f"{base}/people", go="next", pilot="2", **people).url.path == f"{base}/pages"
    pages = {"instructions_en": "Read.\r\n\r\nWell.", "consent_ja": "同意します。", "code": "C1"}
    assert post(mori, f"{base}/pages", go="next", **pages).url.path == f"{base}/checks"
    assert add_known(mori, base, "training", "d3", '{"breakdown": "O"}').url.path == f"{base}/checks"
    rule = {"training_allow": "2", "training_then": "stop"}
    assert post(mori, f"{base}/checks", go="next", **rule).url.path == f"{base}/review"
    review = mori.get(f"{base}/review.json").json()
    file = mori.get(f"{base}/plan.yaml")
    assert file.text == review["plan"]
    assert "attachment" in file.headers["content-disposition"]
    assert (review["documents"], review["units"]) == (4, 12)
    done = post(mori, f"{base}/review", go="make")
    assert done.url.path == "/c/spring/manage"
    made = bench.store.campaigns.get("spring")
    assert made.plan == parse_plan(review["plan"])
    assert made.plan.instructions == {"en": "Read.\n\nWell."}
    assert made.plan.training == KnownUnits((KnownUnit("d3", {"breakdown": "O"}, "0"),), allow=2, then="stop")
    assert (made.state, made.stage, bench.store.progress.of_campaign("spring").units) == ("draft", "pilot", 6)
    assert mori.get(f"{base}/review").status_code == 404
    assert mori.get("/c/spring/plan").text == review["plan"]
    assert mori.get("/c/spring/plan.json").json()["per_unit"] == 2


def test_a_chain_needs_no_file(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="votes")
    answer = post(mori, "/new", name="types", chain="votes")
    base = str(answer.url.path).removesuffix("/guideline")
    assert "turn 4 of d0" in post(mori, f"{base}/guideline", scheme="error-types", go="next").text
    post(mori, f"{base}/people", go="next", per_unit="1", who="everybody", order="random")
    assert post(mori, f"{base}/review", go="make").url.path == "/c/types/manage"
    assert bench.store.campaigns.get("types").plan.chain is not None


@pytest.mark.parametrize(
    ("step", "fields", "message"),
    [
        ("guideline", {"scheme": "nonsense"}, "nonsense"),
        ("guideline", {"scheme": "/etc/scheme.yaml"}, "no guideline"),
        ("people", {"per_unit": "0", "who": "everybody"}, "from 1 to 1000"),
        ("people", {"per_unit": "many", "who": "everybody"}, "no whole number"),
        ("people", {"per_unit": "1", "who": "nobody"}, "nobody"),
        ("pages", {"code": "a b"}, "completion code"),
        ("pages", {"code": "a", "url": "javascript:alert(1)"}, "https"),
    ],
)
def test_what_is_wrong_is_said_on_the_spot_and_nothing_is_kept(
    mori: Browser, step: str, fields: dict[str, str], message: str
) -> None:
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    before = mori.get(f"{base}/review.json").json()["plan"]
    answer = post(mori, f"{base}/{step}.json", go="next", **fields)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert {key: answer.json()["fields"][key] for key in fields} == fields
    assert mori.get(f"{base}/review.json").json()["plan"] == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"block": "trainin"}, "what the unit is for"),
        ({"answers": ""}, "right answer first"),
        ({"answers": "{}"}, "right answer first"),
        ({"answers": '{"breakdown": "Y"}'}, "breaks a rule"),
        ({"answers": "[" * 100_000}, "right answer first"),
        ({"document": "d9"}, "not there"),
        ({"segment": "1"}, "not there"),
    ],
)
def test_a_known_unit_that_is_wrong_is_not_kept(mori: Browser, fields: dict[str, str], message: str) -> None:
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    given = {"block": "gold", "document": "d0", "segment": "0", "answers": '{"breakdown": "O"}', **fields}
    answer = post(mori, f"{base}/checks.json", go="add", **given)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert mori.get(f"{base}/checks.json").json()["known"] == []


def test_after_a_mistake_the_right_answer_is_still_there(mori: Browser) -> None:
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    add_known(mori, base, "training", "d0", '{"breakdown": "X"}')
    answer = post(
        mori,
        f"{base}/checks",
        go="add",
        block="checks",
        document="d0",
        segment="2",
        answers='{"breakdown":"T"}',
    )
    assert answer.status_code == 422
    assert "under both &#39;training&#39; and &#39;checks&#39;" in answer.text
    assert 'id="answers" value="{&#34;breakdown&#34;:&#34;T&#34;}"' in answer.text


def test_known_units_come_and_go_one_by_one(mori: Browser) -> None:
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    add_known(mori, base, "training", "d0", '{"breakdown": "X"}', feedback_en="Nobody can go on.")
    add_known(mori, base, "checks", "d1", '{"breakdown": "O"}')
    add_known(mori, base, "training", "d0", '{"breakdown": "T"}')  # known anew, not twice
    page = mori.get(f"{base}/checks.json").json()
    said = {block["name"]: [(u["document"], u["said"]) for u in block["units"]] for block in page["known"]}
    assert said == {"training": [("d0", [["Possible breakdown"]])], "checks": [("d1", [["Not a breakdown"]])]}
    assert (page["fields"]["checks_every"], page["fields"]["checks_then"]) == ("5", "stop")
    post(mori, f"{base}/checks", go="stay", checks_every="3", checks_allow="0", checks_then="warn")
    post(mori, f"{base}/checks", go="remove", block="training", document="d0", segment="0")
    plan = parse_plan(mori.get(f"{base}/plan.yaml").text)
    assert plan.training is None
    assert plan.checks is not None
    assert (plan.checks.every, plan.checks.allow, plan.checks.then) == (3, 0, "warn")
    answer = post(mori, f"{base}/checks.json", go="next", checks_every="0")
    assert (answer.status_code, "every so many" in answer.json()["error"]) == (422, True)


def test_many_known_units_come_from_a_file_of_judgments(mori: Browser, tmp_path: Path) -> None:
    base = begun(mori)
    post(mori, f"{base}/guideline", scheme="breakdown", go="next")
    said = [Judgment("d0", turn, "mori", "breakdown", "1.0", {"breakdown": "T"}) for turn in ("0", "2")]
    convert([Entry("d0", chat("d0"), tuple(said))], tmp_path / "right.jsonl")
    sent = {"file": ("right.jsonl", (tmp_path / "right.jsonl").read_bytes())}
    post(mori, f"{base}/checks", sent, go="import", block="gold")
    plan = parse_plan(mori.get(f"{base}/plan.yaml").text)
    assert plan.gold is not None
    assert plan.gold.units == tuple(KnownUnit("d0", {"breakdown": "T"}, turn) for turn in ("0", "2"))
    for file, message in (
        (("x.jsonl", b"nonsense"), "x.jsonl"),
        (("d.jsonl", sample("d0")), "nothing in it"),
    ):
        answer = post(mori, f"{base}/checks.json", {"file": file}, go="import", block="gold")
        assert answer.status_code == 422
        assert message in answer.json()["error"]


def hostile_files() -> dict[str, tuple[str, bytes]]:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", b" " * 9_000_000)
    return {
        "nothing": ("empty.jsonl", b""),
        "noise": ("noise.zip", b"PK\x03\x04" + b"\xff" * 200),
        "path": ("../../../etc/passwd", b"{}"),
        "bomb": ("bomb.zip", bomb.getvalue()),
        "text": ("a.jsonl", b"not json at all"),
    }


@pytest.mark.parametrize("which", hostile_files())
def test_files_that_cannot_be_read_are_refused_and_none_is_left(
    mori: Browser, which: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = tmp_path / "uploads"
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    answer = post(mori, "/new.json", {"file": hostile_files()[which]}, name="spring")
    assert answer.status_code == 422
    assert str(tmp_path) not in answer.text
    assert list(here.iterdir()) == []


def test_a_file_that_is_too_large_is_refused(mori: Browser) -> None:
    answer = post(mori, "/new.json", {"file": ("big.jsonl", b"x" * 11_000_000)}, name="spring")
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("fields", "made"),
    [
        ({"name": "My Chats!"}, "my-chats"),
        ({"title_en": "Café au lait", "title_ja": "カフェ"}, "cafe-au-lait"),
        ({"title_ja": "問い合わせ対応"}, "logs-2"),
        ({"name": "問い合わせ"}, "logs-2"),
        ({"name": "x" * 61}, "x" * 60),
        ({"title_en": "Spring"}, "spring-2"),
    ],
)
def test_a_short_name_is_made_of_what_is_there(
    bench: Bench, mori: Browser, fields: dict[str, str], made: str
) -> None:
    bench.campaign(name="spring")
    answer = post(mori, "/new", {"file": ("logs 2.jsonl", sample("d0"))}, **fields)
    draft = str(answer.url.path).removesuffix("/guideline")
    assert mori.get(f"{draft}/data.json").json()["fields"]["name"] == made


def test_a_name_that_is_taken_is_not_changed_in_silence(bench: Bench, mori: Browser) -> None:
    bench.campaign(name="spring")
    answer = post(mori, "/new", {"file": ("logs.jsonl", sample("d0"))}, name="spring")
    assert answer.status_code == 422
    assert "choose another name" in answer.text


def test_both_languages_say_the_same_things() -> None:
    english = {key for key in words("en") if key.startswith("setup.")}
    assert english == {key for key in words("ja") if key.startswith("setup.")}


def test_only_target_turns_come_out_of_the_wizard(bench: Bench, mori: Browser) -> None:
    file = {"file": ("d.jsonl", sample_path("dialogues-en").read_bytes())}
    answer = post(mori, "/new", file, name="types")
    base = str(answer.url.path).removesuffix("/guideline")
    page = post(mori, f"{base}/guideline", scheme="error-types", go="stay").text
    assert "42 of 100 turns are targets" in page
    shape = mori.get(f"{base}/guideline.json").json()
    assert (shape["units"], shape["targets"]) == (42, {"judged": 100, "chosen": 42, "without": 0})
    procedure = {"walk": "required", "guideline_language": "en"}
    post(mori, f"{base}/guideline", scheme="error-types", go="next", **procedure)
    assert "42 of 100 turns are targets" in mori.get(f"{base}/review").text
    everything = post(
        mori, f"{base}/guideline", scheme="error-types", go="stay", all_turns="yes", **procedure
    )
    assert "100" in everything.text
    assert mori.get(f"{base}/guideline.json").json()["units"] == 100
    post(mori, f"{base}/guideline", scheme="error-types", go="next", **procedure)
    assert post(mori, f"{base}/review", go="make").url.path == "/c/types/manage"
    made = bench.store.campaigns.get("types")
    assert bench.store.progress.of_campaign("types").units == 42
    assert (made.plan.walk, made.plan.guideline_language) == ("required", "en")


def test_documents_without_votes_are_said_in_the_wizard(mori: Browser) -> None:
    base = begun(mori)
    page = post(mori, f"{base}/guideline", scheme="error-types", go="stay").text
    assert "Documents without such votes: 4" in page


def test_what_is_wrong_with_a_file_is_said_in_the_readers_language(mori: Browser) -> None:
    file = {"file": ("d.jsonl", b"{")}
    fields = {"csrf": mori.csrf, "name": "x"}
    answer = mori.http.post("/new", data=fields, files=file, headers={"Accept-Language": "ja"})
    assert answer.status_code == 422
    assert "知らない形式です" in answer.text or "JSONとして正しくありません" in answer.text


def test_what_was_begun_is_found_again(bench: Bench, mori: Browser) -> None:
    base = begun(mori)
    for path in ("/", "/new"):
        assert f'<a href="{base}/guideline">Spring chats</a>' in mori.get(path).text, path
    other = bench.person("Yui", "manager")
    assert base not in other.get("/").text + other.get("/new").text


def test_a_campaign_that_collects_talks(bench: Bench, mori: Browser) -> None:
    base = str(post(mori, "/new", name="chats", collect="yes").url.path).removesuffix("/talks")
    steps = mori.get(f"{base}/talks.json").json()["steps"]
    assert ("talks" in steps, "checks" in steps) == (True, False)
    given = {
        "systems": "bot\nperson", "prompt": "You book tables.", "language": "en", "opens": "system", "exchanges": "3",
        "dialogues": "20", "topics": "Travel\nFood", "ask": "yes", "mask_email": "yes",
    }  # fmt: skip
    assert post(mori, f"{base}/talks", go="next", **given).url.path == f"{base}/guideline"
    assert post(mori, f"{base}/guideline", scheme="breakdown", go="next").url.path == f"{base}/people"
    assert post(mori, f"{base}/people", go="next", who="open", per_person="2").url.path == f"{base}/pages"
    assert post(mori, f"{base}/pages", go="next").url.path == f"{base}/review"
    shown = mori.get(f"{base}/talks.json").json()["fields"]
    assert {name: shown[name] for name in given} == given
    assert "talks with bot, person; 3 exchanges each" in mori.get(f"{base}/review").text
    assert post(mori, f"{base}/review", go="make").url.path == "/c/chats/manage"
    plan = bench.store.campaigns.get("chats").plan
    assert plan.collect == Collect(
        ("bot", System("person", prompt="You book tables.")),
        exchanges=3,
        dialogues=20,
        topics=({"en": "Travel"}, {"en": "Food"}),
        ask=True,
        mask=("email",),
    )
    assert plan.per_person == 2


def test_talks_or_a_file_and_back(mori: Browser) -> None:
    base = begun(mori)
    assert post(mori, f"{base}/data", go="next", name="spring", collect="yes").url.path == f"{base}/talks"
    assert post(mori, f"{base}/talks", go="back", systems="bot").url.path == f"{base}/data"
    file = {"file": ("chats.jsonl", sample("d0"))}
    assert post(mori, f"{base}/data", file, go="next", name="spring").url.path == f"{base}/guideline"
    assert mori.get(f"{base}/talks").status_code == 404
    assert "checks" in mori.get(f"{base}/guideline.json").json()["steps"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"systems": ""}, "at least one system"),
        ({"systems": "bot\nbot"}, "name of its own"),
        ({"systems": "https://inside.example/reply"}, "cannot be chosen on a page"),
        ({"systems": "rasa:http://inside.example"}, "cannot be chosen on a page"),
        ({"systems": "openai:m", "endpoint": "https://elsewhere.example/v1"}, "not allowed"),
        ({"systems": "openai:m"}, "not allowed"),
        ({"systems": "bot", "exchanges": "many"}, "no whole number"),
        ({"systems": "bot", "exchanges": "0"}, "from 1 to"),
    ],
)
def test_a_page_names_no_address_and_no_key_for_talks(
    mori: Browser, fields: dict[str, str], message: str
) -> None:
    base = str(post(mori, "/new", name="chats", collect="yes").url.path).removesuffix("/talks")
    answer = post(mori, f"{base}/talks.json", go="next", **fields)
    assert answer.status_code == 422
    assert message in answer.json()["error"]


def test_language_models_are_talked_to_where_the_operator_allowed_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPSUS_API_KEY_TALKS", "k")
    monkeypatch.setenv("ANOTHER_SECRET", "s")
    where = "http://127.0.0.1:9/v1"
    bench.app.state.web.judges = JudgeSources.named(None, [where])
    mori = bench.person("mori", "manager")
    base = str(post(mori, "/new", name="chats", collect="yes").url.path).removesuffix("/talks")
    given = {"systems": "openai:m", "endpoint": where, "prompt": "Be brief."}
    assert post(mori, f"{base}/talks.json", key_env="ANOTHER_SECRET", go="next", **given).status_code == 422
    told = post(mori, f"{base}/talks", key_env="LAPSUS_API_KEY_TALKS", go="next", **given)
    assert told.url.path == f"{base}/guideline"
    assert where in mori.get(f"{base}/talks").text
