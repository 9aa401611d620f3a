"""The command line: one file a command. Exit codes: 0 fine, 1 a problem was found, 2 wrong use."""

import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from lapsus.errors import LapsusError, reason_of

INTERRUPTED = 130


class _ToldToEnd(SystemExit):
    """A signal to end, on its way out through all that tidies up."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def main() -> None:
    """Run a command; a user's mistake gets a message, never a traceback."""
    _open_closed_streams()
    _tidy_up_when_told_to_end()
    try:
        from lapsus.cli.app import app
        from lapsus.cli.output import complain
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an odd terminal shows "?" rather than nothing at all
    try:
        _flushed(app)
    except _ToldToEnd as told:
        # Whoever sent the signal sees that it was heeded: for a service that is no failure.
        sys.stdout.flush()
        signal.signal(told.number, signal.SIG_DFL)
        signal.raise_signal(told.number)
    except LapsusError as error:
        complain(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (`lapsus … | head`): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        complain(LapsusError(reason_of(error), where=str(error.filename or "")))
        # What could not be written is not tried again on the way out.
        sys.stdout = io.StringIO()
        sys.exit(1)


def _flushed(app: Callable[[], object]) -> None:
    """Run, and see that what was printed arrived: a disk may be full, or nobody there to read."""
    try:
        app()
    finally:
        sys.stdout.flush()


def _open_closed_streams() -> None:
    """Give closed standard streams a place: the next file that is opened would get it, and all that is printed.

    Nothing comes in; what is printed is an error, as other programs have it; complaints go nowhere.
    """
    for number, name, flags in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _tidy_up_when_told_to_end() -> None:
    """Let what is half-written vanish, as it does on Ctrl-C, also when the process is ended from elsewhere."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _ToldToEnd(number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever asked for signals to be ignored, such as nohup, is heeded.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)
