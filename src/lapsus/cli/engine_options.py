"""Where `lapsus detect` and `lapsus check` have documents judged: here, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lapsus.cli.output import remark
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine

HERE, RAY = "here", "ray"


@contextmanager
def engine_of(name: str, address: str | None) -> Iterator[Engine]:
    """The engine that is asked for, ready until the end."""
    from lapsus.annotators.bulk import Here

    if name not in (HERE, RAY):
        raise UsageError("no-engine-called", hint="known-2", name=name, here=HERE, ray=RAY)
    if name == HERE:
        if address is not None:
            raise UsageError("ray-cluster", hint="say-engine-too", ray=RAY)
        yield Here()
        return
    from lapsus.annotators.bulk.ray_engine import LOCAL, OnRay

    def tell(cluster: OnRay) -> None:
        where = "this machine" if cluster.address == LOCAL else f"the Ray cluster at {cluster.address}"
        remark("judged-cores", cores=cluster.cores, place=where)

    with OnRay(address, tell) as cluster:
        yield cluster
