"""`lapsus push`: judgments back to the tool that the traces came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.convert import FromOption
from lapsus.cli.output import JsonOption, in_words, print_json, remark, say
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.formats.remote import STANDARD_INPUT, Address, location
from lapsus.notices import Notice


def push_command(
    server: Annotated[str, typer.Argument(help="langfuse or phoenix.", metavar="SERVER")],
    source: Annotated[
        Path,
        typer.Argument(
            help="Judged dialogues that were read from traces.",
            metavar="DATA",
            parser=location,
        ),
    ],
    url: Annotated[str, typer.Option("--url", help="Address of the server.", metavar="URL")],
    yes: Annotated[bool, typer.Option("--yes", help="Send without asking.")] = False,
    from_format: FromOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send judgments to a Langfuse or Phoenix server as scores or annotations of their spans."""
    from lapsus.formats.traces.feedback import feedback_of
    from lapsus.formats.traces.push import SERVERS, push

    if server not in SERVERS:
        raise UsageError("no-server", hint="known", server=server, known=", ".join(SERVERS))
    if not yes and isinstance(source, Address) and source.address == STANDARD_INPUT:
        raise UsageError("cannot-ask-where-data", hint="yes-sends-without-asking")
    judgments = without = pieces = 0
    for entry in read(source, from_format):
        found = list(feedback_of(entry))
        judgments += len(entry.judgments)
        pieces += len(found)
        without += len(entry.judgments) - len({id(piece.judgment) for piece in found})
    if not pieces:
        hint = Notice("read-traces-lapsus-convert")
        raise UsageError("no-judgment-knows-span", where=str(source), hint=hint)
    if without:
        remark("judgments-know-no-span", without=without, judgments=judgments)
    if not yes and not typer.confirm(
        in_words("send-answers", pieces=pieces, server=server, url=url), err=True
    ):
        raise typer.Exit(1)
    sent = push(server, url, (piece for entry in read(source, from_format) for piece in feedback_of(entry)))
    if as_json:
        print_json({"server": server, "url": url, "sent": sent, "without_span": without})
    else:
        say("answers-sent", sent=sent, server=server)
