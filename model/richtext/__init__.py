"""Markdown, code and diffs as trees of blocks and rows, for every user interface."""
