"""Rendering of blocks, tables and diffs as styled lines; colors and status icons."""
