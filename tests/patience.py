"""How long tests wait for an event that must happen."""

PATIENCE = 45.0
"""Seconds that anything may take on a busy machine.

Less than the minute after which tests of timeouts expect commands and answers to end.
"""
