"""Figures of a running guard, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import Counter
from typing import Final

_BOUNDS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
_HELP: Final = {
    "requests": "Requests by path and status.",
    "replies": "Replies by what was said of them: sound, flagged, unjudged.",
    "decisions": "What the proxy did: first, other, again, tools, passed, refused.",
    "upstream_errors": "Requests that the system behind it did not answer.",
    "recorded": "Replies to keep by what became of them: kept, dropped, failed.",
}


class Metrics:
    """Counts that many threads add to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, Counter[tuple[tuple[str, str], ...]]] = {name: Counter() for name in _HELP}
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0
        self.under_way = 0

    def add(self, name: str, **labels: str) -> None:
        """One more."""
        with self._lock:
            self._counts[name][tuple(labels.items())] += 1

    def took(self, seconds: float) -> None:
        """How long judging took, waiting included."""
        with self._lock:
            self._buckets[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds += seconds

    def count(self, name: str, **labels: str) -> int:
        """How often something was counted."""
        with self._lock:
            return self._counts[name][tuple(labels.items())]

    def text(self) -> str:
        """All figures."""
        lines = []
        with self._lock:
            for name, about in _HELP.items():
                full = f"lapsus_guard_{name}_total"
                lines += [f"# HELP {full} {about}", f"# TYPE {full} counter"]
                for labels, many in sorted(self._counts[name].items()):
                    inner = ",".join(f'{key}="{value}"' for key, value in labels)
                    lines.append(f"{full}{{{inner}}} {many}" if inner else f"{full} {many}")
            full, total = "lapsus_guard_judging_seconds", 0
            lines += [
                f"# HELP {full} Seconds to judge a request, waiting included.",
                f"# TYPE {full} histogram",
            ]
            for bound, many in zip((*map(str, _BOUNDS), "+Inf"), self._buckets, strict=True):
                total += many
                lines.append(f'{full}_bucket{{le="{bound}"}} {total}')
            lines += [f"{full}_sum {self._seconds}", f"{full}_count {total}"]
            lines += ["# TYPE lapsus_guard_under_way gauge", f"lapsus_guard_under_way {self.under_way}"]
        return "\n".join(lines) + "\n"
