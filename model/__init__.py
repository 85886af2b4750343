"""What Spinney knows and does; it knows no screen and no server."""

__version__ = "0.1.0"
