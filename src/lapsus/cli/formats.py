"""`lapsus formats`: which formats there are."""

from lapsus.cli.output import in_words, print_json, print_table, word
from lapsus.formats import FORMATS


def formats_command(as_json: bool = False) -> None:
    """List the formats that can be read and written."""
    kinds = list(FORMATS)
    if as_json:
        print_json([{"name": k.name, "title": k.title, "reads": k.reads, "writes": k.writes} for k in kinds])
        return
    rows = [(k.name, _yes(k.reads), _yes(k.writes), in_words(k.title)) for k in kinds]
    print_table(("format", "read", "write", "what it is"), rows)


def _yes(can: bool) -> str:
    return word("yes") if can else "-"
