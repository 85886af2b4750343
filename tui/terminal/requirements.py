"""What a terminal must be for Spinney to draw in it. Imports almost nothing: see `supervisor`."""

import os
import sys


def check_terminal() -> None:
    """Raise `SpinneyError` if no screen can be drawn here."""
    # Textual draws on the error stream, so that one must be a terminal too.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        from model.base.errors import SpinneyError

        raise SpinneyError("Spinney needs a terminal here. Without one, run: spinney serve")
    if os.environ.get("TERM") == "dumb":
        from model.base.errors import SpinneyError

        raise SpinneyError(
            "Spinney cannot draw in this terminal (TERM is dumb). Use another terminal, or open "
            "Spinney in a browser: spinney serve"
        )
    colors = os.environ.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if colors not in ("auto", "truecolor", "256", "standard"):
        from model.base.errors import UsageError

        raise UsageError(
            f"TEXTUAL_COLOR_SYSTEM is '{colors}' in the environment: it must be auto, truecolor, "
            "256 or standard."
        )
