"""What all tests share."""

import sys

import pytest
from hypothesis import settings

from tests.quick import make_cheap

# A busy machine is slow, and that says nothing of the code.
settings.register_profile("lapsus", parent=settings(), deadline=None)
settings.load_profile("lapsus")

make_cheap()


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
