"""`lapsus push`: judgments back to the tool that the traces came from."""

from pathlib import Path

import typer

from lapsus.cli.output import in_words, print_json, remark, say
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.formats.remote import STANDARD_INPUT, Address
from lapsus.notices import Notice


def push_command(
    server: str,
    source: Path,
    url: str,
    yes: bool = False,
    from_format: str | None = None,
    as_json: bool = False,
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
