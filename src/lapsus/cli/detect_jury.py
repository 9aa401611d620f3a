"""`lapsus detect` with several judges: each in turn, and all of them as a jury."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.cli.language_model_options import PREFIX
from lapsus.cli.output import print_json, remark, say
from lapsus.errors import UsageError
from lapsus.formats import FORMATS, read
from lapsus.formats.sink import check_place, put_in_place

if TYPE_CHECKING:
    from lapsus.cli.detect import Detecting


def detect_by_jury(names: list[str], how: Detecting, target: Path) -> None:
    """Write what each of several judges says and the jury's judgments.

    Each member has a file of its own beside the target until all are through, so that what a language model said is
    not asked for twice where the command ends early and is given again.
    """
    from lapsus.annotators.detection import run_format
    from lapsus.annotators.jury import JURY, with_jury
    from lapsus.schemes import load_scheme

    scheme = load_scheme(how.scheme or "breakdown")
    format = run_format(target, scheme.id, keep=how.keep)
    if format.name not in ("jsonl", "dbdc-run"):
        raise UsageError(
            f"{format.name} does not hold all that is written here",
            where=str(target),
            hint="name a RUN.jsonl",
        )
    check_place(target, overwrite=how.overwrite, source=how.data)
    alone = format.name == "dbdc-run"
    turns = how.turns or ("judged" if alone else "all")
    parts = [target.with_name(f"{target.name}.{place}.jsonl") for place in range(1, len(names) + 1)]
    one_by_one = how._replace(keep=False, overwrite=False, turns=turns, as_json=False, is_member=True)
    for name, part in zip(names, parts, strict=True):
        if part.exists():
            remark(f"{part} holds what {name} said, and is used")
        elif name.startswith(PREFIX):
            one_by_one.ask(name, part)
        else:
            one_by_one._replace(scheme=scheme.id).detect(name, part)
    sources = [read(how.data, only=how.only, language=how.language)] if how.keep else []
    with put_in_place(target, overwrite=how.overwrite) as draft:
        FORMATS.get(format.name)().write(
            with_jury([*map(read, parts)], scheme, alone=alone, beside=sources), draft
        )
    for part in parts:
        part.unlink()
    if how.as_json:
        print_json({"by": JURY, "members": names, "out": str(target)})
        return
    say(f"{JURY} of {', '.join(names)} → {target} ({format.name})")
