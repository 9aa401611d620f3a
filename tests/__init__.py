"""The tests. Libraries that compute take one thread here, which has to be said before they are loaded.

As many tests run at a time as there are cores, and threads that wait by spinning take the time of others.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
