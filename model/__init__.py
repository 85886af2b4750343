"""What Spinney knows and does; it knows no screen and no server."""

__version__ = "0.1.1"

PROTOCOL = 1
"""What screens and Spinneys of different versions must share to work together."""
