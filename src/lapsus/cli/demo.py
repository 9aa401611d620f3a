"""`lapsus demo`: the workbench on sample campaigns, in a folder of its own."""

import tempfile
from pathlib import Path

import typer

from lapsus.cli.output import remark, say, word


def demo_command(host: str = "127.0.0.1", port: int | None = None) -> None:
    """Try the workbench: sample campaigns for every guideline, gone when it ends. Prints links to sign in."""
    from lapsus.store import open_store
    from lapsus.web.demo import make_demo
    from lapsus.web.server import address, listen, serve

    with (
        listen(host, port) as listening,
        tempfile.TemporaryDirectory(prefix="lapsus-demo-") as folder,
        open_store(Path(folder) / "demo.sqlite") as store,
    ):
        people = make_demo(store)
        root = address(listening)

        def ready() -> None:
            say("lapsus-sign-one-click", root=root)
            for token, person in people.items():
                typer.echo(f"  {word(person.role):<10} {person.name}  {root}/enter/{token}")
            remark("nothing-kept-ctrl-c-ends")

        links = {token: person.id for token, person in people.items()}
        serve(store, listening, ready=ready, links=links)
