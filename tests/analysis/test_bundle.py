"""A bundle verifies as it was written, and no longer once a vote in it is another."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lapsus.analysis.bundle import CONTENTS, VOTES, verify, write_bundle
from lapsus.cli.app import app
from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import Bootstrap
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.model.judgment import PROGRAM
from lapsus.schemes import load_scheme

SCHEME = load_scheme("breakdown")


def entries() -> list[Entry]:
    found = []
    for number in range(40):
        said = "OOTX"[number % 4], "OTTX"[number % 4], "OOXX"[number % 4]
        judgments = tuple(
            Judgment(f"d{number}", "0", name, SCHEME.id, SCHEME.version, {"breakdown": label})
            for name, label in zip("abc", said, strict=True)
        )
        judge = Judgment(
            f"d{number}", "0", "judge", SCHEME.id, SCHEME.version, {"breakdown": said[1]}, metadata={PROGRAM: True}
        )  # fmt: skip
        document = Document(
            f"d{number}",
            (Segment("0", "system", f"turn {number}"),),
            "en",
            metadata={"system": "AB"[number % 2]},
        )
        found.append(Entry(document.id, document, (*judgments, judge)))
    return found


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "figures.zip"
    assert write_bundle(entries(), SCHEME, path, bootstrap=Bootstrap(100)) > 20
    return path


def changed(bundle: Path, member: str, old: bytes, new: bytes) -> Path:
    other = bundle.with_name("changed.zip")
    with zipfile.ZipFile(bundle) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == member:
                assert old in content
                content = content.replace(old, new, 1)
            target.writestr(name, content)
    return other


def test_it_verifies_as_it_was_written(bundle: Path) -> None:
    found = verify(bundle)
    assert found.differences == ()
    assert found.figures == write_bundle(entries(), SCHEME, bundle, bootstrap=Bootstrap(100), overwrite=True)


def test_one_changed_vote_fails_and_the_figures_are_named(bundle: Path) -> None:
    other = changed(bundle, VOTES, b'"breakdown":"X"', b'"breakdown":"O"')
    differing = {one.figure for one in verify(other).differences}
    assert {"votes", "fleiss_kappa", "alpha", "share_B"} <= differing
    done = CliRunner().invoke(app, ["verify", str(other)])
    assert done.exit_code == 1
    assert "fleiss_kappa" in done.stdout


def test_figures_of_systems_annotators_and_programs_are_in_it(bundle: Path) -> None:
    said = b'"judge","scheme":"breakdown","version":"%s","answers":{"breakdown":"' % SCHEME.version.encode()
    other = changed(bundle, VOTES, said + b"O", said + b"X")
    differing = {one.figure for one in verify(other).differences}
    assert {"votes", "trust.breakdown.judge.advantage"} <= differing
    assert any(name.startswith("estimate.breakdown.judge.share.X.") for name in differing)
    assert not any(name.startswith("gold") or "kappa" in name for name in differing)
    with zipfile.ZipFile(bundle) as packed:
        stated = json.loads(packed.read(CONTENTS))["figures"]
    assert stated["estimate.breakdown.judge.share.X.A.people.value"] == pytest.approx(1 / 6)
    assert {"by.A.fleiss_kappa", "a_with_the_rest"} <= stated.keys()


def test_a_changed_figure_or_guideline_fails(bundle: Path) -> None:
    stated = verify(changed(bundle, CONTENTS, b'"given_NB":', b'"given_XY":')).differences
    assert {one.figure for one in stated} == {"given_NB", "given_XY"}
    words = verify(changed(bundle, CONTENTS, b'"version": "', b'"version": "9')).differences
    assert "guideline" in {one.figure for one in words}


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no")
    with pytest.raises(InputError, match="is no bundle"):
        verify(tmp_path / "x.zip")


def test_a_bundle_whose_guideline_contradicts_itself_is_refused(bundle: Path) -> None:
    with pytest.raises(InputError, match="no label 'T'"):
        verify(changed(bundle, CONTENTS, b'"id": "T"', b'"id": "Q"'))


@pytest.mark.parametrize("more", [b"-1", b"1000000000", b"1e3"])
@pytest.mark.parametrize("field", [b'"resamples": ', b'"seed": -'])
def test_a_bundle_of_a_stranger_cannot_ask_for_any_work(bundle: Path, field: bytes, more: bytes) -> None:
    asked = field.rstrip(b"-")
    now = changed(bundle, CONTENTS, asked, field + more + b', "old": ')
    with pytest.raises(InputError, match="is no bundle"):
        verify(now)
    with pytest.raises(UsageError, match="resamples at most"):
        write_bundle(entries(), SCHEME, bundle, bootstrap=Bootstrap(10**9), overwrite=True)


@pytest.mark.parametrize("member", [CONTENTS, VOTES])
def test_a_bundle_that_would_grow_without_end_is_not_unpacked(bundle: Path, member: str) -> None:
    with zipfile.ZipFile(bundle) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in (files | {member: b" " * 30_000_000}).items():
            packed.writestr(name, content)
    with pytest.raises(InputError, match="would grow"):
        verify(bundle)


def test_a_bundle_that_is_encrypted_or_damaged_is_told(bundle: Path) -> None:
    content = bytearray(bundle.read_bytes())
    content[6] |= 1
    content[content.find(b"PK\x01\x02") + 8] |= 1
    bundle.write_bytes(content)
    with pytest.raises(InputError, match="is no bundle"):
        verify(bundle)
