"""The canvas: all sessions on one screen."""
