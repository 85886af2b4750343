"""Benches: what Spinney costs, beside what the same thing costs when done barely.

`python -m tests.bench` prints every table; docs/performance.md says what they mean. Nothing here is
collected by pytest: times belong to a machine, not to a test.
"""
