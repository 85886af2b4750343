"""Markdown, code and diffs as trees of blocks and rows, shared by all user interfaces."""
