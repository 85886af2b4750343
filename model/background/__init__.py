"""Repeated background work: polling, retention, cleanup."""
