"""What all tests share."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.quick import make_cheap

# The same examples for everybody, so that what fails is the change and not the draw; `make fuzz` draws others. And a
# busy machine is slow, which says nothing of the code.
settings.register_profile("same", parent=settings.get_profile("ci"))
settings.register_profile("drawn", parent=settings.get_profile("same"), derandomize=False)
settings.load_profile("same")

make_cheap()


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """A command that a test ran in Japanese leaves the next test its language."""
    yield
    if output := sys.modules.get("lapsus.cli.output"):
        output.choose_words(None)


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Leave out of pytest's list of errors that nobody could catch those for want of stack.

    Tests of deeply nested files fill the stack on purpose. Where Python clears away what earlier tests left behind just
    then, any finaliser fails, and the test that happens to run would be blamed for it.
    """
    known = sys.unraisablehook

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is not RecursionError:
            known(unraisable)

    sys.unraisablehook = hook
