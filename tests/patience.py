"""How long tests wait for what must come."""

PATIENCE = 45.0
"""Seconds that anything may take on a machine that has other things to do.

Less than the minute that commands and answers take in tests that end them.
"""
