"""Where work is done: in this process, or wherever else an engine takes it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol, TypeVar

from lapsus.annotators.bulk.work import Work

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Does work."""

    @property
    def at_once(self) -> int:
        """How many pieces of work it makes sense to have begun and not finished."""
        ...

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Begin some work. What goes wrong in it is raised by the result."""
        ...


class Here:
    """This process, one piece after the other."""

    at_once = 1

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Do it at once."""
        future: Future[list[R]] = Future()
        try:
            future.set_result(work.do(things))
        except Exception as error:  # raised where the result is asked for
            future.set_exception(error)
        return future
