"""Markdown code blocks for text of any content."""

import re


def code_block(text: str, language: str = "") -> str:
    """Return a code block; its fence is longer than any run of backticks in the text."""
    longest = max((len(ticks) for ticks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
