"""Benchmarks that compare Spinney with minimal implementations of the same task.

`python -m tests.bench` prints every table; docs/performance.md explains them. Pytest collects
nothing here, since timings depend on the machine.
"""
