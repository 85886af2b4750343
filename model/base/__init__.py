"""Foundations used by every other package: errors, untrusted text, paths, log, instance lock."""
