"""`spinney deny`."""

from model.cli.approve import deny

__all__ = ["deny"]
