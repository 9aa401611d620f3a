"""What all tests share."""

from hypothesis import settings

from tests.quick import make_cheap

# A busy machine is slow, and that says nothing of the code.
settings.register_profile("lapsus", parent=settings(), deadline=None)
settings.load_profile("lapsus")

make_cheap()
